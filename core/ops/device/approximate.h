// Forms within 2^-21 of the value, for mode `fast` on GPUs. Here they are what mode `fused` computes, which a
// CPU has nothing shorter for; gpu_rows.h has those of f32 by what a GPU approximates in one instruction. Of each there
// is one that keeps subnormal numbers and one that may take zeros for them.
#pragma once

#include "short.h"

namespace twinloom::device {

#define TWINLOOM_APPROXIMATE(name, fused)           \
  template <class Real>                             \
  TWINLOOM_INLINE Real name##_approximate(Real x) { \
    return fused(x);                                \
  }                                                 \
  template <class Real>                             \
  TWINLOOM_INLINE Real name##_flushed(Real x) {     \
    return fused(x);                                \
  }
TWINLOOM_APPROXIMATE(exp, exp)
TWINLOOM_APPROXIMATE(sqrt, sqrt)
TWINLOOM_APPROXIMATE(reciprocal, reciprocal)
TWINLOOM_APPROXIMATE(rsqrt, rsqrt_short)
TWINLOOM_APPROXIMATE(sigmoid, sigmoid_short)
TWINLOOM_APPROXIMATE(silu, silu_short)
TWINLOOM_APPROXIMATE(tanh, tanh_short)
TWINLOOM_APPROXIMATE(gelu_tanh, gelu_tanh_brief)
TWINLOOM_APPROXIMATE(gelu_erf, gelu_erf_brief)
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
