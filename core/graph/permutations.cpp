// Permutations: Scatters of which each place is one element's, as whoever made them knows. On cores their
// places are in memory before elements are put there, so that vectors compute them, of which a core stores
// each lane alone:
//   y = scatter replace(.., x, p) permutation     ->     y = scatter replace(.., x, realize(p)) permutation
// 8192 rows of 64 f32 took two cores 3.1 ms by one kernel, 1.7 by two.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

bool is_permutation(const Node& node) {
  const auto* scatter = std::get_if<Scatter>(&node.node);
  return scatter != nullptr && scatter->is_permutation;
}

// With what `made` makes of each permutation and its inputs in the new graph; the same where there is none.
template <class Made>
Graph with_permutations(const Graph& graph, const Made& made) {
  if (std::ranges::none_of(graph.nodes(), is_permutation)) return graph;
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    if (!is_permutation(node)) return std::nullopt;
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(rebuild[input]);
    return made(rebuild, std::get<Scatter>(node.node), std::move(inputs), id);
  });
}

}  // namespace

Graph places_in_memory(const Graph& graph) {
  return with_permutations(
      graph, [](Rebuild& rebuild, const Scatter& scatter, std::vector<NodeId> inputs, NodeId id) {
        inputs.back() = rebuild.add(Realize{}, {inputs.back()}, id);
        return rebuild.add(scatter, std::move(inputs), id);
      });
}

Graph without_promises(const Graph& graph) {
  return with_permutations(graph,
                           [](Rebuild& rebuild, Scatter scatter, std::vector<NodeId> inputs, NodeId id) {
                             scatter.is_permutation = false;
                             return rebuild.add(scatter, std::move(inputs), id);
                           });
}

}  // namespace twinloom::graph
