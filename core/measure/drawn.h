// Tensors for measurements: N(0, 1), and integers that are right as indices. A block is drawn and repeated,
// so that much memory takes little time.
#pragma once

#include <optional>
#include <vector>

#include "core/runtime/tensor.h"

namespace twinloom::measure {

// A tensor where `space` has its memory, or, where that is null, in memory of this process. Integers are
// below the bound; where there is none, from 0 to 7.
runtime::Tensor drawn(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                      std::optional<std::int64_t> index_bound, const runtime::Space* space);
// Integers that rise evenly from 0 to below the bound, in the order of the memory: where rows of equal length
// begin and end.
runtime::Tensor rising(ops::DType dtype, std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides,
                       std::int64_t bound, const runtime::Space* space);

}  // namespace twinloom::measure
