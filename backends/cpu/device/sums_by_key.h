// The sums of values by small integer keys: what the statement Call sums_by_key means. A task is a row.
#pragma once

#include "cpu/memory.h"
#include "device/kernel.h"

namespace twinloom::device {

// The canonical order of a sum: core/ops/canonical.h.
constexpr i64 SUM_LANES = 256, SUM_UNIT = 1024;

// Elements that are added together: as many as 64 bytes hold.
template <class Of>
constexpr int SUM_STEP = 64 / int(sizeof(Of));

template <class Of, int count>
TWINLOOM_INLINE Of sum_of_halves(Vector<Of, count> lanes) {
  if constexpr (count == 1)
    return lanes;
  else
    return sum_of_halves<Of, count / 2>(low(lanes) + high(lanes));
}

// Of more than SUM_STEP values, and at most SUM_UNIT.
template <class Of>
TWINLOOM_INLINE Of sum_of_unit(const Of* values, i64 count) {
  constexpr int step = SUM_STEP<Of>;
  alignas(64) Of lanes[SUM_LANES];
  i64 width = step;  // lanes that have values, up to a power of two
  while (width < count && width < SUM_LANES) width *= 2;
  for (i64 lane = 0; lane < width; lane += step) {
    auto sum = load_first<step>(values + lane, count - lane, Of(-0.0));
    for (i64 at = lane + SUM_LANES; at < count; at += SUM_LANES)
      sum = sum + load_first<step>(values + at, count - at, Of(-0.0));
    store(lanes + lane, sum);
  }
  for (i64 half = width / 2; half >= step; half /= 2)
    for (i64 lane = 0; lane < half; lane += step)
      store(lanes + lane, load<step>(lanes + lane) + load<step>(lanes + lane + half));
  return sum_of_halves<Of, step>(load<step>(lanes));
}

// Units are combined as a binary counter counts.
template <class Of>
__attribute__((noinline)) Of sum_of_units(const Of* values, i64 count) {
  Of pending[64];
  i64 units = 0;
  for (i64 at = 0; at < count; at += SUM_UNIT, ++units) {
    Of sum = sum_of_unit(values + at, least(count - at, SUM_UNIT));
    int bit = 0;
    for (; (units >> bit & 1) != 0; ++bit) sum = pending[bit] + sum;
    pending[bit] = sum;
  }
  int bit = int(trailing_zeros(units));
  Of sum = pending[bit];
  for (++bit; units >> bit != 0; ++bit)
    if ((units >> bit & 1) != 0) sum = pending[bit] + sum;
  return sum;
}

// The canonical sum; -0.0 of nothing.
template <class Of>
TWINLOOM_INLINE Of sum_of_list(const Of* values, i64 count) {
  constexpr int step = SUM_STEP<Of>;
  if (__builtin_expect(count > step, 0)) return sum_of_units(values, count);
  return sum_of_halves<Of, step>(load_first<step>(values, count, Of(-0.0)));
}

// Calls each(p) for the elements of a row. An EPYC fetches ahead by itself too late where stores go to many
// places between the loads: sums of 4096 elements by 1024 keys took 1.4 times as long.
template <class Ahead, class Each>
TWINLOOM_INLINE void for_elements(i64 row, i64 n, const Ahead& ahead, const Each& each) {
  constexpr i64 TOGETHER = 8, DISTANCE = 512;  // elements
  i64 p = 0;
  for (; p + TOGETHER <= n; p += TOGETHER) {
    ahead(row, p + DISTANCE);
    for (i64 at = 0; at < TOGETHER; ++at) each(p + at);
  }
  for (; p < n; ++p) each(p);
}

// Of rows that have few values a key: value number r of key k waits at waiting[r * pitch + k], so that the
// sums of many keys are sums of vectors. What waits for nothing is -0.0.
template <class Of>
struct Ranked {
  static constexpr int step = SUM_STEP<Of>;
  static constexpr i64 MOST_RANKS = 64;
  using Values = Vector<Of, step>;

  i64 n, bound, pitch, ranks;
  Of* waiting;
  i64* ends;  // where the next value of a key goes

  // Without ranks where keys would have too little room if chance gave them their values.
  static TWINLOOM_INLINE Ranked of(i64 n, i64 bound, Of* room, i64 count, i64* ends) {
    constexpr i64 MOST_BYTES = 262144;  // that second caches hold beside what else there is
    // No power of two, so that the places of a key share no set of a cache: 5 times as fast.
    const i64 pitch = ((bound + step - 1) / step | 1) * step;
    i64 ranks = 8;
    while (ranks < MOST_RANKS && ranks * bound < 7 * bound + 2 * n) ranks *= 2;
    const bool fits = ranks * pitch <= least(count, MOST_BYTES / i64(sizeof(Of)));
    if (bound <= 0 || ranks * bound < 7 * bound + 2 * n || !fits) ranks = 0;
    return {n, bound, pitch, ranks, room, ends};
  }

  TWINLOOM_INLINE void clear() const {
    for (i64 at = 0; at < ranks * pitch; at += step) store(waiting + at, Values(Of(-0.0)));
  }

