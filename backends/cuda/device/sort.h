// The stable sort of integer keys by the blocks of a grid: what the statement Call stable_sort means. By the
// digits of the keys from the lowest on (a radix sort). Rows are sorted alone, some short ones as one segment
// with the row in front of the key. A segment is sorted by one block, or by several in three launches a pass
// (sort_step.h): blocks count the digits of a run of elements each; warps add the counts of a digit up, block
// by block; blocks put their elements where these sums say. In a block each warp has a run of its own, in
// which it counts as it goes, so that equal digits keep their order. Between two passes a word holds an element
// and its key, of 32 bits each. Keys out of range count as the largest and come last. Wants sort_step.h before it.
#pragma once

namespace twinloom::device {

using cuda::SORT_SHAPE;
using cuda::SortShape;
using cuda::SortStep;
using cuda::SortTask;

// What the threads of a block share.
template <SortShape shape>
struct SortShared {
  i64 places[u32(shape.digits())];                  // where the next element with a digit goes
  u32 totals[u32(shape.digits())];                  // how many of this block, or of an iteration, have a digit
  u16 of_warp[u32(shape.warps())][u32(shape.digits())];  // how many of an iteration have it, then of the warps before
  i64 of_warps[u32(shape.warps())];
};

// The sum of the values of the warp's lanes up to this one.
TWINLOOM_INLINE i64 sum_through(i64 value) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const i64 other = __shfl_up_sync(WHOLE_WARP, value, distance);
    if (int(threadIdx.x) % 32 >= distance) value += other;
  }
  return value;
}
// The sum of the values of the block's threads before this one.
TWINLOOM_INLINE i64 sum_before(i64 value, i64* of_warps) {
  const int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  const i64 through = sum_through(value);
  if (lane == 31) of_warps[warp] = through;
  __syncthreads();
  i64 before = through - value;
  for (int other = 0; other < warp; ++other) before += of_warps[other];
  __syncthreads();
  return before;
}

template <SortShape shape, class Key, class Failure>
class Sorting {
  static_assert(2 * shape.threads >= shape.digits(), "a thread has two digits at most");

 public:
  TWINLOOM_INLINE Sorting(SortShared<shape>& shared, const SortStep& step, i64* order, i64* starts, i64 n, i64 bound,
                          i64 rows, const Key& key, Failure failure)
      : shared_(shared), step_(step), order_(order), starts_(starts), n_(n), bound_(bound), key_(key), failure_(failure) {
    segment_ = short_div(blockIdx.x, step.blocks);
    part_ = i64(blockIdx.x) - segment_ * step.blocks;
    const i64 first_row = segment_ * step.rows_each;
    rows_ = least(step.rows_each, rows - first_row);
    first_ = first_row * n;
    first_key_ = first_row * bound;
    size_ = u32(rows_ * n);
    keys_ = u32(rows_ * bound);
    is_only_ = step.rows_each >= rows;
    is_last_ = first_row + step.rows_each >= rows;
  }

  // Every pass is a walk that counts, then one that moves.
  TWINLOOM_INLINE void run() {
    const bool whole = step_.task == SortTask::whole;
    i64 first = whole ? 0 : 2 * step_.pass, last = whole ? 2 * step_.passes : first + 2;
    if (step_.task == SortTask::count) last = first + 1;
    if (step_.task == SortTask::move) first += 1;
    if (step_.task == SortTask::mark) last = first;
    for (i64 at = first; at < last; ++at) {
      const bool moving = at % 2 == 1;
      if (moving)
        begin_digits(whole);
      else
        for (int d = thread(); d < digits(); d += shape.threads) shared_.totals[d] = 0;
      __syncthreads();
      walk(at / 2, moving);
    }
    if (step_.task == SortTask::count)
      for (int d = thread(); d < digits(); d += shape.threads)
        step_.counts[(segment_ * digits() + d) * step_.blocks + part_] = shared_.totals[d];
    if (step_.task == SortTask::mark) mark();
  }

  // Of digit `number` of all segments.
  TWINLOOM_INLINE static void scan(const SortStep& step, i64 number) {
    i64* const counts = step.counts + number * step.blocks;
    i64 sum = 0;
    for (i64 first = 0; first < step.blocks; first += 32) {
      const i64 at = first + lane(), value = at < step.blocks ? counts[at] : 0;
      const i64 through = sum_through(value);
      if (at < step.blocks) counts[at] = sum + through - value;
      sum += __shfl_sync(WHOLE_WARP, through, 31);
    }
    if (lane() == 0) step.totals[number] = sum;
  }

