// See rounding.h.
#include "tools/twinloom/rounding.h"

#include <algorithm>
#include <cmath>

#include "api/estimates.h"
#include "core/graph/passes.h"
#include "core/loops/rewrite.h"
#include "tools/twinloom/compare.h"

namespace twinloom::tool {

namespace {

// Of the finite elements; 0 where there are none. Wide values of floating types are doubles.
double largest_value(const evaluate::Value& value) {
  const auto* data = reinterpret_cast<const double*>(value.bytes.data());
  double largest = 0;
  for (std::size_t e = 0; e < value.bytes.size() / sizeof(double); ++e) {
    if (std::isfinite(data[e])) largest = std::max(largest, std::abs(data[e]));
  }
  return largest;
}

// The nodes' values by the wide evaluator: all of them become results of a copy.
std::vector<evaluate::Value> wide_values(const graph::Graph& graph, const std::vector<graph::NodeId>& nodes,
                                         std::span<const evaluate::Argument> arguments,
                                         const evaluate::RunNumbers& numbers) {
  graph::Graph probe = graph;
  for (const graph::NodeId id : nodes) probe.output({graph::Ownership::own, id, -1, 0, {}});
  auto values = evaluate::evaluate(probe, arguments, evaluate::Arithmetic::wide, numbers);
  std::vector<evaluate::Value> wanted;
  for (std::size_t n = 0; n < nodes.size(); ++n)
    wanted.push_back(std::move(*values[graph.results().size() + n]));
  return wanted;
}

// For each result the largest of what is allowed of the nodes above it.
std::vector<double> allowed_of_results(const graph::Graph& graph, std::vector<double> by_node) {
  for (std::size_t n = 0; n < by_node.size(); ++n)
    for (const graph::NodeId input : graph.nodes()[n].inputs)
      by_node[n] = std::max(by_node[n], by_node[input.index]);
  std::vector<double> allowed(graph.results().size(), 0);
  for (std::size_t r = 0; r < allowed.size(); ++r) {
    const graph::Result& result = graph.results()[r];
    if (has_value(result.kind)) allowed[r] = by_node[result.value.index];
  }
  return allowed;
}

bool has_free_sum(const loops::Program& nest) {
  bool found = false;
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt.node);
    found |= start != nullptr && start->free;
  });
  return found;
}

// The sums and products of kernels in which some are in free order.
std::vector<graph::NodeId> free_sums_of(const runtime::Variant& variant) {
  std::vector<graph::NodeId> found;
  for (const runtime::Group& group : variant.groups) {
    if (!has_free_sum(group.nest) && !relaxed_in(group.nest).atomics) continue;
    std::ranges::copy_if(group.nodes, std::back_inserter(found), [&](graph::NodeId id) {
      return graph::rounded_monoid(variant.graph[id]).has_value();
    });
  }
  return found;
}

std::vector<graph::NodeId> approximated_in(const graph::Graph& graph) {
  std::vector<graph::NodeId> found;
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) {
    const auto* pointwise = std::get_if<graph::Pointwise>(&graph.nodes()[n].node);
    if (pointwise != nullptr && ops::approximated_by(pointwise->op)) found.push_back({n});
  }
  return found;
}

std::int64_t count_of(const evaluate::Value& value) {
  return static_cast<std::int64_t>(value.bytes.size() / sizeof(double));
}

// Which element of a reduction's result each term goes to.
class Targets {
 public:
  Targets(const std::vector<std::int64_t>& sizes, const std::vector<int>& axes) : sizes_(sizes) {
    std::int64_t stride = 1;
    strides_.resize(sizes.size(), 0);
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
      if (std::ranges::find(axes, static_cast<int>(axis)) != axes.end()) continue;
      strides_[axis] = stride;
      stride *= sizes[axis];
    }
    count_ = stride;
  }
  std::int64_t count() const { return count_; }
  std::int64_t of(std::int64_t term) const {
    std::int64_t target = 0;
    for (std::size_t axis = sizes_.size(); axis-- > 0; term /= sizes_[axis])
      target += term % sizes_[axis] * strides_[axis];
    return target;
  }

 private:
  const std::vector<std::int64_t>& sizes_;
  std::vector<std::int64_t> strides_;
  std::int64_t count_ = 1;
};

// Of the sums over these axes the largest sum of squares.
double largest_square_sum(const evaluate::Value& terms, const std::vector<int>& axes) {
  const auto* data = reinterpret_cast<const double*>(terms.bytes.data());
  const Targets targets(terms.sizes, axes);
  std::vector<double> sums(static_cast<std::size_t>(targets.count()), 0);
  for (std::int64_t e = 0; e < count_of(terms); ++e)
    if (std::isfinite(data[e])) sums[static_cast<std::size_t>(targets.of(e))] += data[e] * data[e];
  return sums.empty() ? 0 : std::ranges::max(sums);
}

// What the bounds of free sums and of functions that are approximated are computed from, as nodes of a copy
// of the graph.
class Relaxed {
 public:
  Relaxed(const graph::Graph& graph, const std::vector<graph::NodeId>& sums,
          const std::vector<graph::NodeId>& approximated)
      : probe_(graph) {
    std::vector<bool> below(graph.nodes().size(), false);
    for (const graph::NodeId id : sums) {
      sums_.push_back(probed(id));
      below[id.index] = true;
    }
    for (const graph::NodeId id : approximated) {
      approximated_.emplace_back(id, add(id));
      below[id.index] = true;
    }
    for (std::uint32_t n = 0; n < below.size(); ++n) {
      for (const graph::NodeId input : graph.nodes()[n].inputs) below[n] = below[n] || below[input.index];
      if (below[n] && ops::is_16_bit_float(graph.nodes()[n].dtype)) rounded_.push_back({{n}, add({n})});
    }
  }

