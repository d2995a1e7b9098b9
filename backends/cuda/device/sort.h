// The stable sort of integer keys by the blocks of a grid: what the statement Call stable_sort means. Rows
// are sorted alone, some short ones as one segment with the row in front of the key. A segment of few
// elements is sorted in one launch: each block reads all of them, and sorts those whose keys are in a range
// of its own, which its warps gather in shared memory first, where there is room for them. Else by the digits
// of the keys from the lowest on (a radix sort), in two or three launches a pass (sort_step.h): blocks count
// the digits of a run of elements each; warps add the counts of a digit up, block by block; blocks move their
// elements where these sums say. In a block each warp has a run of its own, in which it counts as it goes, so
// that equal digits keep their order; an iteration's elements are put into the order of their digits in
// shared memory, so that a warp writes neighbours. Between two passes a word holds an element and its key, of
// 32 bits each. Keys out of range count as the largest and come last. Where nobody asks where keys begin,
// order.h sorts. Wants sort_step.h and block_sum.h before it.
#pragma once

namespace twinloom::device {

using cuda::SORT_SHAPE;
using cuda::SortShape;
using cuda::SortStep;
using cuda::SortTask;

// What the threads of a block share.
template <SortShape shape>
struct SortShared {
  i64 words[u32(shape.at_once())];                       // of an iteration, in the order of their digits
  u16 of_warp[u32(shape.warps())][u32(shape.digits())];  // how many have a digit, then where they begin in `words`
  u32 places[u32(shape.digits())];                       // where the first word with a digit goes, less where it is
  u32 totals[u32(shape.digits())];                       // how many of this block have a digit
  u32 of_warps[u32(shape.warps())];
  u32 size;  // of `words`; after counting, how many are below the range
};

// may_gather: whether there may be ranges, of which the elements are gathered first.
template <SortShape shape, bool may_gather, class Key, class Failure>
class Sorting {
  static_assert(2 * shape.threads >= shape.digits(), "a thread has two digits at most");
  static_assert(shape.at_once() < 1 << 16, "counts of an iteration are of 16 bits");
  static_assert(sizeof(SortShared<shape>) == shape.shared_bytes(), "what a launch asks for");

 public:
  TWINLOOM_INLINE Sorting(SortShared<shape>& shared, const SortStep& step, i64* order, i64* starts, i64 n, i64 bound,
                          i64 rows, const Key& key, Failure failure)
      : shared_(shared), step_(step), order_(order), starts_(starts), n_(n), bound_(bound), key_(key),
        failure_(failure) {
    segment_ = short_div(blockIdx.x, step.blocks);
    part_ = i64(blockIdx.x) - segment_ * step.blocks;
    const i64 first_row = segment_ * step.rows_each;
    rows_ = least(step.rows_each, rows - first_row);
    first_ = held(first_row * n);
    first_key_ = first_row * bound;
    size_ = u32(rows_ * n);
    keys_ = rows_ * bound;
    is_only_ = step.rows_each >= rows;
    is_last_ = first_row + step.rows_each >= rows;
    is_range_ = step.task == SortTask::range;
    is_whole_ = step.is_whole != 0;
    shift_ = 32 + (is_whole_ ? int(step.pass * step.bits) : 0);
    low_ = is_range_ ? u32(part_) << int(step.bits) : 0;
    above_ = is_range_ ? (u32(1) << int(step.bits)) - 1 : u32(-1);
    begin_ = is_range_ ? 0 : u32(least(part_ * step.each, i64(size_)));
    end_ = is_range_ ? size_ : u32(least((part_ + 1) * step.each, i64(size_)));
  }

  TWINLOOM_INLINE void run() {
    if (step_.task == SortTask::mark) return mark();
    if (may_gather && is_range_ && step_.blocks > 1) {
      if (sort_gathered()) return;
    } else if (step_.task != SortTask::move) {
      count();
    }
    if (step_.task == SortTask::count) return store_counts();
    begin_digits();
    __syncthreads();
    for (u32 first = begin_; first < end_; first += u32(shape.at_once())) move(first);
  }

