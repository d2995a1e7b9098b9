// What kernels of a GPU call that is more than arithmetic: run-time indices and their failures, the last
// block of a grid, values of other lanes of a warp. The first failure wins the record; the others are
// dropped.
#pragma once

#include "core/emit/abi.h"
#include "cuda/memory.h"

namespace twinloom::device {

using emit::Arguments;
using emit::FailureRecord;

// What the threads of a block share, as large as the launch says.
extern __shared__ uint4 block_scratch_words[];
#define TWINLOOM_BLOCK_SCRATCH reinterpret_cast<u8*>(block_scratch_words)

// The kernels before this one on its stream, of which the last may still run (kernel.cpp): from here on all
// that they wrote is there. NVRTC may load what a kernel never writes ahead of any fence; so a pointer to
// memory takes a 0 that is known no earlier. ptxas knows that 0, and may do so with loads that NVRTC marks as
// of what is never written; so each pointer is shown to what might write through it.
class Predecessors {
 public:
  TWINLOOM_INLINE Predecessors() {
    if constexpr (TWINLOOM_ARCHITECTURE >= 900)
      asm volatile("griddepcontrol.wait;\n\tmov.u64 %0, 0;" : "=l"(zero_) : : "memory");
  }
  TWINLOOM_INLINE void* wrote(void* memory) const {
    if constexpr (TWINLOOM_ARCHITECTURE >= 900) asm volatile("" : : "l"(memory) : "memory");
    return static_cast<u8*>(memory) + zero_;
  }

 private:
  u64 zero_ = 0;
};

// The record lies in memory of the device; whoever reads it waits for the kernel.
template <class Integer>
TWINLOOM_DEVICE __attribute__((noinline)) void record_failure(FailureRecord* failure, Integer node, Integer value,
                                              Integer bound, Integer offset) {
  if (atomicExch(reinterpret_cast<u64*>(&failure->claimed), u64(1)) != 0) return;
  failure->node = node;
  failure->value = value;
  failure->bound = bound;
  failure->offset = offset;
}

// The bound of a loop, kept in a register. NVRTC may compute it again at the end of each turn from what it
// was made of; of a bound that came from a run-time index, ptxas 13.0 then read the register before the first
// turn had written it (CUDA 13.0, -O1 and above; rows of a scatter had turns too many).
TWINLOOM_INLINE i64 held(i64 bound) {
  i64 kept;
  asm("mov.b64 %0, %1;" : "=l"(kept) : "l"(bound));
  return kept;
}

// A run-time index: where it may be used (`ok`), and its place there, 0 elsewhere. One of no operator (a
// negative node) is Twinloom's own, such as a place in a sort's result, and needs no check.
template <int count>
struct Found {
  Vector<i64, count> place;
  Vector<bool, count> ok;
};
// Where it was loaded from, for the record.
struct Offsets {
  i64 first, step;  // of lane 0; from lane to lane
};
template <int count>
TWINLOOM_INLINE Found<count> find(Vector<i64, count> value, Vector<bool, count> active, i64 bound, bool wraps,
                                  i64 node, Offsets from, FailureRecord* failure) {
  using Places = Vector<i64, count>;
  const Places zero(i64(0));
  const Places wrapped = wraps ? where(lt(value, zero), Places(value + Places(bound)), value) : value;
  if (node < 0) return {where(active, wrapped, zero), active};
#ifdef TWINLOOM_TRUST_INDICES  // defined only to measure what the rest costs: perf/gpu_index_cost.cpp
  return {wrapped, active};
#else
  const auto inside = logical_and(ge(wrapped, zero), lt(wrapped, Places(bound)));
  const auto ok = logical_and(active, inside);
  const auto failed = logical_and(active, logical_not(inside));
  if (__builtin_expect(any_lane(failed), 0)) {
    i64 first = 0, offset = 0;  // of the lanes that failed, the first one's value
    TWINLOOM_UNROLL
    for (int i = count - 1; i >= 0; --i) {
      first = lane_of(failed)(i) ? lane_of(value)(i) : first;
      offset = lane_of(failed)(i) ? from.first + i * from.step : offset;
    }
    record_failure(failure, node, first, bound, offset);
  }
  return {where(ok, wrapped, zero), ok};
#endif
}

// The same of an index that is checked elsewhere: 0 where it is out of range.
struct Unchecked {};
template <int count>
TWINLOOM_INLINE Found<count> find(Vector<i64, count> value, Vector<bool, count> active, i64 bound, bool wraps,
                                  i64, Offsets, Unchecked) {
  using Places = Vector<i64, count>;
  const Places zero(i64(0));
  const Places wrapped = wraps ? where(lt(value, zero), Places(value + Places(bound)), value) : value;
  const auto ok = logical_and(active, logical_and(ge(wrapped, zero), lt(wrapped, Places(bound))));
  return {where(ok, wrapped, zero), ok};
}

// True for the member that arrives last; then the counter is 0 again. What the members wrote before is there
// to be read. A member is one thread.
template <class Of>
TWINLOOM_INLINE bool arrives_last(Of* counter, i64 members) {
  static_assert(is_atomic<Of>, "a counter of 4 or 8 bytes");
  using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
  auto* const place = reinterpret_cast<Bits*>(counter);
  __threadfence();
  if (i64(atomicAdd(place, Bits(1))) + 1 != members) return false;
  atomicExch(place, Bits(0));
  __threadfence();
  return true;
}
// The same where a member is a block: all of its threads call it and are told the same. It waits for them, so
// what any of them wrote counts.
template <class Of>
TWINLOOM_INLINE bool block_arrives_last(Of* counter, i64 members) {
  __threadfence();
  __syncthreads();
  const bool first = threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0;
  const bool last = __syncthreads_or(first && arrives_last(counter, members)) != 0;
  if (last) __threadfence();
  return last;
}

// What the blocks of a cluster hand to each other: all threads send for all blocks, each into its own
// scratch, and then wait until so many bytes have come into theirs. Every block hears of them by a barrier
// that counts bytes, two by turns: whoever sends for the exchange after the next has heard of the next, and
// so all blocks have been through with this one. All arrays of an exchange are its own until the cluster has
// met again.
class Exchanges {
 public:
  TWINLOOM_INLINE explicit Exchanges(u64* barriers) : barriers_(barriers) {
    if (threadIdx.x == 0) {
      for (int at = 0; at < 2; ++at)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" : : "r"(shared(barriers + at)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
    }
    meet();
  }
  TWINLOOM_INLINE static i64 block() {
    u32 number;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(number));
    return number;
  }
  template <class Of>
  TWINLOOM_INLINE void send(Of* place, Of value, int block) const {
    const u32 there = of_block(place, block), barrier = of_block(barriers_ + (count_ & 1), block);
    if constexpr (sizeof(Of) == 4)
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                   :
                   : "r"(there), "r"(bit_cast<u32>(value)), "r"(barrier)
                   : "memory");
    else
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                   :
                   : "r"(there), "l"(bit_cast<u64>(value)), "r"(barrier)
                   : "memory");
  }
  TWINLOOM_INLINE void receive(u32 bytes) {
    const u32 barrier = shared(barriers_ + (count_ & 1)), parity = count_ >> 1 & 1;
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
                   :
                   : "r"(barrier), "r"(bytes)
                   : "memory");
    u32 complete = 0;
    while (complete == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(complete)
          : "r"(barrier), "r"(parity)
          : "memory");
    ++count_;
  }
  // All threads of all blocks.
  TWINLOOM_INLINE static void meet() {
    asm volatile("barrier.cluster.arrive.release;" : : : "memory");
    asm volatile("barrier.cluster.wait.acquire;" : : : "memory");
  }

 private:
  template <class Of>
  TWINLOOM_INLINE static u32 shared(Of* place) {
    return u32(__cvta_generic_to_shared(place));
  }
  template <class Of>
  TWINLOOM_INLINE static u32 of_block(Of* place, int block) {
    u32 there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(shared(place)), "r"(block));
    return there;
  }
  u64* barriers_;
  u32 count_ = 0;
};

