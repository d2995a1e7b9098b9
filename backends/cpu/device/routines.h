// What kernels of the CPU call that is more than arithmetic: run-time indices and their failures, the
// last block of a grid. The first failure wins the record; the others are dropped.
#pragma once

#include "core/emit/abi.h"
#include "cpu/gather.h"
#include "cpu/memory.h"
#include "cpu/sort.h"
#include "cpu/sums_by_key.h"

namespace twinloom::device {

using emit::Arguments;
using emit::FailureRecord;

__attribute__((noinline)) inline void record_failure(FailureRecord* failure, i64 node, i64 value, i64 bound,
                                                     i64 offset) {
  if (__atomic_exchange_n(&failure->claimed, 1, __ATOMIC_RELAXED) != 0) return;
  failure->node = node;
  failure->value = value;
  failure->bound = bound;
  failure->offset = offset;
}

// A run-time index: where it may be used (`ok`), and its place there, 0 elsewhere.
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
  const auto inside = logical_and(ge(wrapped, zero), lt(wrapped, Places(bound)));
  const auto ok = logical_and(active, inside);
  const auto failed = logical_and(active, logical_not(inside));
  if constexpr (count == 1) {
    if (__builtin_expect(failed, 0)) record_failure(failure, node, value, bound, from.first);
  } else {
    const auto each = truncated<u8>(failed);
    if (__builtin_expect(any_lane(each), 0)) {
      int lane = 0;
      while (each[lane] == 0) ++lane;
      record_failure(failure, node, value[lane], bound, from.first + lane * from.step);
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

}  // namespace twinloom::device
