// How many bytes each kernel of a variant moves, counted three ways:
//   bytes     for every distinct buffer that it reads or writes, the elements that its accesses cover, at
//             most as many as the buffer has; read and written counts twice
//   floor     the same of the graph's inputs and outputs alone; elements of an input that an earlier
//             kernel has read count there. The sum over all kernels is what one ideal kernel would move
//   touched   those of the loads and stores that its programs execute
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/variant.h"

namespace twinloom {

struct Traffic {
  std::int64_t bytes = 0, floor_bytes = 0, touched_bytes = 0;
  std::int64_t operations = 0;  // floating-point and integer ones, of elements
};

// One for each group of the variant. `values`: of all run-time symbols.
std::vector<Traffic> traffic_of(const runtime::Variant& variant, const index::Values& values);

}  // namespace twinloom
