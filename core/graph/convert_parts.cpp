// A conversion to a smaller type of a concatenation that nobody else reads is a conversion of each part, so
// that a concatenation which is written part by part has the type that it is wanted in.
//   y = cast(concat(a, b)): bf16     ->     y = concat(cast(a), cast(b)): bf16          a, b: f32
// No bit changes. Nodes that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

Graph convert_parts(const Graph& graph) {
  const std::vector<int> uses = uses_of(graph);
  Rebuild rebuild(graph);
  return remove_dead(rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    if (!std::holds_alternative<Cast>(node.node)) return std::nullopt;
    const NodeId joined = node.inputs[0];
    const bool is_joined = std::holds_alternative<Concat>(graph[joined].node) && uses[joined.index] == 1;
    if (!is_joined || ops::bits_of(node.dtype) >= ops::bits_of(graph[joined].dtype)) return std::nullopt;
    std::vector<NodeId> parts;
    for (const NodeId part : graph[joined].inputs)
      parts.push_back(rebuild.add(node.node, {rebuild[part]}, id));
    return rebuild.add(graph[joined].node, std::move(parts), id);
  }));
}

}  // namespace twinloom::graph
