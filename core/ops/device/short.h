// Shorter forms of f32 functions, within 2 units in the last place over all inputs, for mode `fused`: what they leave
// out is what rounding lost along the way. Zeros keep their signs, subnormals their digits. `strict` has the functions of the
// other headers.
#pragma once

#include "exponential.h"
#include "hyperbolic.h"
#include "powers.h"
#include "short_polynomials.h"
#include "special.h"
#include "trigonometric.h"

namespace twinloom::device {

// log(2^k (1 + f)). f32's log(2) is right to 2^-28.
template <class Real>
TWINLOOM_INLINE Real short_log_of(Fraction<Real> x) {
  return fma(x.k, Real(0x1.62e43p-1f), fma(x.part * x.part, short_log_bend(x.part), x.part));
}
template <class Real>
TWINLOOM_INLINE Real short_log(Real x) {
  return log_limits(x, short_log_of(fraction_of(x)));
}
// k * unit + log(1 + f) * (factor + low).
template <class Real>
TWINLOOM_INLINE Real short_log_in_base(Real x, Base<Real> base) {
  const Fraction<Real> parts = fraction_of(x);
  const Real bend = parts.part * parts.part * short_log_bend(parts.part);
  const Real below = fma(bend, base.factor_high, fma(parts.part, base.factor_low, parts.k * base.unit_low));
  return log_limits(x, fma(parts.k, base.unit_high, fma(parts.part, base.factor_high, below)));
}
template <class Real>
TWINLOOM_INLINE Real short_log2(Real x) {
  return short_log_in_base(
      x, Base<Real>{Real(1.0f), Real(0.0f), Real(0x1.715476p+0f), Real(0x1.4ae0cp-26f)});
}
template <class Real>
TWINLOOM_INLINE Real short_log10(Real x) {
  return short_log_in_base(x, Base<Real>{Real(0x1.344136p-2f), Real(-0x1.ec10cp-27f), Real(0x1.bcb7b2p-2f),
                                         Real(-0x1.5b235ep-27f)});
}

// log(x + one) by x + one = 2^k (1 + f), whose f is rounded once. `bias` is 2^23 + 127, less what x was lifted by.
template <class Real>
TWINLOOM_INLINE Real short_log_of_sum(Real x, Real one, Real bias) {
  using Bits = Unsigned<Real>;
  const Bits moved = bit_cast<Bits>(x + one) + Bits(0x3f800000u - 0x3f3504f3u);
  const Real shrink = bit_cast<Real>(Bits(Bits(0x7f000000u) - (moved & Bits(0xff800000u))));
  // Their zeros are negative, and -k is positive, so that a sum with a zero x has the sign of x.
  const Real part = fma(x, shrink, -fma(-one, shrink, Real(1.0f)));
  const Real less = bias - bit_cast<Real>(Bits((moved >> Bits(23u)) + Bits(0x4b000000u)));
  return fma(less, Real(-0x1.62e43p-1f), fma(part * part, short_log_bend(part), part));
}
template <class Real>
TWINLOOM_INLINE Real short_log1p(Real x) {
  const auto huge = x > Real(0x1p60f);  // beside which 1 is nothing
  const Real near = select(huge, x * Real(0x1p-64f), x);
  const Real one = select(huge, Real(0.0f), Real(1.0f));
  const Real bias = select(huge, Real(0x1p23f + 63.0f), Real(0x1p23f + 127.0f));
  return log_limits(x + Real(1.0f), short_log_of_sum(near, one, bias));
}
template <class Real>
TWINLOOM_INLINE Real short_softplus(Real x) {
  const Real power = exp(-abs(x));
  const Real above = select(x < Real(0.0f), Real(0.0f), x);
  return above + fma(power * power, short_log1p_bend(power), power);
}
template <class Real>
TWINLOOM_INLINE Real short_expm1(Real x) {
  const auto [rest, low, k] = parts_by_ln2(clamped(x, Real(-30.0f), Real(89.0f)));
  const Real near = rise_of_parts(rest, low);
  // Half of all, as 2^128 is no number.
  const Real scale = power_of_two(k - Real(1.0f));
  const Real half = fma(scale, near, scale - Real(0.5f));
  return select(abs(x) < Real(0x1p-25f), x, half + half);
}

template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real short_tanh(Real x, Divide divide = {}) {
  const Real a = abs(x);
  const Real z = x * x;
  const Real power = lifted_exp2(below_limit(a, Real(10.0f)), Real(0x1.715476p+1f), 0.0f);
  const Real far = Real(1.0f) - divide.usual(Real(2.0f), power + Real(1.0f));
  return with_sign(select(a >= Real(0.65f), far, fma(a * z, short_tanh_rest(z), a)), x);
}
template <class Real>
TWINLOOM_INLINE Real short_erf(Real x) {
  const Real a = abs(x);
  const Real inside = below_limit(a, Real(4.0f));
  const Real far = Real(1.0f) - lifted_exp2(inside, short_erfc_slope(inside), 0.0f);
  return select(a >= Real(1.0f), with_sign(far, x), fma(x, short_erf_rest(x * x), x));
}

template <class Real>
TWINLOOM_INLINE Real short_rsqrt(Real x) {
  return Real(1.0f) / sqrt(x);
}

// sin(rest + turns * pi) for |rest| up to 1.58; of `turns` the lowest bit counts.
template <class Real>
TWINLOOM_INLINE Real short_sin_of(Real rest, Unsigned<Real> turns) {
  using Bits = Unsigned<Real>;
  const Real less = fma(-rest, rest, Real(0.0f));  // of a zero +0, so that a sum of zeros keeps their sign
  const Real sine = fma(rest * less, short_sin_bend(less), rest);
  return bit_cast<Real>(Bits(bit_cast<Bits>(sine) ^ Bits(turns << Bits(31u))));
}
// k * pi - x in three parts of pi, all of them positive, so that of -0 it is -0. The first leaves no rounding.
template <class Real>
TWINLOOM_INLINE Real short_rest_of_pi(Real x, Real k) {
  return fma(-k, Real(0x1.84698ap-47f), fma(-k, Real(0x1.4442dp-23f), fma(-k, Real(0x1.921fb4p+1f), x)));
}
template <class Real>
TWINLOOM_INLINE auto is_far_from_pi(Real x) {
  return negated(abs(x) < Real(0x1p17f));
}
template <class Real>
TWINLOOM_INLINE Real short_near_sin(Real x) {
  const auto [k, turns] = whole_in(fma(x, Real(0x1.45f306p-2f), to_the_low_bits<Real>()));
  return short_sin_of(short_rest_of_pi(x, k), turns);
}
// By |x| = rest + (k + 1/2) pi and k >= 0.
template <class Real>
TWINLOOM_INLINE Real short_near_cos(Real x) {
  using Bits = Unsigned<Real>;
  const Real a = abs(x), shift(0x1p23f - 0.5f);
  const Bits sum = bit_cast<Bits>(fma(a, Real(0x1.45f306p-2f), shift));
  const Bits least = bit_cast<Bits>(Real(0x1p23f));  // below it sums have halves
  const Bits turns = select(sum > least, sum, least);
  return short_sin_of(-short_rest_of_pi(a, bit_cast<Real>(turns) - shift), turns);
}
template <class Real>
TWINLOOM_INLINE Real short_sin(Real x) {
  return replaced_lanes(
      is_far_from_pi(x), short_near_sin(x), [](f32 one) { return turned_sin(far_angle_of(one), 0); }, x);
}
template <class Real>
TWINLOOM_INLINE Real short_cos(Real x) {
  return replaced_lanes(
      is_far_from_pi(x), short_near_cos(x), [](f32 one) { return turned_sin(far_angle_of(one), 1); }, x);
}

// A sum of it and k has the bits of 2^(k - 64) in its low ones.
template <class Real>
TWINLOOM_INLINE Real short_gate_shift() {
  return to_the_low_bits<Real>() + Real(127.0f - 64.0f);
}
// (1 + 2^k (1 + r s)) * 2^-64 for k from -62 to 190, which `sum` holds. Of 1 + 2^k + 2^k r s the last is added to the smaller
// of the others first, so that of two roundings one is small.
template <class Real>
TWINLOOM_INLINE Real short_gate(Real sum, Real rest, Real slope) {
  using Bits = Unsigned<Real>;
  const Real lifted_one(0x1p-64f);
  const Real power = bit_cast<Real>(Bits(bit_cast<Bits>(sum) << Bits(23u)));
  const auto is_small = power < lifted_one;
  const Real smaller = select(is_small, power, lifted_one), larger = select(is_small, lifted_one, power);
  return fma(power * rest, slope, smaller) + larger;
}
// -x = k ln 2 + rest, and k with the shift in one sum.
template <class Real>
struct ShiftedRest {
  Real sum, rest;
};
template <class Real>
TWINLOOM_INLINE ShiftedRest<Real> shifted_rest_of_minus(Real x, Real shift) {
  const Real sum = fma(-x, Real(0x1.715476p+0f), shift);
  const Real less = shift - sum;  // -k
  return {sum, fma(less, low_ln2<Real>(), fma(less, high_ln2<Real>(), -x))};
}
// (1 + exp(-x)) * 2^-64 for x from -110 to 43.
template <class Real>
TWINLOOM_INLINE Real short_gate_of_minus(Real x) {
  const auto [sum, rest] = shifted_rest_of_minus(x, short_gate_shift<Real>());
  return short_gate(sum, rest, fma(exp_rest(rest), rest, Real(1.0f)));
}
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real short_sigmoid(Real x, Divide divide = {}) {
  const Real under = short_gate_of_minus(clamped(x, Real(-110.0f), Real(40.0f)));
  return divide.usual(Real(1.0f), under) * Real(0x1p-64f);
}
// Above 40 it is x.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real short_silu(Real x, Divide divide = {}) {
  const Real least(-110.0f);
  const Real above = select(x < least, least, x);
  return select(x > Real(40.0f), x, divide(above, short_gate_of_minus(above)) * Real(0x1p-64f));
}
// gelu by tanh is x / (1 + 2^-v), v = x (a + b x^2) = 2 sqrt(2/pi) (x + 0.044715 x^3) / ln 2, whose slope is
// in two parts: of a the first has 21 bits, so that of a slope below 8 a nothing is lost when it is taken
// away.
template <class Real>
struct GeluSlope {
  Real above, slope, low;  // of an x from -11
};
template <class Real>
TWINLOOM_INLINE GeluSlope<Real> short_gelu_slope(Real x) {
  const Real first(0x1.26aecp+1f), first_low(0x1.0de73ap-22f);
  const Real cubic(0x1.a5a7dp-4f), cubic_low(-0x1.151aaep-29f);
  const Real least(-11.0f);
  const Real above = select(x < least, least, x);
  const auto [square, square_low] = product_of(above, above);
  const Real slope = fma(cubic, square, first);
  return {above, slope,
          fma(cubic, square, first - slope) + fma(cubic, square_low, fma(cubic_low, square, first_low))};
}
// Above 6 it is x.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real short_gelu_tanh(Real x, Divide divide = {}) {
  const auto [above, slope, slope_low] = short_gelu_slope(x);
  const Real shift = short_gate_shift<Real>();
  const Real sum = fma(-above, slope, shift);
  const Real rest = fma(-above, slope_low, fma(-above, slope, shift - sum));
  const Real under = short_gate(sum, rest, short_exp2_slope(rest));
  return select(x > Real(6.0f), x, divide(above, under) * Real(0x1p-64f));
}

