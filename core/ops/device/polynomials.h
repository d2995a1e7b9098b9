// Polynomials of the elementary functions, by tools/coefficients/fit.py (method and weights are there):
// least squares at Chebyshev nodes, each coefficient rounded in turn. Beside each: the largest weighted
// error before the arithmetic's own rounding.
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
    // 2^-32.3
    Real y(0x1.786ae80000000p-19f);
    y = fma(y, x, Real(-0x1.a04a820000000p-13f));
    y = fma(y, x, Real(0x1.1111660000000p-7f));
    y = fma(y, x, Real(-0x1.5555560000000p-3f));
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
  if constexpr (same<Element<Real>, f32>) {
    // 2^-33.2
    Real y(0x1.99ead00000000p-16f);
    y = fma(y, x, Real(-0x1.6c0c2e0000000p-10f));
    y = fma(y, x, Real(0x1.55554a0000000p-5f));
    return y;
  } else {
    // 2^-64.1
    Real y(-0x1.8fa99624c6e2dp-37);
    y = fma(y, x, Real(0x1.1ee9e160a31d6p-29));
    y = fma(y, x, Real(-0x1.27e4f7f8ec2bbp-22));
    y = fma(y, x, Real(0x1.a01a019c97783p-16));
    y = fma(y, x, Real(-0x1.6c16c16c1504bp-10));
    y = fma(y, x, Real(0x1.555555555554bp-5));
    return y;
  }
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

// erf(x) / x - 1 of z = x^2.
template <class Real>
TWINLOOM_INLINE Real erf_rest(Real x) {
  // 2^-56.2
  Real y(0x1.f7ad0efe4f5c1p-34);
  y = fma(y, x, Real(-0x1.cac4b8d879f5cp-31));
  y = fma(y, x, Real(0x1.7ed177845bfe3p-29));
  y = fma(y, x, Real(-0x1.b82b72cf8479bp-28));
  y = fma(y, x, Real(0x1.6ee557333a484p-26));
  y = fma(y, x, Real(-0x1.6bc2ead8c63acp-23));
  y = fma(y, x, Real(0x1.badad5e2afd0cp-20));
  y = fma(y, x, Real(-0x1.f4dfd52b97d29p-17));
  y = fma(y, x, Real(0x1.f9a3adb9d9255p-14));
  y = fma(y, x, Real(-0x1.c02db7a6c13c3p-11));
  y = fma(y, x, Real(0x1.565bcd1f53f66p-8));
  y = fma(y, x, Real(-0x1.b82ce312eb273p-6));
  y = fma(y, x, Real(0x1.ce2f21a04402ap-4));
  y = fma(y, x, Real(-0x1.812746b037a06p-2));
  y = fma(y, x, Real(0x1.06eba8214db69p-3));
  return y;
}

// ((erf(x)/x - 1 - first) / z - second) / z of z = x^2; first and second as in special.h.
template <class Real>
TWINLOOM_INLINE Real erf_bend(Real x) {
  // 2^-30.0
  Real y(0x1.dc3d940000000p-19f);
  y = fma(y, x, Real(-0x1.90d0da0000000p-16f));
  y = fma(y, x, Real(0x1.1c99b60000000p-13f));
  y = fma(y, x, Real(-0x1.c6e5c20000000p-11f));
  y = fma(y, x, Real(0x1.56bbee0000000p-8f));
  y = fma(y, x, Real(-0x1.b832180000000p-6f));
  y = fma(y, x, Real(0x1.ce2f360000000p-4f));
  return y;
}

// -log(erfc(a)) / a of a.
template <class Real>
TWINLOOM_INLINE Real erfc_slope(Real x) {
  // 2^-35.2
  Real y(-0x1.ed4aa20000000p-20f);
  y = fma(y, x, Real(0x1.f599480000000p-16f));
  y = fma(y, x, Real(-0x1.8ecbb00000000p-13f));
  y = fma(y, x, Real(0x1.b532580000000p-12f));
  y = fma(y, x, Real(0x1.07d3260000000p-9f));
  y = fma(y, x, Real(-0x1.610c760000000p-6f));
  y = fma(y, x, Real(0x1.abb4be0000000p-4f));
  y = fma(y, x, Real(0x1.459ebc0000000p-1f));
  y = fma(y, x, Real(0x1.20e4aa0000000p+0f));
  return y;
}

