// Outside of mode `strict`, where a library multiplies 8-bit integers: a sum of products of integers that
// were scaled is a sum of products of integers, which is exact, and scaled once.
//   a = mul(cast(sub(cast(q: u8): i32, z)): f32, s)       t = reduce sum over k (mul(sub(cast(q): i32, z),
//   b = mul(cast(w: i8): f32, c)                    ->                               cast(w): i32))
//   y = reduce sum over k (mul(a, b))                     y = mul(cast(t): f32, mul(s, c))
// One factor is i8, as libraries want it, the weights: numbers of u8 are moved by 128, and their zero points
// with them. A library knows the zero point of weights where it is one number and no windows are read;
// elsewhere
//   sum(a * (w - zero)) = sum(a * w) - zero * sum(a)
// of integers that wrap. No sum of reals may leave 32 bits, and no scale may change along what is summed up.
// Where a view adds elements of 0, they are the zero point. Nodes that no result needs are left out.
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/scaled_integers.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using ops::DType;

class Products {
 public:
  Products(Rebuild& rebuild, const IsWorth& is_worth)
      : rebuild_(rebuild), graph_(rebuild.made()), is_worth_(is_worth) {}

  // What stands for a sum of products, if both factors are such.
  std::optional<NodeId> sum(NodeId id) {
    const Node& old = rebuild_.from()[id];
    const auto summed = summed_products(rebuild_.from(), old);
    if (!summed) return std::nullopt;
    const Node& product = rebuild_.from()[*summed];
    const bool is_real = old.dtype == DType::f32;
    if (product.dtype != old.dtype || (!is_real && old.dtype != DType::i32)) return std::nullopt;
    const Axes& axes = std::get<Reduce>(old.node).axes;
    const auto factors = factors_of(product, axes, is_real ? scaled_integers : centred_integers);
    if (!factors || !is_exact(*factors, product, axes, is_real)) return std::nullopt;
    const auto total = total_of(*factors, product, axes, id);
    if (!total || !is_real) return total;
    std::vector<NodeId> scales = factors->values.scales;
    scales.insert(scales.end(), factors->weights.scales.begin(), factors->weights.scales.end());
    return scaled(add(Cast{DType::f32}, {*total}, id), scales, axes, id);
  }

 private:
  NodeId add(Op op, std::vector<NodeId> inputs, NodeId like) {
    return rebuild_.add(std::move(op), std::move(inputs), like);
  }

  using Axes = std::vector<int>;
  struct Factors {
    Scaled values, weights;
  };

  std::optional<Factors> factors_of(const Node& product, const Axes& axes,
                                    std::optional<Scaled> (*of)(Graph& graph, NodeId id)) {
    auto left = of(graph_, rebuild_[product.inputs[0]]);
    if (!left) return std::nullopt;
    auto right = of(graph_, rebuild_[product.inputs[1]]);
    if (!right) return std::nullopt;
    const bool is_left = likes_as_weights(*left, axes) > likes_as_weights(*right, axes);
    return is_left ? Factors{*std::move(right), *std::move(left)}
                   : Factors{*std::move(left), *std::move(right)};
  }

  // Only they may have zero points that change, and only values are read through windows. Libraries multiply
  // by i8 as it is, and arrays are moved once.
  int likes_as_weights(const Scaled& factor, const Axes& axes) const {
    const Node* base = &graph_[factor.numbers];
    if (std::holds_alternative<View>(base->node)) base = &graph_[base->inputs[0]];
    return (reads_windows(factor, axes) ? -8 : 0) + (factor.has_one_zero(graph_) ? 0 : 4) +
           (suits_library(factor) ? 2 : 0) + (std::holds_alternative<Constant>(base->node) ? 1 : 0);
  }

  bool suits_library(const Scaled& weights) const {
    return graph_[weights.numbers].dtype == DType::i8 && !weights.has_zero();
  }

  bool changes(NodeId id, const Axes& axes) const {
    return std::ranges::any_of(
        axes, [&](int axis) { return changes_along(graph_, id, static_cast<std::size_t>(axis)); });
  }

  // Integers wrap as those do that they stand for; of reals the whole sum is an integer of 32 bits.
  bool is_exact(const Factors& factors, const Node& product, const Axes& axes, bool is_real) const {
    const auto& [values, weights] = factors;
    const auto changes_there = [&](NodeId scale) { return changes(scale, axes); };
    if (!values.has_one_zero(graph_) || (weights.zeros && changes(*weights.zeros, axes))) return false;
    return !is_real || (stays_in_32_bits(product, axes, values, weights) &&
                        std::ranges::none_of(values.scales, changes_there) &&
                        std::ranges::none_of(weights.scales, changes_there));
  }