// pi/2 in two parts.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> short_half_pi() {
  return {Real(0x1.921fb6p+0f), Real(-0x1.777a5cp-25f)};
}
// asin(t) = t + bend of t = a for a <= 0.541 and else of t = sqrt((1 - a) / 2), when it is half of acos(a) and below 1/2, so
// that the sum of both of its halves is rounded by no more than the result is.
template <class Real>
struct ShortArc {
  Real t, bend;
};
template <class Real>
TWINLOOM_INLINE auto is_outer_arc(Real a) {
  return a > Real(0x1.15p-1f);
}
template <class Real>
TWINLOOM_INLINE ShortArc<Real> short_arc(Real a) {
  const auto outer = is_outer_arc(a);
  const Real z = select(outer, fma(a, Real(-0.5f), Real(0.5f)), a * a);
  const Real t = select(outer, sqrt(z), a);
  return {t, t * z * short_asin_rest(z)};
}
template <class Real>
TWINLOOM_INLINE Real short_asin(Real x) {
  const Real a = abs(x);
  const auto [t, bend] = short_arc(a);
  const auto [high, low] = short_half_pi<Real>();
  const Real far = high - (t + t + (bend + bend - low));
  return with_sign(select(is_outer_arc(a), far, t + bend), x);
}
template <class Real>
TWINLOOM_INLINE Real short_acos(Real x) {
  const auto [t, bend] = short_arc(abs(x));
  const auto [high, low] = short_half_pi<Real>();
  const Real turn = with_sign(t, x), turn_bend = with_sign(bend, x);
  const Real near = (high - turn) - (turn_bend - low);
  const Real twice = t + t + (bend + bend);
  const Real back = (high + high - (t + t)) - (bend + bend - (low + low));
  return select(is_outer_arc(abs(x)), select(x < Real(0.0f), back, twice), near);
}
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real short_atan(Real x, Divide divide = {}) {
  const Real a = abs(x);
  const auto steep = a > Real(1.0f);
  const Real under = Divide::is_bounded ? below_limit(a, Real(0x1p100f)) : a;
  const Real t = select(steep, divide.usual(Real(1.0f), under), a);
  const Real z = t * t;
  const Real bend = t * z * short_atan_rest(z);
  const auto [high, low] = short_half_pi<Real>();
  return with_sign(select(steep, (high - t) - (bend - low), t + bend), x);
}

