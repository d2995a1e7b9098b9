// What integer parameters may hold where a graph uses them as indices.
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// For each parameter the smallest bound of the indices that are made of it; nothing where none is.
std::vector<std::optional<index::Expr>> index_bounds(const Graph& graph);

}  // namespace twinloom::graph
