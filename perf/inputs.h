// Arguments of graphs for measurements.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/twinloom.h"

namespace twinloom::perf {

// One for each parameter of a graph whose sizes are numbers, where the device's kernels find it. `strides`:
// by parameter, nothing where it is row-major; may be empty. Error where a size is a symbol.
std::vector<Argument> drawn_arguments(const Graph& graph,
                                      std::span<const std::optional<graph::Shape>> strides,
                                      const Device& device);

}  // namespace twinloom::perf
