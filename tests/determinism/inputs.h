// What a family is run with, and what a run gave, as bytes.
#pragma once

#include <cstddef>
#include <vector>

#include "core/graph/graph.h"
#include "core/runtime/executable.h"

namespace twinloom::tests {

using Memory = std::vector<std::byte>;

struct Inputs {
  std::vector<Memory> memory;
  std::vector<runtime::Argument> arguments;  // row-major, in `memory`
};
// Drawn; the same each time. The graph's sizes are known.
Inputs inputs_of(const graph::Graph& graph);

// Of a tensor in memory of this process, row-major.
Memory memory_of(const runtime::Output& output);

}  // namespace twinloom::tests
