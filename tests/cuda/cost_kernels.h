// A kernel for each operator and monoid that applies it to what a thread loads, as generated code does it:
// four lanes side by side, in the quick form where there is one. In machine code it is an empty kernel, which
// loads and stores alone, and the function.
#pragma once

#include <string>

#include "core/ops/monoid.h"
#include "core/ops/pointwise.h"

namespace twinloom::cuda {

constexpr int COST_LANES = 4;

struct CostKernel {
  std::string name;
  std::string text;
  // Comparisons that make, and selections that use, the truth values of a lane: in the kernel, but not of the
  // function.
  int around_truths = 0;
};

CostKernel empty_kernel();
CostKernel kernel_of(ops::Pointwise op);
// Of a total of f32, or b8; of two parts with the choice of both.
CostKernel kernel_of(ops::Monoid monoid);

}  // namespace twinloom::cuda
