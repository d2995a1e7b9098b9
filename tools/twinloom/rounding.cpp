// See rounding.h.
#include "tools/twinloom/rounding.h"

#include <algorithm>
#include <cmath>

#include "core/graph/passes.h"
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

// For each dropped node one step of its type at its largest value; all of them become results of a copy.
std::vector<double> steps_of(const graph::Graph& graph, const std::vector<graph::NodeId>& dropped,
                             std::span<const evaluate::Argument> arguments,
                             const evaluate::RunNumbers& numbers) {
  graph::Graph probe = graph;
  for (const graph::NodeId id : dropped) probe.output({graph::Ownership::own, id, -1, 0, {}});
  const auto values = evaluate::evaluate(probe, arguments, evaluate::Arithmetic::wide, numbers);
  std::vector<double> steps;
  for (std::size_t d = 0; d < dropped.size(); ++d) {
    const evaluate::Value& value = *values[graph.results().size() + d];
    steps.push_back(step_of(graph[dropped[d]].dtype, largest_value(value)));
  }
  return steps;
}

}  // namespace

std::vector<double> dropped_steps(const graph::Graph& graph, std::span<const evaluate::Argument> arguments,
                                  const evaluate::RunNumbers& numbers) {
  std::vector<double> allowed(graph.results().size(), 0);
  const std::vector<graph::NodeId> dropped = graph::dropped_roundings(graph);
  if (dropped.empty()) return allowed;
  std::vector<double> by_node(graph.nodes().size(), 0);
  const std::vector<double> steps = steps_of(graph, dropped, arguments, numbers);
  for (std::size_t d = 0; d < dropped.size(); ++d) by_node[dropped[d].index] = steps[d];
  for (std::size_t n = 0; n < by_node.size(); ++n) {
    for (const graph::NodeId input : graph.nodes()[n].inputs)
      by_node[n] = std::max(by_node[n], by_node[input.index]);
  }
  for (std::size_t r = 0; r < allowed.size(); ++r) {
    const graph::Result& result = graph.results()[r];
    if (has_value(result.kind)) allowed[r] = by_node[result.value.index];
  }
  return allowed;
}

}  // namespace twinloom::tool
