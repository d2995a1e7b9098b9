// Mode `fused`: functions of f32, and so of 16 bits, are computed by shorter forms (ops::fused_form).
//   y = tanh(x): f32      ->     y = tanh_short(x): f32
// Nodes that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

ops::Pointwise form_of(const Pointwise& pointwise, const Node& node) {
  return ops::fused_form(pointwise.op, node.dtype);
}

}  // namespace

Graph shorten_functions(const Graph& graph) {
  const std::vector<bool> live = live_nodes(graph);
  Rebuild rebuild(graph);
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    if (!live[n]) continue;
    const NodeId id{n};
    const Node& node = graph[id];
    const auto* pointwise = std::get_if<Pointwise>(&node.node);
    if (pointwise == nullptr || form_of(*pointwise, node) == pointwise->op) {
      rebuild.copy(id);
      continue;
    }
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(rebuild[input]);
    Pointwise shorter = *pointwise;
    shorter.op = form_of(*pointwise, node);
    rebuild.stands_for(id, rebuild.add(shorter, std::move(inputs), id));
  }
  return rebuild.finish();
}

Graph fused_meaning(const Graph& graph) { return shorten_functions(drop_implicit_rounding(graph)); }

}  // namespace twinloom::graph