// (a + 9/16) exp(a^2) erfc(a) of (a - 4) / (a + 4).
template <class Real>
TWINLOOM_INLINE Real erfcx_flat(Real x) {
  // 2^-56.2
  Real y(0x1.5e8606a6a5b39p-32);
  y = fma(y, x, Real(0x1.aa7ad0155b2cfp-30));
  y = fma(y, x, Real(0x1.91920bb5665e1p-31));
  y = fma(y, x, Real(-0x1.50bf4c3ada786p-27));
  y = fma(y, x, Real(-0x1.652a6f1fa6f61p-27));
  y = fma(y, x, Real(0x1.f15445892225fp-25));
  y = fma(y, x, Real(0x1.6612b20cb667ep-25));
  y = fma(y, x, Real(-0x1.b7c5a73b11643p-22));
  y = fma(y, x, Real(0x1.0fa0e273bedffp-23));
  y = fma(y, x, Real(0x1.7bec4c811723cp-19));
  y = fma(y, x, Real(-0x1.6c1940876adefp-18));
  y = fma(y, x, Real(-0x1.9d5af2446d367p-17));
  y = fma(y, x, Real(0x1.35f61f11343c1p-14));
  y = fma(y, x, Real(-0x1.8d2a93247d8cap-14));
  y = fma(y, x, Real(-0x1.8eb7ad8b88b82p-12));
  y = fma(y, x, Real(0x1.433a8e7ae3625p-9));
  y = fma(y, x, Real(-0x1.01117930e6e9bp-7));
  y = fma(y, x, Real(0x1.2352f75622be2p-6));
  y = fma(y, x, Real(-0x1.ff53ffdba3b6fp-6));
  y = fma(y, x, Real(0x1.5f9e55657a2bep-5));
  y = fma(y, x, Real(-0x1.66111e3d206e9p-5));
  y = fma(y, x, Real(0x1.85a6ac23fb550p-6));
  y = fma(y, x, Real(0x1.5df5850987c00p-6));
  y = fma(y, x, Real(-0x1.6043f5b227355p-4));
  y = fma(y, x, Real(0x1.4007de1e62104p-1));
  return y;
}

// (a + 51/64) exp(a^2 / 2) (1 - normal distribution(a)) of (a - 4) / (a + 4).
template <class Real>
TWINLOOM_INLINE Real normal_flat(Real x) {
  // 2^-26.2
  Real y(-0x1.6b700c0000000p-14f);
  y = fma(y, x, Real(-0x1.564ba80000000p-14f));
  y = fma(y, x, Real(0x1.77629c0000000p-11f));
  y = fma(y, x, Real(-0x1.b16b620000000p-12f));
  y = fma(y, x, Real(-0x1.4db1880000000p-8f));
  y = fma(y, x, Real(0x1.4220020000000p-6f));
  y = fma(y, x, Real(-0x1.3b28180000000p-5f));
  y = fma(y, x, Real(0x1.619d4c0000000p-5f));
  y = fma(y, x, Real(-0x1.711d180000000p-7f));
  y = fma(y, x, Real(-0x1.fca72c0000000p-5f));
  y = fma(y, x, Real(0x1.cfbebc0000000p-2f));
  return y;
}

