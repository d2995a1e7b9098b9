// Loads of every second, third or fourth element, and of neighbours in several places: whole registers and
// shuffles, where lane by lane takes a load and an insertion each.
#pragma once

#include "cpu/memory.h"

namespace twinloom::device {

// `stride` registers hold all of it: one behind the other, but the last one ends with the last lane's element,
// for what follows may lie outside.
template <int count, int stride>
struct Every {
  static constexpr int first_of(int part) {
    return part + 1 < stride ? part * count : (count - 1) * (stride - 1);
  }
  static constexpr int part_of(int lane) {
    const int part = lane * stride / count;
    return part < stride ? part : stride - 1;
  }
  // Where the shuffle finds a lane: in this part, or in what the parts before gave.
  static constexpr int from(int lane, int part) {
    return part_of(lane) == part ? count + lane * stride - first_of(part) : lane;
  }
};
// The register whose first lane is this element: whole, or of so many elements in all.
template <int count, class Of>
struct WholeParts {
  const Of* pointer;
  TWINLOOM_INLINE Vector<Of, count> from(int first) const { return load<count>(pointer + first); }
};
template <int count, class Of>
struct FirstParts {
  const Of* pointer;
  i64 elements;
  TWINLOOM_INLINE Vector<Of, count> from(int first) const {
    return load_first<count>(pointer + first, elements - first, Of(0));
  }
};
template <int stride, int part, class Parts, class Value, int... lane>
TWINLOOM_INLINE Value with_parts(Parts parts, Value earlier, Sequence<int, lane...> all) {
  constexpr int count = sizeof...(lane);
  if constexpr (part == stride) {
    return earlier;
  } else {
    constexpr int first = Every<count, stride>::first_of(part);
    const Value loaded = parts.from(first);
    const Value joined = shuffled<Every<count, stride>::from(lane, part)...>(earlier, loaded);
    return with_parts<stride, part + 1>(parts, joined, all);
  }
}
// Lane l is pointer[l * stride]; nothing before it and nothing behind the last one is touched.
template <int count, int stride, class Of>
TWINLOOM_INLINE Vector<Of, count> load_every(const Of* pointer) {
  return with_parts<stride, 0>(WholeParts<count, Of>{pointer}, Vector<Of, count>{}, Each<count>());
}
// The first `active` lanes so, the others are `otherwise`.
template <int count, int stride, class Of>
TWINLOOM_INLINE Vector<Of, count> load_every_first(const Of* pointer, i64 active, Of otherwise) {
  using Value = Vector<Of, count>;
  const FirstParts<count, Of> parts{pointer, (active - 1) * stride + 1};
  const Value loaded = with_parts<stride, 0>(parts, Value{}, Each<count>());
  return where(first_lanes<count>(active), loaded, Value(otherwise));
}

// Lane l is pointer[l / each * apart + l % each] of parts of count / parts = `each` neighbours.
template <int count, int parts, class Of>
TWINLOOM_INLINE Vector<Of, count> load_parts(const Of* pointer, i64 apart) {
  if constexpr (parts == 1) {
    return load<count>(pointer);
  } else {
    constexpr int half = count / 2;
    return joined<Of, half>(load_parts<half, parts / 2>(pointer, apart),
                            load_parts<half, parts / 2>(pointer + parts / 2 * apart, apart), Each<count>());
  }
}
template <class Value, int... lane>
TWINLOOM_INLINE auto alternating(Value first, Value second, Sequence<int, lane...>) {
  return shuffled<(lane / 2 + lane % 2 * lanes<Value>)...>(first, second);
}
// Lane l is pointer[l % parts * apart + l / parts]. The even ones of all parts are the even half's.
template <int count, int parts, class Of>
TWINLOOM_INLINE Vector<Of, count> load_in_turn(const Of* pointer, i64 apart) {
  if constexpr (parts == 1) {
    return load<count>(pointer);
  } else {
    return alternating(load_in_turn<count / 2, parts / 2>(pointer, 2 * apart),
                       load_in_turn<count / 2, parts / 2>(pointer + apart, 2 * apart), Each<count>());
  }
}

}  // namespace twinloom::device
