// The error function and its relatives, gelu, the gamma function's, and the Bessel function i0. erf and
// gelu have an f32 of their own; the others are done in f64.
#pragma once

#include "powers.h"
#include "special_polynomials.h"
#include "trigonometric.h"

namespace twinloom::device {

// The square of a in two parts, negated: exp(-a^2) is right only with both.
template <class Real>
TWINLOOM_INLINE Power<Real> power_of_minus_square(Real a, Real weight) {
  const auto [high, low] = product_of(a, a);
  return power(-weight * high, -weight * low);
}
// scale * exp(a^2) erfc(a) for 0 <= a <= 28, in f64: a polynomial of (a - 4) / (a + 4), which is flat, over
// a + 9/16. Its variable is right where a is small when 2a / (a + 4) is taken first.
template <class Wide>
TWINLOOM_INLINE Wide erfcx_times(TwoPart<Wide> scale, TwoPart<Wide> a) {
  const Wide flat = erfcx_flat((a.high + a.high) / (a.high + Wide(4.0)) - Wide(1.0));
  return rounded_sum(quotient_of(product_of(scale, flat), plus(a, Wide(0.5625))));
}
// erfc(a) for 0 <= a, in f64.
template <class Wide>
TWINLOOM_INLINE Wide erfc_positive(Wide a) {
  const Wide inside = select(a > Wide(28.0), Wide(28.0), a);
  const auto [factor, low, k] = power_of_minus_square(inside, Wide(1.0));
  return scaled(erfcx_times(TwoPart<Wide>{factor, low}, {inside, Wide(0.0)}), k);
}
template <class Wide>
TWINLOOM_INLINE Wide erf_wide(Wide x) {
  const Wide a = abs(x);
  const Wide near = fma(x, erf_rest(x * x), x);
  return select(a < Wide(1.0), near, with_sign(Wide(1.0) - erfc_positive(a), x));
}

// x + x * (first + z * (second + z * rest)), z = x^2, where z and the inner sum keep what rounding loses.
template <class Real>
TWINLOOM_INLINE Real erf_near(Real x) {
  const Real z = x * x;
  const Real z_low = fma(x, x, -z);
  const Real second(-0x1.8127460000000p-2f);
  const Real rest = z * erf_bend(z);
  const Real slope = second + rest;
  const Real slope_low = (second - slope) + rest;
  const Real low = fma(z_low, slope, fma(z, slope_low, Real(0x1.06eba80000000p-3f)));
  return fma(x, fma(z, slope, low), x);
}
template <class Real>
TWINLOOM_INLINE Real erf(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    const Real one(1.0f);
    const Real a = clamped(abs(x), Real(0.0f), Real(4.0f));
    const Real slope = erfc_slope(a);
    const Real height = a * slope;
    const auto [factor, low, k] = power(-height, -fma(a, slope, -height));
    const Real far = one - scaled(factor, k);
    return select(abs(x) < one, erf_near(x),
                  with_sign(select(a < Real(3.95f), far, select(x != x, x, one)), x));
  } else {
    return erf_wide(x);
  }
}
template <class Real>
TWINLOOM_INLINE Real erfc(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide tail = erfc_positive(abs(wide));
        const Wide far = select(wide < Wide(0.0), Wide(2.0) - tail, tail);
        return select(abs(wide) < Wide(0.5), Wide(1.0) - erf_wide(wide), far);
      },
      x);
}

