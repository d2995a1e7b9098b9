// pow, hypot and nextafter.
#pragma once

#include "divide.h"
#include "exponential.h"

namespace twinloom::device {

// log(x) in two parts, good to some 65 bits, for f64's pow: a logarithm of 700 must be right to 2^-53.
template <class Wide>
TWINLOOM_INLINE TwoPart<Wide> log_in_two(Wide x) {
  const auto [f, k] = fraction_of(x);
  const auto [s, s_low] = quotient_of({f, Wide(0.0)}, sum_of(Wide(2.0), f));
  const Wide z = s * s;
  const Wide z_low = fma(s, s, -z) + Wide(2.0) * s * s_low;
  // atanh(s) = s + s * z * (1/3 + z * rest)
  const Wide third(0x1.5555555555555p-2);
  const Wide rest = z * atanh_far_rest(z);
  const Wide c = third + rest;
  const Wide c_low = (third - c) + rest + Wide(0x1.5555555555555p-56);
  const Wide w = z * c;
  const Wide w_low = fma(z, c, -w) + (z * c_low + z_low * c);
  const Wide v = s * w;
  const Wide v_low = fma(s, w, -v) + (s * w_low + s_low * w);
  const Wide half = s + v;
  const Wide half_low = ((s - half) + v) + (s_low + v_low);
  const Wide base = k * Wide(0x1.62e42fefap-1);
  const Wide twice = half + half;
  const Wide sum = base + twice;
  const Wide low = ((base - sum) + twice) + fma(k, Wide(0x1.cf79abc9e3b3ap-40), half_low + half_low);
  const Wide high = sum + low;
  // k = 0 leaves base below twice, where the sum is exact.
  return {high, low - (high - sum)};
}

// x^y for x >= 0; the logarithm's limits at 0 and infinity do the rest.
template <class Real>
TWINLOOM_INLINE Real pow_positive(Real x, Real y) {
  if constexpr (same<Element<Real>, f32>) {
    const auto exponent = truncated<f64>(y) * log(truncated<f64>(x));
    return truncated<f32>(exp(exponent));
  } else {
    const auto [high, low] = log_in_two(x);
    const Real exponent = y * high;
    const Real below = fma(y, high, -exponent) + y * low;
    const auto [factor, low_factor, k] =
        power(exponent, select(abs(exponent) < Real(1000.0), below, Real(0.0)));
    const auto inside = both(x > Real(0.0), x < infinity<Real>());
    return select(inside, scaled(factor, k), exp(y * log(x)));
  }
}

// x^y of |x|^y.
template <class Real>
TWINLOOM_INLINE Real pow_with_sign(Real positive, Real x, Real y) {
  using Part = Element<Real>;
  const Real zero(Part(0));
  const Real one(Part(1));
  const Real a = abs(x);
  const Real size = abs(y);
  const auto whole = trunc(y) == y;
  const auto odd =
      both(both(whole, size < infinity<Real>()), trunc(y * Real(Part(0.5))) != y * Real(Part(0.5)));
  const auto flips = both(odd, sign_bits(x) != Unsigned<Real>(Element<Unsigned<Real>>(0)));
  const Real flipped = select(flips, -positive, positive);
  const auto undefined = both(both(x < zero, a < infinity<Real>()), negated(whole));
  const auto is_one = either(either(y == zero, x == one), both(a == one, size == infinity<Real>()));
  return select(is_one, one, select(undefined, not_a_number<Real>(), flipped));
}
template <class Value>
TWINLOOM_INLINE Value pow(Value x, Value y) {
  if constexpr (is_real<Value>)
    return pow_with_sign(pow_positive(abs(x), y), x, y);
  else
    return integer_pow(x, y);
}

template <class Real>
TWINLOOM_INLINE Real hypot(Real x, Real y) {
  const auto infinite = either(abs(x) == infinity<Real>(), abs(y) == infinity<Real>());
  Real length;
  if constexpr (same<Element<Real>, f32>) {
    const auto a = truncated<f64>(x);
    const auto b = truncated<f64>(y);
    length = truncated<f32>(sqrt(fma(a, a, b * b)));
  } else {
    const Real one(1.0);
    const Real most = select(abs(x) > abs(y), abs(x), abs(y));
    const Real scale =
        select(most > Real(0x1p500), Real(0x1p-600), select(most < Real(0x1p-400), Real(0x1p600), one));
    const Real a = x * scale;
    const Real b = y * scale;
    length = sqrt(fma(a, a, b * b)) / scale;
  }
  return select(infinite, infinity<Real>(), length);
}

template <class Real>
TWINLOOM_INLINE Real nextafter(Real from, Real to) {
  using Bits = Unsigned<Real>;
  using Bit = Element<Bits>;
  const Bits all = bit_cast<Bits>(from);
  const Real zero(Element<Real>(0));
  const auto away = (from < to) == (from > zero);
  const Bits step = select(away, Bits(all + Bits(Bit(1))), Bits(all - Bits(Bit(1))));
  const Real least = with_sign(bit_cast<Real>(Bits(Bit(1))), to);
  const Real moved = select(from == zero, least, bit_cast<Real>(step));
  return select(from == to, to, select(either(from != from, to != to), not_a_number<Real>(), moved));
}

}  // namespace twinloom::device
