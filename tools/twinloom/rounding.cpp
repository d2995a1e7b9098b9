// See rounding.h.
#include "tools/twinloom/rounding.h"

#include <algorithm>
#include <cmath>

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

// The sums of products in groups with a contraction.
std::vector<graph::NodeId> contractions_of(const runtime::Variant& variant) {
  std::vector<graph::NodeId> found;
  for (const runtime::Group& group : variant.groups) {
    if (!has_free_sum(group.nest)) continue;
    for (const graph::NodeId id : group.nodes) {
      const graph::Node& node = variant.graph[id];
      const auto* reduce = std::get_if<graph::Reduce>(&node.node);
      if (reduce != nullptr && reduce->monoid == ops::Monoid::sum && ops::is_floating(node.dtype))
        found.push_back(id);
    }
  }
  return found;
}

double error_of_sum(ops::DType dtype, const evaluate::Value& terms, std::int64_t results) {
  const auto* data = reinterpret_cast<const double*>(terms.bytes.data());
  const std::size_t count = terms.bytes.size() / sizeof(double);
  if (count == 0 || results == 0) return 0;
  double squares = 0;
  for (std::size_t e = 0; e < count; ++e) squares += std::isfinite(data[e]) ? data[e] * data[e] : 0;
  const double root_mean_square = std::sqrt(squares / static_cast<double>(count));
  const double n = std::max(2.0, static_cast<double>(count) / static_cast<double>(results));
  const double unit = step_of(dtype == ops::DType::f64 ? dtype : ops::DType::f32, 1) / 2;
  constexpr double FACTOR = 8;  // of NUMERICS.md A.2
  return FACTOR * unit * root_mean_square * std::sqrt(n * std::log2(n));
}

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

std::vector<double> contraction_errors(const runtime::Variant& variant,
                                       std::span<const evaluate::Argument> arguments,
                                       const evaluate::RunNumbers& numbers) {
  const graph::Graph& graph = variant.graph;
  const std::vector<graph::NodeId> sums = contractions_of(variant);
  if (sums.empty()) return std::vector<double>(graph.results().size(), 0);
  std::vector<graph::NodeId> probed = sums;
  for (const graph::NodeId sum : sums) probed.push_back(graph[sum].inputs.front());
  const std::vector<evaluate::Value> values = wide_values(graph, probed, arguments, numbers);
  std::vector<double> by_node(graph.nodes().size(), 0);
  for (std::size_t s = 0; s < sums.size(); ++s) {
    const auto results = static_cast<std::int64_t>(values[s].bytes.size() / sizeof(double));
    by_node[sums[s].index] = error_of_sum(graph[sums[s]].dtype, values[sums.size() + s], results);
  }
  return allowed_of_results(graph, std::move(by_node));
}

}  // namespace twinloom::tool