// (a + 5) exp(a^2 / 2) (1 - normal distribution(a)) of 1 / (a + 5).
template <class Real>
TWINLOOM_INLINE Real normal_ratio(Real x) {
  // 2^-19.5
  Real y(0x1.542ab20000000p+14f);
  y = fma(y, x, Real(-0x1.782c5e0000000p+12f));
  y = fma(y, x, Real(0x1.5b3c300000000p+10f));
  y = fma(y, x, Real(-0x1.2f19640000000p+6f));
  y = fma(y, x, Real(0x1.076b200000000p+4f));
  y = fma(y, x, Real(0x1.c824be0000000p+0f));
  y = fma(y, x, Real(0x1.9b500c0000000p-2f));
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

// lgamma(x) / ((x - 1)(x - 2)) of x - 2.
template <class Real>
TWINLOOM_INLINE Real lgamma_middle(Real x) {
  // 2^-57.5
  Real y(-0x1.c0f8128e0273ep-31);
  y = fma(y, x, Real(0x1.b428bdf607d74p-30));
  y = fma(y, x, Real(0x1.5127d86444929p-29));
  y = fma(y, x, Real(-0x1.2dd2c21220514p-28));
  y = fma(y, x, Real(-0x1.31d85655e73bcp-27));
  y = fma(y, x, Real(0x1.1a36cbe8e8473p-26));
  y = fma(y, x, Real(-0x1.e34ede96ec5f1p-31));
  y = fma(y, x, Real(0x1.7ae2c9598af96p-28));
  y = fma(y, x, Real(-0x1.be0d1a96578e7p-25));
  y = fma(y, x, Real(0x1.c170038bd9d36p-24));
  y = fma(y, x, Real(-0x1.8fe946bf76212p-23));
  y = fma(y, x, Real(0x1.a8bc2d624f895p-22));
  y = fma(y, x, Real(-0x1.cb4142c6946dep-21));
  y = fma(y, x, Real(0x1.e649837daa7a9p-20));
  y = fma(y, x, Real(-0x1.0222fa6befc5fp-18));
  y = fma(y, x, Real(0x1.13db580338e19p-17));
  y = fma(y, x, Real(-0x1.285110dc9b995p-16));
  y = fma(y, x, Real(0x1.402f7fe1f82fbp-15));
  y = fma(y, x, Real(-0x1.5c86af76da600p-14));
  y = fma(y, x, Real(0x1.7ed7301748583p-13));
  y = fma(y, x, Real(-0x1.a96a4038ddb24p-12));
  y = fma(y, x, Real(0x1.dfebcfa04096bp-11));
  y = fma(y, x, Real(-0x1.145121f95bce9p-9));
  y = fma(y, x, Real(0x1.4797485392d45p-8));
  y = fma(y, x, Real(-0x1.95ce223a9d1dap-7));
  y = fma(y, x, Real(0x1.0e0c9df2935fap-5));
  y = fma(y, x, Real(-0x1.9ae6509ea109ep-4));
  y = fma(y, x, Real(0x1.b0ee6072093cep-2));
  return y;
}

// digamma(x) / (x - root) of x - 2.
template <class Real>
TWINLOOM_INLINE Real digamma_middle(Real x) {
  // 2^-53.2
  Real y(-0x1.48a7fc5b92df1p-26);
  y = fma(y, x, Real(0x1.3309350608f42p-25));
  y = fma(y, x, Real(0x1.0c6eab361fa47p-24));
  y = fma(y, x, Real(-0x1.cfe77a1a3e3afp-24));
  y = fma(y, x, Real(-0x1.b3d8dc088b127p-23));
  y = fma(y, x, Real(0x1.7d230f57cbc43p-22));
  y = fma(y, x, Real(0x1.0879dd78650c9p-24));
  y = fma(y, x, Real(-0x1.20ec64e230633p-25));
  y = fma(y, x, Real(-0x1.ceb00b7d6778bp-21));
  y = fma(y, x, Real(0x1.b34d705fc9acfp-20));
  y = fma(y, x, Real(-0x1.4c3a5e5db2f76p-19));
  y = fma(y, x, Real(0x1.51a0097f683e0p-18));
  y = fma(y, x, Real(-0x1.60b16136426a8p-17));
  y = fma(y, x, Real(0x1.60229a0eaf49bp-16));
  y = fma(y, x, Real(-0x1.5ed91f3af4801p-15));
  y = fma(y, x, Real(0x1.5f47fe7b16b6ep-14));
  y = fma(y, x, Real(-0x1.5ff1a2e535b71p-13));
  y = fma(y, x, Real(0x1.60c7d12b4ca0ap-12));
  y = fma(y, x, Real(-0x1.620eef264b495p-11));
  y = fma(y, x, Real(0x1.6407559b3c77bp-10));
  y = fma(y, x, Real(-0x1.6714d0694e797p-9));
  y = fma(y, x, Real(0x1.6bdf5e4d802adp-8));
  y = fma(y, x, Real(-0x1.7389aa7ecffc8p-7));
  y = fma(y, x, Real(0x1.802924f923d5ap-6));
  y = fma(y, x, Real(-0x1.95ec0c3bac10fp-5));
  y = fma(y, x, Real(0x1.be76b26db88b1p-4));
  y = fma(y, x, Real(-0x1.0aff270ca079dp-2));
  y = fma(y, x, Real(0x1.9213d46736ba3p-1));
  return y;
}

// x times the rest of Stirling's formula, of 1 / x^2.
template <class Real>
TWINLOOM_INLINE Real stirling_rest(Real x) {
  // 2^-57.6
  Real y(0x1.53e24f95c3e1bp-10);
  y = fma(y, x, Real(0x1.41c9e20eef93bp-8));
  y = fma(y, x, Real(-0x1.ee057b68e3476p-10));
  y = fma(y, x, Real(0x1.b91eafc1492fbp-11));
  y = fma(y, x, Real(-0x1.38132efd60fe8p-11));
  y = fma(y, x, Real(0x1.a01a015bdfb5ep-11));
  y = fma(y, x, Real(-0x1.6c16c16c107e3p-9));
  y = fma(y, x, Real(0x1.5555555555555p-4));
  return y;
}

// x^2 (log(x) - 1/(2x) - digamma(x)) of 1 / x^2.
template <class Real>
TWINLOOM_INLINE Real digamma_rest(Real x) {
  // 2^-57.6
  Real y(0x1.4c594ba89d781p-3);
  y = fma(y, x, Real(0x1.018b0db3e788dp-4));
  y = fma(y, x, Real(-0x1.54ba7da24b333p-6));
  y = fma(y, x, Real(0x1.f056c795765ebp-8));
  y = fma(y, x, Real(-0x1.1110ea5a14cc5p-8));
  y = fma(y, x, Real(0x1.041040ef6353bp-8));
  y = fma(y, x, Real(-0x1.111111110ea0bp-7));
  y = fma(y, x, Real(0x1.5555555555555p-4));
  return y;
}

// I0(x) of x^2.
template <class Real>
TWINLOOM_INLINE Real i0_near(Real x) {
  // 2^-66.2
  Real y(-0x1.21c5dc0fb3626p-141);
  y = fma(y, x, Real(0x1.402f259af8d27p-132));
  y = fma(y, x, Real(-0x1.404a962c9b885p-124));
  y = fma(y, x, Real(0x1.a21d78f212ef8p-117));
  y = fma(y, x, Real(-0x1.26bec7cf74a7ep-111));
  y = fma(y, x, Real(0x1.6efdc22a8afe8p-101));
  y = fma(y, x, Real(0x1.e1c538e9fee4ep-92));
  y = fma(y, x, Real(0x1.41d096f0d4ecbp-82));
  y = fma(y, x, Real(0x1.69c70b9f76006p-73));
  y = fma(y, x, Real(0x1.5601b3adb6736p-64));
  y = fma(y, x, Real(0x1.0b3130ff19b18p-55));
  y = fma(y, x, Real(0x1.522a440b143d3p-47));
  y = fma(y, x, Real(0x1.522a43f58babbp-39));
  y = fma(y, x, Real(0x1.02e85c089df42p-31));
  y = fma(y, x, Real(0x1.23456789aba0ep-24));
  y = fma(y, x, Real(0x1.c71c71c71c738p-18));
  y = fma(y, x, Real(0x1.c71c71c71c71cp-12));
  y = fma(y, x, Real(0x1.0000000000000p-6));
  y = fma(y, x, Real(0x1.0000000000000p-2));
  y = fma(y, x, Real(0x1.0000000000000p+0));
  return y;
}

// I0'(x) / (2 x) of x^2: the derivative of i0_near.
template <class Real>
TWINLOOM_INLINE Real i0_slope(Real x) {
  // 2^-7.7
  Real y(0x1.fc8e1356d9783p-21);
  y = fma(y, x, Real(-0x1.179b75c30b136p-20));
  y = fma(y, x, Real(0x1.c786e5f7e64f7p-10));
  y = fma(y, x, Real(0x1.e05d07ccda48ap-6));
  y = fma(y, x, Real(0x1.0119434fb72c6p-2));
  return y;
}

// sqrt(x) exp(-x) I0(x) of 1 / x.
template <class Real>
TWINLOOM_INLINE Real i0_far(Real x) {
  // 2^-55.7
  Real y(-0x1.31c824cb76a4dp+57);
  y = fma(y, x, Real(0x1.efff4dc776f70p+57));
  y = fma(y, x, Real(-0x1.73de6e1141175p+57));
  y = fma(y, x, Real(0x1.5669502866770p+56));
  y = fma(y, x, Real(-0x1.b1d0542e53af4p+54));
  y = fma(y, x, Real(0x1.917572f868399p+52));
  y = fma(y, x, Real(-0x1.194039ee36f88p+50));
  y = fma(y, x, Real(0x1.312f61006ff7ep+47));
  y = fma(y, x, Real(-0x1.04468dc0e6fe5p+44));
  y = fma(y, x, Real(0x1.6036d2fdcfcfap+40));
  y = fma(y, x, Real(-0x1.7c2877408d3abp+36));
  y = fma(y, x, Real(0x1.47e77162f9d40p+32));
  y = fma(y, x, Real(-0x1.c384616036ae0p+27));
  y = fma(y, x, Real(0x1.ee279badbba86p+22));
  y = fma(y, x, Real(-0x1.aa90a6b56b08fp+17));
  y = fma(y, x, Real(0x1.1f56e5d3f19b7p+12));
  y = fma(y, x, Real(-0x1.260b8b4122462p+6));
  y = fma(y, x, Real(0x1.20deca631ca0bp+0));
  y = fma(y, x, Real(0x1.527da43aaa0d5p-4));
  y = fma(y, x, Real(0x1.6eeed0fe265cep-5));
  y = fma(y, x, Real(0x1.deba37747b867p-6));
  y = fma(y, x, Real(0x1.cb94de31097acp-6));
  y = fma(y, x, Real(0x1.9884533d2b702p-5));
  y = fma(y, x, Real(0x1.9884533d43657p-2));
  return y;
}

}  // namespace twinloom::device
