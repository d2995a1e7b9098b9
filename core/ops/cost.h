// What operators and the combinations of monoids cost: THE measure that every heuristic reads, columns of
// pointwise.def and monoid.def that tests count again in the machine code of the device header's functions.
//
// cost, of a CPU: the vector instructions of the f32 form (of i32 or i64 where there is none) of 16 lanes, as
// Clang compiles it for AVX-512: arithmetic alone, without moves and calls of slow paths; a division or
// square root counts as 8, a loop once. Forms of f64 take between half as many and twice as many for a
// register of theirs. tests/backends/cost_test.cpp counts them.
//
// gpu: the issue slots of sm_90, 128 lanes a clock of a multiprocessor, that the same form takes for one of
// the four lanes of a thread, as NVRTC compiles it: on the fast path, branches around slow ones included,
// without loads and stores. Where one of the units is busy for longer than it takes to issue all
// instructions, the column is what that unit takes: an instruction counts as 128 over the lanes that its unit
// starts a clock.
//   2  integers, comparisons, selections, minima; integer products; FP64, which is 64 on GPUs of other kinds
//   8  special functions (MUFU), the check before a division, roundings to whole numbers, most conversions
// Units work side by side: the sum of a kernel's operators is the most that they take. It is counted by
// tests/cuda/cost_test.cpp; gpu_cost.h beside it has each unit's instructions.
#pragma once

#include "core/ops/monoid.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops {

int cost(Pointwise op);
int gpu_cost(Pointwise op);

// Of a CPU, in the same instructions.
int conversion_cost(DType from, DType to);

// Of one combination of two totals; of two parts with the choice of both.
int cost(Monoid monoid);
int gpu_cost(Monoid monoid);

}  // namespace twinloom::ops
