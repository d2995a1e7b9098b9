// Polynomials of the elementary functions, by tools/coefficients/fit.py
// (method and weights are there): least squares at Chebyshev nodes, each coefficient rounded in turn. Beside
// each: the largest weighted error before the arithmetic's own rounding.
#pragma once

#include "vector.h"

namespace twinloom::device {

// (exp(r) - 1 - r) / r^2 of r.
template <class Real>
TWINLOOM_INLINE Real exp_rest(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    // 2^-28.2
    Real y(0x1.6d51560000000p-10f);
    y = fma(y, x, Real(0x1.123e380000000p-7f));
    y = fma(y, x, Real(0x1.5554e40000000p-5f));
    y = fma(y, x, Real(0x1.55548a0000000p-3f));
    y = fma(y, x, Real(0x1.0000000000000p-1f));
    return y;
  } else {
    // 2^-58.0
    Real y(0x1.af6eb812d8a52p-26);
    y = fma(y, x, Real(0x1.28b106a442964p-22));
    y = fma(y, x, Real(0x1.71ddee552f203p-19));
    y = fma(y, x, Real(0x1.a01995abb34cdp-16));
    y = fma(y, x, Real(0x1.a01a01b44ed79p-13));
    y = fma(y, x, Real(0x1.6c16c1860b850p-10));
    y = fma(y, x, Real(0x1.111111110e9e9p-7));
    y = fma(y, x, Real(0x1.555555554fdf9p-5));
    y = fma(y, x, Real(0x1.555555555555cp-3));
    y = fma(y, x, Real(0x1.000000000000cp-1));
    return y;
  }
}

// the same, of one degree more for f32.
template <class Real>
TWINLOOM_INLINE Real expm1_rest(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    // 2^-33.1
    Real y(0x1.a274020000000p-13f);
    y = fma(y, x, Real(0x1.6d51560000000p-10f));
    y = fma(y, x, Real(0x1.110fee0000000p-7f));
    y = fma(y, x, Real(0x1.5554e40000000p-5f));
    y = fma(y, x, Real(0x1.5555560000000p-3f));
    y = fma(y, x, Real(0x1.0000000000000p-1f));
    return y;
  } else {
    // 2^-63.8
    Real y(0x1.1f8bc08d928b8p-29);
    y = fma(y, x, Real(0x1.af6eb812d8a52p-26));
    y = fma(y, x, Real(0x1.27e4cc20d3b5ap-22));
    y = fma(y, x, Real(0x1.71ddee552f203p-19));
    y = fma(y, x, Real(0x1.a01a01ad79380p-16));
    y = fma(y, x, Real(0x1.a01a01b44ed79p-13));
    y = fma(y, x, Real(0x1.6c16c16c15007p-10));
    y = fma(y, x, Real(0x1.111111110e9e9p-7));
    y = fma(y, x, Real(0x1.5555555555558p-5));
    y = fma(y, x, Real(0x1.555555555555cp-3));
    y = fma(y, x, Real(0x1.0000000000000p-1));
    return y;
  }
}

// (2^r - 1) / r of r.
template <class Real>
TWINLOOM_INLINE Real exp2_slope(Real x) {
  // 2^-23.3
  Real y(0x1.5f0dcc0000000p-10f);
  y = fma(y, x, Real(0x1.3cf04c0000000p-7f));
  y = fma(y, x, Real(0x1.c6af720000000p-5f));
  y = fma(y, x, Real(0x1.ebf9a80000000p-3f));
  y = fma(y, x, Real(0x1.62e4300000000p-1f));
  return y;
}

// (log(1 + f) - f + f^2/2) / f^3 of f.
template <class Real>
TWINLOOM_INLINE Real log_rest(Real x) {
  // 2^-27.2
  Real y(-0x1.3a036c0000000p-4f);
  y = fma(y, x, Real(0x1.05eeb20000000p-3f));
  y = fma(y, x, Real(-0x1.0d88fc0000000p-3f));
  y = fma(y, x, Real(0x1.22c2880000000p-3f));
  y = fma(y, x, Real(-0x1.546f320000000p-3f));
  y = fma(y, x, Real(0x1.99a1320000000p-3f));
  y = fma(y, x, Real(-0x1.0002380000000p-2f));
  y = fma(y, x, Real(0x1.5555520000000p-2f));
  return y;
}

// (atanh(s) - s) / s^3 of z = s^2.
template <class Real>
TWINLOOM_INLINE Real atanh_rest(Real x) {
  // 2^-66.6
  Real y(0x1.0f04b7fcf0a5cp-4);
  y = fma(y, x, Real(0x1.0f684d96e45b0p-4));
  y = fma(y, x, Real(0x1.3b20185eca203p-4));
  y = fma(y, x, Real(0x1.745ce2113f96dp-4));
  y = fma(y, x, Real(0x1.c71c724a8007ep-4));
  y = fma(y, x, Real(0x1.249249243a373p-3));
  y = fma(y, x, Real(0x1.9999999999d0ap-3));
  y = fma(y, x, Real(0x1.5555555555555p-2));
  return y;
}

// (atanh(s) - s - s^3/3) / s^5 of z = s^2.
template <class Real>
TWINLOOM_INLINE Real atanh_far_rest(Real x) {
  // 2^-76.6
  Real y(0x1.d9d53c6bb31c6p-5);
  y = fma(y, x, Real(0x1.a793f12498590p-5));
  y = fma(y, x, Real(0x1.e240dc0082b03p-5));
  y = fma(y, x, Real(0x1.110fa9dd44bf9p-4));
  y = fma(y, x, Real(0x1.3b13b7e3362ccp-4));
  y = fma(y, x, Real(0x1.745d173212df3p-4));
  y = fma(y, x, Real(0x1.c71c71c73f7f6p-4));
  y = fma(y, x, Real(0x1.2492492492387p-3));
  y = fma(y, x, Real(0x1.999999999999ap-3));
  return y;
}

