// Mode `fused`: a 16-bit value that only Pointwise and Reduce nodes read, also through View and implicit
// Cast nodes, is kept in f32.
//   a = mul(x, y): bf16                       wide = mul(cast(x): f32, cast(y): f32): f32
//   b = add(a, x): bf16, a result      ->     b = cast(add(wide, cast(x): f32)): bf16
// Results, explicit casts, and what gather, scatter, scan, concat or realize read keep their rounding. So do
// both sides of a comparison of two values, and what is sorted: a maximum that is rounded, as a result, would
// equal none of what it is the maximum of, and a gradient that is shared among the equal ones would be
// divided by 0. And so does a factor of products that are summed up, where each of its elements is in several
// of them, as in a product of matrices: libraries and tensor cores take 16 bits, and what is summed is exact
// then. A value that keeps it is rounded once from f32, as before, so its bits change only where its inputs
// do. Nodes that no result needs are left out.
#include <algorithm>
#include <array>

#include "core/base/error.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

bool is_implicit_cast(const Node& node) {
  const auto* cast = std::get_if<Cast>(&node.node);
  return cast != nullptr && cast->implicit;
}

// Whether the node rounds a result to 16 bits that was computed in f32.
bool rounds(const Node& node) {
  if (!ops::is_16_bit_float(node.dtype)) return false;
  return std::holds_alternative<Pointwise>(node.node) || std::holds_alternative<Reduce>(node.node) ||
         is_implicit_cast(node);
}

bool compares(const Graph& graph, const Node& node) {
  using enum ops::Pointwise;
  const auto* pointwise = std::get_if<Pointwise>(&node.node);
  if (pointwise == nullptr ||
      std::ranges::count(std::array{eq, ne, lt, le, gt, ge, order_key}, pointwise->op) == 0)
    return false;
  return std::ranges::none_of(node.inputs, [&](NodeId input) {
    while (std::holds_alternative<View>(graph[input].node)) input = graph[input].inputs[0];
    return std::holds_alternative<Constant>(graph[input].node);
  });
}

// Whether elements of each factor are in several of the products.
bool share_factors(const Graph& graph, const Node& products) {
  const index::Expr count = index::product(products.shape);
  return std::ranges::all_of(products.inputs, [&](NodeId factor) {
    while (std::holds_alternative<View>(graph[factor].node) || is_implicit_cast(graph[factor]))
      factor = graph[factor].inputs[0];
    return !(index::product(graph[factor].shape) == count);
  });
}

// For each node whether all that read it, looked at through views and implicit casts, compute in f32.
std::vector<bool> read_only_by_arithmetic(const Graph& graph, const std::vector<bool>& live) {
  std::vector<bool> fine(graph.nodes().size(), true);
  for (std::size_t n = 0; n < fine.size(); ++n) {
    const auto products = live[n] ? summed_products(graph, graph.nodes()[n]) : std::nullopt;
    if (!products || !share_factors(graph, graph[*products])) continue;
    for (const NodeId factor : graph[*products].inputs) fine[factor.index] = false;
  }
  for (const Result& result : graph.results())
    if (has_value(result.kind)) fine[result.value.index] = false;
  for (std::size_t n = fine.size(); n-- > 0;) {
    const Node& user = graph.nodes()[n];
    if (!live[n]) continue;
    const bool computes = (std::holds_alternative<Pointwise>(user.node) && !compares(graph, user)) ||
                          std::holds_alternative<Reduce>(user.node);
    const bool passes_on = std::holds_alternative<View>(user.node) || is_implicit_cast(user);
    if (computes || (passes_on && fine[n])) continue;
    for (const NodeId input : user.inputs) fine[input.index] = false;
  }
  return fine;
}

class Widening {
 public:
  explicit Widening(const Graph& graph)
      : graph_(graph), live_(live_nodes(graph)), wide_(graph.nodes().size(), false), rebuild_(graph) {
    const std::vector<bool> fine = read_only_by_arithmetic(graph, live_);
    for (std::size_t n = 0; n < wide_.size(); ++n) {
      const Node& node = graph.nodes()[n];
      const bool moves_wide = std::holds_alternative<View>(node.node) && wide_[node.inputs[0].index];
      wide_[n] = live_[n] && (moves_wide || (rounds(node) && fine[n]));
    }
  }

  Graph run() {
    for (std::uint32_t n = 0; n < wide_.size(); ++n)
      if (live_[n]) rebuild(NodeId{n});
    return rebuild_.finish();
  }

  std::vector<NodeId> dropped() const {
    std::vector<NodeId> nodes;
    for (std::uint32_t n = 0; n < wide_.size(); ++n)
      if (wide_[n] && rounds(graph_.nodes()[n])) nodes.push_back(NodeId{n});
    return nodes;
  }

 private:
  bool is_wide(NodeId id) const { return wide_[id.index]; }
  // What stands for a value, in f32 where it is of 16 bits.
  NodeId in_f32(NodeId old) {
    if (is_wide(old) || !ops::is_16_bit_float(graph_[old].dtype)) return rebuild_[old];
    return rebuild_.add(Cast{ops::DType::f32, true}, {rebuild_[old]}, old);
  }
  void rebuild(NodeId id);
  void compute_in_f32(NodeId id);
  void cast_from_wide(NodeId id, ops::DType to);

  const Graph& graph_;
  std::vector<bool> live_;
  std::vector<bool> wide_;  // a 16-bit node for which an f32 node stands
  Rebuild rebuild_;
};

void Widening::compute_in_f32(NodeId id) {
  const Node& node = graph_[id];
  Op op = node.node;
  if (auto* pointwise = std::get_if<Pointwise>(&op))
    pointwise->op = ops::computed_for(pointwise->op, node.dtype);
  std::vector<NodeId> inputs;
  for (const NodeId input : node.inputs) inputs.push_back(in_f32(input));
  NodeId result = rebuild_.add(std::move(op), std::move(inputs), id);
  if (!is_wide(id) && ops::is_16_bit_float(node.dtype))
    result = rebuild_.add(Cast{node.dtype, true}, {result}, id);
  rebuild_.stands_for(id, result);
}

// The input or the result is wide.
void Widening::cast_from_wide(NodeId id, ops::DType to) {
  const NodeId input = in_f32(graph_[id].inputs[0]);
  const ops::DType given = rebuild_.made()[input].dtype;
  const ops::DType wanted = is_wide(id) ? ops::DType::f32 : to;
  rebuild_.stands_for(id, given == wanted ? input : rebuild_.add(Cast{wanted, true}, {input}, id));
}

void Widening::rebuild(NodeId id) {
  const Node& node = graph_[id];
  const bool touched =
      is_wide(id) || std::ranges::any_of(node.inputs, [&](NodeId input) { return is_wide(input); });
  if (!touched || std::holds_alternative<View>(node.node)) {
    rebuild_.copy(id);
  } else if (const auto* cast = std::get_if<Cast>(&node.node)) {
    cast_from_wide(id, cast->to);
  } else {
    compute_in_f32(id);
  }
}

}  // namespace

Graph drop_implicit_rounding(const Graph& graph) { return Widening(graph).run(); }

std::vector<NodeId> dropped_roundings(const Graph& graph) { return Widening(graph).dropped(); }

}  // namespace twinloom::graph
