// How a graph is run, as the C API says it.
#pragma once

#include "api/include/twinloom/twinloom.h"
#include "api/twinloom.h"

namespace twinloom::c {

// A run's options, and the caller's threads that they point to.
struct Settings {
  ParallelFor parallel_for;
  RunOptions options;
};

// NULL: as usual. `settings` stays where it is as long as its options are used.
void set_settings(Settings& settings, const twinloom_run_options* given);

}  // namespace twinloom::c
