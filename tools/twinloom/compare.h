// Compares tensors and says how far they are apart.
#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/tensor.h"

namespace twinloom::tool {

struct Tolerance {
  double relative = 1e-4;
  double absolute = 1e-5;
  std::int64_t ulp = 0;  // of the output's type, also enough
  bool exact = false;    // bits; any NaN equals any NaN
  double extra = 0;      // absolute, on top: see rounding.h
};

struct Difference {
  bool same_shape = true;
  std::int64_t different = 0;  // elements outside the tolerance
  double largest_absolute = 0, largest_relative = 0;
  double largest_ulp = 0;       // of the expected element's type
  std::int64_t where = -1;      // row-major position of the worst element; -1: all equal
  std::string given, expected;  // it, in words
};

// The distance between neighbouring values of the floating type at |x|.
double step_of(ops::DType dtype, double x);

// Integers and truths are always compared exactly. 16-bit floats get one rounding step of their type on
// top of the tolerance.
Difference compare(const runtime::Tensor& given, const runtime::Tensor& expected, const Tolerance& tolerance);

}  // namespace twinloom::tool
