// See mapped_file.h.
#include "core/package/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace twinloom::package {

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

}  // namespace

void MappedFile::Unmap::operator()(void* memory) const { munmap(memory, bytes); }

MappedFile::MappedFile(const std::filesystem::path& file) {
  const Descriptor descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (descriptor.number() < 0 || fstat(descriptor.number(), &status) != 0) fail(file);
  if (!S_ISREG(status.st_mode)) throw Error(cat("'", escaped(file.string()), "' is no regular file"));
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;
  void* const memory = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor.number(), 0);
  if (memory == MAP_FAILED) fail(file);
  memory_ = {memory, Unmap{size_}};
}

}  // namespace twinloom::package
