// Casts of arrays of elements. Each element is rounded once from its exact value, to nearest even; integers
// wrap; a float that leaves an integer type is saturated and a NaN gives 0; to b8 is != 0. Packed types
// have no arrays of elements and are refused (a Bug).
#pragma once

#include <cstdint>

#include "core/ops/dtype.h"

namespace twinloom::ops {

// By the rules of rounding.h, or the processor's own where it has the same: what a cast means.
void convert(DType from, DType to, const void* input, void* output, std::int64_t count);
// By the functions of the device header: what generated code does.
void convert_spelled(DType from, DType to, const void* input, void* output, std::int64_t count);

}  // namespace twinloom::ops
