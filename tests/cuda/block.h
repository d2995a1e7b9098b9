// What a block's threads say to each other in CUDA, for threads of this process: enough of it for the
// routines of device headers. Blocks run one after the other; what they share is one array.
#pragma once

#include <array>
#include <barrier>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#define TWINLOOM_INLINE inline
#define TWINLOOM_UNROLL
#define TWINLOOM_ROLLED

namespace twinloom::device {

using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u32 WHOLE_WARP = 0xffffffffu;

alignas(16) inline unsigned char block_scratch[1 << 16];
#define TWINLOOM_BLOCK_SCRATCH ::twinloom::device::block_scratch

struct Number {
  unsigned x = 0;
};
inline thread_local Number threadIdx, blockIdx, blockDim, gridDim;

// Threads that wait for each other, and a word of each that the others read.
class Meeting {
 public:
  explicit Meeting(std::ptrdiff_t members) : words_(static_cast<std::size_t>(members)), barrier_(members) {}
  void wait() { barrier_.arrive_and_wait(); }
  // What all have said, in their order. Nobody goes on before all have read.
  template <class Reading>
  auto exchange(std::size_t member, u64 word, const Reading& reading) {
    words_[member] = word;
    wait();
    const auto read = reading(words_);
    wait();
    return read;
  }

 private:
  std::vector<u64> words_;
  std::barrier<> barrier_;
};
struct Meetings {
  Meeting block;
  std::vector<std::unique_ptr<Meeting>> warps;
};
inline Meetings* meetings = nullptr;

template <class Reading>
auto in_warp(u64 word, const Reading& reading) {
  return meetings->warps[threadIdx.x / 32]->exchange(threadIdx.x % 32, word, reading);
}
inline u32 lanes_where(const std::vector<u64>& words, const std::function<bool(u64)>& holds) {
  u32 lanes = 0;
  for (std::size_t lane = 0; lane < words.size(); ++lane) lanes |= u32{holds(words[lane])} << lane;
  return lanes;
}

inline void __syncthreads() { meetings->block.wait(); }
inline void __syncwarp() { meetings->warps[threadIdx.x / 32]->wait(); }
inline u32 __ballot_sync(u32, bool given) {
  return in_warp(given, [](auto& words) { return lanes_where(words, [](u64 word) { return word != 0; }); });
}
inline u32 __match_any_sync(u32, u64 given) {
  return in_warp(given,
                 [&](auto& words) { return lanes_where(words, [&](u64 word) { return word == given; }); });
}
inline i64 __shfl_sync(u32, i64 value, int lane) {
  return in_warp(static_cast<u64>(value),
                 [&](auto& words) { return static_cast<i64>(words[static_cast<std::size_t>(lane)]); });
}
template <class Value>
Value __shfl_up_sync(u32, Value value, int distance) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return static_cast<Value>(
      __shfl_sync(WHOLE_WARP, static_cast<i64>(value), lane < distance ? lane : lane - distance));
}
template <class Value>
Value __shfl_xor_sync(u32, Value value, int mask) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  return static_cast<Value>(__shfl_sync(WHOLE_WARP, static_cast<i64>(value), lane ^ mask));
}
inline int __popc(u32 bits) { return std::popcount(bits); }
inline int __ffs(u32 bits) { return bits == 0 ? 0 : std::countr_zero(bits) + 1; }
inline u32 atomicAdd(u32* place, u32 value) { return __atomic_fetch_add(place, value, __ATOMIC_RELAXED); }
inline u32 atomicOr(u32* place, u32 value) { return __atomic_fetch_or(place, value, __ATOMIC_RELAXED); }
struct Unchecked {};
inline u32 least(u32 a, u32 b) { return a < b ? a : b; }
inline i64 least(i64 a, i64 b) { return a < b ? a : b; }
inline i64 greatest(i64 a, i64 b) { return a < b ? b : a; }
inline i64 held(i64 a) { return a; }
inline i64 short_div(i64 a, i64 b) { return a / b; }

}  // namespace twinloom::device

namespace twinloom::tests {

// `body` by each thread of each block; `threads` is a multiple of 32.
inline void run_blocks(int blocks, int threads, const std::function<void()>& body) {
  device::Meetings all{device::Meeting(threads), {}};
  for (int warp = 0; warp < threads / 32; ++warp) all.warps.push_back(std::make_unique<device::Meeting>(32));
  device::meetings = &all;
  std::vector<std::jthread> running;
  for (int thread = 0; thread < threads; ++thread)
    running.emplace_back([=, &body] {
      device::threadIdx.x = static_cast<unsigned>(thread);
      device::blockDim.x = static_cast<unsigned>(threads);
      device::gridDim.x = static_cast<unsigned>(blocks);
      for (int block = 0; block < blocks; ++block) {
        device::blockIdx.x = static_cast<unsigned>(block);
        body();
        device::__syncthreads();  // the next block has other shared variables, and here the same ones
      }
    });
}

}  // namespace twinloom::tests
