// The stable order of elements by keys of up to 32 bits, rows alone: what the statement Call stable_sort
// means where nobody asks where keys begin. Rows that a block holds are sorted in registers (row_network.h)
// by words with the number of an element below its key, which are distinct: so the order is that of a stable
// sort. Others are sorted by the digits of their keys from the lowest on (a radix sort), a launch a digit: a
// block takes the next tile of a row, finds the rank of each element among those of its warp with the same
// digit, puts them into the order of their digits in shared memory, so that a warp writes neighbours, and
// learns from the tiles before how many have each digit (a decoupled look-back, after Merrill and Garland): a
// tile says how many it has itself, and then how many it and those before it have. It waits for tiles that
// others have begun, and never for one that has none. The digits of all passes are counted in one launch
// before. An epilogue runs where an element's offset is stored. Wants sort_step.h, block_sum.h and
// row_network.h before it.
#pragma once

namespace twinloom::device {

using cuda::ORDER_SHAPE;
using cuda::OrderShape;
using cuda::OrderTasks;
using cuda::SortStep;
using cuda::SortTask;

template <bool is_narrow>
struct OrderWord {
  using Type = u64;
};
template <>
struct OrderWord<true> {
  using Type = u32;
};

// What the threads of a block share.
template <OrderShape shape>
struct OrderShared {
  u64 words[u32(shape.at_once())];  // of a tile, in the order of their digits; before, lanes
  u16 of_warp[u32(shape.warps())]
             [u32(shape.digits())];  // how many have a digit, then where they begin in `words`
  u64 of_warps[u32(shape.warps())];
  u32 places[u32(shape.digits())];  // where the first word with a digit goes, less where it is
  u32 tile;
};

// Of a sort that has none.
struct NoEpilogue {
  template <class Failure>
  TWINLOOM_INLINE void operator()(i64, i64, i64, Failure) const {}
};

template <OrderShape shape, int key_bits, class Key, class Epilogue, class Failure>
class Ordering {
  static_assert(shape.digits() <= shape.threads, "a thread has one digit");
  static_assert(shape.at_once() < 1 << 16, "counts of a tile are of 16 bits, and so are numbers in a row");
  static_assert(shape.warps() * shape.digits() <= 2 * shape.at_once(), "lanes take the memory of words");
  static_assert(shape.most_passes() * shape.digits() <= 2 * shape.at_once(), "so do digits of all passes");
  static_assert(sizeof(OrderShared<shape>) == shape.shared_bytes(), "what a launch asks for");

 public:
  TWINLOOM_INLINE Ordering(OrderShared<shape>& shared, const SortStep& step, i64* order, i64 n, i64 rows,
                           const Key& key, const Epilogue& epilogue, Failure failure)
      : shared_(shared),
        step_(step),
        order_(order),
        n_(n),
        rows_(rows),
        key_(key),
        epilogue_(epilogue),
        failure_(failure) {}

  // A row has several threads of the block, or all.
  TWINLOOM_INLINE void sort_rows() {
    const int threads = 1 << int(step_.row_bits), number = thread() >> int(step_.row_bits);
    const i64 row = i64(blockIdx.x) * step_.rows_each + number;
    const bool is_there = number < step_.rows_each && row < rows_;
    if (threads <= 32 && __ballot_sync(WHOLE_WARP, is_there) == 0) return;
    const u32 own = u32(thread() & (threads - 1));
    const i64 first = held(least(row, rows_ - 1) * n_);
    RowWord words[u32(shape.items)];
    load_row(first, own, u32(threads), words);
    if (is_there)
      for (u32 p = own; p < u32(n_); p += u32(threads)) key_(first + p, failure_);
    RowNetwork<shape.items, RowWord>(words, reinterpret_cast<RowWord*>(shared_.words)).sort(threads);
    const u32* const pairs = store_row(words, threads);
    if (!is_there) return;
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i) {
      const u32 p = i * u32(threads) + own, pair = p % u32(shape.items) / 2;
      if (p >= u32(n_)) continue;
      const i64 element = pairs[p / u32(shape.items) * PAIRS + pair] >> p % 2 * 16 & 0xffff;
      order_[first + p] = element;
      epilogue_(row, i64(p), element, failure_);
    }
  }

