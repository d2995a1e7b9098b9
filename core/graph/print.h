// One line of the printed form, for messages of this room and of passes over graphs.
#pragma once

#include <string>

#include "core/graph/graph.h"

namespace twinloom::graph {

std::string print_node(const Graph& graph, NodeId id);

}  // namespace twinloom::graph
