// Finds the sizes of one run from the shapes of its inputs, and checks every guard.
//
// Size parameters that are a symbol bind it; then dimensions that are a symbol; then dimensions such as
// 3*n are solved, until nothing changes. A symbol is at least 0; a number that may be negative is
// u - negative_part(u), of which one is 0. Every other dimension and size parameter must agree, every
// requirement of the graph must hold, and every size symbol must be found. Errors say which parameter,
// which axis, what was given, what was expected and where the size came from.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// One for each parameter: the sizes of a tensor, or the value of a size parameter.
using ParameterSizes = std::variant<std::vector<std::int64_t>, std::int64_t>;

// "u0.neg", of which nothing else may have the name.
index::Symbol negative_part(index::Symbol symbol);

index::Values bind_sizes(const Graph& graph, std::span<const ParameterSizes> parameters);

// The sizes of a shape in numbers.
std::vector<std::int64_t> sizes_of(const Shape& shape, const index::Values& values);

}  // namespace twinloom::graph
