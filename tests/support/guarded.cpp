// Pages from mmap, the first and the last of them without access. See guarded.h.
#include "tests/support/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace twinloom::tests {

namespace {

constexpr std::byte poison{0xff}, canary{0xa7};

}  // namespace

Guarded::Guarded(std::size_t bytes, Against side)
    : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))), size_(bytes) {
  const std::size_t pages = std::max<std::size_t>(1, (bytes + page_ - 1) / page_);
  mapped_ = (pages + 2) * page_;
  void* mapping = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(mapping != MAP_FAILED, "no ", mapped_, " bytes of guarded memory");
  mapping_ = static_cast<std::byte*>(mapping);
  std::byte* const inside = mapping_ + page_;
  CHECK(mprotect(inside, pages * page_, PROT_READ | PROT_WRITE) == 0, "guarded memory cannot be opened");
  data_ = side == Against::start ? inside : inside + pages * page_ - bytes;
  std::fill_n(inside, pages * page_, canary);
  std::fill_n(data_, bytes, poison);
}

Guarded::~Guarded() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

void Guarded::swap(Guarded& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(page_, other.page_);
  std::swap(size_, other.size_);
  std::swap(data_, other.data_);
}

std::span<std::byte> Guarded::slack() const {
  std::byte* const inside = mapping_ + page_;
  std::byte* const end = mapping_ + mapped_ - page_;
  return data_ == inside ? std::span(data_ + size_, end) : std::span(inside, data_);
}

void Guarded::check() const {
  for (const std::byte& byte : slack())
    CHECK(byte == canary, "a byte ", &byte - data_, " bytes from the start of ", size_, " was overwritten");
}

}  // namespace twinloom::tests