 private:
  // starts[k] is the first place whose key is k or above: a place writes those between its neighbour's key
  // and its own; a warp together where they are many.
  TWINLOOM_INLINE void mark() const {
    const i64 last = is_last_ ? keys_ : i64(keys_) - 1;  // the next segment begins with the one after
    const i64 size = size_;
    for (i64 first = part_ * shape.threads; first <= size; first += step_.blocks * shape.threads) {
      const i64 p = first + thread();
      const i64 low = p == 0 || p > size ? 0 : i64(key_at(u32(p - 1))) + 1;
      const i64 high = p > size ? -1 : p == size ? last : least(i64(key_at(u32(p))), last);
      const bool many = high - low >= 32;
      for (i64 k = low; !many && k <= high; ++k) starts_[first_key_ + k] = first_ + p;
      for (u32 left = __ballot_sync(WHOLE_WARP, many); left != 0; left &= left - 1) {
        const int one = __ffs(left) - 1;
        const i64 from = __shfl_sync(WHOLE_WARP, low, one), to = __shfl_sync(WHOLE_WARP, high, one);
        const i64 place = __shfl_sync(WHOLE_WARP, p, one);
        for (i64 k = from + lane(); k <= to; k += 32) starts_[first_key_ + k] = first_ + place;
      }
    }
  }

  TWINLOOM_INLINE static int thread() { return int(threadIdx.x); }
  TWINLOOM_INLINE static int lane() { return thread() % 32; }
  TWINLOOM_INLINE static u32 lanes_before() { return (u32(1) << lane()) - 1; }
  TWINLOOM_INLINE int digits() const { return 1 << int(step_.bits); }
  TWINLOOM_INLINE bool is_scanned() const { return step_.blocks > cuda::MOST_UNSCANNED; }
  TWINLOOM_INLINE int first_digit() const { return 2 * thread(); }  // of the two that a thread has

  // Of element p of the segment, whose key in its row is `own`. Where there are several segments each element
  // has a place: an index that is out of range has made the run fail.
  TWINLOOM_INLINE u32 key_of(i64 own, u32 p) const {
    if (!is_only_) own = least(greatest(own, i64(0)), bound_ - 1);
    if (own < 0 || own >= bound_) return keys_;
    return rows_ == 1 ? u32(own) : u32(short_div(p, n_) * bound_ + own);
  }
  TWINLOOM_INLINE u32 key_at(u32 p) const {
    const i64 element = order_[first_ + p];
    return element < 0 ? keys_ : key_of(key_(element, Unchecked{}), u32(element - first_));
  }

  // Passes write words to one and the other, the last one elements to `order`.
  TWINLOOM_INLINE i64* target(i64 pass) const {
    return ((step_.passes - pass) % 2 == 1 ? order_ : static_cast<i64*>(step_.spare)) + first_;
  }
  TWINLOOM_INLINE static i64 word_of(u32 key, u32 element) { return i64(u64(key) << 32 | element); }
  TWINLOOM_INLINE int digit_of(i64 pass, i64 word) const {
    return int(u32(u64(word) >> 32) >> int(pass * step_.bits)) & (digits() - 1);
  }
  TWINLOOM_INLINE i64 element_of(i64 word) const {
    const bool is_out = is_only_ && u32(u64(word) >> 32) == keys_;
    return is_out ? i64(-1) : first_ + u32(word);
  }

  // Places of the two digits of a thread, from how many of the segment have them and how many of these lie in
  // the blocks before.
  TWINLOOM_INLINE void begin_digits(bool whole) {
    const int first = first_digit();
    i64 counts[2] = {0, 0}, before[2] = {0, 0};
    const i64 blocks = whole || is_scanned() ? 0 : step_.blocks;
    for (int one = 0; one < 2 && first + one < digits(); ++one) {
      const i64 number = segment_ * digits() + first + one;
      const i64* const of_blocks = step_.counts + number * step_.blocks;
      if (whole) counts[one] = shared_.totals[first + one];
      if (!whole && is_scanned()) counts[one] = step_.totals[number], before[one] = of_blocks[part_];
      TWINLOOM_ROLLED
      for (i64 block = 0; block < blocks; ++block) {
        const i64 count = of_blocks[block];
        counts[one] += count;
        if (block < part_) before[one] += count;
      }
    }
    const i64 place = sum_before(counts[0] + counts[1], shared_.of_warps);
    if (first < digits()) begin_digit(first, place, before[0]);
    if (first + 1 < digits()) begin_digit(first + 1, place + counts[0], before[1]);
  }
  // Of one pass, digits are keys.
  TWINLOOM_INLINE void begin_digit(int d, i64 place, i64 before) {
    shared_.places[d] = place + before;
    if (step_.passes > 1 || part_ != 0) return;
    if (u32(d) < keys_ || (u32(d) == keys_ && is_last_)) starts_[first_key_ + d] = first_ + place;
    if (d + 1 == digits() && keys_ == u32(digits()) && is_last_) starts_[first_key_ + keys_] = first_ + size_;
  }

