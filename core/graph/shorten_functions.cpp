// Mode `fused`: functions of f32, and so of 16 bits, are computed by shorter forms (ops::fused_form).
//   y = tanh(x): f32      ->     y = tanh_short(x): f32
// Nodes that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

Graph shorten_functions(const Graph& graph) { return with_forms(graph, ops::fused_form); }

Graph fused_meaning(const Graph& graph) { return shorten_functions(drop_implicit_rounding(graph)); }

}  // namespace twinloom::graph