  static Axes all_axes(const Node& node) {
    Axes axes(node.shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    return axes;
  }

  bool stays_in_32_bits(const Node& product, const Axes& axes, const Scaled& left,
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

  // Whether the call subtracts the zero point of the weights, if they have one when they are i8.
  bool knows_zero(const Factors& factors, const Axes& axes) const {
    const auto& [values, weights] = factors;
    const Node& node = graph_[weights.numbers];
    const bool has_zero = weights.zeros || weights.zero != moved_by(node.dtype);
    if (!has_zero) return true;
    return weights.has_one_zero(graph_) && reads_rows(values, axes) && !reads_windows(values, axes);
  }

  // A dimension along a summed axis and others.
  bool reads_windows(const Scaled& values, const Axes& axes) const {
    const auto* view = std::get_if<View>(&graph_[values.numbers].node);
    if (view == nullptr) return false;
    const Axes all = all_axes(graph_[values.numbers]);
    return !view->inside.all.empty() || std::ranges::any_of(view->source, [&](const index::Expr& source) {
      const auto mentioned = [&](int axis) { return mentions(*view, source, axis); };
      return std::ranges::any_of(axes, mentioned) && std::ranges::count_if(all, mentioned) > 1;
    });
  }

  // Whether what is summed up are neighbours, as in rows of matrices.
  bool reads_rows(const Scaled& values, const Axes& axes) const {
    const auto* view = std::get_if<View>(&graph_[values.numbers].node);
    if (view == nullptr || view->source.empty()) return true;
    return std::ranges::any_of(axes, [&](int axis) { return mentions(*view, view->source.back(), axis); });
  }

  static bool mentions(const View& view, const index::Expr& source, int axis) {
    return index::mentions(source, view.axes[static_cast<std::size_t>(axis)]);
  }

  // For each sum of the values alone: else those would take as long as their products.
  bool has_many_results(const Factors& factors, const Axes& axes) const {
    constexpr double MANY = 16;
    double results = 1;
    for (const int axis : all_axes(graph_[factors.values.numbers])) {
      if (std::ranges::find(axes, axis) != axes.end() || changes(factors.values.numbers, {axis})) continue;
      const auto extent =
          index::constant_of(graph_[factors.values.numbers].shape[static_cast<std::size_t>(axis)]);
      results *= extent ? static_cast<double>(*extent) : 1;
    }
    return results >= MANY;
  }

  static std::int64_t moved_by(DType dtype) { return dtype == DType::u8 ? 128 : 0; }

  // Before they are viewed, where arrays are moved once.
  Scaled as_i8(Scaled weights, NodeId like) {
    const Node node = graph_[weights.numbers];
    const std::int64_t by = moved_by(node.dtype);
    if (by == 0) return weights;
    const auto* view = std::get_if<View>(&node.node);
    const NodeId base = view == nullptr ? weights.numbers : node.inputs[0];
    const NodeId wide = add(Cast{DType::i32}, {base}, like);
    const NodeId moved = add(Cast{DType::i8}, {minus(wide, by, like)}, like);
    weights.zero -= by;
    if (view == nullptr) return weights.numbers = moved, weights;
    View there = *view;
    there.fill = ops::cast(ops::Number(static_cast<std::int64_t>(ops::real_of(view->fill, node.dtype)) - by),
                           DType::i8);
    weights.numbers = add_view(graph_, moved, std::move(there), rebuild_.from()[like].origin);
    return weights;
  }

  // For libraries where that is worth it. Other integers stay, but for padding, which is the zero point.
  std::optional<NodeId> total_of(const Factors& factors, const Node& product, const Axes& axes, NodeId like) {
    const bool is_whole = knows_zero(factors, axes);
    if ((!is_whole && !has_many_results(factors, axes)) || !is_worth_(product))
      return product.dtype == DType::f32 ? std::nullopt
                                         : std::optional(sum_of(factors.weights, factors.values, axes, like));
    const Scaled weights = as_i8(factors.weights, like);
    return is_whole ? sum_of(weights, factors.values, axes, like)
                    : sum_without_zero(weights, factors.values, axes, like);
  }

  NodeId sum_of(const Scaled& weights, const Scaled& values, const Axes& axes, NodeId like) {
    return sum_of_products(differences(values, like), differences(weights, like), axes, like);
  }
  NodeId sum_of_products(NodeId left, NodeId right, const Axes& axes, NodeId like) {
    const NodeId products = add(Pointwise{ops::Pointwise::mul}, {left, right}, like);
    return add(Reduce{ops::Monoid::sum, axes}, {products}, like);
  }

  // The sums of the values are one for all results that differ in weights alone.
  NodeId sum_without_zero(const Scaled& weights, const Scaled& given, const Axes& axes, NodeId like) {
    const NodeId values = differences(given, like);
    const NodeId total = sum_of_products(values, add(Cast{DType::i32}, {weights.numbers}, like), axes, like);
    const NodeId sums = add(Reduce{ops::Monoid::sum, axes}, {values}, like);
    NodeId zero = add(Constant{ops::Number(weights.zero), DType::i32, graph_[total].shape}, {}, like);
    if (weights.zeros) {
      const NodeId zeros = without_axes(add(Cast{DType::i32}, {*weights.zeros}, like), axes, like);
      zero = add(Pointwise{ops::Pointwise::add}, {zeros, zero}, like);
    }
    const NodeId moved = add(Pointwise{ops::Pointwise::mul}, {sums, zero}, like);
    return add(Pointwise{ops::Pointwise::sub}, {total, moved}, like);
  }

  NodeId minus(NodeId wide, std::int64_t number, NodeId like) {
    if (number == 0) return wide;
    const NodeId zero = add(Constant{ops::Number(number), DType::i32, graph_[wide].shape}, {}, like);
    return add(Pointwise{ops::Pointwise::sub}, {wide, zero}, like);
  }

  NodeId differences(const Scaled& factor, NodeId like) {
    const NodeId wide = minus(add(Cast{DType::i32}, {factor.numbers}, like), factor.zero, like);
    if (!factor.zeros) return wide;
    return add(Pointwise{ops::Pointwise::sub}, {wide, add(Cast{DType::i32}, {*factor.zeros}, like)}, like);
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
  const IsWorth& is_worth_;
};

}  // namespace

Graph integer_products(const Graph& graph, const IsWorth& is_worth) {
  Rebuild rebuild(graph);
  Products products(rebuild, is_worth);
  return remove_dead(rebuild.finish_by([&](NodeId id) { return products.sum(id); }));
}

}  // namespace twinloom::graph