// atanh(s) of s = (2^k (1 + f) - 2^k) / (2^k (1 + f) + 2^k) in two parts, with a relative error of 2^-34: by the
// quotient f / (2 + f) and what it lost, then s + s^3 (1/3 + ...), whose steps keep theirs.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> short_atanh_of(Real f) {
  const Real under = f + Real(2.0f);
  const Real lost = f - (under - Real(2.0f));
  const Real inverse = Real(0.625f) * brief_reciprocal(under * Real(0.625f));  // of a number from 1 to 2
  const Real s = f * inverse;
  const Real s_low = fma(-s, lost, fma(-s, under, f)) * inverse;
  const auto [z, z_low] = product_of(s, s);
  const auto [cube, cube_low] = product_of(s, z);
  const Real third(0x1.555556p-2f);
  const Real more = fma(z, short_atanh_far_rest(z), Real(-0x1.555556p-27f));
  const auto [bend, bend_low] = product_of(cube, third);
  const Real below = fma(cube, more, fma(fma(s, z_low, cube_low), third, bend_low)) + fma(s_low, z, s_low);
  const Real sum = s + bend;
  return {sum, ((s - sum) + bend) + below};
}
// log2(x) for x > 0 in two parts, the same.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> short_log2_in_two(Fraction<Real> x) {
  const auto [half, half_low] = short_atanh_of(x.part);
  const Real factor(0x1.715476p+1f);  // 2 / ln 2, and what it lacks
  const auto [high, lost] = product_of(half, factor);
  const Real low = fma(half_low, factor, fma(half, Real(0x1.4ae0cp-25f), lost));
  const Real sum = x.k + high;
  return {sum, ((x.k - sum) + high) + low};
}
// x^y for x >= 0; the logarithm's limits at 0 and infinity do the rest.
template <class Real>
TWINLOOM_INLINE Real short_pow_positive(Real x, Real y) {
  const auto [high, low] = short_log2_in_two(fraction_of(x));
  const Real exponent = y * high;
  const Real below = fma(y, high, -exponent) + y * low;
  const Real sum = exponent + select(abs(exponent) < Real(1000.0f), below, Real(0.0f));
  const Real most(170.0f);
  const Whole<Real> k = whole_near(clamped(sum, -most, most));
  const Real rest = select(abs(sum) > most, Real(0.0f), (exponent - k.value) + below);  // a NaN stays
  const Real power = scaled(fma(rest, short_exp2_slope(rest), Real(1.0f)), k);
  const auto inside_range = both(x > Real(0.0f), x < infinity<Real>());
  const Real edge = select((x == Real(0.0f)) == (y < Real(0.0f)), infinity<Real>(), Real(0.0f));
  return select(inside_range, power, select(either(x != x, y != y), not_a_number<Real>(), edge));
}
template <class Real>
TWINLOOM_INLINE Real short_pow(Real x, Real y) {
  return pow_with_sign(short_pow_positive(abs(x), y), x, y);
}

