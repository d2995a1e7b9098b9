// See files.h.
#include "core/object_cache/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <memory>

#include "core/base/text.h"
#include "core/object_cache/folder.h"

namespace twinloom::object_cache {

namespace {

constexpr std::string_view temporary_prefix = ".tmp-";
constexpr mode_t only_owner = 0600;
constexpr mode_t others_write = 0022;
constexpr std::int64_t second = 1'000'000'000;
// The time of use is not written more often than this: reading stays reading.
constexpr std::int64_t fresh_seconds = 60;
// After this a temporary goes even where its file system has no locks.
constexpr std::int64_t abandoned_seconds = 3600;

std::int64_t nanoseconds(const timespec& time) { return time.tv_sec * second + time.tv_nsec; }

bool is_own_file(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & others_write) == 0;
}

bool read_all(int descriptor, std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = read(descriptor, bytes.data() + done, bytes.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(descriptor, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return fdatasync(descriptor) == 0;
}

void note_use(int descriptor, const struct stat& status) {
  if (std::time(nullptr) - status.st_atim.tv_sec < fresh_seconds) return;
  const timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_OMIT}};
  // Where it fails the file only looks unused for longer than it is.
  [[maybe_unused]] const int result = futimens(descriptor, times);
}

enum class Outcome { done, failed, unsupported };

Outcome write_unnamed(int folder, const std::string& name, std::string_view bytes) {
  const File file(openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, only_owner));
  if (!file.is_open()) {
    const bool lacks = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL;
    return lacks ? Outcome::unsupported : Outcome::failed;
  }
  if (!write_all(file.descriptor(), bytes)) return Outcome::failed;
  const std::string path = cat("/proc/self/fd/", file.descriptor());
  if (linkat(AT_FDCWD, path.c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) == 0 || errno == EEXIST)
    return Outcome::done;
  // There may be no /proc, and some file systems have no links.
  const bool lacks = errno == ENOENT || errno == EPERM || errno == EXDEV || errno == EOPNOTSUPP;
  return lacks ? Outcome::unsupported : Outcome::failed;
}

std::string temporary_name() {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    number = static_cast<std::uint64_t>(nanoseconds([] {
      timespec now{};
      clock_gettime(CLOCK_REALTIME, &now);
      return now;
    }()));
  return fmt::format("{}{}-{:016x}", temporary_prefix, getpid(), number);
}

// Whether nobody took the file for abandoned before it was locked. A file system without locks says yes.
bool lock_new(int descriptor) {
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  struct stat status {};
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

Outcome write_named(int folder, const std::string& name, std::string_view bytes) {
  std::string temporary;
  File file;
  do {
    temporary = temporary_name();
    file = File(
        openat(folder, temporary.c_str(), O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, only_owner));
    if (!file.is_open()) return Outcome::failed;
  } while (!lock_new(file.descriptor()));
  if (write_all(file.descriptor(), bytes) && renameat(folder, temporary.c_str(), folder, name.c_str()) == 0)
    return Outcome::done;
  const int number = errno;
  unlinkat(folder, temporary.c_str(), 0);
  errno = number;
  return Outcome::failed;
}

// A lock that can be had says that the writer is gone.
void remove_if_abandoned(int folder, const std::string& name) {
  const File file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (!file.is_open() || fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  const bool old = std::time(nullptr) - status.st_mtim.tv_sec > abandoned_seconds;
  if (old || flock(file.descriptor(), LOCK_EX | LOCK_NB) == 0) remove_same(folder, name, status);
}

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  // A descriptor of its own, as reading moves its position.
  const int again = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> opened(again < 0 ? nullptr : fdopendir(again));
  if (opened == nullptr) {
    if (again >= 0) close(again);
    return names;
  }
  while (const dirent* entry = readdir(opened.get())) names.emplace_back(entry->d_name);
  return names;
}

}  // namespace

std::optional<ReadFile> read_file(int folder, const std::string& name, std::int64_t most_bytes,
                                  Reading reading) {
  // Not blocking: a pipe that bears the name must not hold us up. Only the owner may leave the time alone.
  const File file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME | O_CLOEXEC));
  ReadFile result{{}, {}, false};
  if (!file.is_open()) {
    const bool wrong = errno == ELOOP || errno == ENXIO || errno == EPERM;
    if (wrong && fstatat(folder, name.c_str(), &result.status, AT_SYMLINK_NOFOLLOW) == 0) return result;
    return std::nullopt;
  }
  if (fstat(file.descriptor(), &result.status) != 0) return std::nullopt;
  if (!is_own_file(result.status) || result.status.st_size > most_bytes) return result;
  result.bytes.resize(static_cast<std::size_t>(result.status.st_size));
  result.sound = read_all(file.descriptor(), result.bytes);
  if (result.sound && reading == Reading::use) note_use(file.descriptor(), result.status);
  return result;
}

void remove_same(int folder, const std::string& name, const struct stat& status) {
  struct stat present {};
  if (fstatat(folder, name.c_str(), &present, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (present.st_dev == status.st_dev && present.st_ino == status.st_ino) unlinkat(folder, name.c_str(), 0);
}

std::string write_file(int folder, const std::string& name, std::string_view bytes, Temporary way) {
  Outcome outcome = Outcome::unsupported;
  if (way == Temporary::unnamed) outcome = write_unnamed(folder, name, bytes);
  if (outcome == Outcome::unsupported) outcome = write_named(folder, name, bytes);
  return outcome == Outcome::done ? std::string() : trouble_words(name, errno);
}

std::vector<Listed> list_files(int folder, const std::function<bool(std::string_view)>& is_ours) {
  std::vector<Listed> files;
  for (std::string& name : names_in(folder)) {
    if (name.starts_with(temporary_prefix)) remove_if_abandoned(folder, name);
    struct stat status {};
    if (!is_ours(name) || fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
    files.push_back(
        {std::move(name), status.st_size, nanoseconds(status.st_mtim), nanoseconds(status.st_atim)});
  }
  return files;
}

std::int64_t remove_least_used(int folder, std::vector<Listed> files, std::int64_t most_bytes) {
  std::int64_t bytes = 0;
  for (const Listed& file : files) bytes += file.bytes;
  std::ranges::sort(files, {}, [](const Listed& file) { return std::max(file.used, file.written); });
  for (const Listed& file : files) {
    if (bytes <= most_bytes) break;
    unlinkat(folder, file.name.c_str(), 0);
    bytes -= file.bytes;
  }
  return bytes;
}

}  // namespace twinloom::object_cache
