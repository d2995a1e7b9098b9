// Inside of the room: along which axes all elements of a node are the same.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

using Repeats = std::vector<bool>;  // by axis: all elements along it are the same

// Of each node. What a constant array or a reduction holds is not looked at.
std::vector<Repeats> repeats_of(const Graph& graph);
// Element `axes` of a shape, but 0 along some of its dimensions, of which the result has one element or all.
View at_first(const Shape& shape, const Repeats& repeated, bool all);

}  // namespace twinloom::graph
