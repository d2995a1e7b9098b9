// The stable sort of integer keys by the blocks of a grid: what the statement Call stable_sort means. By the
// digits of the keys from the lowest on (a radix sort), each in three launches (sort_step.h): blocks count
// the digits of a run of elements each; one block adds the counts up, digit by digit; blocks put their
// elements where these sums say. Keys out of range count as `bound`, so they come last and are left out.
// Element numbers are moved, not keys, which are read anew. In a block each warp has a run of its own, in
// which it counts as it goes, so that equal digits keep their order. Wants sort_step.h before it.
#pragma once

namespace twinloom::device {

using cuda::SORT_BITS;
using cuda::SORT_ITEMS;
using cuda::SORT_THREADS;
using cuda::SortStep;
using cuda::SortTask;

constexpr int SORT_DIGITS = 1 << SORT_BITS;

// The sum of the values of the block's threads before this one, and of all.
struct BlockSum {
  i64 before, all;
};
TWINLOOM_INLINE BlockSum block_sum(i64 value, i64* of_warps) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32;
  i64 through = value;
  for (int distance = 1; distance < 32; distance *= 2) {
    const i64 other = __shfl_up_sync(WHOLE_WARP, through, distance);
    if (lane >= distance) through += other;
  }
  if (lane == 31) of_warps[warp] = through;
  __syncthreads();
  BlockSum sum{through - value, 0};
  for (int other = 0; other < warps; ++other) {
    if (other == warp) sum.before += sum.all;
    sum.all += of_warps[other];
  }
  __syncthreads();
  return sum;
}

// What the threads of a block share.
struct SortShared {
  i64 places[SORT_DIGITS];  // how many have a digit, or where the next of them goes
  i64 totals[SORT_DIGITS];  // of a turn
  i64 of_warps[SORT_THREADS / 32];
  u32 of_warp[SORT_THREADS / 32][SORT_DIGITS];  // how many of a turn have a digit, then of the warps before
};

template <class Key>
struct Sorting {
  SortShared& shared;
  const SortStep& step;
  i64 *order, *starts;
  i64 n, bound;
  const Key& key;

  TWINLOOM_INLINE static int thread() { return int(threadIdx.x); }
  TWINLOOM_INLINE static int threads() { return int(blockDim.x); }
  TWINLOOM_INLINE static int lane() { return thread() % 32; }
  TWINLOOM_INLINE static u32 lanes_before() { return (u32(1) << lane()) - 1; }
  TWINLOOM_INLINE int digits() const { return 1 << int(step.bits); }

  TWINLOOM_INLINE i64 key_of(i64 element) const {
    const i64 one = element < 0 ? i64(-1) : key(element);
    return one < 0 || one > bound ? bound : one;
  }
  TWINLOOM_INLINE int digit_of(i64 one) const { return int(one >> (step.pass * step.bits)) & (digits() - 1); }
  TWINLOOM_INLINE bool is_last() const { return step.pass + 1 == step.passes; }
  // Passes write to one and the other, the last to `order`.
  TWINLOOM_INLINE i64* target(i64 pass) const {
    return (step.passes - pass) % 2 == 1 ? order : reinterpret_cast<i64*>(step.spare);
  }
  TWINLOOM_INLINE i64 element_at(i64 p) const { return step.pass == 0 ? p : target(step.pass - 1)[p]; }

  // The elements of this block: whole turns.
  struct Run {
    i64 first, end;
  };
  TWINLOOM_INLINE i64 turn() const { return i64(threads()) * SORT_ITEMS; }
  TWINLOOM_INLINE Run run() const {
    const i64 turns = (n + turn() - 1) / turn(), each = (turns + step.blocks - 1) / step.blocks * turn();
    const i64 first = least(each * blockIdx.x, n);
    return {first, least(first + each, n)};
  }

  // The lanes that have the same digit; of no use for -1.
  TWINLOOM_INLINE static u32 peers(int digit) { return __match_any_sync(WHOLE_WARP, u32(digit)); }

  TWINLOOM_INLINE void count() const {
    const Run mine = run();
    for (int d = thread(); d < digits(); d += threads()) shared.places[d] = 0;
    __syncthreads();
    for (i64 first = mine.first; first < mine.end; first += threads()) {
      const i64 p = first + thread();
      const int digit = p < mine.end ? digit_of(key_of(element_at(p))) : -1;
      const u32 same = peers(digit);
      if (digit >= 0 && (same & lanes_before()) == 0)
        atomicAdd(reinterpret_cast<u64*>(shared.places + digit), u64(__popc(same)));
    }
    __syncthreads();
    for (int d = thread(); d < digits(); d += threads())
      step.counts[d * step.blocks + blockIdx.x] = shared.places[d];
  }

