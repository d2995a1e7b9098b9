// Arguments for measurements: N(0, 1), and integers that are right as indices. A block is drawn and repeated,
// so that much memory takes little time.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "api/twinloom/twinloom.h"

namespace twinloom::perf {

// A tensor where `space` has its memory, or, where that is null, in memory of this process. Integers are
// below the bound; where there is none, from 0 to 7.
Tensor drawn(DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
             std::optional<std::int64_t> index_bound, const runtime::Space* space);

// One for each parameter of a graph whose sizes are numbers, where the device's kernels find it. `strides`:
// by parameter, nothing where it is row-major; may be empty. Error where a size is a symbol.
std::vector<Argument> drawn_arguments(const Graph& graph,
                                      std::span<const std::optional<graph::Shape>> strides,
                                      const Device& device);

}  // namespace twinloom::perf
