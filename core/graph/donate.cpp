// See donate.h.
#include "core/graph/donate.h"

#include <algorithm>

#include "core/base/error.h"

namespace twinloom::graph {

namespace {

bool is_tensor(const Parameter& parameter) { return std::holds_alternative<NodeId>(parameter.value); }

void check_names(const Graph& graph, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(graph.parameters(), name, &Parameter::name);
    if (found == graph.parameters().end())
      throw Error(cat("donated input '", escaped(name), "': the graph has no parameter of this name; it has ",
                      join(graph.parameters(), ", ",
                           [](const Parameter& each) { return cat("'", escaped(each.name), "'"); })),
                  {name});
    if (!is_tensor(*found))
      throw Error(cat("donated input '", escaped(name), "' is a size, no tensor"), {name});
  }
}

}  // namespace

Graph donate(const Graph& graph, std::span<const std::string> names) {
  if (names.empty()) return graph;
  check_names(graph, names);
  Graph made;
  made.name = graph.name;
  made.facts() = graph.facts();
  for (const Require& require : graph.requirements()) made.require(require.condition, require.message);
  std::vector<NodeId> ids(graph.nodes().size());
  for (const Parameter& parameter : graph.parameters()) {
    if (!is_tensor(parameter)) {
      made.size_parameter(parameter.name, std::get<index::Expr>(parameter.value));
      continue;
    }
    const NodeId id = std::get<NodeId>(parameter.value);
    const Node& node = graph[id];
    const bool named = std::ranges::find(names, parameter.name) != names.end();
    ids[id.index] = made.input(parameter.name, node.dtype, node.shape,
                               named || std::get<Input>(node.node).donated, node.origin);
  }
  for (std::size_t n = 0; n < ids.size(); ++n) {
    const Node& node = graph.nodes()[n];
    if (std::holds_alternative<Input>(node.node)) continue;
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(ids[input.index]);
    ids[n] = made.add_proven(node.node, std::move(inputs), node.origin);
  }
  for (Result result : graph.results()) {
    if (has_value(result.kind)) result.value = ids[result.value.index];
    if (result.kind == Ownership::view) result.base = ids[result.base.index];
    made.output(std::move(result));
  }
  return made;
}

}  // namespace twinloom::graph
