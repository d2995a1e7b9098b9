// Forms for mode `fast`: of f32 functions within 4 units in the last place over all inputs, of results of 16
// bits (brief) within 1, both shorter than those of mode `fused`. Zeros keep their signs, subnormals their
// digits. gpu_rows.h has others by what a GPU approximates in one instruction; of each row there is one that
// keeps subnormal numbers and one that may take zeros for them, which differ there alone.
#pragma once

#include "approximate_polynomials.h"
#include "short.h"

namespace twinloom::device {

template <class Real>
TWINLOOM_INLINE Real approximate_exp(Real x) {
  const auto [rest, k] = near_whole_of_ln2(limited_for_scaling(x));
  return scaled(fma(rest, approximate_exp_slope(rest), Real(1.0f)), k);
}
template <class Real>
TWINLOOM_INLINE Real brief_exp(Real x) {
  const Real inside = limited_for_scaling(x), log2_e(0x1.715476p+0f);
  const Whole<Real> k = units_of_ln2(inside);
  const Real rest = fma(inside, log2_e, -k.value);
  return scaled(fma(rest, brief_exp2_slope(rest), Real(1.0f)), k);
}

// A sum of it and -x log2(e) has -k - 64 in its low bits.
template <class Real>
TWINLOOM_INLINE Real approximate_gate_shift() {
  return to_the_low_bits<Real>() - Real(64.0f);
}
// (1 + 2^k power) * 2^-64 for k from -62 to 190, which `sum` holds: it is added to the bits of the power.
template <class Real>
TWINLOOM_INLINE Real approximate_gate(Real sum, Real power) {
  using Bits = Unsigned<Real>;
  return bit_cast<Real>(Bits(bit_cast<Bits>(power) + (bit_cast<Bits>(sum) << Bits(23u)))) + Real(0x1p-64f);
}
// (1 + exp(-x)) * 2^-64 for x from -110 to 43, and a number for any other x.
template <class Real>
TWINLOOM_INLINE Real approximate_gate_of_minus(Real x) {
  const auto [sum, rest] = shifted_rest_of_minus(x, approximate_gate_shift<Real>());
  return approximate_gate(sum, fma(rest, approximate_exp_slope(rest), Real(1.0f)));
}
template <class Real>
TWINLOOM_INLINE Real brief_gate_of_minus(Real x) {
  const Real shift = approximate_gate_shift<Real>(), log2_e(0x1.715476p+0f);
  const Real sum = fma(-x, log2_e, shift);
  const Real rest = fma(-x, log2_e, shift - sum);
  return approximate_gate(sum, fma(rest, brief_exp2_slope(rest), Real(1.0f)));
}

template <class Real>
TWINLOOM_INLINE Real inside_gate(Real x) {
  return clamped(x, Real(-110.0f), Real(43.0f));
}
// Of a NaN the gate may be any number.
template <class Real>
TWINLOOM_INLINE Real sigmoid_of_gate(Real inside, Real gate) {
  return fma(inside, Real(0.0f), Real(0x1p-64f)) / gate;
}
template <class Real>
TWINLOOM_INLINE Real approximate_sigmoid(Real x) {
  const Real inside = inside_gate(x);
  return sigmoid_of_gate(inside, approximate_gate_of_minus(inside));
}
template <class Real>
TWINLOOM_INLINE Real brief_sigmoid(Real x) {
  const Real inside = inside_gate(x);
  return sigmoid_of_gate(inside, brief_gate_of_minus(inside));
}
// Above 40 it is x.
template <class Real>
TWINLOOM_INLINE Real silu_of_gate(Real x, Real above, Real gate) {
  return select(x > Real(40.0f), x, above / gate * Real(0x1p-64f));
}
template <class Real>
TWINLOOM_INLINE Real approximate_silu(Real x) {
  const Real above = select(x < Real(-110.0f), Real(-110.0f), x);
  return silu_of_gate(x, above, approximate_gate_of_minus(above));
}
template <class Real>
TWINLOOM_INLINE Real brief_silu(Real x) {
  const Real above = select(x < Real(-110.0f), Real(-110.0f), x);
  return silu_of_gate(x, above, brief_gate_of_minus(above));
}

// As short_gelu_tanh.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real approximate_gelu_tanh(Real x, Divide divide = {}) {
  const auto [above, slope, slope_low] = short_gelu_slope(x);
  const Real shift = approximate_gate_shift<Real>();
  const Real sum = fma(-above, slope, shift);
  const Real rest = fma(-above, slope_low, fma(-above, slope, shift - sum));
  const Real under = approximate_gate(sum, fma(rest, exp2_slope(rest), Real(1.0f)));
  return select(x > Real(6.0f), x, divide(above, under) * Real(0x1p-64f));
}

