// See threads.h.
#include "api/threads.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "core/base/integers.h"

namespace twinloom {

// Ranges of one size, as many as there are threads: kernels have made their tasks long enough.
runtime::ParallelFor tbb_parallel_for() {
  return [](std::int64_t tasks, int threads, runtime::ParallelBody body, void* context) {
    const std::int64_t share = ceil_div(tasks, std::max<std::int64_t>(threads, 1));
    tbb::parallel_for(std::int64_t{0}, ceil_div(tasks, share), [&](std::int64_t part) {
      body(context, part * share, std::min(tasks, (part + 1) * share));
    });
  };
}

}  // namespace twinloom
