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
    return shuffled<(lane & apart ? other + lane - apart : lane)...>(first, second);
  else
    return shuffled<(lane & apart ? other + lane : lane + apart)...>(first, second);
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

// Small elements by units of 16 bytes, which interleave in one instruction each: of as many rows as a unit has
// elements, those of every column end side by side in one unit. `upper`: the other half of each unit.
template <bool upper, int unit, class Value, int... lane>
TWINLOOM_INLINE Value interleaved(Value first, Value second, Sequence<int, lane...>) {
  constexpr int other = sizeof...(lane), start = upper ? unit / 2 : 0;
  return shuffled<(lane - lane % unit + start + lane % unit / 2 + lane % 2 * other)...>(first, second);
}
template <class Value, int count>
struct Rows {
  Value rows[count];
};
template <int steps, class Value, int unit, int... row>
TWINLOOM_INLINE Rows<Value, unit> interleaved(const Rows<Value, unit>& all, Sequence<int, row...> rows) {
  if constexpr (steps == 1) {
    return all;
  } else {
    return interleaved<steps / 2>(
        Rows<Value, unit>{{interleaved<row % 2 != 0, unit>(all.rows[row / 2], all.rows[row / 2 + unit / 2],
                                                           Each<lanes<Value>>())...}},
        rows);
  }
}
// Unit `column / unit` of row `column % unit` to where that column's row lies.
template <int unit, class Of, class Value, int... column>
TWINLOOM_INLINE void store_units(Of* to, i64 to_stride, const Rows<Value, unit>& all, Sequence<int, column...>) {
  (store(to + column * to_stride,
         picked<column / unit * unit, 1>(all.rows[column % unit], Each<unit>())),
   ...);
}
template <int count, class Of, int... row>
TWINLOOM_INLINE void transpose_units(Of* to, i64 to_stride, const Of* from, i64 from_stride,
                                     Sequence<int, row...> rows) {
  constexpr int unit = sizeof...(row);
  for (i64 first = 0; first < count; first += unit) {
    const Rows<Vector<Of, count>, unit> all{{load<count>(from + (first + row) * from_stride)...}};
    store_units(to + first, to_stride, interleaved<unit>(all, rows), Each<count>());
  }
}
template <int count, class Of>
TWINLOOM_INLINE void transpose(Of* to, i64 to_stride, const Of* from, i64 from_stride) {
  constexpr int unit_bytes = 16;
  if constexpr (sizeof(Of) <= 2 && count * sizeof(Of) > unit_bytes)
    transpose_units<count>(to, to_stride, from, from_stride, Each<unit_bytes / sizeof(Of)>());
  else
    transpose_rows<count>(to, to_stride, from, from_stride, Each<count>());
}

}  // namespace twinloom::device
