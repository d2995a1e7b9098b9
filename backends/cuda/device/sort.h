// The stable sort of small integer keys by the blocks of a grid: what the statement Call stable_sort means. A
// block takes the keys of a range, for which it has a counter each, and reads the keys of all elements twice:
// once to count its own and those below, once to put its own where they belong. So no block waits for
// another, and nothing depends on how many there are. Elements are taken in their order, one a thread; where
// several of one turn have the same key, warps take their places one after the other, and in a warp the lower
// lane comes first.
#pragma once

namespace twinloom::device {

constexpr int SORT_AHEAD = 4;  // keys that a thread reads before it looks at one of them

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
template <u32 range>
struct SortShared {
  i64 cursors[range];  // of a key: how many there are, then where its next element goes
  i64 of_warps[32];
  u32 takes[2][32];  // whether a warp has elements in this turn, and in the next
};

// The keys low <= key < high, by one block.
template <u32 range, class Key>
struct RangeSort {
  SortShared<range>& shared;
  i64 *order, *starts;
  i64 n, low, high;
  const Key& key;

  struct Ahead {
    i64 keys[SORT_AHEAD];
    bool mine = false;  // one of them is in the range
  };
  TWINLOOM_INLINE bool is_mine(i64 one) const { return one >= low && one < high; }
  TWINLOOM_INLINE i64 place(i64 first, int turn) const {
    return first + i64(turn) * blockDim.x + threadIdx.x;
  }
  // Of the elements of SORT_AHEAD turns from `first` on, those of this thread; -1 behind the last.
  TWINLOOM_INLINE Ahead read(i64 first) const {
    Ahead ahead;
    for (int turn = 0; turn < SORT_AHEAD; ++turn) {
      const i64 p = place(first, turn);
      ahead.keys[turn] = p < n ? key(p) : i64(-1);
      ahead.mine = ahead.mine || is_mine(ahead.keys[turn]);
    }
    return ahead;
  }
  // The lanes that have the same key; of no use where that is not in the range.
  TWINLOOM_INLINE u32 peers(i64 one) const {
    return __match_any_sync(WHOLE_WARP, is_mine(one) ? u64(one - low) : ~u64(0));
  }

  // Counts, then makes each count the place of the key's first element. Gives the place behind the last.
  TWINLOOM_INLINE i64 count() const {
    const int thread = int(threadIdx.x), threads = int(blockDim.x), lane = thread % 32;
    for (i64 k = thread; k < high - low; k += threads) shared.cursors[k] = 0;
    __syncthreads();
    i64 below = 0;
    for (i64 first = 0; first < n; first += i64(SORT_AHEAD) * threads) {
      const Ahead ahead = read(first);
      for (const i64 one : ahead.keys) below += one >= 0 && one < low;
      if (__ballot_sync(WHOLE_WARP, ahead.mine) == 0) continue;
      for (const i64 one : ahead.keys) {
        const u32 same = peers(one);
        if (is_mine(one) && lane == __ffs(same) - 1)
          atomicAdd(reinterpret_cast<u64*>(shared.cursors + (one - low)), u64(__popc(same)));
      }
    }
    __syncthreads();
    i64 end = block_sum(below, shared.of_warps).all;
    for (i64 first = 0; first < high - low; first += threads) {
      const i64 k = first + thread;
      const BlockSum sum = block_sum(k < high - low ? shared.cursors[k] : 0, shared.of_warps);
      if (k < high - low) shared.cursors[k] = end + sum.before;
      end += sum.all;
    }
    __syncthreads();
    return end;
  }

  // The elements of one turn go where their keys' cursors are, which move on.
  TWINLOOM_INLINE void put(i64 p, i64 one, u32* takes) const {
    const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32, warps = int(blockDim.x) / 32;
    const bool mine = is_mine(one);
    const u32 own = __ballot_sync(WHOLE_WARP, mine);
    if (lane == 0) takes[warp] = own != 0;
    __syncthreads();
    const u32 same = peers(one);
    const int first = __ffs(same) - 1, before = __popc(same & ((u32(1) << lane) - 1));
    u32 waiting = __ballot_sync(WHOLE_WARP, lane < warps && takes[lane] != 0);
    for (; waiting != 0; waiting &= waiting - 1) {
      if (warp == __ffs(waiting) - 1) {
        i64 at = 0;
        if (mine && lane == first) {
          at = shared.cursors[one - low];
          shared.cursors[one - low] = at + __popc(same);
        }
        at = __shfl_sync(WHOLE_WARP, at, first);
        if (mine) order[at + before] = p;
      }
      __syncthreads();
    }
  }

  // Gives the place behind the last element.
  TWINLOOM_INLINE i64 run() const {
    const i64 end = count();
    for (i64 first = 0; first < n; first += i64(SORT_AHEAD) * blockDim.x) {
      const Ahead ahead = read(first);
      if (!__syncthreads_or(ahead.mine)) continue;
      for (int turn = 0; turn < SORT_AHEAD; ++turn)
        put(place(first, turn), ahead.keys[turn], shared.takes[turn % 2]);
    }
    __syncthreads();
    // Each cursor has come to where the next key begins.
    for (i64 k = threadIdx.x; k < high - low; k += blockDim.x) starts[low + k + 1] = shared.cursors[k];
    __syncthreads();
    return end;
  }
};

template <u32 range = 4096, class Key>
TWINLOOM_INLINE void stable_sort(i64* order, i64* starts, i64 n, i64 bound, Key key) {
  __shared__ SortShared<range> shared;
  const bool is_first = blockIdx.x == 0;
  if (is_first && threadIdx.x == 0) starts[0] = 0;
  i64 end = bound == 0 && is_first ? 0 : -1;
  for (i64 low = i64(range) * blockIdx.x; low < bound; low += i64(range) * gridDim.x) {
    const i64 high = least(low + range, bound);
    const i64 behind = RangeSort<range, Key>{shared, order, starts, n, low, high, key}.run();
    if (high == bound) end = behind;
  }
  // Whoever has the last key knows how many are left out.
  if (end < 0) return;
  for (i64 p = end + threadIdx.x; p < n; p += blockDim.x) order[p] = -1;
}

}  // namespace twinloom::device
