// Mode `fast`, relaxation `approximate`: functions of f32 and of 16 bits by forms with fewer right bits
// (ops::approximate_form). After `shorten_functions`, whose forms they are.
//   y = tanh_short(x): f32      ->     y = tanh_approximate(x): f32
// Nodes that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

Graph approximate_functions(const Graph& graph, ops::Subnormals subnormals, ops::ComputedBy unit) {
  return with_forms(graph, [&](ops::Pointwise op, ops::DType element) {
    return ops::approximate_form(op, element, subnormals, unit);
  });
}

}  // namespace twinloom::graph
