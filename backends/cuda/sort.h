// How a sort of a GPU is launched: which kernels one after the other, with how many blocks. See
// device/sort.h.
#pragma once

#include <cstdint>
#include <vector>

#include "backends/cuda/device/sort_step.h"

namespace twinloom::cuda {

struct SortLaunch {
  SortStep step;
  std::int64_t blocks;  // of the grid
};

// What each of so many blocks counts, and a number for each element, beside the results.
std::int64_t sort_bytes(std::int64_t elements, std::int64_t blocks);

// Of so many elements by keys below `bound`. `workspace`: sort_bytes().
std::vector<SortLaunch> sort_launches(std::int64_t elements, std::int64_t bound, std::int64_t blocks,
                                      void* workspace);

}  // namespace twinloom::cuda
