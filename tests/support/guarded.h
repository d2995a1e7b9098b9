// Memory that notices when a kernel leaves it: pages that may not be touched lie before and behind it,
// hard against one end; the slack on the other side holds canaries. New memory is poisoned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace twinloom::tests {

enum class Against : std::uint8_t {
  end,    // the byte after the last faults
  start,  // the byte before the first faults
};

class Guarded {
 public:
  explicit Guarded(std::size_t bytes, Against side = Against::end);
  ~Guarded();
  Guarded(Guarded&& other) noexcept { swap(other); }
  Guarded& operator=(Guarded&& other) noexcept {
    swap(other);
    return *this;
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Bug where a canary was overwritten.
  void check() const;

 private:
  // The accessible bytes that are not data: before it or after it.
  std::span<std::byte> slack() const;
  void swap(Guarded& other) noexcept;

  std::byte* mapping_ = nullptr;
  std::size_t mapped_ = 0, page_ = 0, size_ = 0;
  std::byte* data_ = nullptr;
};

}  // namespace twinloom::tests
