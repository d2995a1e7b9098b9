// Outside of mode `strict`: a sum of squared deviations from the mean that is too long for one kernel to hold
// what it reads is made of those of parts, so that memory is read once. Of 64 images of 56 * 56 places:
//   s = sum(x, over [0, 2, 3]); d = x - s / N; m = sum(d * d, over [0, 2, 3])             [64, c, 56, 56]
// becomes
//   v = x in parts of B = 784 elements                                                    [64, c, 4, 14, 56]
//   s_p = sum(v, over [3, 4]); d_p = v - s_p / B                                          [64, c, 4]
//   m_p = sum(d_p * d_p, over [3, 4]); r_p = sum(d_p, over [3, 4])
//   s = sum(s_p, over [0, 2]); e = s_p / B - s / N; m = max(0, sum(m_p + e * (2 r_p + B e), over [0, 2]))
// Whatever a and b are, sum (x - b)^2 = sum (x - a)^2 + 2 (a - b) sum (x - a) + B (a - b)^2. With a the mean
// of a part r_p is what its rounding leaves; without it the error of a, times e, would be in the result: it
// is what keeps the bound of a variance of two passes.
//
// Parts are the last of the axes, as far as their sizes are known and PART elements hold them. What decides
// is the graph alone.
#include <algorithm>
#include <map>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using index::Expr;

// A column of so many elements is what two loops of a block hold between them, and one unit of a canonical
// sum. Of fewer than LEAST_PART what is written for a part costs what is saved.
constexpr std::int64_t PART = 1024, LEAST_PART = 32;
// Rows that the blocks of a cluster hold, with whatever else reads them (core/schedule: rows of several
// blocks).
constexpr std::int64_t LONGEST_ROW = 1 << 18;
// One kernel holds shorter columns and channels; smaller tensors lie in a cache, where the second kernel that
// parts need is more than the second reading.
constexpr std::int64_t LEAST_COLUMN = 1 << 12, LEAST_TENSOR = 1 << 21;
constexpr std::int64_t TYPICAL = 128;  // what a size is taken for that is not known

// A sum of squared deviations from the mean over the same axes.
struct Variance {
  NodeId sum;       // of the elements
  NodeId elements;  // x
  NodeId mean;      // at each element
};

// What casts of one value give is the same, whoever asked for them.
bool are_equal(const Graph& graph, NodeId a, NodeId b) {
  const auto is_cast = [&](NodeId id) { return std::holds_alternative<Cast>(graph[id].node); };
  return a == b ||
         (is_cast(a) && is_cast(b) && graph[a].dtype == graph[b].dtype && graph[a].inputs == graph[b].inputs);
}

// A sum of floats that is not rounded to fewer digits.
const Reduce* as_sum(const Graph& graph, NodeId id) {
  const auto* reduce = std::get_if<Reduce>(&graph[id].node);
  const bool is_wide = graph[id].dtype == ops::DType::f32 || graph[id].dtype == ops::DType::f64;
  const bool is_sum = reduce != nullptr && reduce->monoid == ops::Monoid::sum && is_wide &&
                      graph[id].dtype == graph[graph[id].inputs[0]].dtype;
  return is_sum ? reduce : nullptr;
}

Expr size_of_axes(const Shape& shape, const std::vector<int>& axes) {
  Expr count = 1;
  for (const int axis : axes) count = count * shape[static_cast<std::size_t>(axis)];
  return count;
}

// Whether all of its elements are this size.
bool is_size(const Graph& graph, NodeId id, const Expr& size) {
  const Node& node = graph[id];
  if (const auto known = index::constant_of(size)) {
    const auto number = only_number(graph, id);
    return number && *number == ops::cast(ops::Number(*known), node.dtype);
  }
  if (const auto* view = std::get_if<View>(&node.node))
    return view->inside.all.empty() && is_size(graph, node.inputs[0], size);
  const auto* number = std::get_if<Size>(&node.node);
  return number != nullptr && number->value == size;
}

// An element of a node, by its position there.
struct Element {
  NodeId of;
  std::vector<Expr> at;
};

// Through Views that fill nothing.
Element behind_views(const Graph& graph, Element element) {
  while (const auto* view = std::get_if<View>(&graph[element.of].node)) {
    if (!view->inside.all.empty()) break;
    index::Substitution substitution;
    for (std::size_t d = 0; d < view->axes.size(); ++d) substitution.emplace(view->axes[d], element.at[d]);
    Element next{graph[element.of].inputs[0], {}};
    for (const Expr& source : view->source) next.at.push_back(index::substitute(source, substitution));
    element = std::move(next);
  }
  return element;
}

