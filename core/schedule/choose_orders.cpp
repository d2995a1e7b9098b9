// Whether the sums of a nest are made in any order, where the mode allows that: a free order has chains and
// vectors that the canonical one has not, but is cut into parts by fewer schedules. Long chains are folded,
// whatever the schedule: core/steps/fold_chains.cpp.
#include "core/loops/rewrite.h"
#include "core/schedule/schedule.h"
#include "core/steps/contraction.h"

namespace twinloom::schedule {

namespace {

// Less than an estimate can tell. Of an H100 softmax of rows of 300,000 and log_softmax of 50,257, whose free
// order gained 0.1 % by it, took 1.9 and 1.4 times as long; those that gained 1.6 and 4.5 % took 0.8 of the
// time (perf/results/2026-11-27-evening-h100.md).
constexpr double LEAST_GAIN = 0.005;

}  // namespace

loops::Program choose_orders(const loops::Program& nest, Choices& choices) {
  loops::Program free = steps::with_free_sums(nest);
  if (free.body == nest.body) return nest;
  // What lists take is estimated too badly to choose by. A core walks one by a masked vector, not by a unit
  // of lanes; a thread has fewer of its loads on their way at once than of a short unit.
  if (loops::looks_up_indices(*nest.body)) return choices.machine().max_threads == 1 ? free : nest;
  const double most = (1 - LEAST_GAIN) * choices.chosen_seconds(nest);
  return choices.chosen_seconds(free) <= most ? free : nest;
}

}  // namespace twinloom::schedule
