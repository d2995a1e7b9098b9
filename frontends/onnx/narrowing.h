// Inside of the component: numbers rounded to any element type of ONNX, where a plain cast of the graph is
// not what ONNX says.
#pragma once

#include <string>

#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// How floats of 8 bits and less are made.
struct Narrowing {
  bool saturates = true;      // what is too large becomes the largest number; else infinity, or NaN
  std::string powers = "up";  // to a power of two, of float8e8m0: up, down or nearest
};
// The attributes `saturate` and `round_mode`.
Narrowing narrowing_of(const Call& call);

// As Cast does: floats are rounded to the nearest, ties to even; integers of fewer bits lose the high ones.
Value narrowed(const Call& call, const Tensor& x, const ElementType& to, const Narrowing& narrowing);

}  // namespace twinloom::onnx
