// Arguments for measurements: N(0, 1), and integers that are right as indices. A block is drawn and repeated,
// so that much memory takes little time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/twinloom/twinloom.h"

namespace twinloom::perf {

// So many elements, row-major, in memory of this process; integers below the bound, or, where there is none,
// from 0 to 7.
Tensor block_of(DType dtype, std::int64_t count, std::optional<std::int64_t> index_bound);

// One for each parameter of a graph whose sizes are numbers, where the device's kernels find it. `strides`:
// by parameter, nothing where it is row-major; may be empty. Error where a size is a symbol.
std::vector<Argument> drawn_arguments(const Graph& graph,
                                      std::span<const std::optional<graph::Shape>> strides,
                                      const Device& device);

}  // namespace twinloom::perf