// a (1 - normal distribution(a)) for 0 <= a.
template <class Real, class Divide>
TWINLOOM_INLINE Real normal_part(Real size, Divide divide) {
  const Real half(Element<Real>(0.5));
  const Real a = below_limit(size, pick<Real>(15, 39));
  if constexpr (same<Element<Real>, f32>) {
    const auto [square, lost] = product_of(a, a);
    const auto [exact, below, k] = product_by_ln2(-half, square, -half * lost);
    const Real flat = normal_flat(divide.usual(a - Real(4.0f), a + Real(4.0f)));
    const Real tail = a * divide.usual(flat, a + Real(0.796875f));
    return scaled(fma(tail, rise_of_parts(exact, below), tail), k);
  } else {
    const auto [factor, low, k] = power_of_minus_square(a, half);
    const TwoPart<Real> root_half = {Real(0x1.6a09e667f3bcdp-1), Real(-0x1.bdd3413b26456p-55)};
    return scaled(erfcx_times(product_of(TwoPart<Real>{factor, low}, half * a), product_of(root_half, a)), k);
  }
}
// max(x, 0) - |x| (1 - normal distribution(|x|)): what is taken away keeps its digits in the tail. Zeros keep
// their signs, and -inf gives -0.
template <class Real>
TWINLOOM_INLINE Real gelu_without(Real x, Real part) {
  const Real zero(Element<Real>(0));
  return select(x < zero, -zero, x) - part;
}
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real gelu_erf(Real x, Divide divide = {}) {
  return gelu_without(x, normal_part(abs(x), divide));
}
template <class Real>
TWINLOOM_INLINE Real to_the_16th(Real x) {
  for (int step = 0; step < 4; ++step) x = x * x;
  return x;
}
// For results of 16 bits: with a relative error of 2^-18 where the result is above 2^-14, of 2^-14.5 below
// 2^-20. Without a division and a power of two: the tail is a polynomial to the power of 32, which is below
// half of the least number from the limit on.
template <class Real>
TWINLOOM_INLINE Real gelu_erf_brief(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    const Real zero(0.0f), a = below_limit(abs(x), Real(14.375f));
    const Real half = to_the_16th(normal_root(a - Real(4.0f)));
    return fma(-(a * half), half, select(x < zero, -zero, x));
  } else {
    return gelu_erf(x);
  }
}
// The slope of gelu_erf, normal distribution(x) + x density(x), likewise: of -a it is (root - a) times a
// polynomial to the power of 32, of a what is left of 1.
template <class Real>
TWINLOOM_INLINE Real gelu_erf_slope_brief(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    const Real zero(0.0f), one(1.0f), a = below_limit(abs(x), Real(14.625f));
    const Real part = to_the_16th(gelu_slope_root(a - Real(4.0f)));
    const Real beyond = ((Real(0x1.80ead2p-1f) - a) + Real(-0x1.a03fd4p-27f)) * part;
    const auto is_below = x < zero;
    return fma(select(is_below, beyond, -beyond), part, select(is_below, zero, one));
  } else {
    const Real inside = clamped(x, Real(-40.0), Real(40.0)), least(-38.5);
    const Real beyond = inside * exp(inside * inside * Real(-0.5)) * Real(0x1.9884533d43651p-2);
    const Real normal = erfc(inside * Real(-0x1.6a09e667f3bcdp-1)) * Real(0.5);
    return select(x < least, beyond, normal + beyond);
  }
}

// x / (1 + exp(-v)), v = 2 sqrt(2/pi) (x + 0.044715 x^3), its slope in two parts.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real gelu_tanh(Real x, Divide divide = {}) {
  const Real least = pick<Real>(-11, -22);
  const Real above = select(x < least, least, x);
  const Real inside = below_limit(above, pick<Real>(9.5f, 20));
  const Real first = pick<Real>(0x1.988454p+0f, 0x1.9884533d43651p+0);
  const Real cubic = pick<Real>(0x1.2444f2p-4f, 0x1.2444f2a4d8b4bp-4);
  const Real square = inside * inside;
  const Real bend = cubic * square;
  const Real bend_low =
      fma(pick<Real>(0x1.49b16ap-29f, -0x1.6c843a29d1c7p-61), square, fma(cubic, square, -bend)) +
      fma(cubic, fma(inside, inside, -square), pick<Real>(-0x1.857936p-25f, -0x1.cbc0d30ebfd15p-54));
  const Real slope = first + bend;
  const auto bends_more = first < bend;
  const Real larger = select(bends_more, bend, first), smaller = select(bends_more, first, bend);
  const Real slope_low = (smaller - (slope - larger)) + bend_low;
  const auto [exact, below, k] = product_by_ln2(-inside, slope, -inside * slope_low);
  const auto [under, low, lift] = gate(rise_of_parts(exact, below), k);
  return divide(above, under) * lift;
}
// 1 / b for b in [1, 2] with a relative error of 2^-19.9, without a division: the parabola that is off by 1 /
// 99 at most (1 - T3(3 - 2b) / 99, by Chebyshev's polynomial), and one step of third order.
template <class Real>
TWINLOOM_INLINE Real brief_reciprocal(Real b) {
  const Real near = fma(fma(b, Real(32.0f / 99), Real(-144.0f / 99)), b, Real(210.0f / 99));
  const Real off = fma(-near, b, Real(1.0f));
  return fma(near, fma(off, off, off), near);
}
// For results of 16 bits: with a relative error of 2^-18 where the result is above 2^-24, then 2^-16.
template <class Real>
TWINLOOM_INLINE Real gelu_tanh_brief(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    const Real size = below_limit(abs(x), Real(11.0f));
    const Real slope = fma(size * size, Real(0x1.a5a7dp-4f), Real(0x1.26aec2p+1f));
    const Real power = brief_exp2(-size, slope);
    return select(x < Real(0.0f), -size * power, x) * brief_reciprocal(Real(1.0f) + power);
  } else {
    return gelu_tanh(x);
  }
}

