// Hyperbolic functions and their inverses, by exponentials and logarithms. All but tanh of f32 are done
// in f64.
#pragma once

#include "exponential.h"

namespace twinloom::device {

// Of f32 1 - 2 / (exp(2a) + 1) is right where the quotient is small; below 1 there is a polynomial. Of f64
// t / (t + 2), t = exp(2a) - 1 in two parts.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real tanh(Real x, Divide divide = {}) {
  using Part = Element<Real>;
  const Real one(Part(1));
  const Real two(Part(2));
  const Real a = abs(x);
  if constexpr (same<Part, f32>) {
    const Real z = x * x;
    const Real twice = Divide::is_bounded ? below_limit(a + a, Real(Part(79))) : a + a;
    const Real far = one - divide.usual(two, exp(twice) + one);
    return with_sign(select(a < one, fma(a * z, tanh_rest(z), a), far), x);
  } else {
    const TwoPart<Real> t = expm1_parts(below_limit(a + a, Real(44.0)));
    return with_sign(rounded_sum(quotient_of(t, plus(t, two))), x);
  }
}

template <class Real>
TWINLOOM_INLINE Real sinh(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide a = abs(wide);
        const auto near = a < Wide(20.0);
        const TwoPart<Wide> t = expm1_parts(select(near, a, Wide(0.0)));
        const auto [fall, fall_low] = quotient_of(t, plus(t, Wide(1.0)));  // 1 - exp(-a)
        const Wide twice = t.high + (fall + (fall_low + t.low));
        return with_sign(select(near, Wide(0.5) * twice, half_exp(a)), wide);
      },
      x);
}
template <class Real>
TWINLOOM_INLINE Real cosh(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide half = half_exp(abs(wide));
        return half + Wide(0.25) / half;
      },
      x);
}

template <class Real>
TWINLOOM_INLINE Real asinh(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide one(1.0);
        const Wide a = abs(wide);
        const auto large = a > Wide(0x1p100);
        const Wide square = a * a;
        const Wide near = a + square / (one + sqrt(one + square));
        const Wide value =
            log1p(select(large, a, near)) + select(large, Wide(0x1.62e42fefa39efp-1), Wide(0.0));
        return select(a < Wide(0x1p-30), wide, with_sign(value, wide));
      },
      x);
}
template <class Real>
TWINLOOM_INLINE Real acosh(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide above = wide - Wide(1.0);
        const auto large = wide > Wide(0x1p100);
        const auto [near, below] = sum_of(above, sqrt(fma(above, above, above + above)));
        const Wide value = log1p(select(large, above, near), select(large, Wide(0.0), below)) +
                           select(large, Wide(0x1.62e42fefa39efp-1), Wide(0.0));
        return select(above < Wide(0.0), not_a_number<Wide>(), value);
      },
      x);
}
template <class Real>
TWINLOOM_INLINE Real atanh(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide a = abs(wide);
        const auto [ratio, below] = quotient_of({a + a, Wide(0.0)}, sum_of(Wide(1.0), -a));
        const Wide value = Wide(0.5) * log1p(ratio, below);
        return select(a < Wide(0x1p-30), wide, with_sign(value, wide));
      },
      x);
}

}  // namespace twinloom::device