  // By node, with its own rounding alone.
  std::vector<double> errors(std::span<const evaluate::Argument> arguments,
                             const evaluate::RunNumbers& numbers) const {
    const std::vector<evaluate::Value> values = wide_values(probe_, probed_, arguments, numbers);
    std::vector<double> by_node(probe_.nodes().size(), 0);
    for (const Sum& sum : sums_)
      by_node[sum.id.index] = error_of(probe_[sum.id], values[sum.value], values[sum.terms]);
    for (const auto& [id, at] : approximated_)
      by_node[id.index] = error_of_function(probe_[id], largest_value(values[at]));
    for (const auto& [id, at] : rounded_) {
      const double step = step_of(probe_[id].dtype, largest_value(values[at]));
      by_node[id.index] = std::max(by_node[id.index], step);
    }
    return by_node;
  }

 private:
  struct Sum {
    graph::NodeId id;
    std::size_t terms, value;  // of probed_; the value is the product, or a scatter's sums of squares
  };
  std::size_t add(graph::NodeId id) {
    probed_.push_back(id);
    return probed_.size() - 1;
  }

  // Of a scatter all contributions may be to one place, and what was there is one more term.
  Sum probed(graph::NodeId id) {
    const graph::Node node = probe_[id];
    const auto* scatter = std::get_if<graph::Scatter>(&node.node);
    const std::size_t terms = add(node.inputs[scatter == nullptr ? 0 : 1]);
    if (graph::rounded_monoid(node) == ops::Monoid::prod) return {id, terms, add(id)};
    if (scatter == nullptr) return {id, terms, terms};
    graph::Scatter squares = *scatter;
    squares.include_self = true;
    std::vector<graph::NodeId> inputs = node.inputs;
    for (std::size_t at = 0; at < 2; ++at)
      inputs[at] = probe_.add(graph::Pointwise{ops::Pointwise::mul}, {inputs[at], inputs[at]});
    return {id, terms, add(probe_.add(std::move(squares), std::move(inputs)))};
  }

  // Of a sum FACTOR u rms sqrt(n log2 n), where n rms^2 is the sum of squares (NUMERICS.md A.2). Of a product
  // each of at most n multiplications has a factor 1 + d, |d| <= u: n u of it (Higham, Accuracy and Stability
  // of Numerical Algorithms, lemma 3.1, to first order).
  static double error_of(const graph::Node& node, const evaluate::Value& value,
                         const evaluate::Value& terms) {
    const double unit = step_of(node.dtype == ops::DType::f64 ? ops::DType::f64 : ops::DType::f32, 1) / 2;
    std::optional<std::vector<int>> axes;  // of a scatter all contributions may be to one place
    if (const auto* reduce = std::get_if<graph::Reduce>(&node.node)) axes = reduce->axes;
    if (const auto* scan = std::get_if<graph::Scan>(&node.node)) axes = {scan->axis};
    const auto all = static_cast<double>(count_of(terms));
    const auto sums = static_cast<double>(axes ? Targets(terms.sizes, *axes).count() : 1);
    const double n = std::max(2.0, sums == 0 ? 0 : all / sums);
    if (graph::rounded_monoid(node) == ops::Monoid::prod) return n * unit * largest_value(value);
    const double squares = axes ? largest_square_sum(terms, *axes) : largest_value(value);
    constexpr double FACTOR = 8;
    return FACTOR * unit * std::sqrt(squares * std::log2(n));
  }

  // 2^-21 of it on a GPU, up to 8 units in the last place, and 4 of the evaluator (of 16 bits 1 of both), as
  // often as there are such functions: their errors add up.
  double error_of_function(const graph::Node& node, double largest) const {
    const double units = ops::is_16_bit_float(node.dtype) ? 2 : 12;
    return units * step_of(node.dtype, largest) * static_cast<double>(approximated_.size());
  }

  graph::Graph probe_;
  std::vector<graph::NodeId> probed_;
  std::vector<std::pair<graph::NodeId, std::size_t>> approximated_;
  std::vector<Sum> sums_;
  std::vector<std::pair<graph::NodeId, std::size_t>> rounded_;  // to 16 bits, below a sum
};

}  // namespace

std::vector<double> dropped_steps(const graph::Graph& graph, std::span<const evaluate::Argument> arguments,
                                  const evaluate::RunNumbers& numbers) {
  const std::vector<graph::NodeId> dropped = graph::dropped_roundings(graph);
  if (dropped.empty()) return std::vector<double>(graph.results().size(), 0);
  const std::vector<evaluate::Value> values = wide_values(graph, dropped, arguments, numbers);
  std::vector<double> by_node(graph.nodes().size(), 0);
  for (std::size_t d = 0; d < dropped.size(); ++d)
    by_node[dropped[d].index] = step_of(graph[dropped[d]].dtype, largest_value(values[d]));
  return allowed_of_results(graph, std::move(by_node));
}

std::vector<double> relaxed_errors(const runtime::Variant& variant,
                                   std::span<const evaluate::Argument> arguments,
                                   const evaluate::RunNumbers& numbers) {
  const graph::Graph& graph = variant.graph;
  const std::vector<graph::NodeId> sums = free_sums_of(variant);
  const std::vector<graph::NodeId> approximated = approximated_in(graph);
  if (sums.empty() && approximated.empty()) return std::vector<double>(graph.results().size(), 0);
  std::vector<double> by_node = Relaxed(graph, sums, approximated).errors(arguments, numbers);
  by_node.resize(graph.nodes().size());
  return allowed_of_results(graph, std::move(by_node));
}

}  // namespace twinloom::tool
