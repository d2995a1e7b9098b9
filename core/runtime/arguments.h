// What is checked of the arguments of a run before anything is made for them.
#pragma once

#include <span>

#include "core/graph/graph.h"
#include "core/runtime/layout.h"
#include "core/runtime/space.h"

namespace twinloom::runtime {

// The values of the graph's size symbols. Error where an argument does not fit its parameter, or a guard
// fails.
index::Values bound_sizes(const graph::Graph& graph, std::span<const Argument> arguments);

// Error where a tensor lies elsewhere. `space`: null for memory of this process.
void check_device(const graph::Graph& graph, std::span<const Argument> arguments, const Space* space);

// The same, and Error where a tensor with elements has no memory.
void check_memory(const graph::Graph& graph, std::span<const Argument> arguments, const Space* space);

}  // namespace twinloom::runtime
