// The floating-point state that kernels promise their bits for: round to nearest, subnormals kept,
// exceptions masked. Whatever the caller had set comes back at the end of the scope.
#pragma once

#include <xmmintrin.h>

namespace twinloom::cpu {

class FloatingPointScope {
 public:
  FloatingPointScope() : before_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatingPointScope() { _mm_setcsr(before_); }
  FloatingPointScope(const FloatingPointScope&) = delete;
  FloatingPointScope& operator=(const FloatingPointScope&) = delete;

 private:
  unsigned before_;
};

}  // namespace twinloom::cpu
