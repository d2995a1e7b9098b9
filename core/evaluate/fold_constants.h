// What follows from arrays of the graph alone becomes an array of the graph.
//
//   b = constant i32 [64]; s = constant f32 [64]; y = x + cast(b) * s     ->     y = x + constant f32 [64]
//
// With the bits that kernels would compute. Only what is no larger than the arrays that it follows from and
// has few elements: the evaluator is slow, and more would be memory that a run reads in place of what it
// computes.
#pragma once

#include "core/graph/graph.h"

namespace twinloom::evaluate {

struct FoldLimits {
  double elements = 1 << 14;  // of one value, and of what it is computed from
  double all = 1 << 20;       // that are evaluated
};

// Nodes that no result needs are left out.
graph::Graph fold_constants(const graph::Graph& graph, const FoldLimits& limits = {});

}  // namespace twinloom::evaluate
