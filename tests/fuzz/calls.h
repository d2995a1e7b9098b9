// Graphs made by calls that nobody checked: every function of the builder with numbers from small to absurd,
// constant and symbolic.
#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace twinloom::tests {

struct Called {
  graph::Graph graph;
  int accepted = 0, refused = 0;  // calls
};

// Throws what a call throws that is no Error.
Called called(std::uint64_t seed);

}  // namespace twinloom::tests