// The rows: the form of f32, the function itself of f64. `more` is a second input, or how a form divides.
#define TWINLOOM_SHORT(name)                                          \
  template <class Real, class... More>                                \
  TWINLOOM_INLINE Real name##_short(Real x, More... more) {           \
    if constexpr (same<Element<Real>, f32>)                           \
      return short_##name(x, more...);                                \
    else                                                              \
      return name(x, more...);                                        \
  }
TWINLOOM_SHORT(log)
TWINLOOM_SHORT(log2)
TWINLOOM_SHORT(log10)
TWINLOOM_SHORT(log1p)
TWINLOOM_SHORT(softplus)
TWINLOOM_SHORT(expm1)
TWINLOOM_SHORT(tanh)
TWINLOOM_SHORT(erf)
TWINLOOM_SHORT(rsqrt)
TWINLOOM_SHORT(asin)
TWINLOOM_SHORT(acos)
TWINLOOM_SHORT(atan)
TWINLOOM_SHORT(pow)
TWINLOOM_SHORT(sin)
TWINLOOM_SHORT(cos)
TWINLOOM_SHORT(sigmoid)
TWINLOOM_SHORT(silu)
TWINLOOM_SHORT(gelu_tanh)
#undef TWINLOOM_SHORT

}  // namespace twinloom::device
