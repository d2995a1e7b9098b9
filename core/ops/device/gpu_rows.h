// By NVRTC, each row of the operator table and each conversion of several lanes is that of one element, lane
// by lane: the machine code is the same as by vectors, and the compiler's optimiser sees one lane, which it
// copies, in place of structs to take apart (half its time and more).
#pragma once

#include "approximate.h"
#include "combine.h"
#include "convert.h"
#include "hyperbolic.h"
#include "short.h"
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
// A magnitude, without a sign: ptxas 13.0 takes a choice between 1 and -0 for one of numbers without signs
// and leaves out abs.f32. Where only its size counts abs<f32>() is a flag of the instruction that reads it.
TWINLOOM_INLINE f32 abs(f32 x) {
  u32 bits;
  asm("and.b32 %0, %1, 0x7fffffff;" : "=r"(bits) : "r"(bit_cast<u32>(x)));
  return bit_cast<f32>(bits);
}
TWINLOOM_INLINE f64 abs(f64 x) {
  u64 bits;
  asm("and.b64 %0, %1, 0x7fffffffffffffff;" : "=l"(bits) : "l"(bit_cast<u64>(x)));
  return bit_cast<f64>(bits);
}
TWINLOOM_INLINE f32 max(f32 left, f32 right) { return maximum(left, right); }
TWINLOOM_INLINE f32 min(f32 left, f32 right) { return minimum(left, right); }

// The forms of approximate.h by what a GPU approximates in one instruction, 2^x and 1 / sqrt(x) within 2^-22, 1 / x and
// sqrt(x) within 1 unit in the last place; with subnormal numbers, which takes 3 more (1 / x 7), or with zeros in place of
// them, of what the instruction is given and of what it gives.
#define TWINLOOM_UNIT(unit, kind)                                               \
  struct unit {                                                                 \
    TWINLOOM_INSTRUCTION(exp2, "ex2", kind)                                     \
    TWINLOOM_INSTRUCTION(reciprocal, "rcp", kind)                               \
    TWINLOOM_INSTRUCTION(rsqrt, "rsqrt", kind)                                  \
    TWINLOOM_INSTRUCTION(sqrt, "sqrt", kind)                                    \
  };
#define TWINLOOM_INSTRUCTION(name, instruction, kind)                           \
  static TWINLOOM_INLINE f32 name(f32 x) {                                      \
    f32 result;                                                                 \
    asm(instruction ".approx" kind ".f32 %0, %1;" : "=f"(result) : "f"(x));     \
    return result;                                                              \
  }
TWINLOOM_UNIT(KeepingUnit, "")
TWINLOOM_UNIT(FlushingUnit, ".ftz")
#undef TWINLOOM_INSTRUCTION
#undef TWINLOOM_UNIT
// 2^(high + low) of x log2(e), where the power of `high` is finite; the infinite ones are those of `low`. One rounding
// beside the error of the instruction.
template <class Unit>
TWINLOOM_INLINE f32 exp_by(f32 x) {
  const f32 above = maximum(x, -150.0f), log2_e = 0x1.715476p+0f;
  const f32 high = minimum(above * log2_e, 0x1.fffffep+6f);
  const f32 low = fma(above, 0x1.4ae0cp-26f, fma(above, log2_e, -high));
  const f32 power = Unit::exp2(high);
  return fma(power, low * 0x1.62e43p-1f, power);
}
template <class Unit>
TWINLOOM_INLINE f32 sigmoid_by(f32 x) {
  return Unit::reciprocal(1.0f + exp_by<Unit>(-x));
}
// Below -100 its size is less than 2^-137.
template <class Unit>
TWINLOOM_INLINE f32 silu_by(f32 x) {
  return maximum(x, -100.0f) * sigmoid_by<Unit>(x);
}
template <class Unit>
TWINLOOM_INLINE f32 tanh_by(f32 x) {
  const f32 a = abs(x), z = x * x;
  const f32 far = fma(-2.0f, Unit::reciprocal(1.0f + Unit::exp2(a * 0x1.715476p+1f)), 1.0f);
  return with_sign(select(a >= 0.65f, far, fma(a * z, short_tanh_rest(z), a)), x);
}
// As gelu_tanh_brief.
template <class Unit>
TWINLOOM_INLINE f32 gelu_tanh_by(f32 x) {
  const f32 size = below_limit(abs(x), 11.0f);
  const f32 slope = fma(size * size, 0x1.a5a7dp-4f, 0x1.26aec2p+1f);
  const f32 power = Unit::exp2(-size * slope);
  return select(x < 0.0f, -size * power, x) * Unit::reciprocal(1.0f + power);
}
#define TWINLOOM_BOTH(name, of_unit)                                            \
  TWINLOOM_INLINE f32 name##_approximate(f32 x) {                               \
    using Unit = KeepingUnit;                                                   \
    return of_unit(x);                                                          \
  }                                                                             \
  TWINLOOM_INLINE f32 name##_flushed(f32 x) {                                   \
    using Unit = FlushingUnit;                                                  \
    return of_unit(x);                                                          \
  }