  // Of digit `number` of all segments.
  TWINLOOM_INLINE static void scan(const SortStep& step, i64 number) {
    i64* const counts = step.counts + number * step.blocks;
    u32 sum = 0;
    for (i64 first = 0; first < step.blocks; first += 32) {
      const i64 at = first + lane();
      const u32 value = at < step.blocks ? u32(counts[at]) : 0, through = sum_through(value);
      if (at < step.blocks) counts[at] = sum + through - value;
      sum += u32(__shfl_sync(WHOLE_WARP, through, 31));
    }
    if (lane() == 0) step.totals[number] = sum;
  }

 private:
  static constexpr i64 NONE = -1;  // no word

  TWINLOOM_INLINE void store_counts() const {
    for (int d = thread(); d < digits(); d += shape.threads)
      step_.counts[(segment_ * digits() + d) * step_.blocks + part_] = shared_.totals[d];
  }

  // starts[k] is the first place whose key is k or above: a place writes those between its neighbour's key
  // and its own; a warp together where they are many.
  TWINLOOM_INLINE void mark() const {
    const i64 last = is_last_ ? keys_ : keys_ - 1;  // the next segment begins with the one after
    const i64 size = size_;
    for (i64 first = part_ * shape.threads; first <= size; first += step_.blocks * shape.threads) {
      const i64 p = first + thread();
      const i64 low = p == 0 || p > size ? 0 : key_at(u32(p - 1)) + 1;
      const i64 high = p > size ? -1 : p == size ? last : least(key_at(u32(p)), last);
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
  TWINLOOM_INLINE i64 key_of(i64 own, u32 p) const {
    const bool outside = u64(own) >= u64(bound_);
    if (outside) own = bound_ - 1;
    const i64 key = rows_ == 1 ? own : short_div(p, n_) * bound_ + own;
    return outside && is_only_ ? step_.outside : key;
  }
  TWINLOOM_INLINE i64 key_at(u32 p) const {
    const i64 element = order_[first_ + p];
    return element < 0 ? step_.outside : key_of(key_(element, Unchecked{}), u32(element - first_));
  }
  // What a word of this pass holds of a key.
  TWINLOOM_INLINE u32 held_of(i64 key) const {
    const int passed = is_whole_ ? 0 : int(step_.pass * step_.bits);
    return u32(key >> passed) & u32((u64(1) << shape.key_bits) - 1);
  }
  TWINLOOM_INLINE i64 word_of(i64 own, u32 p) const { return i64(u64(held_of(key_of(own, p))) << 32 | p); }

  // Passes write words to one and the other, the last one elements to `order`.
  TWINLOOM_INLINE i64* target(i64 pass) const {
    return ((step_.passes - pass) % 2 == 1 ? order_ : static_cast<i64*>(step_.spare)) + first_;
  }
  TWINLOOM_INLINE static u32 key_in(i64 word) { return u32(u64(word) >> 32); }
  TWINLOOM_INLINE int digit_of(i64 word) const {
    return int(u32(u64(word) >> shift_) - low_) & (digits() - 1);
  }

  // Places of the two digits of a thread.
  TWINLOOM_INLINE void begin_digits() {
    const int first = first_digit();
    u32 counts[2] = {0, 0}, before[2] = {0, 0};
    if (is_range_) {
      for (int one = 0; one < 2 && first + one < digits(); ++one) counts[one] = shared_.totals[first + one];
    } else if (first < digits()) {
      add_blocks(counts, before);
    }
    const u32 within = sum_before<shape.warps()>(counts[0] + counts[1], shared_.of_warps);
    const u32 place = is_range_ ? within + shared_.size : within;
    if (first < digits()) begin_digit(first, place);
    if (first + 1 < digits()) begin_digit(first + 1, place + counts[0]);
    next_[0] = place + before[0];
    next_[1] = place + counts[0] + before[1];
  }
  // How many of the segment have the two digits of a thread, and how many of these lie in the blocks before.
  // Some loads are on their way at once.
  TWINLOOM_INLINE void add_blocks(u32 (&counts)[2], u32 (&before)[2]) const {
    constexpr int AT_ONCE = 4;
    const i64 number = segment_ * digits() + first_digit();
    const i64 second = first_digit() + 1 < digits() ? number + 1 : number;
    const i64* const of_digits[2] = {step_.counts + number * step_.blocks, step_.counts + second * step_.blocks};
    if (is_scanned()) {
      counts[0] = u32(step_.totals[number]), counts[1] = u32(step_.totals[second]);
      before[0] = u32(of_digits[0][part_]), before[1] = u32(of_digits[1][part_]);
    }
    const i64 blocks = is_scanned() ? 0 : step_.blocks;
    TWINLOOM_ROLLED
    for (i64 begin = 0; begin < blocks; begin += AT_ONCE) {
      u32 some[2 * AT_ONCE];
      TWINLOOM_UNROLL
      for (int i = 0; i < 2 * AT_ONCE; ++i) some[i] = u32(of_digits[i % 2][least(begin + i / 2, blocks - 1)]);
      TWINLOOM_UNROLL
      for (int i = 0; i < 2 * AT_ONCE; ++i) {
        if (begin + i / 2 < blocks) counts[i % 2] += some[i];
        if (begin + i / 2 < part_) before[i % 2] += some[i];
      }
    }
    if (second == number) counts[1] = 0;
  }
  // Of one pass, digits are keys.
  TWINLOOM_INLINE void begin_digit(int d, u32 place) {
    if (step_.passes > 1 || (part_ != 0 && !is_range_)) return;
    const u32 key = low_ + u32(d);
    if (key < keys_ || (key == keys_ && is_last_)) starts_[first_key_ + key] = first_ + place;
    if (d + 1 == digits() && keys_ == key + 1 && is_last_) starts_[first_key_ + keys_] = first_ + size_;
  }

  // Makes each warp's count of a digit where its elements begin among `words`; two digits at once.
  TWINLOOM_INLINE void add_up() {
    const int d = first_digit();
    u32 counts[u32(shape.warps())], sum = 0;
    TWINLOOM_UNROLL
    for (int warp = 0; warp < shape.warps(); ++warp) {
      counts[warp] = d < digits() ? *reinterpret_cast<const u32*>(shared_.of_warp[warp] + d) : 0;
      sum += counts[warp];
    }
    const u32 low = sum & 0xffff, high = sum >> 16;
    const u32 begin = sum_before<shape.warps()>(low + high, shared_.of_warps);
    if (thread() == shape.threads - 1) shared_.size = begin + low + high;
    if (d >= digits()) return;
    u32 both = begin | (begin + low) << 16;
    TWINLOOM_UNROLL
    for (int warp = 0; warp < shape.warps(); ++warp) {
      *reinterpret_cast<u32*>(shared_.of_warp[warp] + d) = both;
      both += counts[warp];
    }
    shared_.places[d] = next_[0] - begin;
    if (d + 1 < digits()) shared_.places[d + 1] = next_[1] - begin - low;
    next_[0] += low;
    next_[1] += high;
  }

  // Counts the digits of a range's elements, and sorts them where they are all in shared memory at once:
  // false where one of the warps had no room for its own.
  TWINLOOM_INLINE bool sort_gathered() {
    i64 words[u32(shape.items)];
    if (!gather(words)) return false;
    begin_digits();
    __syncthreads();
    arrange(words);
    write();
    return true;
  }
  // The words of the range, a run of the segment by each warp, in their order.
  TWINLOOM_INLINE bool gather(i64 (&words)[u32(shape.items)]) {
    constexpr u32 ROOM = u32(shape.items) * 32;  // of a warp
    i64* const own_words = shared_.words + u32(thread() / 32) * ROOM;
    for (int d = thread(); d < digits(); d += shape.threads) shared_.totals[d] = 0;
    if (thread() == 0) shared_.size = 0;
    __syncthreads();
    const u32 iterations = (size_ + u32(shape.at_once()) - 1) / u32(shape.at_once());
    u32 count = 0, below = 0;
    for (u32 iteration = 0; iteration < iterations; ++iteration) {
      const u32 own = (u32(thread() / 32) * iterations + iteration) * ROOM + u32(lane());
      below += load(own, words);
      TWINLOOM_UNROLL
      for (int i = 0; i < shape.items; ++i) {
        const u32 there = __ballot_sync(WHOLE_WARP, words[i] != NONE);
        const u32 at = count + u32(__popc(there & lanes_before()));
        if (words[i] != NONE) atomicAdd(shared_.totals + digit_of(words[i]), u32(1));
        if (words[i] != NONE && at < ROOM) own_words[at] = words[i];
        count += u32(__popc(there));
      }
      if (iteration % u32(step_.blocks) == u32(part_)) check(own);
    }
    if (below > 0) atomicAdd(&shared_.size, below);
    if (lane() == 0) shared_.of_warps[thread() / 32] = count;
    __syncthreads();
    bool fits = true;
    for (int warp = 0; warp < shape.warps(); ++warp) fits &= shared_.of_warps[warp] <= ROOM;
    __syncthreads();  // sums are made where the counts are
    if (!fits) return false;
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const u32 at = u32(i * 32 + lane());
      words[i] = at < count ? own_words[at] : NONE;
    }
    return true;
  }

  // Counts the digits of this block's elements; of a range also the elements whose keys are below it.
  TWINLOOM_INLINE void count() {
    for (int d = thread(); d < digits(); d += shape.threads) shared_.totals[d] = 0;
    if (thread() == 0) shared_.size = 0;
    __syncthreads();
    u32 below = 0;
    for (u32 first = begin_; first < end_; first += u32(shape.at_once())) {
      const u32 own = own_first(first);
      i64 words[u32(shape.items)];
      below += load(own, words);
      TWINLOOM_UNROLL
      for (int i = 0; i < shape.items; ++i)
        if (words[i] != NONE) atomicAdd(shared_.totals + digit_of(words[i]), u32(1));
      const bool checks = !is_range_ || first / u32(shape.at_once()) % u32(step_.blocks) == u32(part_);
      if (step_.pass == 0 && checks) check(own);
    }
    if (below > 0) atomicAdd(&shared_.size, below);
    __syncthreads();
  }
  TWINLOOM_INLINE static u32 own_first(u32 first) { return first + u32(thread() / 32 * shape.items * 32 + lane()); }
  TWINLOOM_INLINE void check(u32 own) const {
    for (u32 p = own; p < least(own + u32(shape.items) * 32, end_); p += 32) key_(first_ + p, failure_);
  }
  // The words of a thread, NONE past the end and outside of a range. Returns how many are below the range.
  // All loads are on their way before the first is waited for, so keys are not checked here.
  TWINLOOM_INLINE u32 load(u32 own, i64 (&words)[u32(shape.items)]) const {
    const u32 last = end_ - 1;
    if (step_.pass == 0) {
      load_keys(own, words);
      TWINLOOM_UNROLL
      for (int i = 0; i < shape.items; ++i) {
        const u32 p = own + u32(i) * 32;
        words[i] = word_of(words[i], least(p, last));
      }
    } else {
      const i64* const from = target(step_.pass - 1);
      TWINLOOM_UNROLL
      for (int i = 0; i < shape.items; ++i) words[i] = from[least(own + u32(i) * 32, last)];
      if (!is_whole_) reload(words);
    }
    u32 below = 0;
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const bool is_there = own + u32(i) * 32 < end_;
      const u32 key = key_in(words[i]);
      if (is_there && key < low_) ++below;
      if (!is_there || key - low_ > above_) words[i] = NONE;
    }
    return below;
  }
  // Past the end that of the last element.
  TWINLOOM_INLINE void load_keys(u32 own, i64 (&keys)[u32(shape.items)]) const {
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i)
      keys[i] = key_(first_ + least(own + u32(i) * 32, end_ - 1), Unchecked{});
  }

