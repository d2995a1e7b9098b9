// By NVRTC, each row of the operator table and each conversion of several lanes is that of one element, lane
// by lane: the machine code is the same as by vectors, and the compiler's optimiser sees one lane, which it
// copies, in place of structs to take apart (half its time and more).
#pragma once

#include "combine.h"
#include "convert.h"

namespace twinloom::device {

template <class First, class... More>
constexpr int lanes_of_first = lanes<First>;

// single(x, more...) for every lane, whatever its type.
template <class Single, class... Values>
TWINLOOM_INLINE auto each_lane(Single single, const Values&... values) {
  constexpr int count = lanes_of_first<Values...>;
  Vector<decltype(single(values[0]...)), count> result;
  TWINLOOM_UNROLL
  for (int i = 0; i < count; ++i) result[i] = single(values[i]...);
  return result;
}

// IEEE 754-2019 maximum and minimum are instructions: -0 < +0, and a NaN wins.
TWINLOOM_INLINE f32 maximum(f32 a, f32 b) {
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
}
TWINLOOM_INLINE f32 minimum(f32 a, f32 b) {
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
}
TWINLOOM_INLINE f32 max(f32 left, f32 right) { return maximum(left, right); }
TWINLOOM_INLINE f32 min(f32 left, f32 right) { return minimum(left, right); }

// Elementary functions of f64 are long: one copy serves all lanes.
template <class Of, bool is_elementary, class Single, class... Values>
TWINLOOM_INLINE auto each_row_lane(Single single, const Values&... values) {
  if constexpr (is_elementary && same<Of, f64>)
    return each_lane([=](auto... one) { return called(single, one...); }, values...);
  else
    return each_lane(single, values...);
}

#define TWINLOOM_ROW_1(name, is_elementary)                                               \
  template <class Of, int count>                                                          \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x) {                                  \
    return each_row_lane<Of, is_elementary>([](auto... one) { return name(one...); }, x); \
  }
#define TWINLOOM_ROW_2(name, is_elementary)                                                  \
  template <class Of, int count>                                                             \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x, const Lanes<Of, count>& y) {          \
    return each_row_lane<Of, is_elementary>([](auto... one) { return name(one...); }, x, y); \
  }
#define TWINLOOM_ROW_3(name, is_elementary)                                              \
  template <class Of, int count>                                                         \
  TWINLOOM_INLINE auto name(const Lanes<bool, count>& mask, const Lanes<Of, count>& yes, \
                            const Lanes<Of, count>& no) {                                \
    return each_lane([](auto... one) { return name(one...); }, mask, yes, no);           \
  }
#define TWINLOOM_ROW_4(name, is_elementary)                                                        \
  template <int count>                                                                             \
  TWINLOOM_INLINE auto name(const Lanes<i64, count>& number, const Lanes<i64, count>& seed,        \
                            const Lanes<i64, count>& offset, const Lanes<i64, count>& operation) { \
    return each_lane([](auto... one) { return name(one...); }, number, seed, offset, operation);   \
  }
#define TWINLOOM_ROW_6(name, is_elementary)                                                                 \
  template <int count>                                                                                      \
  TWINLOOM_INLINE auto name(const Lanes<i64, count>& number, const Lanes<i64, count>& seed,                 \
                            const Lanes<i64, count>& offset, const Lanes<i64, count>& operation,            \
                            const Lanes<i64, count>& low, const Lanes<i64, count>& high) {                  \
    return each_lane([](auto... one) { return name(one...); }, number, seed, offset, operation, low, high); \
  }
// What need not be rounded right is no single instruction.
#define POINTWISE(name, arity, takes, gives, formula, low, high, ulp) TWINLOOM_ROW_##arity(name, (ulp >= 1))
#include "core/ops/pointwise.def"
#undef POINTWISE
#undef TWINLOOM_ROW_1
#undef TWINLOOM_ROW_2
#undef TWINLOOM_ROW_3
#undef TWINLOOM_ROW_4
#undef TWINLOOM_ROW_6

#define TWINLOOM_CONVERSION(name)                              \
  template <class To, class Of, int count>                     \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x) {       \
    return each_lane([](Of one) { return name<To>(one); }, x); \
  }
TWINLOOM_CONVERSION(convert)
TWINLOOM_CONVERSION(widen)
TWINLOOM_CONVERSION(rounded)
#undef TWINLOOM_CONVERSION

template <class Format, class Of, int count>
TWINLOOM_INLINE auto narrow(const Lanes<Of, count>& x) {
  if constexpr (same<Of, f32> && sizeof(typename Format::Bits) == 2 && count % 2 == 0) {
    Lanes<u16, count> bits;
    TWINLOOM_UNROLL
    for (int i = 0; i < count; i += 2) {
      const u32 pair = converted_pair<Format>(x[i], x[i + 1]);
      bits[i] = u16(pair);
      bits[i + 1] = u16(pair >> 16);
    }
    return bits;
  } else {
    return each_lane([](Of one) { return narrow<Format>(one); }, x);
  }
}

}  // namespace twinloom::device