// The slope of gelu_tanh, g + x v' g (1 - g) with g = 1 / (1 + exp(-v)): of -a it is small * near * (1 - a v'
// near) with small = exp(-v(a)) and near = g(a), of a what is left of 1. For results of 16 bits: with a
// relative error of 2^-17, near the root, x = -0.7525, of 2^-23 itself.
template <class Real>
TWINLOOM_INLINE Real gelu_tanh_slope_brief(Real x) {
  const Real zero(Element<Real>(0)), one(Element<Real>(1));
  const auto is_below = x < zero;
  if constexpr (same<Element<Real>, f32>) {
    const Real a = below_limit(abs(x), Real(11.0f)), square = a * a;
    const Real small = brief_exp2(-a, fma(square, Real(0x1.a5a7dp-4f), Real(0x1.26aec2p+1f)));
    const Real under = one + small, first = brief_reciprocal(under);
    const Real near = fma(first, fma(-first, under, one), first);
    const Real bend = a * fma(square, Real(0x1.b6676cp-3f), Real(0x1.988454p+0f));
    const Real part = small * near, rest = fma(-bend, near, one);
    return fma(select(is_below, part, -part), rest, select(is_below, -zero, one));
  } else {
    const Real inside = clamped(x, Real(-22.0), Real(40.0)), square = inside * inside;
    const Real v = inside * fma(square, Real(0x1.2444f2a4d8b4bp-4), Real(0x1.9884533d43651p+0));
    const Real bend = inside * fma(square, Real(0x1.b6676bf7450f0p-3), Real(0x1.9884533d43651p+0));
    const Real small = exp(-abs(v)), near = one / (one + small), part = small * near;
    return select(is_below, part * fma(bend, near, one), fma(near, bend * part, near));
  }
}

// sin(pi x) / pi and pi / tan(pi x) near whole numbers lose nothing: the fraction is exact.
template <class Wide>
TWINLOOM_INLINE Angle<Wide> half_turns(Wide x) {
  const Wide k = round(x + x);
  const Wide part = fma(k, Wide(-0.5), x);
  const Wide pi(0x1.921fb54442d18p+1);
  const Wide high = part * pi;
  return {high, fma(part, pi, -high) + part * Wide(0x1.1a62633145c07p-53), low_bits_of(k)};
}

// log(gamma(x)) for x > 0. Below 8 by steps down to [1, 3], where the roots at 1 and 2 are factors.
template <class Wide>
TWINLOOM_INLINE Wide lgamma_positive(Wide x) {
  const Wide one(1.0);
  Wide product = one;
  Wide y = select(x < one, x + one, x);
  const auto far = negated(x < Wide(8.0));
  for (int step = 0; step < 5; ++step) {
    const auto above = both(y > Wide(3.0), x < Wide(8.0));
    y = select(above, y - one, y);
    product = select(above, product * y, product);
  }
  const auto low = x < one;
  const Wide logarithm = log(select(either(far, low), x, product));
  // y - 2 and y - 1 from x itself, as x + 1 is rounded.
  const Wide u = select(low, x - one, y - Wide(2.0));
  const Wide first = select(low, x, y - one);
  const Wide middle =
      fma(first * u, lgamma_middle(select(far, Wide(0.0), u)), select(low, -logarithm, logarithm));
  const Wide inverse = one / x;
  const Wide rest = fma(stirling_rest(inverse * inverse), inverse, Wide(0x1.d67f1c864beb5p-1));
  const Wide stirling = fma(x - Wide(0.5), logarithm - one, rest - Wide(0.5));
  return select(far, select(x < infinity<Wide>(), stirling, x), middle);
}
template <class Wide>
TWINLOOM_INLINE Wide lgamma_wide(Wide x) {
  const Wide a = abs(x);
  // 1 / 2^-1074 is no number, but -log of it is.
  const Wide safe = select(a < Wide(0x1p-1000), Wide(0x1p-1000), a);
  const Wide tiny = -log(a);
  const Wide positive = select(a < Wide(0x1p-1000), tiny, lgamma_positive(safe));
  const auto negative = x < Wide(0.0);
  if (!any_lane(negative)) return positive;
  const auto angle = half_turns(a);
  const Wide sine = abs(turned_sin(angle, 0));
  const auto whole = floor(a) == a;
  const Wide reflected = log(Wide(0x1.921fb54442d18p+1) / (a * sine)) - positive;
  const Wide left = select(a < Wide(0x1p-1000), tiny, select(whole, infinity<Wide>(), reflected));
  return select(negative, left, positive);
}
template <class Real>
TWINLOOM_INLINE Real lgamma(Real x) {
  return in_f64<Real>([](auto wide) { return lgamma_wide(wide); }, x);
}

