// The combines of the monoids, one function a row of monoid.def. Of one part: the total of two totals. Of
// two parts (a value and the place it was found at): whether the right pair replaces the left one, so that
// both parts are chosen by `where`.
#pragma once

#include "arithmetic.h"

namespace twinloom::device {

template <class Value>
TWINLOOM_INLINE Value sum(Value left, Value right) {
  return add(left, right);
}
template <class Value>
TWINLOOM_INLINE Value prod(Value left, Value right) {
  return mul(left, right);
}
template <class Value>
TWINLOOM_INLINE Value max(Value left, Value right) {
  return maximum(left, right);
}
template <class Value>
TWINLOOM_INLINE Value min(Value left, Value right) {
  return minimum(left, right);
}
template <class Truth>
TWINLOOM_INLINE Truth any(Truth left, Truth right) {
  return logical_or(left, right);
}
template <class Truth>
TWINLOOM_INLINE Truth all(Truth left, Truth right) {
  return logical_and(left, right);
}

// A NaN is before every number, and two NaNs are equal.
template <class Value>
TWINLOOM_INLINE Mask<Value> tied(Value left, Value right) {
  if constexpr (is_real<Value>)
    return logical_or(eq(left, right), logical_and(isnan(left), isnan(right)));
  else
    return eq(left, right);
}
template <class Value>
TWINLOOM_INLINE Mask<Value> newly_nan(Value left, Value right) {
  if constexpr (is_real<Value>)
    return logical_and(isnan(right), logical_not(isnan(left)));
  else
    return Mask<Value>(false);
}

#define TWINLOOM_FOUND(name, better, wins_tie)                                                            \
  template <class Value, class Place>                                                                     \
  TWINLOOM_INLINE Mask<Value> name(Value left, Place left_place, Value right, Place right_place) {        \
    const auto found = logical_or(newly_nan(left, right),                                                 \
                                  logical_and(logical_not(newly_nan(right, left)), better(right, left))); \
    return logical_or(found, logical_and(tied(left, right), wins_tie(right_place, left_place)));          \
  }
TWINLOOM_FOUND(argmax, gt, lt)
TWINLOOM_FOUND(argmin, lt, lt)
TWINLOOM_FOUND(argmax_last, gt, gt)
TWINLOOM_FOUND(argmin_last, lt, gt)
#undef TWINLOOM_FOUND

}  // namespace twinloom::device
