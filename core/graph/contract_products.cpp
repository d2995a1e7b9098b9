// Mode `fast`, relaxation `contract`: a product of f32 or f64 that one addition or subtraction uses, and
// nothing else, is not rounded before it.
//   p = a * b; y = p + c     ->     y = fma(a, b, c)
//   p = a * b; y = c - p     ->     y = fma(-a, b, c)
// Nodes that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

// For each addition and subtraction which of its operands is such a product.
class Contractions {
 public:
  Contractions(const Graph& graph, const std::vector<bool>& live)
      : graph_(graph), uses_(uses_of(graph)), operand_(live.size()), swallowed_(live.size(), false) {
    for (std::uint32_t n = 0; n < live.size(); ++n)
      if (live[n]) look_at(NodeId{n});
  }
  std::optional<std::size_t> operand(NodeId id) const { return operand_[id.index]; }
  bool is_swallowed(NodeId id) const { return swallowed_[id.index]; }

 private:
  void look_at(NodeId id) {
    const Node& node = graph_[id];
    if (node.dtype != ops::DType::f32 && node.dtype != ops::DType::f64) return;
    if (!is_of(node, ops::Pointwise::add) && !is_of(node, ops::Pointwise::sub)) return;
    for (std::size_t at = 0; at < node.inputs.size() && !operand_[id.index]; ++at) {
      const NodeId product = node.inputs[at];
      if (!is_of(graph_[product], ops::Pointwise::mul) || uses_[product.index] != 1) continue;
      operand_[id.index] = at;
      swallowed_[product.index] = true;
    }
  }

  const Graph& graph_;
  const std::vector<int> uses_;
  std::vector<std::optional<std::size_t>> operand_;
  std::vector<bool> swallowed_;
};

NodeId contracted(Rebuild& rebuild, NodeId id, std::size_t operand) {
  const Node& node = rebuild.from()[id];
  const Node& product = rebuild.from()[node.inputs[operand]];
  NodeId factor = rebuild[product.inputs[0]], added = rebuild[node.inputs[1 - operand]];
  if (is_of(node, ops::Pointwise::sub)) {
    NodeId& negative = operand == 0 ? added : factor;
    negative = rebuild.add(Pointwise{ops::Pointwise::neg}, {negative}, id);
  }
  return rebuild.add(Pointwise{ops::Pointwise::fma}, {factor, rebuild[product.inputs[1]], added}, id);
}

}  // namespace

Graph contract_products(const Graph& graph) {
  const std::vector<bool> live = live_nodes(graph);
  const Contractions found(graph, live);
  Rebuild rebuild(graph);
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    const NodeId id{n};
    if (!live[n] || found.is_swallowed(id)) continue;
    if (const auto operand = found.operand(id))
      rebuild.stands_for(id, contracted(rebuild, id, *operand));
    else
      rebuild.copy(id);
  }
  return rebuild.finish();
}

Graph fast_meaning(const Graph& graph, Relaxations relaxations) {
  Graph meant = fused_meaning(graph);
  if (relaxations.has(Relaxation::approximate))
    meant = approximate_functions(meant, subnormals_of(relaxations), ops::ComputedBy::gpu);
  return relaxations.has(Relaxation::contract) ? contract_products(meant) : meant;
}

}  // namespace twinloom::graph
