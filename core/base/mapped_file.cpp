// See mapped_file.h.
#include "core/base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>

#include "core/base/error.h"

namespace twinloom {

namespace {

[[noreturn]] void fail(const std::filesystem::path& file) {
  throw Error(cat("cannot read '", escaped(file.string()), "': ", std::strerror(errno)));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

constexpr std::size_t WHOLE = SIZE_MAX;

std::size_t page() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Of this process, by where they begin.
class Mappings {
 public:
  static Mappings& all() {
    static Mappings& mappings = *new Mappings;  // that files of static objects outlive nothing
    return mappings;
  }
  void add(const void* begin, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    ends_[address(begin)] = address(begin) + bytes;
  }
  void remove(const void* begin) {
    const std::lock_guard lock(mutex_);
    ends_.erase(address(begin));
  }
  bool have(std::span<const std::byte> bytes) const {
    const std::lock_guard lock(mutex_);
    return have(address(bytes.data()), address(bytes.data()) + bytes.size());
  }
  void unload(std::span<const std::byte> bytes) const {
    const std::span<const std::byte> pages = whole_pages(bytes);
    const std::lock_guard lock(mutex_);
    if (pages.empty() || !have(address(pages.data()), address(pages.data()) + pages.size())) return;
    madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_DONTNEED);
  }

 private:
  bool have(std::uintptr_t begin, std::uintptr_t end) const {
    const auto behind = ends_.upper_bound(begin);
    return behind != ends_.begin() && std::prev(behind)->second >= end;
  }
  static std::uintptr_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> ends_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& file) : MappedFile(file, 0, WHOLE) {}

MappedFile::MappedFile(const std::filesystem::path& file, std::size_t offset, std::size_t bytes) {
  const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (descriptor.number() < 0 || fstat(descriptor.number(), &status) != 0) fail(file);
  if (!S_ISREG(status.st_mode)) throw Error(cat("'", escaped(file.string()), "' is no regular file"));
  const auto size = static_cast<std::size_t>(status.st_size);
  if (bytes == WHOLE) bytes = size;
  if (offset > size || bytes > size - offset)
    throw Error(cat("'", escaped(file.string()), "' has ", size, " bytes, ", bytes, " are needed from ",
                    offset, " on"));
  if (bytes == 0) return;
  const std::size_t before = offset % page();
  void* const memory = mmap(nullptr, before + bytes, PROT_READ, MAP_PRIVATE, descriptor.number(),
                            static_cast<off_t>(offset - before));
  if (memory == MAP_FAILED) fail(file);
  memory_ = {memory, Unmap{before + bytes}};
  bytes_ = {static_cast<const char*>(memory) + before, bytes};
  Mappings::all().add(memory, before + bytes);
}

void MappedFile::Unmap::operator()(void* memory) const {
  Mappings::all().remove(memory);
  munmap(memory, bytes);
}

std::span<const std::byte> whole_pages(std::span<const std::byte> bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(bytes.data());
  const std::uintptr_t before = (page() - begin % page()) % page(), end = (begin + bytes.size()) % page();
  if (before + end >= bytes.size()) return {};
  return bytes.subspan(before, bytes.size() - before - end);
}

bool lies_in_file(std::span<const std::byte> bytes) { return Mappings::all().have(bytes); }
void unload(std::span<const std::byte> bytes) { Mappings::all().unload(bytes); }

}  // namespace twinloom
