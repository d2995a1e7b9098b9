// Blocks of memory for temporaries, kept between runs: fresh pages are dear.
// Thread safety: take() and the return of an Arena may happen on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace twinloom::runtime {

class ArenaPool;

// A block that goes back to its pool.
class Arena {
 public:
  Arena(Arena&&) noexcept;
  Arena& operator=(Arena&&) = delete;
  ~Arena();
  std::byte* data() const { return block_.get(); }

 private:
  friend class ArenaPool;
  using Block = std::unique_ptr<std::byte, void (*)(void*)>;
  Arena(ArenaPool& pool, Block block, std::int64_t bytes)
      : pool_(&pool), block_(std::move(block)), bytes_(bytes) {}
  ArenaPool* pool_;
  Block block_;
  std::int64_t bytes_;
};

class ArenaPool {
 public:
  // At least so many bytes, aligned to 64, with any contents. Error where there is no such memory.
  Arena take(std::int64_t bytes);

 private:
  friend class Arena;
  struct Free {
    Arena::Block block;
    std::int64_t bytes;
  };
  static constexpr std::size_t most_kept = 4;
  void give_back(Arena::Block block, std::int64_t bytes);
  std::mutex mutex_;
  std::vector<Free> free_;
};

}  // namespace twinloom::runtime
