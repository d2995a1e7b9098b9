// By NVRTC, each row of the operator table and each conversion of several lanes is that of one element, lane
// by lane: the machine code is the same as by vectors, and the compiler's optimiser sees one lane, which it
// copies, in place of structs to take apart (half its time and more).
#pragma once

#include "combine.h"
#include "convert.h"
#include "hyperbolic.h"
#include "special.h"
#include "trigonometric.h"

namespace twinloom::device {

template <class First, class... More>
constexpr int lanes_of_first = lanes<First>;

// single(x, more...) for every lane, whatever its type.
template <class Single, class... Values>
TWINLOOM_INLINE auto each_lane(Single single, const Values&... values) {
  constexpr int count = lanes_of_first<Values...>;
  Vector<decltype(single(values[0]...)), count> result;
  TWINLOOM_LANES((count), (result[i] = single(values[i]...)))
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

// Division as the compiler does it where exponents are moderate, without its test and its call, which keep
// lanes from being computed side by side. A zero keeps its sign. `rare` is set where it may be wrong.
struct QuickDividing {
  static constexpr bool is_bounded = true;
  bool& rare;

  static TWINLOOM_INLINE f32 usual(f32 a, f32 b) {
    f32 rough;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(b));
    const f32 inverse = fma(rough, fma(-b, rough, 1.0f), rough);
    const f32 near = a * inverse;
    return fma(-fma(b, near, -a), inverse, near);
  }
  TWINLOOM_INLINE f32 operator()(f32 a, f32 b) const {
    rare = rare | (!is_moderate(a) & a != 0.0f);
    return usual(a, b);
  }
  static TWINLOOM_INLINE bool is_moderate(f32 a) {
    const f32 size = abs(a);
    return size >= 0x1p-100f & size <= 0x1p100f;
  }
};

// x * 2^k by an addition to the exponent, for an x near 1 and a result that is a normal number.
TWINLOOM_INLINE f32 scaled_by(const QuickDividing& way, f32 x, Whole<f32> k) {
  way.rare = way.rare | !(abs(k.value) < 125.0f);
  return bit_cast<f32>(bit_cast<u32>(x) + (k.bits << 23));
}

// Of angles that are not far.
TWINLOOM_INLINE f32 near_sin(bool& rare, f32 x) {
  rare = rare | is_far_angle(x);
  return turned_sin(angle_of(x), 0);
}
TWINLOOM_INLINE f32 near_cos(bool& rare, f32 x) {
  rare = rare | is_far_angle(x);
  return turned_sin(angle_of(x), 1);
}

// quick(rare, x) for every lane; where one of them is rare, the row's own function for all of them, in a
// function of its own: of one lane, since one of all lanes wants them in registers of its choice (7 % of a
// softmax's time).
template <int count, class Quick, class Single>
TWINLOOM_INLINE Vector<f32, count> mostly(Quick quick, Single whole, const Vector<f32, count>& x) {
  bool rare = false;
  Vector<f32, count> result = each_lane([&](f32 one) { return quick(rare, one); }, x);
  if (__builtin_expect(rare, 0)) result = each_lane([=](f32 one) { return called(whole, one); }, x);
  return result;
}
#define TWINLOOM_QUICK_ROW(name, quick)                                                                    \
  template <int count>                                                                                     \
  TWINLOOM_INLINE Lanes<f32, count> name(const Lanes<f32, count>& x) {                                     \
    return mostly<count>([](bool& rare, f32 one) { return quick; }, [](f32 one) { return name(one); }, x); \
  }
TWINLOOM_QUICK_ROW(exp, exp_within(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(sigmoid, sigmoid(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(silu, silu(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(tanh, tanh(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(gelu_erf, gelu_erf(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(gelu_tanh, gelu_tanh(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(gelu_erf_brief, gelu_erf_brief(one, QuickDividing{rare}))
TWINLOOM_QUICK_ROW(sin, near_sin(rare, one))
TWINLOOM_QUICK_ROW(cos, near_cos(rare, one))
#undef TWINLOOM_QUICK_ROW

// Zeros are rare only at first sight: a test of two instructions a lane, then one of four.
template <int count>
TWINLOOM_INLINE Lanes<f32, count> div_by_one(const Lanes<f32, count>& a, f32 b) {
  const bool is_usual = b >= 0.5f && b <= 0x1p24f;
  bool all_moderate = is_usual;
  const auto divided = [&](f32 one) {
    all_moderate = all_moderate & QuickDividing::is_moderate(one);
    return QuickDividing::usual(one, b);
  };
  Lanes<f32, count> result = each_lane(divided, a);
  if (__builtin_expect(!all_moderate, 0)) {
    bool rare = !is_usual;
    TWINLOOM_LANES((count), (rare = rare | (!QuickDividing::is_moderate(a[i]) & a[i] != 0.0f)))
    const auto whole = [=](Lanes<f32, count> all) {
      return each_lane([=](f32 one) { return one / b; }, all);
    };
    if (rare) result = called(whole, a);
  }
  return result;
}

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
