// Arithmetic, comparisons and logic: total functions, one for each row of the operator table that is no
// elementary function. Integers wrap: C++ would promote narrow ones, so every step is cast back.
#pragma once

#include "vector.h"

namespace twinloom::device {

// Integer steps are done in unsigned elements, where nothing overflows; one of 16 bits times another is
// promoted to int, so that single elements go through u64.
template <class Value>
struct Wrapping {
  using type = Unsigned<Value>;
};
#define TWINLOOM_WRAPPING(narrow) \
  template <>                     \
  struct Wrapping<narrow> {       \
    using type = u64;             \
  };
TWINLOOM_WRAPPING(i8)
TWINLOOM_WRAPPING(u8)
TWINLOOM_WRAPPING(i16)
TWINLOOM_WRAPPING(u16)
#undef TWINLOOM_WRAPPING

#define TWINLOOM_WRAPPED(name, sign)                                              \
  template <class Value>                                                          \
  TWINLOOM_INLINE Value name(Value a, Value b) {                                  \
    if constexpr (is_real<Value>) {                                               \
      return a sign b;                                                            \
    } else {                                                                      \
      using Steps = typename Wrapping<Value>::type;                               \
      return truncated<Element<Value>>(                                           \
          Steps(truncated<Element<Steps>>(a) sign truncated<Element<Steps>>(b))); \
    }                                                                             \
  }
TWINLOOM_WRAPPED(add, +)
TWINLOOM_WRAPPED(sub, -)
TWINLOOM_WRAPPED(mul, *)
#undef TWINLOOM_WRAPPED

// ptxas 13.0 makes one VIMNMX3 of two extremes that follow each other, of integers with signs, and forgets
// that its second operand is negated; of those without signs it does not. Of one of 8 or 16 bits it makes
// VIMNMX.U16x2, whose upper half overwrites the predicate that says which operand the lower one is: max(x, 0)
// == 0 is then true.
#ifdef __CUDACC__
template <class Value>
constexpr bool loses_negation = is_signed<Value> && !is_real<Value> && bits<Value> <= 32;
template <class Value>
constexpr bool loses_extreme =
    lanes<Value> == 1 && (loses_negation<Value> || (!is_real<Value> && bits<Value> <= 16));
#else
template <class Value>
constexpr bool loses_negation = false;
template <class Value>
constexpr bool loses_extreme = false;
#endif
template <class Value>
TWINLOOM_INLINE Value neg(Value x) {
  if constexpr (is_real<Value>)
    return -x;
  else if constexpr (loses_negation<Value>)
    return bit_cast<Value>(Unsigned<Value>(hidden(Unsigned<Value>(~bit_cast<Unsigned<Value>>(x))) +
                                           Unsigned<Value>(Element<Unsigned<Value>>(1))));
  else
    return sub(Value(Element<Value>(0)), x);
}

// Questions.
#define TWINLOOM_QUESTION(name, sign)                      \
  template <class Value>                                   \
  TWINLOOM_INLINE Mask<Value> name(Value a, Value b) {     \
    if constexpr (lanes < Value >> 1 && is_truth<Value>) { \
      const auto left = truncated<i8>(a);                  \
      const auto right = truncated<i8>(b);                 \
      return mask_of(left sign right);                     \
    } else {                                               \
      return mask_of(a sign b);                            \
    }                                                      \
  }
TWINLOOM_QUESTION(eq, ==)
TWINLOOM_QUESTION(ne, !=)
TWINLOOM_QUESTION(lt, <)
TWINLOOM_QUESTION(le, <=)
TWINLOOM_QUESTION(gt, >)
TWINLOOM_QUESTION(ge, >=)
#undef TWINLOOM_QUESTION

template <class Value>
TWINLOOM_INLINE Mask<Value> truth(Value x) {
  if constexpr (is_truth<Value>)
    return x;
  else
    return mask_of(x != Value(Element<Value>(0)));
}
template <class Value>
TWINLOOM_INLINE Mask<Value> logical_not(Value x) {
  if constexpr (lanes<Value> == 1)
    return !truth(x);
  else
    return ~truth(x);
}
template <class Value>
TWINLOOM_INLINE Mask<Value> logical_and(Value a, Value b) {
  return both(truth(a), truth(b));
}
template <class Value>
TWINLOOM_INLINE Mask<Value> logical_or(Value a, Value b) {
  return either(truth(a), truth(b));
}
template <class Value>
TWINLOOM_INLINE Mask<Value> logical_xor(Value a, Value b) {
  return truth(a) ^ truth(b);
}

// NVRTC 13.0 makes a minimum of x < 0 ? x : 0, and so -0 of -0, and a maximum of x > -0 ? x : -0.
template <class Value>
TWINLOOM_INLINE Value where(Mask<Value> mask, Value yes, Value no) {
  if constexpr (is_real<Value>) yes = hidden(yes);
  if constexpr (lanes<Value> == 1)
    return mask ? yes : no;
  else if constexpr (is_truth<Value>)
    return (mask & yes) | (~mask & no);
  else
    return select(test_of<Value>(mask), yes, no);
}

// Bits.
template <class Value>
TWINLOOM_INLINE Value bitwise_not(Value x) {
  if constexpr (is_truth<Value>)
    return logical_not(x);
  else
    return Value(~x);
}
template <class Value>
TWINLOOM_INLINE Value bitwise_and(Value a, Value b) {
  if constexpr (is_truth<Value>)
    return both(a, b);
  else
    return Value(a & b);
}
template <class Value>
TWINLOOM_INLINE Value bitwise_or(Value a, Value b) {
  if constexpr (is_truth<Value>)
    return either(a, b);
  else
    return Value(a | b);
}
template <class Value>
TWINLOOM_INLINE Value bitwise_xor(Value a, Value b) {
  return Value(a ^ b);
}

// An amount that is negative or at least the width shifts everything out.
template <class Value>
TWINLOOM_INLINE Value shift_left(Value x, Value amount) {
  using Bits = Unsigned<Value>;
  using Part = Element<Bits>;
  const auto places = bit_cast<Bits>(amount);
  const auto inside = places < Bits(Part(bits<Value>));
  const auto moved = truncated<Part>(bit_cast<Bits>(x) << select(inside, places, Bits(Part(0))));
  return bit_cast<Value>(select(inside, Bits(moved), Bits(Part(0))));
}
template <class Value>
TWINLOOM_INLINE Value shift_right(Value x, Value amount) {
  using Bits = Unsigned<Value>;
  using Part = Element<Bits>;
  const auto places = bit_cast<Bits>(amount);
  const auto inside = places < Bits(Part(bits<Value>));
  if constexpr (is_signed<Value>) {
    const auto most = Bits(Part(bits<Value> - 1));
    return truncated<Element<Value>>(x >> bit_cast<Value>(select(inside, places, most)));
  } else {
    const Value moved = truncated<Element<Value>>(x >> select(inside, places, Bits(Part(0))));
    return select(inside, moved, Value(Element<Value>(0)));
  }
}

// The bits of a real value without its sign, and the sign alone.
template <class Real>
constexpr Element<Unsigned<Real>> sign_bit = Element<Unsigned<Real>>(1) << (bits<Real> - 1);
template <class Real>
TWINLOOM_INLINE Unsigned<Real> magnitude_bits(Real x) {
  return bit_cast<Unsigned<Real>>(x) & Unsigned<Real>(Element<Unsigned<Real>>(sign_bit<Real> - 1));
}
template <class Real>
TWINLOOM_INLINE Unsigned<Real> sign_bits(Real x) {
  return bit_cast<Unsigned<Real>>(x) & Unsigned<Real>(sign_bit<Real>);
}
// The mask is out of sight of Clang 19, which with AVX-512 folds select(test, s, m & ~mask | s & mask) for a
// mask that it knows into one masked VPTERNLOG with the operands of its table exchanged.
template <class Real>
TWINLOOM_INLINE Real with_sign(Real magnitude, Real sign) {
  using Bits = Unsigned<Real>;
  Element<Bits> mask = sign_bit<Real>;
#if defined(__clang__) && defined(__AVX512F__)
  if constexpr (lanes < Real >> 1) asm("" : "+r"(mask));
#endif
  return bit_cast<Real>(magnitude_bits(magnitude) | (bit_cast<Bits>(sign) & Bits(mask)));
}
template <class Real>
constexpr Element<Unsigned<Real>> infinity_bits = same<Element<Real>, f32>
                                                      ? Element<Unsigned<Real>>(0x7f800000)
                                                      : Element<Unsigned<Real>>(0x7ffull << 52);
template <class Real>
TWINLOOM_INLINE Real infinity() {
  return bit_cast<Real>(Unsigned<Real>(infinity_bits<Real>));
}
template <class Real>
TWINLOOM_INLINE Real not_a_number() {
  return bit_cast<Real>(Unsigned<Real>(infinity_bits<Real> | (infinity_bits<Real> >> 1)));
}

// An integer that orders as elements are sorted: zeros are equal, and so are NaNs, above all others.
template <class Value>
TWINLOOM_INLINE Like<Value, i64> order_key(Value x) {
  if constexpr (is_real<Value>) {
    using Bits = Signed<Value>;
    const Bits magnitude = bit_cast<Bits>(magnitude_bits(x));
    const auto below = bit_cast<Bits>(sign_bits(x)) != Bits(Element<Bits>(0));
    const Bits number = select(below, neg(magnitude), magnitude);
    return truncated<i64>(Bits(select(x == x, number, bit_cast<Bits>(not_a_number<Value>()))));
  } else if constexpr (is_truth<Value> || is_signed<Value>) {
    return truncated<i64>(x);
  } else {
    constexpr u64 middle = u64(1) << (bits<Value> - 1);
    return bit_cast<Like<Value, i64>>(Like<Value, u64>(truncated<u64>(x) - Like<Value, u64>(middle)));
  }
}

template <class Value>
TWINLOOM_INLINE Value abs(Value x) {
#ifdef __CUDACC__  // a flag of the instruction that reads it
  if constexpr (same<Value, f32>) return ::fabsf(x);
#endif
  if constexpr (is_real<Value>)
    return bit_cast<Value>(magnitude_bits(x));
  else if constexpr (is_signed<Value>)
    return select(x < Value(Element<Value>(0)), neg(x), x);
  else
    return x;
}
template <class Real>
TWINLOOM_INLINE Real copysign(Real magnitude, Real sign) {
  return with_sign(magnitude, sign);
}
template <class Value>
TWINLOOM_INLINE Mask<Value> signbit(Value x) {
  if constexpr (is_real<Value>)
    return mask_of(sign_bits(x) != Unsigned<Value>(Element<Unsigned<Value>>(0)));
  else
    return mask_of(x < Value(Element<Value>(0)));
}
template <class Real>
TWINLOOM_INLINE Mask<Real> isnan(Real x) {
  return mask_of(x != x);
}
template <class Real>
TWINLOOM_INLINE Mask<Real> isinf(Real x) {
  return mask_of(magnitude_bits(x) == Unsigned<Real>(infinity_bits<Real>));
}
template <class Real>
TWINLOOM_INLINE Mask<Real> isfinite(Real x) {
  return mask_of(magnitude_bits(x) < Unsigned<Real>(infinity_bits<Real>));
}
// 1, -1, or the zero itself; NaN for NaN.
template <class Value>
TWINLOOM_INLINE Value sign(Value x) {
  using Part = Element<Value>;
  const Value zero(Part(0));
  const Value one(Part(1));
  if constexpr (!is_signed<Value>)
    return select(x != zero, one, zero);
  else
    return select(x > zero, one, select(x < zero, neg(one), x));
}

#if defined(__clang__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
// The larger (1) or smaller (0) of numbers by one instruction, for which -0 < +0.
template <int which, class Real>
TWINLOOM_INLINE Real extreme_of_numbers(Real a, Real b) {
  constexpr int order = which | 4;  // with the sign of what is chosen
  constexpr int current_rounding = 4;
  if constexpr (sizeof(Real) > 64) {
    struct Halves {
      Vector<Element<Real>, lanes<Real> / 2> low, high;
    };
    const auto first = bit_cast<Halves>(a), second = bit_cast<Halves>(b);
    return bit_cast<Real>(Halves{extreme_of_numbers<which>(first.low, second.low),
                                 extreme_of_numbers<which>(first.high, second.high)});
  } else if constexpr (sizeof(Real) == 64 && same<Element<Real>, f32>)
    return __builtin_ia32_rangeps512_mask(a, b, order, a, u16(0xffff), current_rounding);
  else if constexpr (sizeof(Real) == 32 && same<Element<Real>, f32>)
    return __builtin_ia32_rangeps256_mask(a, b, order, a, u8(0xff));
  else if constexpr (sizeof(Real) == 16 && same<Element<Real>, f32>)
    return __builtin_ia32_rangeps128_mask(a, b, order, a, u8(0xff));
  else if constexpr (sizeof(Real) == 64)
    return __builtin_ia32_rangepd512_mask(a, b, order, a, u8(0xff), current_rounding);
  else if constexpr (sizeof(Real) == 32)
    return __builtin_ia32_rangepd256_mask(a, b, order, a, u8(0xff));
  else
    return __builtin_ia32_rangepd128_mask(a, b, order, a, u8(0xff));
}
template <class Real>
constexpr bool has_extremes = sizeof(Real) >= 16;
#else
template <int which, class Real>
TWINLOOM_INLINE Real extreme_of_numbers(Real a, Real) {
  return a;
}
template <class Real>
constexpr bool has_extremes = false;
#endif

// IEEE 754-2019 maximum and minimum: -0 < +0, and a NaN wins. Of zeros that differ, a > b ? a : b and
// b > a ? b : a are the two, whose bits are joined.
#define TWINLOOM_EXTREME(name, which, beyond, joined_bits, of_truths)                             \
  template <class Value>                                                                          \
  TWINLOOM_INLINE Value name(Value a, Value b) {                                                  \
    if constexpr (is_truth<Value>) {                                                              \
      return of_truths(a, b);                                                                     \
    } else if constexpr (is_real<Value> && has_extremes<Value>) {                                 \
      return select(either(a != a, b != b), a + b, extreme_of_numbers<which>(a, b));              \
    } else if constexpr (is_real<Value>) {                                                        \
      const auto first = bit_cast<Unsigned<Value>>(select(a beyond b, a, b));                     \
      const auto second = bit_cast<Unsigned<Value>>(select(b beyond a, b, a));                    \
      return select(either(a != a, b != b), a + b,                                                \
                    bit_cast<Value>(Unsigned<Value>(first joined_bits second)));                  \
    } else if constexpr (loses_extreme<Value>) {                                                  \
      constexpr u32 lift = u32(1) << 31;                                                          \
      const u32 first = hidden(u32(i32(a)) ^ lift), second = hidden(u32(i32(b)) ^ lift);          \
      return Value(i32((first beyond second ? first : second) ^ lift));                           \
    } else {                                                                                      \
      return select(a beyond b, a, b);                                                            \
    }                                                                                             \
  }
TWINLOOM_EXTREME(maximum, 1, >, &, either)
TWINLOOM_EXTREME(minimum, 0, <, |, both)
#undef TWINLOOM_EXTREME
template <class Value>
TWINLOOM_INLINE Value relu(Value x) {
  const Value zero(Element<Value>(0));
  if constexpr (is_real<Value>)
    return select(x <= zero, zero, x);
  else
    return maximum(x, zero);
}

template <class Real>
TWINLOOM_INLINE Real div(Real a, Real b) {
  return a / b;
}
// How a function divides: any a by a number from 1/2 to 2^100; `usual` where a is 0 or from 2^-100 to 2^100 in
// size. Of such an a the quotient must be 0 or from 2^-125 to 2^125.
struct Dividing {
  static constexpr bool is_bounded = false;  // any other divisor will do too
  template <class Real>
  TWINLOOM_INLINE Real operator()(Real a, Real b) const {
    return a / b;
  }
  template <class Real>
  TWINLOOM_INLINE Real usual(Real a, Real b) const {
    return a / b;
  }
};
// All of a register divided by one number, the bits of a / b: by its reciprocal in two parts, which gives one
// of the two numbers q beside the quotient, and then q + (a - q b) y, which rounds right (Markstein 1990)
// where the parts of a - q b are normal numbers, or for a = +0 and a positive b. Of 512 bits a division takes
// 16 cycles.
template <class Real>
TWINLOOM_INLINE Real div_by_one(Real a, Element<Real> b) {
#if defined(__clang__) && defined(__AVX512F__)
  if constexpr (sizeof(Real) == 64 && same<Element<Real>, f32>) {
    // Of an unusual b every a is far, but for a NaN.
    using Bits = Unsigned<Real>;
    const bool usual = b >= 0x1p-24f && b <= 0x1p24f;
    const u32 least = bit_cast<u32>(0x1p-100f), count = bit_cast<u32>(0x1p100f) - least;
    const Bits near_by(usual ? count : 0u), allowed(usual ? 0u : ~0u);
    const auto far = both(magnitude_bits(a) - Bits(least) >= near_by, bit_cast<Bits>(a) != allowed);
    if (__builtin_expect(!any_lane(far), 1)) {
      const f32 y = 1.0f / b, y_low = __builtin_fmaf(-b, y, 1.0f) * y;
      const Real near = fma(a, Real(y), a * Real(y_low));
      return fma(fma(near, Real(-b), a), Real(y), near);
    }
  }
#endif
  return a / Real(b);
}
template <class Real>
TWINLOOM_INLINE Real reciprocal(Real x) {
  return Real(Element<Real>(1)) / x;
}

}  // namespace twinloom::device
