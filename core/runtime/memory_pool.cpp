// See memory_pool.h.
#include "core/runtime/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/integers.h"

namespace twinloom::runtime {

namespace {

constexpr std::int64_t HUGE_PAGE = 2 << 20;
constexpr std::int64_t LARGE = 2 * HUGE_PAGE;  // so that rounding up costs at most a third
// Smaller ones the allocator hands out without fresh pages.
constexpr std::int64_t LEAST_KEPT = 64 << 10;

}  // namespace

Block new_block(std::int64_t bytes) {
  const std::int64_t step = bytes >= LARGE ? HUGE_PAGE : MEMORY_ALIGNMENT;
  const std::int64_t rounded = ceil_div(std::max<std::int64_t>(bytes, 1), step) * step;
  Block block(static_cast<std::byte*>(
                  std::aligned_alloc(static_cast<std::size_t>(step), static_cast<std::size_t>(rounded))),
              std::free);
  // Advice: where the system has no huge pages, nothing is lost.
  if (block && step == HUGE_PAGE) madvise(block.get(), static_cast<std::size_t>(rounded), MADV_HUGEPAGE);
  return block;
}

std::shared_ptr<std::byte> MemoryPool::take(std::int64_t bytes) {
  if (bytes == 0) return nullptr;
  if (space_ == nullptr && bytes < LEAST_KEPT) return new_block(bytes);
  Free found = find(bytes);
  if (!found.block) found = {fresh(bytes), bytes};
  if (!found.block) return nullptr;
  const auto give = [pool = shared_from_this(), size = found.bytes,
                     end = found.block.get_deleter()](std::byte* memory) {
    pool->give_back({Block(memory, end), size});
  };
  return {found.block.release(), give};
}

// The smallest that is large enough and less than half wasted.
MemoryPool::Free MemoryPool::find(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto best = free_.end();
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const bool fits = it->bytes >= bytes && it->bytes / 2 <= bytes;
    if (fits && (best == free_.end() || it->bytes < best->bytes)) best = it;
  }
  if (best == free_.end()) return {{nullptr, std::free}, 0};
  Free found = std::move(*best);
  free_.erase(best);
  return found;
}

void MemoryPool::give_back(Free free) {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(free));
  if (free_.size() > most_kept) free_.erase(free_.begin());
}

}  // namespace twinloom::runtime
