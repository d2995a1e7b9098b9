// See memory_pool.h.
#include "core/runtime/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/integers.h"
#include "core/base/memory.h"
#include "core/base/text.h"

namespace twinloom::runtime {

namespace {

constexpr std::int64_t HUGE_PAGE = 2 << 20;
constexpr std::int64_t LARGE = 2 * HUGE_PAGE;  // so that rounding up costs at most a third
// Smaller ones the allocator hands out without fresh pages.
constexpr std::int64_t LEAST_KEPT = 64 << 10;
constexpr std::size_t MOST_KEPT = 8;
constexpr std::size_t MOST_KEPT_ON_GPU = 64;  // one pool serves all that runs there

// Error where it is not aligned as kernels expect it.
std::shared_ptr<std::byte> handed_out(const Allocate& allocate, std::int64_t bytes, Stream stream) {
  std::shared_ptr<std::byte> memory = allocate(bytes, stream);
  if (reinterpret_cast<std::uintptr_t>(memory.get()) % MEMORY_ALIGNMENT != 0)
    throw Error(cat("the caller handed out memory that is not aligned to ", MEMORY_ALIGNMENT, " bytes"));
  return memory;
}

}  // namespace

Block new_block(std::int64_t bytes) {
  const std::int64_t step = bytes >= LARGE ? HUGE_PAGE : MEMORY_ALIGNMENT;
  if (!fits_memory(bytes)) return {nullptr, std::free};
  const std::int64_t rounded = ceil_div(std::max<std::int64_t>(bytes, 1), step) * step;
  Block block(static_cast<std::byte*>(
                  std::aligned_alloc(static_cast<std::size_t>(step), static_cast<std::size_t>(rounded))),
              std::free);
  // Advice: where the system has no huge pages, nothing is lost.
  if (block && step == HUGE_PAGE) madvise(block.get(), static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
  return block;
}

OutOfMemory out_of_memory(const Space* space, const std::string& what, std::int64_t bytes) {
  const std::string free = space == nullptr
                               ? std::string()
                               : cat("; GPU ", space->device(), " has ", space->free_bytes(), " bytes free");
  return {cat("no memory for ", what, " (", bytes, " bytes)", free), bytes};
}

std::shared_ptr<std::byte> MemoryPool::take(std::int64_t bytes, Stream stream) {
  if (bytes == 0) return nullptr;
  if (allocate_) return handed_out(allocate_, bytes, stream);
  if (space_ == nullptr && bytes < LEAST_KEPT) return new_block(bytes);
  Free found = find(bytes, stream);
  if (!found.block) found = {fresh(bytes, stream), bytes, stream};
  if (!found.block) {
    release();
    found.block = fresh(bytes, stream);
  }
  if (!found.block) return nullptr;
  const auto give = [pool = shared_from_this(), size = found.bytes, stream,
                     end = found.block.get_deleter()](std::byte* memory) {
    pool->give_back({Block(memory, end), size, stream});
  };
  return {found.block.release(), give};
}

void MemoryPool::release() {
  std::vector<Free> kept;
  {
    const std::lock_guard lock(mutex_);
    kept.swap(free_);
  }
  kept.clear();
  if (space_ != nullptr) space_->trim();
}

// The smallest that is large enough and less than half wasted.
MemoryPool::Free MemoryPool::find(std::int64_t bytes, Stream stream) {
  Free found{{nullptr, std::free}, 0, stream};
  {
    const std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const bool fits = it->bytes >= bytes && it->bytes / 2 <= bytes;
      const bool in_order = it->stream == stream || it->stream == nullptr;
      if (fits && in_order && (best == free_.end() || it->bytes < best->bytes)) best = it;
    }
    if (best == free_.end()) return found;
    found = std::move(*best);
    free_.erase(best);
  }
  if (found.stream != stream) space_->order(found.stream, stream);
  return found;
}

// What is let go goes after the lock: on a GPU that may take its time.
void MemoryPool::give_back(Free free) {
  const std::size_t most_kept = space_ == nullptr ? MOST_KEPT : MOST_KEPT_ON_GPU;
  Free dropped{{nullptr, std::free}, 0, nullptr};
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(free));
  if (free_.size() <= most_kept) return;
  dropped = std::move(free_.front());
  free_.erase(free_.begin());
}

}  // namespace twinloom::runtime