  // What the launches after this one count in.
  TWINLOOM_INLINE void clear() const {
    const i64 own = i64(blockIdx.x) * shape.threads + thread();
    for (i64 at = own; at < step_.cleared; at += i64(gridDim.x) * shape.threads) step_.next_tile[at] = 0;
  }

  // Of all passes.
  TWINLOOM_INLINE void count() {
    u32* const counts = reinterpret_cast<u32*>(shared_.words);
    const int all = int(step_.passes) * DIGITS;
    const i64 segment = short_div(blockIdx.x, step_.blocks), part = i64(blockIdx.x) - segment * step_.blocks;
    for (int d = thread(); d < all; d += shape.threads) counts[d] = 0;
    __syncthreads();
    const u32 end = u32(least((part + 1) * step_.each, n_));
    for (u32 first = u32(part * step_.each); first < end; first += u32(shape.at_once()))
      count_some(segment * n_, first + u32(thread()), end, counts);
    __syncthreads();
    for (int d = thread(); d < all; d += shape.threads) {
      const i64 at = (d / DIGITS * step_.segments + segment) * DIGITS + d % DIGITS;
      if (counts[d] != 0) atomicAdd(step_.having_digit + at, counts[d]);
    }
  }

  // Of one pass.
  TWINLOOM_INLINE void move() {
    take_tile();
    u64 words[u32(shape.items)];
    load(words);
    u16 ranks[u32(shape.items)];
    u16* const counts = shared_.of_warp[warp()];
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) ranks[i] = u16(rank(digit_of(words[i]), counts, lanes_having()));
    __syncthreads();
    find_places();
    __syncthreads();
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; ++i) shared_.words[counts[digit_of(words[i])] + ranks[i]] = words[i];
    __syncthreads();
    write();
  }

 private:
  static constexpr int POSITION_BITS = shape.position_bits(), DIGITS = shape.digits();
  static constexpr u32 PAIRS =
      u32(shape.items) / 2 + 1;         // words of a thread in shared memory: no two lanes meet
  static constexpr u64 NONE = u64(-1);  // a word past the end: the greatest
  using RowWord = typename OrderWord<(key_bits + POSITION_BITS <= 32)>::Type;

  TWINLOOM_INLINE static int thread() { return int(threadIdx.x); }
  TWINLOOM_INLINE static int lane() { return thread() % 32; }
  TWINLOOM_INLINE static int warp() { return thread() / 32; }
  TWINLOOM_INLINE u32 key_at(i64 at) const {
    return u32(key_(at, Unchecked{})) & u32((u64(1) << key_bits) - 1);
  }

  TWINLOOM_INLINE void load_row(i64 first, u32 own, u32 threads, RowWord (&words)[u32(shape.items)]) const {
    u32 keys[u32(shape.items)];
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i)
      keys[i] = key_at(first + least(i * threads + own, u32(n_ - 1)));
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i) {
      const u32 p = i * threads + own;
      words[i] = p < u32(n_) ? RowWord(keys[i]) << POSITION_BITS | p : RowWord(NONE);
    }
  }
  // Numbers of elements, two a word, PAIRS words a thread of the row; returns those of its first thread.
  TWINLOOM_INLINE const u32* store_row(const RowWord (&words)[u32(shape.items)], int threads) {
    constexpr u32 POSITIONS = (u32(1) << POSITION_BITS) - 1;
    u32* const pairs = reinterpret_cast<u32*>(shared_.words);
    meet(threads);
    TWINLOOM_UNROLL
    for (int i = 0; i < shape.items; i += 2)
      pairs[u32(thread()) * PAIRS + u32(i) / 2] =
          (u32(words[i]) & POSITIONS) | (u32(words[i + 1]) & POSITIONS) << 16;
    meet(threads);
    return pairs + u32(thread() & ~(threads - 1)) * PAIRS;
  }
  TWINLOOM_INLINE static void meet(int threads) {
    if (threads <= 32)
      __syncwarp();
    else
      __syncthreads();
  }

  // Not 0, which is what a tile says that has said nothing. A sum through the last tile is never read, so
  // that it may be as much as 2^31 - 1.
  TWINLOOM_INLINE static u32 status(u32 sum, bool is_through) { return ~(sum | u32(is_through) << 31); }

  // As many elements as a thread has at once.
  TWINLOOM_INLINE void count_some(i64 row, u32 own, u32 end, u32* counts) const {
    u32 keys[u32(shape.items)];
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i)
      keys[i] = key_at(row + least(own + i * u32(shape.threads), end - 1));
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i) {
      if (own + i * u32(shape.threads) >= end) continue;
      TWINLOOM_UNROLL
      for (int pass = 0; pass < shape.most_passes(); ++pass)
        if (pass < step_.passes)
          atomicAdd(counts + pass * DIGITS + int(keys[i] >> pass * shape.bits & u32(DIGITS - 1)), u32(1));
    }
    for (u32 p = own; p < least(own + u32(shape.at_once()), end); p += u32(shape.threads))
      key_(row + p, failure_);
  }

  // The next one that no block has: those before it have been begun.
  TWINLOOM_INLINE void take_tile() {
    if (thread() == 0) shared_.tile = atomicAdd(step_.next_tile, u32(1));
    for (int d = lane(); d < DIGITS; d += 32) shared_.of_warp[warp()][d] = 0, lanes_having()[d] = 0;
    __syncthreads();
    segment_ = u32(short_div(shared_.tile, step_.tiles));
    part_ = shared_.tile - segment_ * u32(step_.tiles);
    begin_ = part_ * u32(shape.at_once());
    size_ = least(u32(shape.at_once()), u32(n_) - begin_);
  }
  // Of the warp, for each digit: which lanes have it.
  TWINLOOM_INLINE u32* lanes_having() { return reinterpret_cast<u32*>(shared_.words) + warp() * DIGITS; }
  TWINLOOM_INLINE u32 digit_of(u64 word) const {
    return u32(word >> 32) >> int(step_.pass * shape.bits) & u32(DIGITS - 1);
  }
  // Passes write words to one and the other, the last one elements to `order`.
  TWINLOOM_INLINE i64* target(i64 pass) const {
    return ((step_.passes - pass) % 2 == 1 ? order_ : static_cast<i64*>(step_.spare)) + segment_ * n_;
  }

  // All loads are on their way before the first is waited for. A warp has a run of the tile.
  TWINLOOM_INLINE void load(u64 (&words)[u32(shape.items)]) const {
    const u32 own = u32(warp() * shape.items * 32 + lane());
    if (step_.pass == 0) {
      u32 keys[u32(shape.items)];
      TWINLOOM_UNROLL
      for (u32 i = 0; i < u32(shape.items); ++i)
        keys[i] = key_at(segment_ * n_ + begin_ + least(own + i * 32, size_ - 1));
      TWINLOOM_UNROLL
      for (u32 i = 0; i < u32(shape.items); ++i) words[i] = u64(keys[i]) << 32 | (begin_ + own + i * 32);
    } else {
      const i64* const from = target(step_.pass - 1) + begin_;
      TWINLOOM_UNROLL
      for (u32 i = 0; i < u32(shape.items); ++i) words[i] = u64(from[least(own + i * 32, size_ - 1)]);
    }
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i)
      if (own + i * 32 >= size_) words[i] = NONE;
  }
  // How many of the warp's elements before, in the order of items, then lanes, have the same digit.
  TWINLOOM_INLINE static u32 rank(u32 digit, u16* counts, u32* having) {
    atomicOr(having + digit, u32(1) << lane());
    __syncwarp();
    const u32 same = having[digit], seen = counts[digit];
    const u32 before = u32(__popc(same & ((u32(1) << lane()) - 1)));
    __syncwarp();
    if (before == 0) counts[digit] = u16(seen + u32(__popc(same))), having[digit] = 0;
    __syncwarp();
    return seen + before;
  }

  // Makes each warp's count of a digit where its elements begin among `words`, and finds where these go.
  TWINLOOM_INLINE void find_places() {
    const int d = thread();
    const bool has_digit = d < DIGITS;
    const i64 own = i64(shared_.tile) * DIGITS + d;
    u32 total = 0, there = 0;
    u64 counts = 0;  // of the row and of the tile
    if (has_digit) {
      total = add_warps(d);
      there = d + 1 == DIGITS ? total - (u32(shape.at_once()) - size_) : total;
      say(step_.said + own, status(there, part_ == 0));
      if (step_.said_next != nullptr) step_.said_next[own] = 0;
      counts = u64(step_.having_digit[i64(segment_) * DIGITS + d]) << 32 | total;
    }
    const u64 begin = sum_before<shape.warps()>(counts, shared_.of_warps);
    if (!has_digit) return;
    u32 before = 0;
    if (part_ > 0) {
      before = look_back(step_.said + own);
      say(step_.said + own, status(before + there, true));
    }
    shared_.places[d] = u32(begin >> 32) + before - u32(begin);
    TWINLOOM_UNROLL
    for (int warp = 0; warp < shape.warps(); ++warp) shared_.of_warp[warp][d] += u16(u32(begin));
  }
  // Each warp's count of digit d becomes the sum of those before; returns that of all.
  TWINLOOM_INLINE u32 add_warps(int d) {
    u32 total = 0;
    TWINLOOM_UNROLL
    for (int warp = 0; warp < shape.warps(); ++warp) {
      const u32 count = shared_.of_warp[warp][d];
      shared_.of_warp[warp][d] = u16(total);
      total += count;
    }
    return total;
  }
  // How many elements of the tiles before have a digit, of which this one has said `said`.
  TWINLOOM_INLINE u32 look_back(const u32* said) const {
    u32 sum = 0;
    for (bool is_through = false; !is_through;) {
      said -= DIGITS;
      u32 word = 0;
      while (word == 0) word = heard(said);
      sum += ~word & (u32(-1) >> 1);
      is_through = ~word >> 31 != 0;
    }
    return sum;
  }
  // Words that blocks say to each other while they run. A word is all that is said: nothing else is read that
  // it would have to follow.
  TWINLOOM_INLINE static void say(u32* place, u32 word) { *static_cast<volatile u32*>(place) = word; }
  TWINLOOM_INLINE static u32 heard(const u32* place) { return *static_cast<const volatile u32*>(place); }

  TWINLOOM_INLINE void write() const {
    i64* const to = target(step_.pass);
    const bool is_end = step_.pass + 1 == step_.passes;
    TWINLOOM_UNROLL
    for (u32 i = 0; i < u32(shape.items); ++i) {
      const u32 at = i * u32(shape.threads) + u32(thread());
      const u64 word = shared_.words[at];
      const u32 place = shared_.places[digit_of(word)] + at;
      if (at >= size_) continue;
      to[place] = is_end ? i64(u32(word)) : i64(word);
      if (is_end) epilogue_(segment_, i64(place), i64(u32(word)), failure_);
    }
  }

  OrderShared<shape>& shared_;
  const SortStep& step_;
  i64* order_;
  i64 n_, rows_;
  const Key& key_;
  const Epilogue& epilogue_;
  Failure failure_;
  u32 segment_ = 0, part_ = 0;  // of this block's tile
  u32 begin_ = 0, size_ = 0;    // in its row
};

