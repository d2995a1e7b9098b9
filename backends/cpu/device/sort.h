// The stable sort of small integer keys: what the statement Call stable_sort means. A task is a row.
#pragma once

#include "device/kernel.h"
#include "cpu/memory.h"

namespace twinloom::device {

// The key that all elements of a row have, as the upper digits of small numbers do, by its counts; -1 where they differ.
template <class Key>
TWINLOOM_INLINE i64 only_key(const i64* counts, i64 first, i64 n, i64 bound, const Key& key) {
  const i64 k = n == 0 ? -1 : key(first);
  return k >= 0 && k < bound && counts[k] == n ? k : -1;
}

// Of the n elements of a row that begins with element `first`. By counting, as `starts` has a place for each key
// anyway: counts, then first places, then each element to its place; starts[k] serves as the cursor of key k and
// ends where the next begins, so that it moves on by one key. Gives the place behind the last element.
template <class Key>
TWINLOOM_INLINE i64 sort_row(i64* order, i64* starts, i64 first, i64 n, i64 bound, const Key& key) {
  for (i64 k = 0; k < bound; ++k) starts[k] = 0;
  for (i64 p = first; p < first + n; ++p) {
    // Where elements go is not what a processor foresees.
    prefetch_written<1>(order + p);
    const i64 k = key(p);
    if (k >= 0 && k < bound) ++starts[k];
  }
  if (const i64 only = only_key(starts, first, n, bound, key); only >= 0) {
    for (i64 k = 0; k < bound; ++k) starts[k] = k <= only ? first : first + n;
    for (i64 p = first; p < first + n; ++p) order[p] = p;
    return first + n;
  }
  i64 place = first;
  for (i64 k = 0; k < bound; ++k) {
    const i64 count = starts[k];
    starts[k] = place;
    place += count;
  }
  // A load that may be of what was stored just before waits until it is known where that went, so the places
  // of many elements are found before the first of them is stored.
  constexpr i64 TOGETHER = 256;
  i64 places[TOGETHER];
  for (i64 p = first; p < first + n; p += TOGETHER) {
    const i64 count = least(first + n - p, TOGETHER);
    for (i64 at = 0; at < count; ++at) {
      const i64 k = key(p + at);
      places[at] = k >= 0 && k < bound ? starts[k]++ : -1;
    }
    for (i64 at = 0; at < count; ++at)
      if (places[at] >= 0) order[places[at]] = p + at;
  }
  i64 begin = first;
  for (i64 k = 0; k < bound; ++k) {
    const i64 end = starts[k];
    starts[k] = begin;
    begin = end;
  }
  for (i64 p = place; p < first + n; ++p) order[p] = -1;
  return place;
}

// Called as a function of the same name, by the worker that has these tasks.
struct StableSort {
  i64 begin, end;

  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, i64 rows, Key key) const {
    if (rows <= 0) starts[0] = 0;
    for (i64 row = begin; row < end && row < rows; ++row) {
      const i64 behind = sort_row(order, starts + row * bound, row * n, n, bound, key);
      if (row + 1 == rows) starts[rows * bound] = bound > 0 ? behind : 0;
    }
  }
  template <class Key>
  TWINLOOM_INLINE void operator()(i64* order, i64* starts, i64 n, i64 bound, Key key) const {
    (*this)(order, starts, n, bound, 1, key);
  }
};

}  // namespace twinloom::device
