// Mode `fused`: functions of f32, and so of 16 bits, are computed by shorter forms (ops::fused_form), and the
// quotients of a softmax by one reciprocal for each sum.
//   y = tanh(x): f32                                      ->     y = tanh_short(x): f32
//   e = exp(x - max x); s = sum e; y = e / view(s)        ->     r = 1 / s; y = e * view(r)
// Such a sum is at least 1, as the greatest element adds exp(0), and at most the number of elements: its
// reciprocal is a normal number, and y within 1.5 ulp of the quotient. Nodes that no result needs are left
// out.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

// A total that stands at every position it was taken over: view(reduce over axes (of)).
struct Spread {
  NodeId total, of;
  std::vector<int> axes;
};

// Whether each axis of the total is read at the axis of the view that it was before.
bool keeps_positions(const View& view, const std::vector<int>& reduced) {
  if (!view.inside.all.empty() || view.axes.size() != view.source.size() + reduced.size()) return false;
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    if (std::ranges::find(reduced, static_cast<int>(axis)) != reduced.end()) continue;
    const bool in_place =
        view.sizes[axis] == index::Expr(1) || view.source[kept] == index::Expr(view.axes[axis]);
    if (!in_place) return false;
    ++kept;
  }
  return true;
}

std::optional<Spread> spread(const Graph& graph, NodeId id, ops::Monoid monoid) {
  const auto* view = std::get_if<View>(&graph[id].node);
  if (view == nullptr) return std::nullopt;
  const NodeId total = graph[id].inputs[0];
  const auto* reduce = std::get_if<Reduce>(&graph[total].node);
  if (reduce == nullptr || reduce->monoid != monoid || !keeps_positions(*view, reduce->axes))
    return std::nullopt;
  return Spread{total, graph[total].inputs[0], reduce->axes};
}

// The sum by which a softmax divides here.
std::optional<NodeId> softmax_sum(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (node.dtype != ops::DType::f32 || !is_of(node, ops::Pointwise::div)) return std::nullopt;
  const Node& power = graph[node.inputs[0]];
  const auto sum = spread(graph, node.inputs[1], ops::Monoid::sum);
  if (!sum || sum->of != node.inputs[0] || !is_of(power, ops::Pointwise::exp)) return std::nullopt;
  const Node& centred = graph[power.inputs[0]];
  if (!is_of(centred, ops::Pointwise::sub)) return std::nullopt;
  const auto most = spread(graph, centred.inputs[1], ops::Monoid::max);
  const bool is_softmax = most && most->of == centred.inputs[0] && most->axes == sum->axes;
  return is_softmax ? std::optional(sum->total) : std::nullopt;
}

// The quotient as a product.
NodeId by_reciprocal(Rebuild& rebuild, NodeId quotient, NodeId sum) {
  const Node& node = rebuild.from()[quotient];
  const NodeId inverse = rebuild.add(Pointwise{ops::Pointwise::reciprocal}, {rebuild[sum]}, quotient);
  const NodeId spread = rebuild.add(rebuild.from()[node.inputs[1]].node, {inverse}, quotient);
  return rebuild.add(Pointwise{ops::Pointwise::mul}, {rebuild[node.inputs[0]], spread}, quotient);
}

Graph divide_once(const Graph& graph) {
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const auto sum = softmax_sum(graph, id);
    return sum ? std::optional(by_reciprocal(rebuild, id, *sum)) : std::nullopt;
  });
}

}  // namespace

Graph shorten_functions(const Graph& graph) { return with_forms(divide_once(graph), ops::fused_form); }

Graph fused_meaning(const Graph& graph) {
  return shorten_functions(variance_in_parts(drop_implicit_rounding(graph)));
}

}  // namespace twinloom::graph