TWINLOOM_BOTH(exp, exp_by<Unit>)
TWINLOOM_BOTH(sqrt, Unit::sqrt)
TWINLOOM_BOTH(rsqrt, Unit::rsqrt)
TWINLOOM_BOTH(reciprocal, Unit::reciprocal)
TWINLOOM_BOTH(sigmoid, sigmoid_by<Unit>)
TWINLOOM_BOTH(silu, silu_by<Unit>)
TWINLOOM_BOTH(tanh, tanh_by<Unit>)
TWINLOOM_BOTH(exp_brief, exp_by<Unit>)
TWINLOOM_BOTH(sigmoid_brief, sigmoid_by<Unit>)
TWINLOOM_BOTH(silu_brief, silu_by<Unit>)
TWINLOOM_BOTH(tanh_brief, tanh_by<Unit>)
TWINLOOM_BOTH(gelu_tanh_brief, gelu_tanh_by<Unit>)
#undef TWINLOOM_BOTH
TWINLOOM_INLINE f32 div_approximate(f32 a, f32 b) { return a * KeepingUnit::reciprocal(b); }
TWINLOOM_INLINE f32 div_flushed(f32 a, f32 b) { return a * FlushingUnit::reciprocal(b); }

// The same as argmax and argmin where the right place comes after the left one, which may be the identity's.
#define TWINLOOM_FOUND_AFTER(name, sign, opposite)                                          \
  template <class Value>                                                                    \
  TWINLOOM_INLINE bool name##_after(Value left, i64 left_place, Value right, i64) {         \
    const bool is_first = u32(left_place >> 32) == 0x7fffffffu;                             \
    if constexpr (is_real<Value>)                                                           \
      return (!(right opposite left) & left == left) | is_first;                            \
    else                                                                                    \
      return right sign left | is_first;                                                    \
  }
TWINLOOM_FOUND_AFTER(argmax, >, <=)
TWINLOOM_FOUND_AFTER(argmin, <, >=)
#undef TWINLOOM_FOUND_AFTER

// Elementary functions of f64 are long: one copy serves all lanes.
template <class Of, bool is_elementary, class Single, class... Values>
TWINLOOM_INLINE auto each_row_lane(Single single, const Values&... values) {
  if constexpr (is_elementary && same<Of, f64>)
    return each_lane([=](auto... one) { return called(single, one...); }, values...);
  else
    return each_lane(single, values...);
}

#define TWINLOOM_ROW_1(name, takes, is_elementary)                                        \
  template <class Of, int count>                                                          \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x) {                                  \
    return each_row_lane<Of, is_elementary>([](auto... one) { return name(one...); }, x); \
  }
#define TWINLOOM_ROW_2(name, takes, is_elementary)                                           \
  template <class Of, int count>                                                             \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x, const Lanes<Of, count>& y) {          \
    return each_row_lane<Of, is_elementary>([](auto... one) { return name(one...); }, x, y); \
  }
#define TWINLOOM_ROW_3(name, takes, is_elementary) TWINLOOM_ROW_3_##takes(name)
#define TWINLOOM_ROW_3_select(name)                                                      \
  template <class Of, int count>                                                         \
  TWINLOOM_INLINE auto name(const Lanes<bool, count>& mask, const Lanes<Of, count>& yes, \
                            const Lanes<Of, count>& no) {                                \
    return each_lane([](auto... one) { return name(one...); }, mask, yes, no);           \
  }
#define TWINLOOM_ROW_3_real(name)                                                 \
  template <class Of, int count>                                                  \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x, const Lanes<Of, count>& y, \
                            const Lanes<Of, count>& z) {                          \
    return each_lane([](auto... one) { return name(one...); }, x, y, z);          \
  }
