// Outside of mode `strict`, where a library multiplies 8-bit integers: a sum of products of integers that
// were scaled is a sum of products of integers, which is exact, and scaled once.
//   a = mul(cast(sub(cast(q: u8): i32, z)): f32, s)       t = reduce sum over k (mul(sub(cast(q): i32, z),
//   b = mul(cast(w: i8): f32, c)                    ->                               cast(w): i32))
//   y = reduce sum over k (mul(a, b))                     y = mul(cast(t): f32, mul(s, c))
// One factor is i8 without a zero point, as libraries want it; no sum may leave 32 bits, and no scale may
// change along what is summed up. Where a view adds elements of 0, they are the zero point. Nodes that no
// result needs are left out.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/graph/passes.h"
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

// The number that all elements of an array are.
std::optional<ops::Number> only_number(const Array& array) {
  const auto bytes = array.bytes.read();
  const auto size = static_cast<std::size_t>(ops::size_of(array.dtype));
  if (bytes.empty() || std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) != 0)
    return std::nullopt;
  return ops::load_number(array.dtype, bytes.data());
}

// The small integer that every element of the node is.
std::optional<std::int64_t> integer_in(const Graph& graph, NodeId id) {
  const Node* node = &graph[id];
  while (true) {
    const auto* view = std::get_if<View>(&node->node);
    const bool moves = view != nullptr && view->inside.all.empty();
    if (!moves && !(std::holds_alternative<Cast>(node->node) && holds_differences(node->dtype))) break;
    node = &graph[node->inputs[0]];
  }
  const auto* constant = std::get_if<Constant>(&node->node);
  if (constant == nullptr) return std::nullopt;
  if (const auto* number = std::get_if<ops::Number>(&constant->value))
    return integer_of(*number, node->dtype);
  const auto number = only_number(*std::get<Content>(constant->value));
  return number ? integer_of(*number, node->dtype) : std::nullopt;
}

// A factor: (numbers - zero) times all of the scales, in one shape.
struct Scaled {
  NodeId numbers;  // of 8 bits
  std::int64_t zero = 0;
  std::vector<NodeId> scales = {};

  std::int64_t greatest(const Graph& graph) const {
    const bool is_signed = ops::kind(graph[numbers].dtype) == ops::TypeKind::signed_int;
    const std::int64_t low = is_signed ? -128 : 0, high = low + 255;
    return std::max(std::abs(low - zero), std::abs(high - zero));
  }
};

// In the graph that is made, whose views are added as they are needed.
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

 private:
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
    const auto zero = factor ? integer_in(graph_, node.inputs[1]) : std::nullopt;
    if (!zero) return std::nullopt;
    factor->zero += *zero;
    return factor;
  }

  // Elements that a view adds are 0, times any scale.
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

class Products {
 public:
  Products(Rebuild& rebuild, const std::function<bool(const Node& products)>& is_worth)
      : rebuild_(rebuild), graph_(rebuild.made()), is_worth_(is_worth) {}

  // What stands for a sum of products, if both factors are such.
  std::optional<NodeId> sum(NodeId id) {
    const Node& old = rebuild_.from()[id];
    const auto summed = summed_products(rebuild_.from(), old);
    if (!summed || old.dtype != DType::f32 || rebuild_.from()[*summed].dtype != DType::f32)
      return std::nullopt;
    const Node& product = rebuild_.from()[*summed];
    const auto& axes = std::get<Reduce>(old.node).axes;
    Factors factors(graph_);
    auto left = factors.scaled(rebuild_[product.inputs[0]]),
         right = left ? factors.scaled(rebuild_[product.inputs[1]]) : std::nullopt;
    if (!right || !suits_library(*left, *right) || !stays_in_32_bits(product, axes, *left, *right))
      return std::nullopt;
    left->scales.insert(left->scales.end(), right->scales.begin(), right->scales.end());
    const auto changes = [&](NodeId scale) {
      return std::ranges::any_of(
          axes, [&](int axis) { return changes_along(graph_, scale, static_cast<std::size_t>(axis)); });
    };
    if (std::ranges::any_of(left->scales, changes) || !is_worth_(product)) return std::nullopt;
    const NodeId products =
        add(Pointwise{ops::Pointwise::mul}, {differences(*left, id), differences(*right, id)}, id);
    const NodeId total = add(Reduce{ops::Monoid::sum, axes}, {products}, id);
    return scaled(add(Cast{DType::f32}, {total}, id), left->scales, axes, id);
  }