  // What finds no room replaces the last value.
  template <class Key, class Value, class Ahead>
  TWINLOOM_INLINE void fill(i64 row, const Key& key, const Value& value, const Ahead& ahead) const {
    const i64 last = ranks * pitch - 1;
    for (i64 k = 0; k < bound; ++k) ends[k] = k;
    const auto put = [&](i64 p) __attribute__((always_inline)) {
      const i64 k = key(row, p), place = ends[k];
      ends[k] = place + pitch;
      waiting[least(place, last)] = value(row, p);
    };
    for_elements(row, n, ahead, put);
  }
  TWINLOOM_INLINE i64 most() const {
    i64 furthest = 0;
    for (i64 k = 0; k < bound; ++k) furthest = greatest(furthest, ends[k] - k);
    return furthest;
  }

  // Of the values first, first + apart, ... of `count` for each key, which wait no longer.
  template <int first, int apart, int count>
  TWINLOOM_INLINE Values sum(Of* keys) const {
    if constexpr (apart < count) {
      return sum<first, 2 * apart, count>(keys) + sum<first + apart, 2 * apart, count>(keys);
    } else {
      const Values values = load<step>(keys + first * pitch);
      store(keys + first * pitch, Values(Of(-0.0)));
      return values;
    }
  }
  template <int count>
  TWINLOOM_INLINE bool sum_all(Of* sums) const {
    for (i64 k = 0; k < bound; k += step) store_first(sums + k, bound - k, sum<0, 1, count>(waiting + k));
    return true;
  }

  // False where a key has more values than there is room for.
  template <class Key, class Value, class Ahead>
  TWINLOOM_INLINE bool run(i64 row, Of* sums, const Key& key, const Value& value, const Ahead& ahead) const {
    fill(row, key, value, ahead);
    const i64 furthest = most();
    if (furthest > ranks * pitch) return false;
    if (furthest <= 8 * pitch) return sum_all<8>(sums);
    if (furthest <= 16 * pitch) return sum_all<16>(sums);
    if (furthest <= 32 * pitch) return sum_all<32>(sums);
    return sum_all<64>(sums);
  }
};

// Of one row. Values are listed by key, in the order of their positions, and each list is summed. ends[k] serves
// as the cursor of key k and ends where the next begins.
template <class Of, class Key, class Value, class Ahead>
struct KeyedRow {
  i64 row, n, bound;
  Of *sums, *list;
  i64* ends;
  const Key& key;
  const Value& value;
  const Ahead& ahead;

  // Gives each key its place in the list.
  TWINLOOM_INLINE void divide_list() const {
    for (i64 k = 0; k < bound; ++k) ends[k] = 0;
    const auto count_one = [&](i64 p) __attribute__((always_inline)) {
      const i64 k = key(row, p);
      if (bound > 0) ++ends[k];
    };
    for_elements(row, n, ahead, count_one);
    i64 place = 0;
    for (i64 k = 0; k < bound; ++k) {
      const i64 count = ends[k];
      ends[k] = place;
      place += count;
    }
  }

  // A load that may be of what was stored just before waits until it is known where that went, so the places
  // of many values are found before the first of them is stored.
  TWINLOOM_INLINE void fill_list() const {
    constexpr i64 TOGETHER = 256;
    i64 places[TOGETHER];
    for (i64 p = 0; p < n; p += TOGETHER) {
      const i64 count = least(n - p, TOGETHER);
      for (i64 at = 0; at < count; ++at) places[at] = ends[key(row, p + at)]++;
      for (i64 at = 0; at < count; ++at) list[places[at]] = value(row, p + at);
    }
  }

  TWINLOOM_INLINE void run() const {
    divide_list();
    if (bound <= 0) return;
    fill_list();
    i64 begin = 0;
    for (i64 k = 0; k < bound; ++k) {
      sums[k] = sum_of_list(list + begin, ends[k] - begin);
      begin = ends[k];
    }
  }
};

// Called as a function of the same name, by the worker that has these tasks. Its rows share the room of the
// first, which stays in the caches.
struct SumsByKey {
  i64 begin, end;

  template <class Of, class Key, class Value, class Ahead>
  TWINLOOM_INLINE void operator()(Of* sums, Of* list, i64* ends, i64 n, i64 bound, i64 rows, const Key& key,
                                  const Value& value, const Ahead& ahead) const {
    Of* const own_list = list + begin * n;
    i64* const own_ends = ends + begin * bound;
    const i64 behind = least(end, rows);
    const auto ranked = Ranked<Of>::of(n, bound, own_list, (behind - begin) * n, own_ends);
    bool cleared = false;
    i64 failed = 0;
    for (i64 row = begin; row < behind; ++row) {
      Of* const own_sums = sums + row * bound;
      if (ranked.ranks > 0 &&
          8 * failed <= row - begin) {  // what failed costs a little of what the others gain
        if (!cleared) ranked.clear();
        cleared = ranked.run(row, own_sums, key, value, ahead);
        if (cleared) continue;
        ++failed;
      }
      KeyedRow<Of, Key, Value, Ahead>{row, n, bound, own_sums, own_list, own_ends, key, value, ahead}.run();
    }
  }
};

}  // namespace twinloom::device