// The sum that a mean over the axes is the quotient of, at each element of this shape.
std::optional<NodeId> sum_of_mean(const Graph& graph, NodeId mean, const std::vector<int>& axes) {
  const Shape& shape = graph[mean].shape;
  Element element{mean, {}};
  for (std::size_t d = 0; d < shape.size(); ++d) element.at.emplace_back(axis_symbol(static_cast<int>(d)));
  element = behind_views(graph, element);
  const Node& quotient = graph[element.of];
  if (!is_of(quotient, ops::Pointwise::div) || !is_size(graph, quotient.inputs[1], size_of_axes(shape, axes)))
    return std::nullopt;
  element = behind_views(graph, {quotient.inputs[0], element.at});
  const Reduce* sum = as_sum(graph, element.of);
  if (sum == nullptr || sum->axes != axes) return std::nullopt;
  std::size_t at = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (std::ranges::binary_search(axes, static_cast<int>(d))) continue;
    const bool in_place = shape[d] == Expr(1) || element.at[at] == Expr(axis_symbol(static_cast<int>(d)));
    if (!in_place) return std::nullopt;
    ++at;
  }
  return element.of;
}

std::optional<Variance> as_variance(const Graph& graph, NodeId id) {
  const Reduce* squares = as_sum(graph, id);
  if (squares == nullptr) return std::nullopt;
  const Node& square = graph[graph[id].inputs[0]];
  if (!is_of(square, ops::Pointwise::mul) || square.inputs[0] != square.inputs[1]) return std::nullopt;
  const Node& deviation = graph[square.inputs[0]];
  if (!is_of(deviation, ops::Pointwise::sub)) return std::nullopt;
  const NodeId elements = deviation.inputs[0], mean = deviation.inputs[1];
  const auto sum = sum_of_mean(graph, mean, squares->axes);
  if (!sum || !are_equal(graph, graph[*sum].inputs[0], elements)) return std::nullopt;
  return Variance{*sum, elements, mean};
}

// How many elements of each axis are in a part: of the last that are summed up, between which none is kept.
std::vector<std::int64_t> part_of(const Shape& shape, const std::vector<int>& axes) {
  std::vector<std::int64_t> part(shape.size(), 1);
  std::int64_t left = PART;
  for (std::size_t d = static_cast<std::size_t>(axes.back()) + 1; d-- > 0;) {
    const auto size = index::constant_of(shape[d]);
    if (size == 1) continue;
    if (size.value_or(0) == 0 || !std::ranges::binary_search(axes, static_cast<int>(d))) break;
    part[d] = std::min(*size, left);
    while (part[d] > 1 && *size % part[d] != 0) --part[d];
    if (part[d] != *size) break;
    left /= *size;
  }
  return part;
}

// Elements in parts.
struct Parts {
  View elements;           // by axes of parts and of elements in them
  std::vector<int> inner;  // axes of these that are in a part
  Shape shape;             // of one number a part
  std::vector<int> outer;  // axes of these that are summed up
  View spread;             // of one number a part, at each of its elements
  View firsts;             // of the elements as they were, the first of each part
  std::int64_t count = 1;  // of the elements of a part
};

Parts in_parts(const Shape& shape, const std::vector<int>& axes, const std::vector<std::int64_t>& part) {
  Parts parts;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool is_summed = std::ranges::binary_search(axes, static_cast<int>(d));
    const auto size = index::constant_of(shape[d]);
    Expr element = 0, first = 0;
    if (!is_summed || size != part[d]) {
      const Expr outer = part[d] == 1 ? shape[d] : Expr(*size / part[d]);
      if (is_summed) parts.outer.push_back(static_cast<int>(parts.shape.size()));
      const Expr walked = new_axis(parts.elements, outer);
      parts.shape.push_back(outer);
      parts.spread.source.push_back(walked);
      element = part[d] * walked;
      first = part[d] * new_axis(parts.firsts, outer);
    }
    if (is_summed && part[d] > 1) {
      parts.inner.push_back(static_cast<int>(parts.elements.axes.size()));
      element = element + new_axis(parts.elements, part[d]);
      parts.count *= part[d];
    }
    parts.elements.source.push_back(element);
    parts.firsts.source.push_back(first);
  }
  parts.spread.axes = parts.elements.axes, parts.spread.sizes = parts.elements.sizes;
  return parts;
}

std::int64_t typical(const Expr& size) { return index::constant_of(size).value_or(TYPICAL); }

// Whether the summed axes are the last, but for those of one element.
bool are_rows(const Shape& shape, const std::vector<int>& axes) {
  bool is_behind = false;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (index::constant_of(shape[d]) == 1) continue;
    const bool is_summed = std::ranges::binary_search(axes, static_cast<int>(d));
    if (is_behind && !is_summed) return false;
    is_behind = is_summed;
  }
  return true;
}

