// Quotients and remainders of integers and reals, and powers of integers. All are total:
//   x div 0 = 0, x mod 0 = 0, MIN div -1 = MIN, MIN mod -1 = 0; a negative power is 0 unless the base is
//   1 or -1. Remainders of reals are exact.
#pragma once

#include "arithmetic.h"

namespace twinloom::device {

template <class Value>
struct Quotient {
  Value quotient, remainder;  // rounded towards zero
};

template <class Value>
TWINLOOM_INLINE Quotient<Value> divided(Value a, Value b) {
  using Part = Element<Value>;
  const Value zero(Part(0));
  const Value one(Part(1));
  const auto by_zero = b == zero;
  Value divisor = select(by_zero, one, b);
  if constexpr (is_signed<Value>) {
    // MIN / -1 is the one quotient that does not fit; by 1 it is MIN, as asked.
    const Value least(Part(Part(1) << (bits<Value> - 2)) * Part(-2));
    divisor = select(both(a == least, b == Value(Part(-1))), one, divisor);
  }
  // NVRTC computes unsigned remainders in fewer bits than there are, wrongly: see short_mod of CUDA's
  // memory.h.
  const Value dividend = is_signed<Value> ? a : hidden(a);
  const Value quotient = Value(dividend / divisor);
  return {select(by_zero, zero, quotient), Value(dividend % divisor)};
}

// Exponents whose quotient needs more bits than a step can hold: digit by digit, in integers.
template <class Real>
TWINLOOM_INLINE Real slow_fmod(Real a, Real b) {
  using Bits = Unsigned<Real>;
  constexpr int fraction = same<Real, f32> ? 23 : 52;
  constexpr int free = 63 - fraction;  // bits that a remainder can be shifted by
  const Bits x = magnitude_bits(a);
  const Bits y = magnitude_bits(b);
  int from = int(x >> fraction);
  int to = int(y >> fraction);
  u64 rest = u64(x) & ((1ull << fraction) - 1);
  u64 divisor = u64(y) & ((1ull << fraction) - 1);
  if (from == 0)
    from = 1;
  else
    rest |= 1ull << fraction;
  if (to == 0)
    to = 1;
  else
    divisor |= 1ull << fraction;
  int places = from - to;
  rest %= divisor;
  while (places > 0) {
    const int step = places < free ? places : free;
    rest = (rest << step) % divisor;
    places -= step;
  }
  if (rest == 0) return bit_cast<Real>(Bits(sign_bits(a)));
  int exponent = to;
  while ((rest >> fraction) == 0 && exponent > 1) {
    rest <<= 1;
    --exponent;
  }
  if ((rest >> fraction) != 0) rest += u64(exponent - 1) << fraction;
  return bit_cast<Real>(Bits(Bits(rest) | sign_bits(a)));
}

template <class Real>
TWINLOOM_INLINE Real real_fmod(Real a, Real b) {
  using Part = Element<Real>;
  const Real zero(Part(0));
  const Real x = abs(a);
  const Real y = abs(b);
  const Real ratio = x / y;
  const Real whole = trunc(ratio);
  // A rounded ratio below 2^22 (2^51) is off by less than one, so its whole part by at most one, and the
  // remainder, a multiple of both last places below y, is exact.
  const Real rough = fma(-whole, y, x);
  const Real rest = select(rough < zero, rough + y, rough);
  const Real limit(same<Part, f32> ? Part(4194304.0) : Part(2251799813685248.0));
  const auto usual = ratio < limit;
  const auto defined = both(both(x<infinity<Real>(), y> zero), y == y);
  const Real small = select(x < y, a, with_sign(rest, a));
  const Real known = replaced_lanes(
      both(negated(usual), both(defined, y < infinity<Real>())), small,
      [](Part p, Part q) { return slow_fmod(p, q); }, a, b);
  return select(defined, known, not_a_number<Real>());
}

template <class Value>
TWINLOOM_INLINE Value fmod(Value a, Value b) {
  if constexpr (is_real<Value>)
    return real_fmod(a, b);
  else
    return divided(a, b).remainder;
}

// With the sign of b; a zero keeps the sign of a.
template <class Value>
TWINLOOM_INLINE Value remainder(Value a, Value b) {
  using Part = Element<Value>;
  const Value zero(Part(0));
  const Value rest = fmod(a, b);
  if constexpr (!is_signed<Value>)
    return rest;
  else
    return select(both(rest != zero, (rest < zero) != (b < zero)), add(rest, b), rest);
}

template <class Value>
TWINLOOM_INLINE Value div_trunc(Value a, Value b) {
  if constexpr (is_real<Value>)
    return trunc(a / b);
  else
    return divided(a, b).quotient;
}

// Reals: from the exact fmod, so that the quotient agrees with remainder().
template <class Real>
TWINLOOM_INLINE Real real_div_floor(Real a, Real b) {
  using Part = Element<Real>;
  const Real zero(Part(0));
  const Real one(Part(1));
  const Real rest = fmod(a, b);
  const Real down = (a - rest) / b;
  const auto uneven = both(rest != zero, (rest < zero) != (b < zero));
  const Real quotient = select(uneven, down - one, down);
  const Real below = floor(quotient);
  const Real nearest = select(quotient - below > Real(Part(0.5)), below + one, below);
  const Real result = select(quotient == zero, with_sign(zero, a / b), nearest);
  return select(b == zero, a / b, result);
}

template <class Value>
TWINLOOM_INLINE Value div_floor(Value a, Value b) {
  if constexpr (is_real<Value>) {
    return real_div_floor(a, b);
  } else {
    const auto [quotient, rest] = divided(a, b);
    const Value zero(Element<Value>(0));
    if constexpr (!is_signed<Value>)
      return quotient;
    else
      return select(both(rest != zero, (rest < zero) != (b < zero)), sub(quotient, Value(Element<Value>(1))),
                    quotient);
  }
}

template <class Value>
TWINLOOM_INLINE Value integer_pow(Value base, Value exponent) {
  using Part = Element<Value>;
  using Bits = Unsigned<Value>;
  using Bit = Element<Bits>;
  const Value zero(Part(0));
  const Value one(Part(1));
  const Bits low(Bit(1));
  const Bits none(Bit(0));
  const auto odd = Bits(bit_cast<Bits>(exponent) & low) != none;
  Bits left = bit_cast<Bits>(exponent);
  Value power = base;
  Value result = one;
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
  while (any_lane(left != none)) {
    result = select(Bits(left & low) != none, mul(result, power), result);
    power = mul(power, power);
    left = Bits(left >> 1);
  }
  if constexpr (is_signed<Value>) {
    const Value minus_one(Part(-1));
    const Value inverse =
        select(base == one, one, select(base == minus_one, select(odd, minus_one, one), zero));
    return select(exponent < zero, inverse, result);
  } else {
    return result;
  }
}

}  // namespace twinloom::device