// For x >= 0.5. Below 10 by steps to [1, 3], where the root is a factor and the reciprocals of the steps are
// added as one fraction; then the asymptotic series.
template <class Wide>
TWINLOOM_INLINE Wide digamma_positive(Wide x) {
  const Wide one(1.0);
  const Wide zero(0.0);
  const auto low = x < one;
  const auto far = negated(x < Wide(10.0));
  Wide y = select(low, x + one, x);
  Wide over = select(low, -one, zero);
  Wide under = select(low, x, one);
  for (int step = 0; step < 7; ++step) {
    const auto above = both(y > Wide(3.0), x < Wide(10.0));
    y = select(above, y - one, y);
    over = select(above, fma(over, y, under), over);
    under = select(above, under * y, under);
  }
  const Wide root(0x1.762d86356be3fp+0);
  const Wide from_root = select(low, x - (root - one), y - root) - Wide(0x1.b86a722197829p-54);
  const Wide near = fma(from_root, digamma_middle(select(far, zero, y - Wide(2.0))), over / under);
  const Wide inverse = one / x;
  const Wide w = inverse * inverse;
  return select(far, log(x) + fma(-w, digamma_rest(w), Wide(-0.5) * inverse), near);
}
template <class Wide>
TWINLOOM_INLINE Wide digamma_wide(Wide x) {
  const auto negative = x < Wide(0.5);
  const Wide reflected = Wide(1.0) - x;
  const Wide positive = digamma_positive(select(negative, reflected, x));
  if (!any_lane(negative)) return positive;
  const Wide pi(0x1.921fb54442d18p+1);
  const Wide left = fma(pi, turned_tan(half_turns(x), 1), positive);
  const auto pole = both(floor(x) == x, x < Wide(0.0));
  const Wide value = select(pole, not_a_number<Wide>(), select(abs(x) < Wide(0x1p-60), -Wide(1.0) / x, left));
  return select(negative, value, positive);
}
template <class Real>
TWINLOOM_INLINE Real digamma(Real x) {
  return in_f64<Real>([](auto wide) { return digamma_wide(wide); }, x);
}

// The inverse of erf: Winitzki's closed form is right to some 1/500, then steps of fourth order.
template <class Wide>
TWINLOOM_INLINE Wide erfinv_wide(Wide x) {
  const Wide one(1.0);
  const Wide a = abs(x);
  const Wide logarithm = log1p(-a * a);
  const Wide half = Wide(4.330746750799873) + Wide(0.5) * logarithm;  // 2 / (pi 0.147)
  const Wide start = sqrt(sqrt(fma(half, half, logarithm * Wide(-6.802721088435374))) - half);
  const auto central = a < Wide(0.5);
  Wide y = select(a < Wide(0x1p-20), a * Wide(0x1.c5bf891b4ef6bp-1), start);
  for (int step = 0; step < 2; ++step) {
    const Wide above = select(central, erf_wide(y) - a, (one - a) - erfc_positive(y));
    const Wide slope = Wide(0x1.20dd750429b6dp+0) * exp(-y * y);
    const Wide newton = above / slope;
    const Wide bend = fma(fma(y, y, one) * Wide(-0x1.5555555555555p-2), newton, y);
    y = y - newton / fma(bend, newton, one);
  }
  const Wide inside = select(a == Wide(0.0), a, y);
  return with_sign(select(a < one, inside, select(a == one, infinity<Wide>(), not_a_number<Wide>())), x);
}
template <class Real>
TWINLOOM_INLINE Real erfinv(Real x) {
  return in_f64<Real>([](auto wide) { return erfinv_wide(wide); }, x);
}

template <class Real>
TWINLOOM_INLINE Real i0(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide limit(800.0);
        const Wide a = select(abs(wide) > limit, limit, abs(wide));
        const auto near = a < Wide(8.0);
        const auto [factor, low, k] = power(a);
        const Wide flat = i0_far(Wide(1.0) / select(near, Wide(8.0), a));
        const TwoPart<Wide> root = {select(near, Wide(1.0), sqrt(a)), Wide(0.0)};
        const Wide far = rounded_sum(quotient_of(product_of(TwoPart<Wide>{factor, low}, flat), root));
        const auto [z, z_low] = product_of(a, a);
        return select(near, fma(z_low, i0_slope(z), i0_near(z)), scaled(far, k));
      },
      x);
}

}  // namespace twinloom::device