bool is_worth(const Shape& shape, const std::vector<int>& axes, const std::vector<std::int64_t>& part) {
  double part_count = 1, count = 1, elements = 1;
  for (const std::int64_t size : part) part_count *= static_cast<double>(size);
  for (const Expr& size : shape) elements *= static_cast<double>(typical(size));
  for (const int axis : axes) count *= static_cast<double>(typical(shape[static_cast<std::size_t>(axis)]));
  if (part_count < LEAST_PART || count <= part_count) return false;
  return are_rows(shape, axes) ? count > LONGEST_ROW : count >= LEAST_COLUMN && elements >= LEAST_TENSOR;
}

class InParts {
 public:
  explicit InParts(const Graph& graph) : graph_(graph), rebuild_(graph) {
    const std::vector<bool> live = live_nodes(graph);
    for (std::uint32_t n = 0; n < live.size(); ++n)
      if (const auto variance = live[n] ? as_variance(graph, NodeId{n}) : std::nullopt)
        add(NodeId{n}, *variance);
  }

  Graph run() {
    if (sums_.empty()) return graph_;
    return remove_dead(rebuild_.finish_by([&](NodeId id) -> std::optional<NodeId> {
      if (const auto sum = sums_.find(id); sum != sums_.end()) return sum_of_parts(id, sum->second);
      const auto found = variances_.find(id);
      return found == variances_.end() ? std::nullopt : std::optional(squares_of_parts(id, found->second));
    }));
  }

 private:
  struct Sum {
    Parts parts;
    NodeId elements{}, mean{};  // of the new graph: in parts, and the mean of each
  };

  void add(NodeId squares, const Variance& variance) {
    const auto& axes = std::get<Reduce>(graph_[variance.sum].node).axes;
    const Shape& shape = graph_[variance.elements].shape;
    const std::vector<std::int64_t> part = part_of(shape, axes);
    if (!is_worth(shape, axes, part)) return;
    sums_.emplace(variance.sum, Sum{in_parts(shape, axes, part)});
    variances_.emplace(squares, variance);
  }

  NodeId reduced(NodeId input, const std::vector<int>& axes, NodeId like) {
    return rebuild_.add(Reduce{ops::Monoid::sum, axes}, {input}, like);
  }
  NodeId apply(ops::Pointwise op, NodeId a, NodeId b, NodeId like) {
    return rebuild_.add(Pointwise{op}, {a, b}, like);
  }
  NodeId viewed(NodeId input, const View& map, NodeId like) {
    return add_view(rebuild_.made(), input, map, graph_[like].origin);
  }
  NodeId number(std::int64_t value, const Shape& shape, NodeId like) {
    const ops::DType dtype = graph_[like].dtype;
    return rebuild_.add(Constant{ops::cast(ops::Number(value), dtype), dtype, shape}, {}, like);
  }
  NodeId count_of(const Parts& parts, NodeId like) { return number(parts.count, parts.shape, like); }

  NodeId sum_of_parts(NodeId id, Sum& sum) {
    const Parts& parts = sum.parts;
    sum.elements = viewed(rebuild_[graph_[id].inputs[0]], parts.elements, id);
    const NodeId of_parts = reduced(sum.elements, parts.inner, id);
    sum.mean = apply(ops::Pointwise::div, of_parts, count_of(parts, id), id);
    return reduced(of_parts, parts.outer, id);
  }

  NodeId squares_of_parts(NodeId id, const Variance& variance) {
    using enum ops::Pointwise;
    const Sum& sum = sums_.at(variance.sum);
    const Parts& parts = sum.parts;
    const NodeId deviation = apply(sub, sum.elements, viewed(sum.mean, parts.spread, id), id);
    const NodeId squares = reduced(apply(mul, deviation, deviation, id), parts.inner, id);
    const NodeId rest = reduced(deviation, parts.inner, id);
    const NodeId apart = apply(sub, sum.mean, viewed(rebuild_[variance.mean], parts.firsts, id), id);
    const NodeId twice = apply(ops::Pointwise::add, rest, rest, id);
    const NodeId slope = apply(ops::Pointwise::add, twice, apply(mul, apart, count_of(parts, id), id), id);
    const NodeId moved = apply(ops::Pointwise::add, squares, apply(mul, apart, slope, id), id);
    const NodeId total = reduced(moved, parts.outer, id);
    return apply(maximum, total, number(0, graph_[id].shape, id), id);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::map<NodeId, Sum> sums_;
  std::map<NodeId, Variance> variances_;  // by the sum of squares
};

}  // namespace

Graph variance_in_parts(const Graph& graph) { return InParts(graph).run(); }

}  // namespace twinloom::graph
