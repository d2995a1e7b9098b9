// Mode `fused`: functions of f32, and so of 16 bits, are computed by shorter forms (ops::fused_form), and the
// quotients of a softmax by one reciprocal for each sum.
//   y = tanh(x): f32                                      ->     y = tanh_short(x): f32
//   e = exp(x - max x); s = sum e; y = e / view(s)        ->     r = 1 / s; y = e * view(r)
//   y = tanh(where(x > 20, x, log1p(exp x)))              ->     u = exp(min(x, 20)); n = u (u + 2); y = n /
//   (n + 2)
//   y = a / (1 + exp(-x))                                 ->     y = a * sigmoid_short(x)
// Such a sum is at least 1, as the greatest element adds exp(0), and at most the number of elements: its
// reciprocal is a normal number, and y within 1.5 ulp of the quotient. The tanh of a softplus, of which mish
// is made, is ((1 + u)^2 - 1) / ((1 + u)^2 + 1): within 3 ulp, where its two functions may err by 4. A
// logistic function that is written out is the short one, within 3 ulp, where an exponential, a sum and a
// quotient may err by as much; where exp(-x) is infinite and the quotient 0, within half the least subnormal
// times a. Nodes that no result needs are left out.
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

// The x of a softplus, and from where on it is x.
struct Softplus {
  NodeId x;
  double threshold;
};
// From there on tanh(x) is 1 in f32; below, the square of exp(x) is finite.
constexpr double ONE_FROM = 9.5, FINITE_BELOW = 40, USUAL_THRESHOLD = 20;

std::optional<Softplus> softplus_of(const Graph& graph, NodeId id) {
  using enum ops::Pointwise;
  const Node& node = graph[id];
  if (is_of(node, ops::Pointwise::softplus)) return Softplus{node.inputs[0], USUAL_THRESHOLD};
  if (!is_of(node, where) || !is_of(graph[node.inputs[0]], gt)) return std::nullopt;
  const Node& question = graph[node.inputs[0]];
  const Node& logarithm = graph[node.inputs[2]];
  const auto threshold = only_number(graph, question.inputs[1]);
  const NodeId x = node.inputs[1];
  if (!threshold || question.inputs[0] != x || !is_of(logarithm, log1p)) return std::nullopt;
  const Node& power = graph[logarithm.inputs[0]];
  const double from = threshold->real();
  const bool is_softplus =
      is_of(power, exp) && power.inputs[0] == x && from >= ONE_FROM && from <= FINITE_BELOW;
  return is_softplus ? std::optional(Softplus{x, from}) : std::nullopt;
}

NodeId tanh_of(Rebuild& rebuild, NodeId id, const Softplus& inner) {
  using enum ops::Pointwise;
  const Node& node = rebuild.from()[id];
  const auto number = [&](double value) {
    return rebuild.add(Constant{ops::Number(value), node.dtype, node.shape}, {}, id);
  };
  const auto apply = [&](ops::Pointwise op, NodeId left, NodeId right) {
    return rebuild.add(Pointwise{op}, {left, right}, id);
  };
  const NodeId two = number(2);
  const NodeId least = apply(minimum, rebuild[inner.x], number(inner.threshold));
  const NodeId power = rebuild.add(Pointwise{exp}, {least}, id);
  const NodeId less_one = apply(mul, power, apply(add, power, two));
  return apply(div, less_one, apply(add, less_one, two));
}

Graph tanh_of_softplus(const Graph& graph) {
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    if (node.dtype != ops::DType::f32 || !is_of(node, ops::Pointwise::tanh)) return std::nullopt;
    const auto inner = softplus_of(graph, node.inputs[0]);
    return inner ? std::optional(tanh_of(rebuild, id, *inner)) : std::nullopt;
  });
}

// The x of 1 + exp(-x).
std::optional<NodeId> logistic_denominator(const Graph& graph, NodeId id) {
  using enum ops::Pointwise;
  const Node& sum = graph[id];
  if (!is_of(sum, add)) return std::nullopt;
  for (const std::size_t k : {0u, 1u}) {
    const Node& power = graph[sum.inputs[k]];
    const auto other = only_number(graph, sum.inputs[1 - k]);
    if (!is_of(power, exp) || !other || other->real() != 1) continue;
    const Node& negative = graph[power.inputs[0]];
    if (is_of(negative, neg)) return negative.inputs[0];
  }
  return std::nullopt;
}

Graph divide_by_sigmoid(const Graph& graph) {
  using enum ops::Pointwise;
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    const bool divides = is_of(node, div) || is_of(node, reciprocal);
    if (node.dtype != ops::DType::f32 || !divides) return std::nullopt;
    const auto x = logistic_denominator(graph, node.inputs.back());
    if (!x) return std::nullopt;
    const NodeId factor = rebuild.add(Pointwise{sigmoid}, {rebuild[*x]}, id);
    if (is_of(node, reciprocal)) return factor;
    return rebuild.add(Pointwise{mul}, {rebuild[node.inputs[0]], factor}, id);
  });
}

}  // namespace

Graph shorten_functions(const Graph& graph) {
  return with_forms(divide_by_sigmoid(tanh_of_softplus(divide_once(brief_functions(graph)))),
                    ops::fused_form);
}

Graph fused_meaning(const Graph& graph) {
  return shorten_functions(scatter_to_sums(variance_in_parts(drop_implicit_rounding(graph))));
}

}  // namespace twinloom::graph
