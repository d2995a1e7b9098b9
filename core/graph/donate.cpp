// See donate.h.
#include "core/graph/donate.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/rebuild.h"

namespace twinloom::graph {

namespace {

void check_names(const Graph& graph, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto found = std::ranges::find(graph.parameters(), name, &Parameter::name);
    if (found == graph.parameters().end())
      throw Error(cat("donated input '", escaped(name), "': the graph has no parameter of this name; it has ",
                      join(graph.parameters(), ", ",
                           [](const Parameter& each) { return cat("'", escaped(each.name), "'"); })),
                  {name});
    if (!std::holds_alternative<NodeId>(found->value))
      throw Error(cat("donated input '", escaped(name), "' is a size, no tensor"), {name});
  }
}

}  // namespace

Graph donate(const Graph& graph, std::span<const std::string> names) {
  if (names.empty()) return graph;
  check_names(graph, names);
  Rebuild rebuild(graph, names);
  for (std::uint32_t n = 0; n < graph.nodes().size(); ++n) rebuild.copy(NodeId{n});
  return rebuild.finish();
}

}  // namespace twinloom::graph
