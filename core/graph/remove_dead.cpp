// Leaves out the nodes that no result needs. Parameters and requirements stay: the caller still hands in
// the one, and the facts rest on the other.
//   a = exp(x); b = neg(x); result b    ->    b = neg(x); result b
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

Graph remove_dead(const Graph& graph) {
  return Rebuild(graph).finish_by([](NodeId) { return std::nullopt; });
}

}  // namespace twinloom::graph
