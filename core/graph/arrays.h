// The text form with its arrays apart, for files that hold both: "constant array 2" in place of the bytes.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// Appends to `arrays` what it does not hold yet, by handle.
std::string print(const Graph& graph, std::vector<Content>& arrays);
// Error also where an array is missing or is not of the type and sizes that the text says.
Graph parse(std::string_view text, std::span<const Content> arrays);

}  // namespace twinloom::graph
