// What kernels of the CPU call that is more than arithmetic: run-time indices and their failures, the
// last block of a grid, sorting. The first failure wins the record; the others are dropped.
#pragma once

#include "core/emit/abi.h"
#include "cpu/memory.h"

namespace twinloom::device {

using emit::Arguments;
using emit::FailureRecord;

__attribute__((noinline)) inline void record_failure(FailureRecord* failure, i64 node, i64 value, i64 bound) {
  if (__atomic_exchange_n(&failure->claimed, 1, __ATOMIC_RELAXED) != 0) return;
  failure->node = node;
  failure->value = value;
  failure->bound = bound;
}

// A run-time index: where it may be used (`ok`), and its place there, 0 elsewhere.
template <int count>
struct Found {
  Vector<i64, count> place;
  Vector<bool, count> ok;
};
template <int count>
TWINLOOM_INLINE Found<count> find(Vector<i64, count> value, Vector<bool, count> active, i64 bound, bool wraps,
                                  i64 node, FailureRecord* failure) {
  using Places = Vector<i64, count>;
  const Places zero(i64(0));
  const Places wrapped = wraps ? where(lt(value, zero), Places(value + Places(bound)), value) : value;
  const auto inside = logical_and(ge(wrapped, zero), lt(wrapped, Places(bound)));
  const auto ok = logical_and(active, inside);
  const auto failed = logical_and(active, logical_not(inside));
  if constexpr (count == 1) {
    if (__builtin_expect(failed, 0)) record_failure(failure, node, value, bound);
  } else {
    const auto each = truncated<u8>(failed);
    if (__builtin_expect(any_lane(each), 0)) {
      int lane = 0;
      while (each[lane] == 0) ++lane;
      record_failure(failure, node, value[lane], bound);
    }
  }
  return {where(ok, wrapped, zero), ok};
}

// True for the member that arrives last; then the counter is 0 again.
template <class Of>
TWINLOOM_INLINE bool arrives_last(Of* counter, i64 members) {
  if (i64(__atomic_add_fetch(counter, Of(1), __ATOMIC_ACQ_REL)) != members) return false;
  __atomic_store_n(counter, Of(0), __ATOMIC_RELAXED);
  return true;
}

// By counting, as `starts` has a place for each key anyway: counts, then first places, then each element to
// its place; starts[k + 1] serves as the cursor of key k and ends where it has to be.
template <class Key>
TWINLOOM_INLINE void stable_sort(i64* order, i64* starts, i64 n, i64 bound, Key key) {
  for (i64 k = 0; k <= bound; ++k) starts[k] = 0;
  i64 kept = 0;
  for (i64 p = 0; p < n; ++p) {
    const i64 k = key(p);
    if (k < 0 || k >= bound) continue;
    ++kept;
    if (k + 2 <= bound) ++starts[k + 2];
  }
  for (i64 k = 2; k <= bound; ++k) starts[k] += starts[k - 1];
  for (i64 p = 0; p < n; ++p) {
    const i64 k = key(p);
    if (k < 0 || k >= bound) continue;
    order[starts[k + 1]++] = p;
  }
  for (i64 p = kept; p < n; ++p) order[p] = -1;
}

}  // namespace twinloom::device
