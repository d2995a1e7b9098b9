// The kernels whose speed is watched: each as a graph, and as the loops that a programmer would write.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::perf {

// The memory of the inputs and of the outputs, in the graph's order, contiguous.
struct Arrays {
  std::span<const void* const> in;
  std::span<void* const> out;
};

struct SpeedCase {
  std::string name;
  void (*build)(graph::Builder&);
  void (*plain)(const Arrays&);  // of plain_loops.cpp
  std::int64_t index_bound = 0;  // of integer inputs
};
const std::vector<SpeedCase>& speed_cases();

}  // namespace twinloom::perf
