// From graph values to nests: decides which values get memory, and writes one or more nests for each.
// Everything else is computed where it is used.
//
//   y = relu(x + broadcast(b))      ->    for i0 < n { for i1 < m { y[i0*m + i1] = relu(x[..] + b[i1]) } }
//   s = sum(exp(x), axis 1)         ->    for i0 < n { start t; for r0 < m { t += exp(x[..]) at r0 }; s[i0] =
//   t }
//
// Nothing is fused here but what has no memory; that is core/fuse's work. In `strict`, the interpreter of
// the nests gives the bits of the graph evaluator.
#pragma once

#include "core/lower/realize.h"
#include "core/lower/unit.h"

namespace twinloom::lower {

// The graph must be verified and without dead nodes' requirements unmet. Bug where a node cannot be lowered.
// Results lie in the order of what is read for them, unless `row_major_results`.
Lowered lower(const graph::Graph& graph, const Layouts& layouts = {}, const Routines& routines = {},
              const Costs& costs = {}, bool row_major_results = false);

}  // namespace twinloom::lower