#define TWINLOOM_ROW_4(name, takes, is_elementary)                                                 \
  template <int count>                                                                             \
  TWINLOOM_INLINE auto name(const Lanes<i64, count>& number, const Lanes<i64, count>& seed,        \
                            const Lanes<i64, count>& offset, const Lanes<i64, count>& operation) { \
    return each_lane([](auto... one) { return name(one...); }, number, seed, offset, operation);   \
  }
#define TWINLOOM_ROW_6(name, takes, is_elementary)                                                          \
  template <int count>                                                                                      \
  TWINLOOM_INLINE auto name(const Lanes<i64, count>& number, const Lanes<i64, count>& seed,                 \
                            const Lanes<i64, count>& offset, const Lanes<i64, count>& operation,            \
                            const Lanes<i64, count>& low, const Lanes<i64, count>& high) {                  \
    return each_lane([](auto... one) { return name(one...); }, number, seed, offset, operation, low, high); \
  }
// What need not be rounded right is no single instruction.
#define POINTWISE(name, arity, takes, gives, formula, low, high, ulp, ...) \
  TWINLOOM_ROW_##arity(name, takes, (ulp >= 1))
#include "core/ops/pointwise.def"
#undef POINTWISE
#undef TWINLOOM_ROW_1
#undef TWINLOOM_ROW_2
#undef TWINLOOM_ROW_3
#undef TWINLOOM_ROW_3_select
#undef TWINLOOM_ROW_3_real
#undef TWINLOOM_ROW_4
#undef TWINLOOM_ROW_6

// Division as the compiler does it where exponents are moderate, without its test and its call, which keep
// lanes from being computed side by side. A zero keeps its sign, and a NaN stays one: of a variance below 0 all is
// NaN. `rare` is set where it may be wrong.
TWINLOOM_INLINE f32 quick_inverse(f32 b) {
  f32 rough;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(b));
  return fma(rough, fma(-b, rough, 1.0f), rough);
}
TWINLOOM_INLINE bool is_outside(f32 x, f32 low, f32 high) {
  const f32 size = abs<f32>(x);
  return size < low | size > high;
}
TWINLOOM_INLINE bool is_far(f32 x) { return is_outside(x, 0x1p-100f, 0x1p100f); }
struct QuickDividing {
  static constexpr bool is_bounded = true;
  bool& rare;

  static TWINLOOM_INLINE f32 usual(f32 a, f32 b, f32 inverse) {
    const f32 near = a * inverse;
    return fma(-fma(b, near, -a), inverse, near);
  }
  static TWINLOOM_INLINE f32 usual(f32 a, f32 b) { return usual(a, b, quick_inverse(b)); }
  static TWINLOOM_INLINE bool is_unusual(f32 a) { return is_far(a) & a != 0.0f; }
  TWINLOOM_INLINE f32 operator()(f32 a, f32 b) const {
    rare = rare | is_unusual(a);
    return usual(a, b);
  }
};

// x * 2^k by an addition to the exponent, for an x near 1 and a result that is a normal number.
TWINLOOM_INLINE f32 scaled_by(const QuickDividing& way, f32 x, Whole<f32> k) {
  way.rare = way.rare | !(abs<f32>(k.value) < 125.0f);
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
TWINLOOM_INLINE f32 near_sin_short(bool& rare, f32 x) {
  rare = rare | is_far_from_pi(x);
  return short_near_sin(x);
}
TWINLOOM_INLINE f32 near_cos_short(bool& rare, f32 x) {
  rare = rare | is_far_from_pi(x);
  return short_near_cos(x);
}

// Of positive normal numbers.
TWINLOOM_INLINE f32 near_log_short(bool& rare, f32 x) {
  rare = rare | !(x >= 0x1p-126f & x < infinity<f32>());
  return short_log_of(fraction_of_normal(x));
}
// Of numbers above -1 beside which 1 counts.
TWINLOOM_INLINE f32 near_log1p_short(bool& rare, f32 x) {
  rare = rare | !(x > -1.0f & x < 0x1p60f);
  return short_log_of_sum(x, 1.0f, 0x1p23f + 127.0f);
}

// exp(x) where the quick form gave it or where it is 0: below -105 it is less than 2^-151.
TWINLOOM_INLINE f32 zero_where_it_vanishes(bool& rare, f32 x, f32 quick) {
  const bool vanishes = x < -105.0f;
  rare = rare | !(vanishes | abs<f32>(x) < 86.0f);
  return vanishes ? 0.0f : quick;
}

// a / b of numbers whose quotient and whose residue are normal numbers. That one residue is enough where the reciprocal
// is rounded right was tried on the quotients that are hardest to round (tests/cuda/functions/quotients.h).
TWINLOOM_INLINE bool is_far_dividend(f32 a) { return is_outside(a, 0x1p-84f, 0x1p84f); }
TWINLOOM_INLINE bool is_far_divisor(f32 b) { return is_outside(b, 0x1p-40f, 0x1p40f); }
TWINLOOM_INLINE f32 moderate_quotient(bool& rare, f32 a, f32 b) {
  rare = rare | is_far_dividend(a) | is_far_divisor(b);
  return QuickDividing::usual(a, b);
}
TWINLOOM_INLINE f32 quotient_of_zero(bool& rare, f32 a, f32 b, f32 quick) {
  rare = rare | (is_far_dividend(a) & a != 0.0f) | is_far_divisor(b);
  return a == 0.0f ? a * b : quick;
}
TWINLOOM_INLINE f32 moderate_inverse(bool& rare, f32 x) {
  rare = rare | is_far(x);
  return quick_inverse(x);
}
// The square root as the compiler computes it of normal numbers, by one step from 1 / sqrt(x): NaN below 0.
TWINLOOM_INLINE f32 moderate_root(bool& rare, f32 x) {
  rare = rare | is_far(x);
  f32 rough;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(rough) : "f"(x));
  const f32 near = x * rough;
  return fma(fma(-near, near, x), rough * 0.5f, near);
}
TWINLOOM_INLINE f32 root_of_zero(bool& rare, f32 x, f32 quick) {
  rare = rare | QuickDividing::is_unusual(x);
  return x == 0.0f ? x : quick;
}

