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

// Of one row. Values are listed by key, in the order of their positions, and each list is summed. ends[k] serves
// as the cursor of key k and ends where the next begins.
template <class Of, class Key, class Value>
struct KeyedRow {
  i64 row, n, bound;
  Of *sums, *list;
  i64* ends;
  const Key& key;
  const Value& value;

  // Gives each key its place in the list.
  TWINLOOM_INLINE void divide_list() const {
    for (i64 k = 0; k < bound; ++k) ends[k] = 0;
    for (i64 p = 0; p < n; ++p) {
      const i64 k = key(row, p);
      if (bound > 0) ++ends[k];
    }
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

  template <class Of, class Key, class Value>
  TWINLOOM_INLINE void operator()(Of* sums, Of* list, i64* ends, i64 n, i64 bound, i64 rows, const Key& key,
                                  const Value& value) const {
    Of* const own_list = list + begin * n;
    i64* const own_ends = ends + begin * bound;
    for (i64 row = begin; row < end && row < rows; ++row)
      KeyedRow<Of, Key, Value>{row, n, bound, sums + row * bound, own_list, own_ends, key, value}.run();
  }
};

}  // namespace twinloom::device