  // The digits of this pass, for words of the last one.
  TWINLOOM_INLINE void reload(i64 (&words)[u32(shape.items)]) const {
    TWINLOOM_ROLLED
    for (int i = 0; i < shape.items; ++i)
      words[i] = word_of(key_(first_ + u32(words[i]), Unchecked{}), u32(words[i]));
  }

  // Moves the words of an iteration: into the order of their digits first, so that neighbouring threads write
  // neighbouring memory.
  TWINLOOM_INLINE void move(u32 first) {
    i64 words[u32(shape.items)];
    load(own_first(first), words);
    arrange(words);
    write();
  }

  // Puts the words of the block into the order of their digits: equal ones stay as they were.
  TWINLOOM_INLINE void arrange(const i64 (&words)[u32(shape.items)]) {
    u16* const counts = shared_.of_warp[thread() / 32];
    clear(counts);
    u32 ranks[u32(shape.items)];
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const bool none = is_range_ && __ballot_sync(WHOLE_WARP, words[i] != NONE) == 0;
      ranks[i] = none ? 0 : rank(words[i] == NONE ? -1 : digit_of(words[i]), counts);
    }
    __syncthreads();
    add_up();
    __syncthreads();
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i)
      if (words[i] != NONE) shared_.words[counts[digit_of(words[i])] + ranks[i]] = words[i];
    __syncthreads();
  }
  // The last pass writes elements, -1 for those whose keys are out of range.
  TWINLOOM_INLINE void write() const {
    i64* const to = target(step_.pass);
    const bool is_end = step_.pass + 1 == step_.passes;
    const bool drops = is_end && is_only_;
    const u32 out = held_of(step_.outside), size = shared_.size;
    i64 words[u32(shape.items)];
    u32 places[u32(shape.items)];
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) words[i] = shared_.words[i * shape.threads + thread()];
    // Behind the last word is whatever was there before: its place is not used.
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) places[i] = shared_.places[digit_of(words[i])];
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) {
      const u32 at = u32(i * shape.threads + thread());
      if (at < size)
        to[places[i] + at] = drops && key_in(words[i]) == out ? i64(-1)
                             : is_end                         ? first_ + u32(words[i])
                                                              : words[i];
    }
  }
  // Of the warp; 16 bytes at once.
  TWINLOOM_INLINE void clear(u16* counts) const {
    for (int d = 8 * lane(); d < digits(); d += 256) {
      u64* const eight = reinterpret_cast<u64*>(counts + d);
      eight[0] = 0, eight[1] = 0;
    }
    __syncwarp();
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

  SortShared<shape>& shared_;
  const SortStep& step_;
  i64 *order_, *starts_;
  i64 n_, bound_;
  const Key& key_;
  Failure failure_;
  i64 segment_, part_;              // of this block
  i64 rows_, first_, first_key_;    // of the segment
  u32 size_;                        // elements of it
  i64 keys_;                        // places of it
  bool is_only_, is_last_;          // of the segments
  bool is_range_;
  bool is_whole_;                   // a word holds all of a key
  int shift_;                       // of the digit in a word
  u32 low_, above_;                 // the first key of the range, and the last one's distance from it
  u32 begin_, end_;                 // of this block's elements
  u32 next_[2];                     // where the next elements with this thread's digits go
};

// Called as a function of the name stable_sort. `key(p, failure)` is the key of element p, and reports an
// index that is out of range to `failure`.
template <SortShape shape, bool may_gather, class Failure>
struct BlockSort {
  const SortStep& step;
  Failure failure;
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, i64 rows, Key key) const {
    using Sorts = Sorting<shape, may_gather, Key, Failure>;
    SortShared<shape>& shared = *reinterpret_cast<SortShared<shape>*>(TWINLOOM_BLOCK_SCRATCH);
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
template <bool may_gather>
using StableSort = BlockSort<SORT_SHAPE, may_gather, emit::FailureRecord*>;

}  // namespace twinloom::device