  // How many of the warp's elements before, in the order of items, then lanes, have the same digit; -1 is none.
  TWINLOOM_INLINE static u32 rank(int digit, u16* counts) {
    const u32 same = __match_any_sync(WHOLE_WARP, u32(digit));
    const u32 seen = digit >= 0 ? counts[digit] : 0, before = u32(__popc(same & lanes_before()));
    __syncwarp();
    if (digit >= 0 && before == 0) counts[digit] = u16(seen + u32(__popc(same)));
    __syncwarp();
    return seen + before;
  }
  // Makes each warp's count of a digit that of the warps before it; two digits at once.
  TWINLOOM_INLINE void add_up() {
    const int d = first_digit();
    if (d >= digits()) return;
    u32 sum = 0;
    TWINLOOM_UNROLL
    for (int warp = 0; warp < shape.warps(); ++warp) {
      u32* const counts = reinterpret_cast<u32*>(shared_.of_warp[warp] + d);
      const u32 own = *counts;
      *counts = sum;
      sum += own;
    }
    shared_.totals[d] = sum & 0xffff;
    if (d + 1 < digits()) shared_.totals[d + 1] = sum >> 16;
  }

  // Counts the digits of this block's elements, or moves them.
  TWINLOOM_INLINE void walk(i64 pass, bool moving) {
    const u32 end = u32(least((part_ + 1) * step_.each, i64(size_)));
    for (u32 first = u32(least(part_ * step_.each, i64(size_))); first < end; first += u32(shape.at_once())) {
      const u32 own = first + u32(thread() / 32 * shape.items * 32 + lane());
      i64 words[u32(shape.items)];
      load(pass, own, end, words);
      if (moving) move(pass, words);
      TWINLOOM_UNROLL
      for (int i = 0; i < shape.items; ++i)
        if (!moving && words[i] >= 0) atomicAdd(shared_.totals + digit_of(pass, words[i]), u32(1));
      if (pass == 0 && !moving)
        for (u32 p = own; p < least(own + u32(shape.items) * 32, end); p += 32) key_(first_ + p, failure_);
    }
    __syncthreads();
  }
  // The words of a thread, -1 past the end. All loads are on their way before the first is waited for, so keys
  // are not checked here.
  TWINLOOM_INLINE void load(i64 pass, u32 own, u32 end, i64 (&words)[u32(shape.items)]) const {
    const i64* const from = target(pass - 1);
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const u32 p = least(own + u32(i) * 32, end - 1);
      words[i] = pass == 0 ? key_(first_ + p, Unchecked{}) : from[p];
    }
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const u32 p = own + u32(i) * 32;
      if (pass == 0) words[i] = word_of(key_of(words[i], least(p, end - 1)), p);
      if (p >= end) words[i] = -1;
    }
  }

  TWINLOOM_INLINE void move(i64 pass, const i64 (&words)[u32(shape.items)]) {
    u16* const counts = shared_.of_warp[thread() / 32];
    for (int d = 2 * lane(); d < digits(); d += 64) *reinterpret_cast<u32*>(counts + d) = 0;
    __syncwarp();
    u32 ranks[u32(shape.items)];
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i)
      ranks[i] = rank(words[i] < 0 ? -1 : digit_of(pass, words[i]), counts);
    __syncthreads();
    add_up();
    __syncthreads();
    i64* const to = target(pass);
    const bool is_end = pass + 1 == step_.passes;
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      if (words[i] < 0) continue;
      const int digit = digit_of(pass, words[i]);
      to[shared_.places[digit] + counts[digit] + ranks[i]] = is_end ? element_of(words[i]) : words[i];
    }
    __syncthreads();
    for (int d = thread(); d < digits(); d += shape.threads) shared_.places[d] += shared_.totals[d];
  }

  SortShared<shape>& shared_;
  const SortStep& step_;
  i64 *order_, *starts_;
  i64 n_, bound_;
  const Key& key_;
  Failure failure_;
  i64 segment_, part_;              // of this block
  i64 rows_, first_, first_key_;    // of the segment
  u32 size_, keys_;                 // of it
  bool is_only_, is_last_;          // of the segments
};

// Called as a function of the name stable_sort. `key(p, failure)` is the key of element p, and reports an index
// that is out of range to `failure`.
template <SortShape shape, class Failure>
struct BlockSort {
  const SortStep& step;
  Failure failure;
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, i64 rows, Key key) const {
    using Sorts = Sorting<shape, Key, Failure>;
    __shared__ SortShared<shape> shared;
    if (step.task != SortTask::scan)
      return Sorts(shared, step, order, starts, n, bound, rows, key, failure).run();
    const i64 number = i64(blockIdx.x) * shape.warps() + int(threadIdx.x) / 32;
    if (number < step.segments << step.bits) Sorts::scan(step, number);
  }
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, Key key) const {
    (*this)(order, starts, n, bound, 1, key);
  }
};
using StableSort = BlockSort<SORT_SHAPE, emit::FailureRecord*>;

}  // namespace twinloom::device
