// Memory of tensors: fresh pages are dear, so what large results and temporaries leave behind serves the next
// run, and lies in huge pages where the system has them. Memory of a GPU belongs to the stream that it was
// taken for: it may be given back while work on it is under way there, and the next taker for that stream
// comes after. What belongs to the GPU's own stream serves another one too, which then waits; what belongs to
// a caller's stream serves no other, for that stream may have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/runtime/errors.h"
#include "core/runtime/space.h"

namespace twinloom::runtime {

constexpr std::int64_t MEMORY_ALIGNMENT = 64;  // a cache line, and the widest register

// At least so many bytes, not initialised, aligned to MEMORY_ALIGNMENT; null where there are not so many.
Block new_block(std::int64_t bytes);

// For `what`, for which nothing was found; null: of this process.
OutOfMemory out_of_memory(const Space* space, const std::string& what, std::int64_t bytes);

// Thread safety: take() and the return of memory may happen on any thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  // Of this process, or of a GPU.
  explicit MemoryPool(const Space* space = nullptr) : space_(space) {}
  // Of memory that the caller hands out; nothing is kept here.
  MemoryPool(const Space* space, Allocate allocate) : space_(space), allocate_(std::move(allocate)) {}
  const Space* space() const { return space_; }
  // As new_block(); null for no bytes, and where there are not so many also when all that was kept has been
  // given to the system. It goes back to the pool with its last owner, also when nobody else knows the pool
  // any more.
  std::shared_ptr<std::byte> take(std::int64_t bytes, Stream stream = nullptr);
  // Gives the system what is kept.
  void release();

 private:
  struct Free {
    Block block;
    std::int64_t bytes;
    Stream stream;
  };
  Block fresh(std::int64_t bytes, Stream stream) const {
    return space_ == nullptr ? new_block(bytes) : space_->allocate(bytes, stream);
  }
  Free find(std::int64_t bytes, Stream stream);
  void give_back(Free free);
  const Space* space_;
  Allocate allocate_;  // empty where the memory is the pool's own
  std::mutex mutex_;
  std::vector<Free> free_;  // the longest unused first
};

}  // namespace twinloom::runtime
