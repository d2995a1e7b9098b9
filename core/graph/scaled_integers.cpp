// See scaled_integers.h.
#include "core/graph/scaled_integers.h"

#include <algorithm>
#include <cmath>

#include "core/graph/rebuild.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using ops::DType;

bool is_8_bit_integer(DType dtype) { return ops::is_integer(dtype) && ops::bits_of(dtype) == 8; }
// That holds every difference of two integers of 8 bits.
bool holds_differences(DType dtype) {
  return dtype == DType::i32 || dtype == DType::i64 || dtype == DType::f32;
}

std::optional<std::int64_t> integer_of(const ops::Number& number, DType dtype) {
  const double value = ops::real_of(number, dtype);
  if (!(std::abs(value) <= 255) || value != std::trunc(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// The small integer that every element of the node is.
std::optional<std::int64_t> integer_in(const Graph& graph, NodeId id) {
  const auto number = only_number(graph, id);
  return number ? integer_of(*number, graph[id].dtype) : std::nullopt;
}

struct Range {
  std::int64_t low, high;
};
Range range_of(DType dtype) {
  const std::int64_t low = ops::kind(dtype) == ops::TypeKind::signed_int ? -128 : 0;
  return {low, low + 255};
}

class Factors {
 public:
  explicit Factors(Graph& graph) : graph_(graph) {}

  std::optional<Scaled> scaled(NodeId id) {
    const Node node = graph_[id];
    if (const auto* view = std::get_if<View>(&node.node)) return through(*view, scaled(node.inputs[0]));
    if (!is_of(node, ops::Pointwise::mul)) return centred(id);
    for (const std::size_t side : {0U, 1U}) {
      auto factor = scaled(node.inputs[side]);
      if (!factor) continue;
      factor->scales.push_back(node.inputs[1 - side]);
      return factor;
    }
    return std::nullopt;
  }

  // Integers of 8 bits, and what they are without a zero point, in a wider type.
  std::optional<Scaled> centred(NodeId id) {
    const Node node = graph_[id];
    if (const auto* view = std::get_if<View>(&node.node)) return through(*view, centred(node.inputs[0]));
    if (!holds_differences(node.dtype)) return std::nullopt;
    if (std::holds_alternative<Cast>(node.node)) {
      if (is_8_bit_integer(graph_[node.inputs[0]].dtype)) return Scaled{node.inputs[0]};
      return centred(node.inputs[0]);
    }
    if (!is_of(node, ops::Pointwise::sub)) return std::nullopt;
    auto factor = centred(node.inputs[0]);
    if (!factor) return std::nullopt;
    if (const auto zero = integer_in(graph_, node.inputs[1])) {
      factor->zero += *zero;
      return factor;
    }
    const auto zeros = factor->zeros ? std::nullopt : narrow(node.inputs[1]);
    if (!zeros) return std::nullopt;
    factor->zeros = *zeros;
    return factor;
  }

 private:
  // What a node holds in a wider type, in its shape.
  std::optional<NodeId> narrow(NodeId id) {
    const Node node = graph_[id];
    if (is_8_bit_integer(node.dtype)) return id;
    if (std::holds_alternative<Cast>(node.node) && holds_differences(node.dtype))
      return narrow(node.inputs[0]);
    const auto* view = std::get_if<View>(&node.node);
    const auto base = view != nullptr && view->inside.all.empty() ? narrow(node.inputs[0]) : std::nullopt;
    return base ? std::optional(add_view(graph_, *base, *view)) : std::nullopt;
  }

  // Elements that a view adds are 0, times any scale: the zero point, whose part that a run knows is 0 there.
  std::optional<Scaled> through(const View& view, std::optional<Scaled> factor) {
    if (!factor) return std::nullopt;
    View moved = view;
    if (!view.inside.all.empty()) {
      const DType dtype = graph_[factor->numbers].dtype;
      const ops::Number fill = ops::cast(ops::Number(factor->zero), dtype);
      if (ops::real_of(view.fill, DType::f32) != 0 ||
          !(ops::real_of(fill, dtype) == static_cast<double>(factor->zero)))
        return std::nullopt;
      moved.fill = fill;
    }
    factor->numbers = add_view(graph_, factor->numbers, std::move(moved));
    if (factor->zeros) {
      moved = view;
      moved.fill = 0;
      factor->zeros = add_view(graph_, *factor->zeros, std::move(moved));
    }
    for (NodeId& scale : factor->scales) {
      const auto there = scale_through(view, scale);
      if (!there) return std::nullopt;
      scale = *there;
    }
    return factor;
  }

  std::optional<NodeId> scale_through(const View& view, NodeId scale) {
    const Node node = graph_[scale];
    if (view.inside.all.empty()) return add_view(graph_, scale, view);
    const auto number = number_of(node);
    if (!number) return std::nullopt;
    return graph_.add(Constant{*number, node.dtype, view.sizes}, {});
  }

  Graph& graph_;
};

}  // namespace

std::int64_t Scaled::greatest(const Graph& graph) const {
  const Range of = range_of(graph[numbers].dtype),
              moved = zeros ? range_of(graph[*zeros].dtype) : Range{0, 0};
  return std::max(std::abs(of.low - zero - moved.high), std::abs(of.high - zero - moved.low));
}

bool Scaled::has_one_zero(const Graph& graph) const {
  if (!zeros) return true;
  const Node& node = graph[*zeros];
  const auto* view = std::get_if<View>(&node.node);
  const Node& base = view == nullptr ? node : graph[node.inputs[0]];
  return std::ranges::all_of(base.shape, [](const index::Expr& size) { return size == index::Expr(1); }) ||
         (view != nullptr && std::ranges::none_of(view->source, [&](const index::Expr& source) {
            return std::ranges::any_of(view->axes,
                                       [&](index::Symbol axis) { return index::mentions(source, axis); });
          }));
}

std::optional<Scaled> scaled_integers(Graph& graph, NodeId id) { return Factors(graph).scaled(id); }
std::optional<Scaled> centred_integers(Graph& graph, NodeId id) { return Factors(graph).centred(id); }

}  // namespace twinloom::graph
