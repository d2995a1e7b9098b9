// See sort.h.
#include "backends/cuda/sort.h"

#include <algorithm>
#include <bit>

namespace twinloom::cuda {

std::int64_t sort_bytes(std::int64_t elements, std::int64_t blocks) {
  return (elements + (std::int64_t{1} << SORT_BITS) * blocks) *
         static_cast<std::int64_t>(sizeof(emit::Integer));
}

std::vector<SortLaunch> sort_launches(std::int64_t elements, std::int64_t bound, std::int64_t blocks,
                                      void* workspace) {
  // Keys out of range count as `bound`. Passes look at as many bits each.
  const int bits = std::max(1, static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bound))));
  SortStep step;
  step.passes = (bits + SORT_BITS - 1) / SORT_BITS;
  step.bits = (bits + step.passes - 1) / step.passes;
  step.blocks = blocks;
  step.spare = static_cast<emit::Integer*>(workspace);
  step.counts = step.spare + elements;
  std::vector<SortLaunch> launches;
  const auto add = [&](SortTask task, std::int64_t grid) {
    step.task = task;
    launches.push_back({step, grid});
  };
  for (; elements > 0 && step.pass < step.passes; ++step.pass) {
    add(SortTask::count, blocks);
    add(SortTask::scan, 1);
    add(SortTask::move, blocks);
  }
  add(SortTask::mark, blocks);
  return launches;
}

}  // namespace twinloom::cuda