// Called as a function of the name stable_sort, with no starts. `key(p, failure)` is the key of element p,
// below 2^key_bits, and reports an index that is out of range to `failure`. `epilogue(row, p, element,
// failure)` is called once for position p of each row, with what the order says there.
template <OrderShape shape, int key_bits, OrderTasks tasks, class Failure>
struct BlockOrder {
  const SortStep& step;
  Failure failure;
  template <class Key, class Epilogue = NoEpilogue>
  TWINLOOM_INLINE void operator()(i64* order, decltype(nullptr), i64 n, i64, i64 rows, Key key,
                                  Epilogue epilogue = {}) const {
    OrderShared<shape>& shared = *reinterpret_cast<OrderShared<shape>*>(TWINLOOM_BLOCK_SCRATCH);
    Ordering<shape, key_bits, Key, Epilogue, Failure> ordering(shared, step, order, n, rows, key, epilogue,
                                                               failure);
    if constexpr (tasks != OrderTasks::passes)
      if (step.task == SortTask::rows) return ordering.sort_rows();
    if constexpr (tasks != OrderTasks::rows) {
      if (step.task == SortTask::clear) return ordering.clear();
      if (step.task == SortTask::digits) return ordering.count();
      if (step.task == SortTask::tiles) return ordering.move();
    }
  }
};
template <int key_bits, OrderTasks tasks>
using StableOrder = BlockOrder<ORDER_SHAPE, key_bits, tasks, emit::FailureRecord*>;

}  // namespace twinloom::device
