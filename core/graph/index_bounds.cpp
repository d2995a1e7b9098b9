// See index_bounds.h.
#include "core/graph/index_bounds.h"

namespace twinloom::graph {

namespace {

// Walks from an index back to the parameters whose elements it is made of.
void bound_parameters(const Graph& graph, NodeId id, const index::Expr& bound,
                      std::vector<std::optional<index::Expr>>& bounds) {
  const Node& node = graph[id];
  if (const auto* input = std::get_if<Input>(&node.node)) {
    auto& smallest = bounds[static_cast<std::size_t>(input->slot)];
    smallest = smallest ? index::least(*smallest, bound) : bound;
    return;
  }
  const auto* pointwise = std::get_if<Pointwise>(&node.node);
  const bool passes =
      std::holds_alternative<View>(node.node) || std::holds_alternative<Cast>(node.node) ||
      std::holds_alternative<Concat>(node.node) || std::holds_alternative<Realize>(node.node) ||
      (pointwise != nullptr && pointwise->op == ops::Pointwise::where);
  if (!passes) return;
  for (const NodeId operand : node.inputs) {
    if (ops::is_integer(graph[operand].dtype)) bound_parameters(graph, operand, bound, bounds);
  }
}

}  // namespace

std::vector<std::optional<index::Expr>> index_bounds(const Graph& graph) {
  std::vector<std::optional<index::Expr>> bounds(graph.parameters().size());
  for (const Node& node : graph.nodes()) {
    if (const auto* gather = std::get_if<Gather>(&node.node)) {
      for (std::size_t k = 0; k < gather->found.size(); ++k)
        bound_parameters(graph, node.inputs[1 + k], gather->bounds[k], bounds);
    } else if (const auto* scatter = std::get_if<Scatter>(&node.node)) {
      for (std::size_t k = 0; k < scatter->found.size(); ++k)
        bound_parameters(graph, node.inputs[2 + k], scatter->bounds[k], bounds);
    }
  }
  return bounds;
}

}  // namespace twinloom::graph
