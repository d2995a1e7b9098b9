// Marks inputs whose memory the graph's results may take.
#pragma once

#include <span>
#include <string>

#include "core/graph/graph.h"

namespace twinloom::graph {

// The same graph in which the parameters of these names are donated, beside those that are. Error where one
// is no tensor that the graph takes.
Graph donate(const Graph& graph, std::span<const std::string> names);

}  // namespace twinloom::graph
