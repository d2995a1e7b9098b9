// Squares of elements that are turned over in registers.
#pragma once

#include "cpu/memory.h"

namespace twinloom::device {

// Element `row` of a pair of rows `apart` rows away from each other, when the squares of that size beside the
// diagonal change places.
template <int apart, bool upper, class Value, int... lane>
TWINLOOM_INLINE Value exchanged(Value first, Value second, Sequence<int, lane...>) {
  constexpr int other = sizeof...(lane);
  if constexpr (upper)
    return __builtin_shufflevector(first, second, (lane & apart ? other + lane - apart : lane)...);
  else
    return __builtin_shufflevector(first, second, (lane & apart ? other + lane : lane + apart)...);
}
template <class Value>
struct Square {
  Value rows[lanes<Value>];
};
template <int apart, class Value, int... row>
TWINLOOM_INLINE Square<Value> turned(const Square<Value>& square, Sequence<int, row...> rows) {
  if constexpr (apart == 0) {
    return square;
  } else {
    return turned<apart / 2>(Square<Value>{{exchanged<apart, (row & apart) == 0>(
                                 square.rows[row & ~apart], square.rows[row | apart], rows)...}},
                             rows);
  }
}

// to[row * to_stride + lane] = from[lane * from_stride + row] of a square of `count` rows.
template <int count, class Of, int... row>
TWINLOOM_INLINE void transpose_rows(Of* to, i64 to_stride, const Of* from, i64 from_stride,
                                    Sequence<int, row...> rows) {
  using Value = Vector<Of, count>;
  const auto result = turned<count / 2>(Square<Value>{{load<count>(from + row * from_stride)...}}, rows);
  (store(to + row * to_stride, result.rows[row]), ...);
}
template <int count, class Of>
TWINLOOM_INLINE void transpose(Of* to, i64 to_stride, const Of* from, i64 from_stride) {
  transpose_rows<count>(to, to_stride, from, from_stride, Each<count>());
}

}  // namespace twinloom::device
