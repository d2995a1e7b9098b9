// What operators cost: THE measure that every heuristic reads, the column `cost` of pointwise.def.
//
// It counts the vector instructions of the f32 form (of i32 or i64 where there is none) of 16 lanes, as Clang
// compiles the device header for AVX-512: arithmetic alone, without moves and calls of slow paths; a division
// or square root counts as 8. Forms of f64 take between half as many and twice as many for a register of
// theirs, and a GPU's for a lane about as many. tests/backends/cost_test.cpp counts them again.
#pragma once

#include "core/ops/pointwise.h"

namespace twinloom::ops {

int cost(Pointwise op);

}  // namespace twinloom::ops