 private:
  NodeId add(Op op, std::vector<NodeId> inputs, NodeId like) {
    return rebuild_.add(std::move(op), std::move(inputs), like);
  }

  bool suits_library(const Scaled& left, const Scaled& right) const {
    const auto is_plain = [&](const Scaled& factor) {
      return factor.zero == 0 && graph_[factor.numbers].dtype == DType::i8;
    };
    return is_plain(left) || is_plain(right);
  }

  bool stays_in_32_bits(const Node& product, const std::vector<int>& axes, const Scaled& left,
                        const Scaled& right) const {
    double greatest =
        static_cast<double>(left.greatest(graph_)) * static_cast<double>(right.greatest(graph_));
    for (const int axis : axes) {
      const auto extent = index::constant_of(product.shape[static_cast<std::size_t>(axis)]);
      if (!extent || *extent == 0) return false;
      greatest *= static_cast<double>(*extent);
    }
    return greatest <= std::numeric_limits<std::int32_t>::max();
  }

  NodeId differences(const Scaled& factor, NodeId like) {
    const NodeId wide = add(Cast{DType::i32}, {factor.numbers}, like);
    if (factor.zero == 0) return wide;
    const NodeId zero = add(Constant{ops::Number(factor.zero), DType::i32, graph_[wide].shape}, {}, like);
    return add(Pointwise{ops::Pointwise::sub}, {wide, zero}, like);
  }

  NodeId scaled(NodeId total, const std::vector<NodeId>& scales, const std::vector<int>& axes, NodeId like) {
    std::optional<NodeId> all;
    for (const NodeId scale : scales) {
      const NodeId kept = without_axes(scale, axes, like);
      all = all ? product_of_scales(*all, kept, like) : kept;
    }
    return all ? add(Pointwise{ops::Pointwise::mul}, {total, *all}, like) : total;
  }

  // Of two numbers one; a number times what a view repeats is one product for each element that is repeated.
  NodeId product_of_scales(NodeId left, NodeId right, NodeId like) {
    if (!number_in(left)) std::swap(left, right);
    const Node repeated = graph_[right];
    const auto number = number_in(left), other = number_in(right);
    const auto* view = std::get_if<View>(&repeated.node);
    if (number && other)
      return add(Constant{ops::Number(double{*number * *other}), DType::f32, repeated.shape}, {}, like);
    if (!number || view == nullptr || !view->inside.all.empty())
      return add(Pointwise{ops::Pointwise::mul}, {left, right}, like);
    const NodeId base = repeated.inputs[0];
    const NodeId there =
        add(Constant{ops::Number(double{*number}), DType::f32, graph_[base].shape}, {}, like);
    return add(*view, {add(Pointwise{ops::Pointwise::mul}, {there, base}, like)}, like);
  }

  std::optional<float> number_in(NodeId id) const {
    const auto number = number_of(graph_[id]);
    return number ? std::optional(static_cast<float>(ops::real_of(*number, DType::f32))) : std::nullopt;
  }

  // What does not change along the axes, without them.
  NodeId without_axes(NodeId scale, const std::vector<int>& axes, NodeId like) {
    View view;
    for (std::size_t d = 0; d < graph_[scale].shape.size(); ++d) {
      const bool is_kept = std::ranges::find(axes, static_cast<int>(d)) == axes.end();
      view.source.push_back(is_kept ? new_axis(view, graph_[scale].shape[d]) : index::Expr(0));
    }
    return add_view(graph_, scale, std::move(view), rebuild_.from()[like].origin);
  }

  Rebuild& rebuild_;
  Graph& graph_;
  const std::function<bool(const Node& products)>& is_worth_;
};

}  // namespace

Graph integer_products(const Graph& graph, const std::function<bool(const Node& products)>& is_worth) {
  const std::vector<bool> live = live_nodes(graph);
  Rebuild rebuild(graph);
  Products products(rebuild, is_worth);
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    const NodeId id{n};
    if (!live[n]) continue;
    if (const auto sum = products.sum(id))
      rebuild.stands_for(id, *sum);
    else
      rebuild.copy(id);
  }
  return remove_dead(rebuild.finish());
}

}  // namespace twinloom::graph