// a (1 - normal distribution(a)) = a exp(-a^2 / 2) / (2 + a (sqrt(2 pi) + bend)), where a bend that is off
// counts little. Of -a^2 / 2 = k ln 2 + rest the product is exact.
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real approximate_gelu_erf(Real x, Divide divide = {}) {
  const Real a = below_limit(abs(x), Real(15.0f)), one(1.0f);
  const Whole<Real> k = whole_in(fma(a * Real(-0x1.715476p-1f), a, to_the_low_bits<Real>()));
  const Real exact = fma(a * Real(-0.5f), a, -(k.value * high_ln2<Real>()));
  const Real rest = fma(-k.value, low_ln2<Real>(), exact);
  const Real bend = divide.usual(normal_bend_over(a), fma(a, normal_bend_under(a), one));
  const Real part = divide(a, fma(a, Real(0x1.40d932p+1f) + bend, Real(2.0f)));
  return gelu_without(x, scaled(fma(part, fma(rest * rest, exp_rest(rest), rest), part), k));
}

// Beyond 9 it is 1, rounded to 16 bits.
template <class Real>
TWINLOOM_INLINE Real brief_tanh(Real x) {
  const Real inside = clamped(x, Real(-9.0f), Real(9.0f));
  const Real z = inside * inside, one(1.0f);
  return inside * fma(z, brief_tanh_over(z), one) / fma(z, brief_tanh_under(z), one);
}

// The rows: the form of f32, the function itself of f64. `more` is how a form divides.
#define TWINLOOM_APPROXIMATE(row, full, form)                    \
  template <class Real, class... More>                           \
  TWINLOOM_INLINE Real row##_approximate(Real x, More... more) { \
    if constexpr (same<Element<Real>, f32>)                      \
      return form(x, more...);                                   \
    else                                                         \
      return full(x, more...);                                   \
  }                                                              \
  template <class Real, class... More>                           \
  TWINLOOM_INLINE Real row##_flushed(Real x, More... more) {     \
    return row##_approximate(x, more...);                        \
  }
TWINLOOM_APPROXIMATE(exp, exp, approximate_exp)
TWINLOOM_APPROXIMATE(sqrt, sqrt, sqrt)
TWINLOOM_APPROXIMATE(reciprocal, reciprocal, reciprocal)
TWINLOOM_APPROXIMATE(rsqrt, rsqrt, short_rsqrt)
TWINLOOM_APPROXIMATE(sigmoid, sigmoid, approximate_sigmoid)
TWINLOOM_APPROXIMATE(silu, silu, approximate_silu)
TWINLOOM_APPROXIMATE(tanh, tanh, short_tanh)
TWINLOOM_APPROXIMATE(gelu_tanh, gelu_tanh, approximate_gelu_tanh)
TWINLOOM_APPROXIMATE(gelu_erf, gelu_erf, approximate_gelu_erf)
TWINLOOM_APPROXIMATE(exp_brief, exp, brief_exp)
TWINLOOM_APPROXIMATE(sigmoid_brief, sigmoid, brief_sigmoid)
TWINLOOM_APPROXIMATE(silu_brief, silu, brief_silu)
TWINLOOM_APPROXIMATE(tanh_brief, tanh, brief_tanh)
TWINLOOM_APPROXIMATE(gelu_tanh_brief, gelu_tanh, gelu_tanh_brief)
#undef TWINLOOM_APPROXIMATE
template <class Real>
TWINLOOM_INLINE Real div_approximate(Real a, Real b) {
  return div(a, b);
}
template <class Real>
TWINLOOM_INLINE Real div_flushed(Real a, Real b) {
  return div(a, b);
}

}  // namespace twinloom::device