// (sin(r) - r) / r^3 of z = r^2.
template <class Real>
TWINLOOM_INLINE Real sin_rest(Real x) {
  if constexpr (same<Element<Real>, f32>) {
    // 2^-28.1
    Real y(-0x1.9956b40000000p-13f);
    y = fma(y, x, Real(0x1.11077e0000000p-7f));
    y = fma(y, x, Real(-0x1.5555460000000p-3f));
    return y;
  } else {
    // 2^-57.9
    Real y(0x1.5d8fa95f99082p-33);
    y = fma(y, x, Real(-0x1.ae5e594f186b9p-26));
    y = fma(y, x, Real(0x1.71de3564d5c32p-19));
    y = fma(y, x, Real(-0x1.a01a019bf7f14p-13));
    y = fma(y, x, Real(0x1.111111110f77dp-7));
    y = fma(y, x, Real(-0x1.5555555555548p-3));
    return y;
  }
}

// (cos(r) - 1 + r^2/2) / r^4 of z = r^2.
template <class Real>
TWINLOOM_INLINE Real cos_rest(Real x) {
  // 2^-64.1
  Real y(-0x1.8fa99624c6e2dp-37);
  y = fma(y, x, Real(0x1.1ee9e160a31d6p-29));
  y = fma(y, x, Real(-0x1.27e4f7f8ec2bbp-22));
  y = fma(y, x, Real(0x1.a01a019c97783p-16));
  y = fma(y, x, Real(-0x1.6c16c16c1504bp-10));
  y = fma(y, x, Real(0x1.555555555554bp-5));
  return y;
}

// (cos(r) - 1) / r^2 of z = r^2.
template <class Real>
TWINLOOM_INLINE Real cos_slope(Real x) {
  // 2^-33.2
  Real y(0x1.99eab40000000p-16f);
  y = fma(y, x, Real(-0x1.6c0c2e0000000p-10f));
  y = fma(y, x, Real(0x1.55554a0000000p-5f));
  y = fma(y, x, Real(-0x1.0000000000000p-1f));
  return y;
}

// (tanh(x) - x) / x^3 of z = x^2.
template <class Real>
TWINLOOM_INLINE Real tanh_rest(Real x) {
  // 2^-30.9
  Real y(0x1.f790160000000p-14f);
  y = fma(y, x, Real(-0x1.b5e2fc0000000p-11f));
  y = fma(y, x, Real(0x1.922daa0000000p-9f));
  y = fma(y, x, Real(-0x1.19576e0000000p-7f));
  y = fma(y, x, Real(0x1.64d8100000000p-6f));
  y = fma(y, x, Real(-0x1.b9f9160000000p-5f));
  y = fma(y, x, Real(0x1.1110460000000p-3f));
  y = fma(y, x, Real(-0x1.5555520000000p-2f));
  return y;
}

// (atan(t) - t) / t^3 of z = t^2.
template <class Real>
TWINLOOM_INLINE Real atan_rest(Real x) {
  // 2^-65.6
  Real y(-0x1.f451c64f06b60p-9);
  y = fma(y, x, Real(0x1.c286d2e55aa9cp-7));
  y = fma(y, x, Real(-0x1.a7cd7cb560063p-6));
  y = fma(y, x, Real(0x1.236d25f22537cp-5));
  y = fma(y, x, Real(-0x1.5989aa1f78e2ep-5));
  y = fma(y, x, Real(0x1.83c546a5294dcp-5));
  y = fma(y, x, Real(-0x1.aec76cfb591dap-5));
  y = fma(y, x, Real(0x1.e1d627eb288e1p-5));
  y = fma(y, x, Real(-0x1.11108c327c90bp-4));
  y = fma(y, x, Real(0x1.3b13a8cf2c4b8p-4));
  y = fma(y, x, Real(-0x1.745d16e75ec3dp-4));
  y = fma(y, x, Real(0x1.c71c71c467612p-4));
  y = fma(y, x, Real(-0x1.249249248c569p-3));
  y = fma(y, x, Real(0x1.99999999998c4p-3));
  y = fma(y, x, Real(-0x1.5555555555555p-2));
  return y;
}

// (asin(t) - t) / t^3 of z = t^2.
template <class Real>
TWINLOOM_INLINE Real asin_rest(Real x) {
  // 2^-59.9
  Real y(0x1.0ac783d4e1577p-5);
  y = fma(y, x, Real(-0x1.5667f5d274d99p-6));
  y = fma(y, x, Real(0x1.627f8e45fcf05p-6));
  y = fma(y, x, Real(0x1.e995aa7ea282cp-9));
  y = fma(y, x, Real(0x1.60fff6c6f49f2p-7));
  y = fma(y, x, Real(0x1.759020e3f57d1p-7));
  y = fma(y, x, Real(0x1.ca1e4bde65f16p-7));
  y = fma(y, x, Real(0x1.1c49fd309612cp-6));
  y = fma(y, x, Real(0x1.6e8bde357e3ffp-6));
  y = fma(y, x, Real(0x1.f1c71a9a612bcp-6));
  y = fma(y, x, Real(0x1.6db6db72067c3p-5));
  y = fma(y, x, Real(0x1.333333332e1d7p-4));
  y = fma(y, x, Real(0x1.5555555555577p-3));
  return y;
}

}  // namespace twinloom::device
