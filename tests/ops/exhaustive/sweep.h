// All 2^32 inputs of f32 of one function, or an even part of them, judged as judge.h says: our own f64 is the
// filter, and MPFR decides near the bound and on one input in 2^16.
#pragma once

#include "tests/ops/judge.h"

namespace twinloom::ops::testing {

struct Sweep {
  Verdict verdict;
  std::optional<std::string> complaint;
  std::int64_t inputs = 0;
};

// `part`: one block of 2^12 inputs in so many; 1 is all.
Sweep sweep(Pointwise op, int part, int threads);

}  // namespace twinloom::ops::testing
