// Polynomials of the approximate forms of f32, by tools/coefficients/fit.py
// (method and weights are there): least squares at Chebyshev nodes, each coefficient rounded in turn. Beside
// each: the largest weighted error before the arithmetic's own rounding.
#pragma once

#include "vector.h"

namespace twinloom::device {

// (exp(r) - 1) / r of r.
template <class Real>
TWINLOOM_INLINE Real approximate_exp_slope(Real x) {
  // 2^-23.2
  Real y(0x1.0eaea40000000p-7f);
  y = fma(y, x, Real(0x1.573c940000000p-5f));
  y = fma(y, x, Real(0x1.555d060000000p-3f));
  y = fma(y, x, Real(0x1.fffdbe0000000p-2f));
  y = fma(y, x, Real(0x1.fffff00000000p-1f));
  return y;
}

// (2^r - 1) / r of r, for results of 16 bits.
template <class Real>
TWINLOOM_INLINE Real brief_exp2_slope(Real x) {
  // 2^-13.1
  Real y(0x1.bf39540000000p-5f);
  y = fma(y, x, Real(0x1.f00fe80000000p-3f));
  y = fma(y, x, Real(0x1.6301360000000p-1f));
  return y;
}

// over / (1 + a under) = (1 / m - 2) / a - sqrt(2 pi), m = exp(a^2 / 2) (1 - normal distribution(a)).
template <class Real>
TWINLOOM_INLINE Real normal_bend_over(Real x) {
  // 2^-25.8
  Real y(-0x1.3b89160000000p-6f);
  y = fma(y, x, Real(-0x1.41b77c0000000p-3f));
  y = fma(y, x, Real(-0x1.1dec6c0000000p-1f));
  y = fma(y, x, Real(-0x1.d25bf00000000p-1f));
  return y;
}

// see normal_bend_over.
template <class Real>
TWINLOOM_INLINE Real normal_bend_under(Real x) {
  // 2^-25.8
  Real y(0x1.3b936c0000000p-7f);
  y = fma(y, x, Real(0x1.72ed5a0000000p-4f));
  y = fma(y, x, Real(0x1.933f4a0000000p-2f));
  y = fma(y, x, Real(0x1.d37c320000000p-1f));
  return y;
}

// (1 + z over) / (1 + z under) = tanh(x) / x, z = x^2, for results of 16 bits.
template <class Real>
TWINLOOM_INLINE Real brief_tanh_over(Real x) {
  // 2^-17.3
  Real y(0x1.98f6f20000000p-19f);
  y = fma(y, x, Real(0x1.0ff9120000000p-9f));
  y = fma(y, x, Real(0x1.ee6dde0000000p-4f));
  return y;
}

// see brief_tanh_over.
template <class Real>
TWINLOOM_INLINE Real brief_tanh_under(Real x) {
  // 2^-17.3
  Real y(0x1.fbe4500000000p-14f);
  y = fma(y, x, Real(0x1.498c6a0000000p-6f));
  y = fma(y, x, Real(0x1.d0ea1e0000000p-2f));
  return y;
}

}  // namespace twinloom::device
