// Polynomials of erf, lgamma, digamma and i0, by tools/coefficients/fit.py
// (method and weights are there): least squares at Chebyshev nodes, each coefficient rounded in turn. Beside
// each: the largest weighted error before the arithmetic's own rounding.
#pragma once

#include "vector.h"

namespace twinloom::device {

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

// (1 - normal distribution(a))^(1/32) of a - 4.
template <class Real>
TWINLOOM_INLINE Real normal_root(Real x) {
  // 2^-18.3
  Real y(0x1.f647960000000p-49f);
  y = fma(y, x, Real(-0x1.824e180000000p-43f));
  y = fma(y, x, Real(0x1.b621620000000p-39f));
  y = fma(y, x, Real(-0x1.4b96720000000p-36f));
  y = fma(y, x, Real(-0x1.e867840000000p-34f));
  y = fma(y, x, Real(0x1.4342220000000p-30f));
  y = fma(y, x, Real(0x1.92a6100000000p-28f));
  y = fma(y, x, Real(0x1.59374e0000000p-22f));
  y = fma(y, x, Real(-0x1.2176140000000p-17f));
  y = fma(y, x, Real(0x1.bc6d780000000p-17f));
  y = fma(y, x, Real(0x1.1a96a60000000p-10f));
  y = fma(y, x, Real(-0x1.24d8fe0000000p-8f));
  y = fma(y, x, Real(-0x1.8749380000000p-4f));
  y = fma(y, x, Real(0x1.7265400000000p-1f));
  return y;
}

// ((normal distribution(-a) - a density(a)) / (root - a))^(1/32) of a - 4, root 0.7518 where that is 0.
template <class Real>
TWINLOOM_INLINE Real gelu_slope_root(Real x) {
  // 2^-19.2
  Real y(-0x1.6b03f20000000p-49f);
  y = fma(y, x, Real(0x1.5222ca0000000p-43f));
  y = fma(y, x, Real(-0x1.19fc520000000p-38f));
  y = fma(y, x, Real(0x1.18401e0000000p-34f));
  y = fma(y, x, Real(-0x1.5449300000000p-31f));
  y = fma(y, x, Real(0x1.3369680000000p-29f));
  y = fma(y, x, Real(0x1.efcf080000000p-27f));
  y = fma(y, x, Real(0x1.06f66a0000000p-22f));
  y = fma(y, x, Real(-0x1.233ae60000000p-17f));
  y = fma(y, x, Real(0x1.9c5af60000000p-17f));
  y = fma(y, x, Real(0x1.3bf5e60000000p-10f));
  y = fma(y, x, Real(-0x1.77c7560000000p-8f));
  y = fma(y, x, Real(-0x1.87f7040000000p-4f));
  y = fma(y, x, Real(0x1.853ea00000000p-1f));
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