  // By one block.
  TWINLOOM_INLINE void scan() const {
    const i64 all = digits() * step.blocks;
    i64 sum = 0;
    for (i64 first = 0; first < all; first += threads()) {
      const i64 at = first + thread();
      const BlockSum turn = block_sum(at < all ? step.counts[at] : 0, shared.of_warps);
      if (at < all) step.counts[at] = sum + turn.before;
      sum += turn.all;
    }
  }

  // What a thread has of a turn.
  struct Item {
    i64 element;
    int digit;   // -1: none
    u32 before;  // of its warp and turn, with this digit
  };
  // In the order of items, then lanes: each warp's elements follow each other.
  TWINLOOM_INLINE Item item(i64 p, i64 end, u32* counts) const {
    Item one{-1, -1, 0};
    if (p < end) {
      one.element = element_at(p);
      const i64 its_key = key_of(one.element);
      one.digit = digit_of(its_key);
      if (is_last() && its_key == bound) one.element = -1;
    }
    const u32 same = peers(one.digit);
    const u32 seen = one.digit >= 0 ? counts[one.digit] : 0;
    __syncwarp();
    if (one.digit >= 0 && (same & lanes_before()) == 0) counts[one.digit] = seen + u32(__popc(same));
    __syncwarp();
    one.before = seen + u32(__popc(same & lanes_before()));
    return one;
  }
  // Makes each warp's count of a digit that of the warps before it.
  TWINLOOM_INLINE void add_up() const {
    for (int d = thread(); d < digits(); d += threads()) {
      u32 sum = 0;
      for (int warp = 0; warp < threads() / 32; ++warp) {
        const u32 own = shared.of_warp[warp][d];
        shared.of_warp[warp][d] = sum;
        sum += own;
      }
      shared.totals[d] = sum;
    }
  }

  TWINLOOM_INLINE void move() const {
    const Run mine = run();
    const int warp = thread() / 32;
    i64* const to = target(step.pass);
    for (int d = thread(); d < digits(); d += threads())
      shared.places[d] = step.counts[d * step.blocks + blockIdx.x];
    for (i64 first = mine.first; first < mine.end; first += turn()) {
      for (int d = lane(); d < digits(); d += 32) shared.of_warp[warp][d] = 0;
      __syncwarp();
      Item items[SORT_ITEMS];
      TWINLOOM_UNROLL
      for (int i = 0; i < SORT_ITEMS; ++i)
        items[i] = item(first + (i64(warp) * SORT_ITEMS + i) * 32 + lane(), mine.end, shared.of_warp[warp]);
      __syncthreads();
      add_up();
      __syncthreads();
      TWINLOOM_UNROLL
      for (int i = 0; i < SORT_ITEMS; ++i) {
        const Item& one = items[i];
        if (one.digit >= 0)
          to[shared.places[one.digit] + shared.of_warp[warp][one.digit] + one.before] = one.element;
      }
      __syncthreads();
      for (int d = thread(); d < digits(); d += threads()) shared.places[d] += shared.totals[d];
    }
  }

  // starts[k] is the first place whose key is k or above: a place writes those between its neighbour's key
  // and its own; a warp together where they are many.
  TWINLOOM_INLINE void mark() const {
    const i64 grid = i64(gridDim.x) * threads();
    for (i64 first = i64(blockIdx.x) * threads(); first <= n; first += grid) {
      const i64 p = first + thread();
      const i64 low = p == 0 || p > n ? 0 : key_of(order[p - 1]) + 1;
      const i64 high = p > n ? -1 : p == n ? bound : key_of(order[p]);
      const bool many = high - low >= 32;
      if (!many)
        for (i64 k = low; k <= high; ++k) starts[k] = p;
      for (u32 left = __ballot_sync(WHOLE_WARP, many); left != 0; left &= left - 1) {
        const int one = __ffs(left) - 1;
        const i64 from = __shfl_sync(WHOLE_WARP, low, one), to = __shfl_sync(WHOLE_WARP, high, one);
        const i64 place = __shfl_sync(WHOLE_WARP, p, one);
        for (i64 k = from + lane(); k <= to; k += 32) starts[k] = place;
      }
    }
  }
};

// Called as a function of the same name.
struct StableSort {
  const SortStep& step;
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, Key key) const {
    __shared__ SortShared shared;
    const Sorting<Key> sorting{shared, step, order, starts, n, bound, key};
    switch (step.task) {
      case SortTask::count:
        return sorting.count();
      case SortTask::scan:
        return sorting.scan();
      case SortTask::move:
        return sorting.move();
      case SortTask::mark:
        return sorting.mark();
    }
  }
  // Of rows: all at once, by the row and then the key.
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, i64 rows, Key key) const {
    (*this)(order, starts, rows * n, rows * bound, [&](i64 p) {
      const i64 own = key(p);
      return own < 0 || own >= bound ? i64(-1) : p / n * bound + own;
    });
  }
};

}  // namespace twinloom::device
