// Memory of tensors: fresh pages are dear, so what large results and temporaries leave behind serves the next
// run, and lies in huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/space.h"

namespace twinloom::runtime {

constexpr std::int64_t MEMORY_ALIGNMENT = 64;  // a cache line, and the widest register

// At least so many bytes, not initialised, aligned to MEMORY_ALIGNMENT; null where there are not so many.
Block new_block(std::int64_t bytes);

// Thread safety: take() and the return of memory may happen on any thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // Of this process, or of a GPU.
  explicit MemoryPool(const Space* space = nullptr) : space_(space) {}
  const Space* space() const { return space_; }
  // As new_block(); null for no bytes. It goes back to the pool with its last owner, also when nobody else
  // knows the pool any more.
  std::shared_ptr<std::byte> take(std::int64_t bytes);

 private:
  struct Free {
    Block block;
    std::int64_t bytes;
  };
  static constexpr std::size_t most_kept = 8;
  Block fresh(std::int64_t bytes) const {
    return space_ == nullptr ? new_block(bytes) : space_->allocate(bytes);
  }
  Free find(std::int64_t bytes);
  void give_back(Free free);
  const Space* space_;
  std::mutex mutex_;
  std::vector<Free> free_;  // the longest unused first
};

}  // namespace twinloom::runtime
