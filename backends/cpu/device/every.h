// Loads of every second, third or fourth element: whole registers and shuffles, where lane by lane takes a load
// and an insertion each.
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
template <int stride, int part, class Of, class Value, int... lane>
TWINLOOM_INLINE Value with_parts(const Of* pointer, Value earlier, Sequence<int, lane...> all) {
  constexpr int count = sizeof...(lane);
  if constexpr (part == stride) {
    return earlier;
  } else {
    using Parts = Every<count, stride>;
    const Value loaded = load<count>(pointer + Parts::first_of(part));
    const Value joined = __builtin_shufflevector(earlier, loaded, Parts::from(lane, part)...);
    return with_parts<stride, part + 1>(pointer, joined, all);
  }
}
// Lane l is pointer[l * stride]; nothing before it and nothing behind the last one is touched.
template <int count, int stride, class Of>
TWINLOOM_INLINE Vector<Of, count> load_every(const Of* pointer) {
  return with_parts<stride, 0>(pointer, Vector<Of, count>{}, Each<count>());
}

}  // namespace twinloom::device
