// See folder.h.
#include "core/object_cache/folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/environment.h"
#include "core/base/text.h"

namespace twinloom::object_cache {

namespace {

// O_PATH: a folder on the way need not be readable.
constexpr int folder_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t only_owner = 0700;
constexpr mode_t others_write = 0022;

std::vector<std::string> components(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0 && path.substr(0, end) != ".") parts.emplace_back(path.substr(0, end));
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return parts;
}

// Why a folder on the way must not be used; empty where it may be.
std::string distrust(int descriptor, const std::string& path, bool last) {
  struct stat status {};
  if (fstat(descriptor, &status) != 0) return trouble_words(path, errno);
  const uid_t self = geteuid();
  if (status.st_uid != self && (last || status.st_uid != 0))
    return cat("'", escaped(path), "' belongs to user ", status.st_uid, "; expected ", self);
  const bool sticky = (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & others_write) != 0 && (last || !sticky))
    return cat("'", escaped(path), "' can be written by other users");
  return {};
}

}  // namespace

File::~File() {
  const int number = errno;  // of the call that failed before, which its caller still asks for
  if (descriptor_ >= 0) close(descriptor_);
  errno = number;
}

std::string trouble_words(const std::string& what, int number) {
  return cat("'", escaped(what), "': ", std::system_category().message(number));
}

FoundPlace place_from_environment() {
  const auto absolute = [](const std::string& path) { return path.starts_with('/'); };
  if (const std::string given = environment("TWINLOOM_CACHE_DIR"); !given.empty()) {
    if (absolute(given)) return {{"/", given.substr(1)}, {}};
    return {{}, cat("TWINLOOM_CACHE_DIR is '", escaped(given), "'; expected an absolute path")};
  }
  if (const std::string given = environment("XDG_CACHE_HOME"); absolute(given))
    return {{"/", given.substr(1) + "/twinloom"}, {}};
  if (const std::string given = environment("HOME"); absolute(given)) return {{given, ".cache/twinloom"}, {}};
  return {{}, "none of TWINLOOM_CACHE_DIR, XDG_CACHE_HOME and HOME names a folder"};
}

OpenedFolder open_folder(const Place& place, Missing missing) {
  const std::vector<std::string> base = components(place.base), below = components(place.below);
  std::string path;
  File folder(open("/", folder_flags));
  for (std::size_t at = 0; at < base.size() + below.size(); ++at) {
    const bool may_make = at >= base.size();
    const std::string& name = may_make ? below[at - base.size()] : base[at];
    path += "/" + name;
    File next(openat(folder.descriptor(), name.c_str(), folder_flags));
    if (!next.is_open() && errno == ENOENT && may_make) {
      if (missing == Missing::leave) return {File(), {}};
      // Another process may have been quicker.
      if (mkdirat(folder.descriptor(), name.c_str(), only_owner) != 0 && errno != EEXIST)
        return {File(), trouble_words(path, errno)};
      next = File(openat(folder.descriptor(), name.c_str(), folder_flags));
    }
    if (!next.is_open() && (errno == ENOTDIR || errno == ELOOP))
      return {File(), cat("'", escaped(path), "' is a symbolic link or no folder")};
    if (!next.is_open()) return {File(), trouble_words(path, errno)};
    if (std::string trouble = distrust(next.descriptor(), path, at + 1 == base.size() + below.size());
        !trouble.empty())
      return {File(), std::move(trouble)};
    folder = std::move(next);
  }
  if (!folder.is_open()) return {File(), trouble_words("/", errno)};
  return {std::move(folder), {}};
}

}  // namespace twinloom::object_cache
