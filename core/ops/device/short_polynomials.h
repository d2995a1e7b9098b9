// Polynomials of the shorter forms of f32, by tools/coefficients/fit.py
// (method and weights are there): least squares at Chebyshev nodes, each coefficient rounded in turn. Beside
// each: the largest weighted error before the arithmetic's own rounding.
#pragma once

#include "vector.h"

namespace twinloom::device {

// (log(1 + f) - f) / f^2 of f.
template <class Real>
TWINLOOM_INLINE Real short_log_bend(Real x) {
  // 2^-24.9
  Real y(0x1.694cb00000000p-4f);
  y = fma(y, x, Real(-0x1.2618620000000p-3f));
  y = fma(y, x, Real(0x1.31564e0000000p-3f));
  y = fma(y, x, Real(-0x1.532f1a0000000p-3f));
  y = fma(y, x, Real(0x1.98d2ea0000000p-3f));
  y = fma(y, x, Real(-0x1.0005c60000000p-2f));
  y = fma(y, x, Real(0x1.5556fa0000000p-2f));
  y = fma(y, x, Real(-0x1.fffff60000000p-2f));
  return y;
}

// the same for f from 0 to 1.
template <class Real>
TWINLOOM_INLINE Real short_log1p_bend(Real x) {
  // 2^-27.3
  Real y(-0x1.a6f30a0000000p-9f);
  y = fma(y, x, Real(0x1.443a380000000p-6f));
  y = fma(y, x, Real(-0x1.d1f56a0000000p-5f));
  y = fma(y, x, Real(0x1.b233260000000p-4f));
  y = fma(y, x, Real(-0x1.39818c0000000p-3f));
  y = fma(y, x, Real(0x1.9305f60000000p-3f));
  y = fma(y, x, Real(-0x1.ff160a0000000p-3f));
  y = fma(y, x, Real(0x1.554d220000000p-2f));
  y = fma(y, x, Real(-0x1.ffffcc0000000p-2f));
  return y;
}

// erf(x) / x - 1 of z = x^2.
template <class Real>
TWINLOOM_INLINE Real short_erf_rest(Real x) {
  // 2^-29.6
  Real y(0x1.4c2f4c0000000p-14f);
  y = fma(y, x, Real(-0x1.a5099e0000000p-11f));
  y = fma(y, x, Real(0x1.542dee0000000p-8f));
  y = fma(y, x, Real(-0x1.b7fe8e0000000p-6f));
  y = fma(y, x, Real(0x1.ce2d500000000p-4f));
  y = fma(y, x, Real(-0x1.8127400000000p-2f));
  y = fma(y, x, Real(0x1.06eba80000000p-3f));
  return y;
}

// log2(erfc(a)) / a of a.
template <class Real>
TWINLOOM_INLINE Real short_erfc_slope(Real x) {
  // 2^-28.4
  Real y(0x1.4187660000000p-12f);
  y = fma(y, x, Real(-0x1.2ec14a0000000p-8f));
  y = fma(y, x, Real(0x1.0e01140000000p-5f));
  y = fma(y, x, Real(-0x1.36cb200000000p-3f));
  y = fma(y, x, Real(-0x1.d59f9a0000000p-1f));
  y = fma(y, x, Real(-0x1.a0c98a0000000p+0f));
  return y;
}

// (tanh(x) - x) / x^3 of z = x^2.
template <class Real>
TWINLOOM_INLINE Real short_tanh_rest(Real x) {
  // 2^-27.1
  Real y(-0x1.6987ea0000000p-8f);
  y = fma(y, x, Real(0x1.4f644c0000000p-6f));
  y = fma(y, x, Real(-0x1.b7d0ba0000000p-5f));
  y = fma(y, x, Real(0x1.1103f60000000p-3f));
  y = fma(y, x, Real(-0x1.5555240000000p-2f));
  return y;
}

// (asin(t) - t) / t^3 of z = t^2.
template <class Real>
TWINLOOM_INLINE Real short_asin_rest(Real x) {
  // 2^-26.0
  Real y(0x1.867ada0000000p-5f);
  y = fma(y, x, Real(0x1.562fbc0000000p-6f));
  y = fma(y, x, Real(0x1.7a048c0000000p-5f));
  y = fma(y, x, Real(0x1.32c96c0000000p-4f));
  y = fma(y, x, Real(0x1.55567a0000000p-3f));
  return y;
}

// (atan(t) - t) / t^3 of z = t^2.
template <class Real>
TWINLOOM_INLINE Real short_atan_rest(Real x) {
  // 2^-28.4
  Real y(-0x1.d01aa80000000p-10f);
  y = fma(y, x, Real(0x1.6229f60000000p-7f));
  y = fma(y, x, Real(-0x1.fb7a720000000p-6f));
  y = fma(y, x, Real(0x1.d90e880000000p-5f));
  y = fma(y, x, Real(-0x1.57adee0000000p-4f));
  y = fma(y, x, Real(0x1.c069b00000000p-4f));
  y = fma(y, x, Real(-0x1.241cd00000000p-3f));
  y = fma(y, x, Real(0x1.99917e0000000p-3f));
  y = fma(y, x, Real(-0x1.55553c0000000p-2f));
  return y;
}

// (atanh(s) - s - s^3/3) / s^5 of z = s^2.
template <class Real>
TWINLOOM_INLINE Real short_atanh_far_rest(Real x) {
  // 2^-36.8
  Real y(0x1.dfbd020000000p-4f);
  y = fma(y, x, Real(0x1.2451d40000000p-3f));
  y = fma(y, x, Real(0x1.999a020000000p-3f));
  return y;
}

// (r - sin(r)) / r^3 of -r^2.
template <class Real>
TWINLOOM_INLINE Real short_sin_bend(Real x) {
  // 2^-27.3
  Real y(0x1.5d94720000000p-19f);
  y = fma(y, x, Real(0x1.9f6d900000000p-13f));
  y = fma(y, x, Real(0x1.110eca0000000p-7f));
  y = fma(y, x, Real(0x1.55554c0000000p-3f));
  return y;
}

// (2^r - 1) / r of r.
template <class Real>
TWINLOOM_INLINE Real short_exp2_slope(Real x) {
  // 2^-28.2
  Real y(0x1.3f906c0000000p-13f);
  y = fma(y, x, Real(0x1.5f0a660000000p-10f));
  y = fma(y, x, Real(0x1.3b30b00000000p-7f));
  y = fma(y, x, Real(0x1.c6af780000000p-5f));
  y = fma(y, x, Real(0x1.ebfbd80000000p-3f));
  y = fma(y, x, Real(0x1.62e4300000000p-1f));
  return y;
}

}  // namespace twinloom::device
