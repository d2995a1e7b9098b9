// Leaves out the nodes that no result needs. Parameters and requirements stay: the caller still hands in
// the one, and the facts rest on the other.
//   a = exp(x); b = neg(x); result b    ->    b = neg(x); result b
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

Graph remove_dead(const Graph& graph) {
  const std::vector<bool> live = live_nodes(graph);
  Rebuild rebuild(graph);
  for (std::uint32_t n = 0; n < live.size(); ++n)
    if (live[n]) rebuild.copy(NodeId{n});
  return rebuild.finish();
}

}  // namespace twinloom::graph