// Values of other threads of the warp, all of whose threads call these.
constexpr u32 WHOLE_WARP = 0xffffffffu;
template <class One, class Moved>
TWINLOOM_INLINE One moved_bits(One value, Moved moved) {
  using Bits = typename IntegerOf<sizeof(One)>::Unsigned;
  if constexpr (same<One, bool>) {
    return moved(u32(value)) != 0;
  } else if constexpr (sizeof(One) <= 4) {
    return bit_cast<One>(Bits(moved(u32(bit_cast<Bits>(value)))));
  } else {
    return bit_cast<One>(Bits(moved(bit_cast<Bits>(value))));
  }
}
// Lanes of 1 and 2 bytes go four and two at a time.
template <class Value, class Moved>
TWINLOOM_INLINE Value moved_value(Value value, Moved moved) {
  using Of = Element<Value>;
  if constexpr (lanes<Value> == 1) {
    return moved_bits(value, moved);
  } else if constexpr (sizeof(Of) < 4 && sizeof(Of) * lanes<Value> >= 4) {
    using Words = InMemory<u32, int(sizeof(Value)) / 4>;
    Words words = bit_cast<Words>(value);
    TWINLOOM_UNROLL
    for (u32& word : words.lane) word = moved(word);
    return bit_cast<Value>(words);
  } else {
    return each_lane([=](Of one) { return moved_bits(one, moved); }, value);
  }
}
// Of the thread `distance` lanes further; past the last lane, the thread's own.
template <class Value>
TWINLOOM_INLINE Value from_lane_above(Value value, int distance) {
  return moved_value(value, [=](auto bits) { return __shfl_down_sync(WHOLE_WARP, bits, distance); });
}
// Of the thread whose lane differs in these bits.
template <class Value>
TWINLOOM_INLINE Value from_lane_across(Value value, int bits_of_lane) {
  return moved_value(value, [=](auto bits) { return __shfl_xor_sync(WHOLE_WARP, bits, bits_of_lane); });
}
// Of the thread with this number in the warp.
template <class Value>
TWINLOOM_INLINE Value from_lane(Value value, int lane) {
  return moved_value(value, [=](auto bits) { return __shfl_sync(WHOLE_WARP, bits, lane); });
}

}  // namespace twinloom::device

#include "cuda/sort_step.h"

// After it.
#include "cuda/block_sum.h"
#include "cuda/row_network.h"

// After these.
#include "cuda/order.h"
#include "cuda/sort.h"
