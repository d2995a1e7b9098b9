// See packed_memory.h.
#include "backends/cpu/packed_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/runtime/memory_pool.h"

namespace twinloom::cpu {

namespace {

constexpr std::size_t ALIGNMENT = 64;
// Smaller constants may lie anywhere: they have few pages.
constexpr std::size_t LEAST_PACKED = 64 << 10;
// Addresses; memory is taken as it is written to.
constexpr std::size_t CHUNK = 256 << 20;

std::size_t rounded(std::size_t bytes) { return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

// Of a chunk in which other constants may stay.
void give_back(std::byte* memory, std::size_t bytes) {
  const std::span<const std::byte> pages = whole_pages({memory, bytes});
  if (!pages.empty()) madvise(const_cast<std::byte*>(pages.data()), pages.size(), MADV_DONTNEED);
}

class Chunks {
 public:
  static Chunks& all() {
    static Chunks chunks;
    return chunks;
  }

  // Null where no chunk can be had.
  std::shared_ptr<std::byte> take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<std::byte> chunk = last_.lock();
    if (chunk == nullptr || bytes > CHUNK - used_) {
      chunk = runtime::new_block(CHUNK);
      last_ = chunk;
      used_ = 0;
    }
    if (chunk == nullptr) return nullptr;
    std::byte* const first = chunk.get() + used_;
    used_ += rounded(bytes);
    return {first, [kept = std::move(chunk), bytes](std::byte* memory) { give_back(memory, bytes); }};
  }

 private:
  std::mutex mutex_;
  std::weak_ptr<std::byte> last_;  // ends with the last constant in it
  std::size_t used_ = 0;
};

std::shared_ptr<std::byte> fresh(std::size_t bytes) {
  std::shared_ptr<std::byte> memory;
  if (bytes >= LEAST_PACKED && bytes <= CHUNK / 2) memory = Chunks::all().take(bytes);
  return memory == nullptr ? call_memory(bytes) : memory;
}

bool are_equal(const onednn::Owned& a, const onednn::Owned& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return onednn::functions().memory_desc_equal(a.get(), b.get()) != 0;
}

// Those that somebody has.
class Copies {
 public:
  static Copies& of_process() {
    static Copies& all = *new Copies;  // that copies of static objects outlive nothing
    return all;
  }

  std::shared_ptr<std::byte> find_or_make(const Packed& constant,
                                          const std::function<void(std::byte*)>& fill) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const Copy& copy) { return copy.memory.expired(); });
    for (const Copy& copy : all_)
      if (copy.is_of(constant))
        if (auto memory = copy.memory.lock()) return memory;
    auto memory = fresh(constant.bytes);
    fill(memory.get());
    all_.push_back(
        {constant.content, constant.address, constant.bytes, constant.given, constant.copied, memory});
    return memory;
  }

  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    std::size_t sum = 0;
    for (const Copy& copy : all_) sum += copy.memory.expired() ? 0 : copy.bytes;
    return sum;
  }

 private:
  struct Copy {
    std::weak_ptr<const void> content;
    const void* address;
    std::size_t bytes;
    onednn::Owned given, copied;
    std::weak_ptr<std::byte> memory;

    bool is_of(const Packed& constant) const {
      return address == constant.address && bytes == constant.bytes && content.lock() == constant.content &&
             are_equal(given, constant.given) && are_equal(copied, constant.copied);
    }
  };
  std::mutex mutex_;
  std::vector<Copy> all_;
};

}  // namespace

std::shared_ptr<std::byte> call_memory(std::size_t bytes) {
  // Not a block: the allocator hands out what the last call gave back.
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(std::aligned_alloc(ALIGNMENT, rounded(bytes))),
                                    std::free);
  if (memory == nullptr) throw Error(cat("out of memory: ", bytes, " bytes for a library's operand"));
  return memory;
}

std::shared_ptr<std::byte> packed_memory(const Packed& constant,
                                         const std::function<void(std::byte*)>& fill) {
  return Copies::of_process().find_or_make(constant, fill);
}

std::size_t packed_bytes() { return Copies::of_process().bytes(); }

}  // namespace twinloom::cpu
