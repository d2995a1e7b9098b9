// See arena.h.
#include "core/runtime/arena.h"

#include <algorithm>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/integers.h"

namespace twinloom::runtime {

Arena::Arena(Arena&& other) noexcept
    : pool_(other.pool_), block_(std::move(other.block_)), bytes_(other.bytes_) {}

Arena::~Arena() {
  if (block_) pool_->give_back(std::move(block_), bytes_);
}

Arena ArenaPool::take(std::int64_t bytes) {
  if (bytes == 0) return {*this, {nullptr, std::free}, 0};
  {
    const std::lock_guard lock(mutex_);
    // The smallest that is large enough.
    auto best = free_.end();
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      if (it->bytes >= bytes && (best == free_.end() || it->bytes < best->bytes)) best = it;
    }
    if (best != free_.end()) {
      Arena arena(*this, std::move(best->block), best->bytes);
      free_.erase(best);
      return arena;
    }
  }
  constexpr std::size_t alignment = 64;
  const auto rounded = static_cast<std::size_t>(ceil_div(bytes, alignment)) * alignment;
  Arena::Block block(static_cast<std::byte*>(std::aligned_alloc(alignment, rounded)), std::free);
  if (!block) throw Error(cat("no memory for the intermediate results (", bytes, " bytes)"));
  return {*this, std::move(block), static_cast<std::int64_t>(rounded)};
}

void ArenaPool::give_back(Arena::Block block, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  if (free_.size() < most_kept) free_.push_back({std::move(block), bytes});
}

}  // namespace twinloom::runtime
