// See threads.h.
#include "api/threads.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "core/runtime/tasks.h"

namespace twinloom {

// As many ranges as there are threads: kernels have made their tasks long enough.
runtime::ParallelFor tbb_parallel_for() {
  return [](std::int64_t tasks, int threads, runtime::ParallelBody body, void* context) {
    const std::int64_t workers = std::clamp<std::int64_t>(threads, 1, tasks);
    tbb::parallel_for(std::int64_t{0}, workers, [&](std::int64_t worker) {
      const auto [begin, end] = runtime::tasks_of(worker, workers, tasks);
      body(context, begin, end);
    });
  };
}

}  // namespace twinloom
