// What arguments ask of kernels that are compiled ahead of time.
#pragma once

#include <vector>

#include "api/twinloom.h"

namespace twinloom {

// Layouts, and sizes and strides where their class has kernels of its own.
struct Asked {
  lower::Layouts layouts;
  index::Values sizes;
  index::Values class_of;  // the same, or empty: kernels for all sizes
};

// Error where the example does not fit the graph or has a size of 0, for which no kernels are exported.
Asked asked_by(const Graph& graph, const std::vector<Argument>& example, bool of_class);

}  // namespace twinloom
