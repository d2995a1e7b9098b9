// Who runs the tasks of kernels: OpenMP, where nothing else is said, or what RunSettings::parallel_for names.
#pragma once

#include "core/runtime/backend.h"

namespace twinloom {

// The threads of oneTBB: for callers whose own work runs there too. Uses the arena it is called in, so a
// caller's task_arena limits it.
//   const ParallelFor threads = tbb_parallel_for();
//   options.settings.parallel_for = &threads;
runtime::ParallelFor tbb_parallel_for();

}  // namespace twinloom