// For each row of quick.def, quick_exp(rare, x), mended_exp(rare, x, quick) and rare_exp(x), the row's own
// function as one of its own: of one lane, since one of all lanes wants them in registers of its choice (7 % of a
// softmax's time).
#define TWINLOOM_PARAMETERS_1 f32 one
#define TWINLOOM_PARAMETERS_2 f32 one, f32 other
#define TWINLOOM_ARGUMENTS_1 one
#define TWINLOOM_ARGUMENTS_2 one, other
#define QUICK(name, inputs, mends, form, mended)                                                               \
  TWINLOOM_INLINE f32 quick_##name(bool& rare, TWINLOOM_PARAMETERS_##inputs) { return form; }                  \
  TWINLOOM_INLINE f32 mended_##name(bool& rare, TWINLOOM_PARAMETERS_##inputs, f32 quick) { return mended; }    \
  TWINLOOM_DEVICE __attribute__((noinline)) inline f32 rare_##name(TWINLOOM_PARAMETERS_##inputs) {             \
    return name(TWINLOOM_ARGUMENTS_##inputs);                                                                  \
  }
#include "core/ops/quick.def"
#undef QUICK
#undef TWINLOOM_PARAMETERS_1
#undef TWINLOOM_PARAMETERS_2
#undef TWINLOOM_ARGUMENTS_1
#undef TWINLOOM_ARGUMENTS_2

// The same of a / b, where one b divides all, whose quotients are normal numbers. Zeros are rare only at first sight: a
// lane has a test of two instructions, then one of three.
TWINLOOM_INLINE bool is_rare_divisor(f32 b) { return !(b >= 0x1p-24f & b <= 0x1p24f); }
TWINLOOM_INLINE f32 quick_div(bool& rare, f32 a, f32 b, f32 inverse) {
  rare = rare | is_far(a);
  return QuickDividing::usual(a, b, inverse);
}
TWINLOOM_INLINE f32 mended_div(bool& rare, f32 a, f32 quick) {
  rare = rare | QuickDividing::is_unusual(a);
  return quick;
}

#define TWINLOOM_CONVERSION(name)                              \
  template <class To, class Of, int count>                     \
  TWINLOOM_INLINE auto name(const Lanes<Of, count>& x) {       \
    return each_lane([](Of one) { return name<To>(one); }, x); \
  }
TWINLOOM_CONVERSION(convert)
TWINLOOM_CONVERSION(widen)
TWINLOOM_CONVERSION(narrow)
TWINLOOM_CONVERSION(rounded)
#undef TWINLOOM_CONVERSION

// Of two lanes, which one instruction converts to a format of 16 bits.
template <class Format>
TWINLOOM_INLINE void narrow(f32 x, f32 y, u16& first, u16& second) {
  const u32 pair = converted_pair<Format>(x, y);
  first = u16(pair);
  second = u16(pair >> 16);
}

}  // namespace twinloom::device
