// Heuristics: how the rows of a nest with totals of columns are cut into parts. The more lanes a block walks,
// the fewer parts are written and read; but the fewer blocks there are, and the more room waiting totals
// take.
#include <algorithm>
#include <bit>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// Of totals that wait for a block's other lanes, in bytes.
std::int64_t waiting_bytes(const Situation& situation, std::int64_t lanes) {
  std::int64_t bytes = 0;
  for (const loops::Start& start : situation.shape.columns->totals)
    bytes += ops::size_of(ops::part_type(start.monoid, start.element, 0));
  const int levels = std::countr_zero(static_cast<std::uint64_t>(lanes));
  return levels * bytes * situation.usual(situation.shape.columns->loop);
}

// How often the machine is filled with blocks.
double waves(const Situation& situation, std::int64_t lanes, std::int64_t threads) {
  const machine::Machine& machine = situation.machine;
  const std::int64_t bytes = std::max<std::int64_t>(waiting_bytes(situation, lanes), 1);
  const auto totals = static_cast<std::int64_t>(situation.shape.columns->totals.size());
  const std::int64_t registers = ROW_REGISTERS + TOTAL_REGISTERS * totals;
  const std::int64_t beside = std::max<std::int64_t>(
      1, std::min(machine.scratch_bytes / bytes, machine.registers_each / (registers * threads)));
  const std::int64_t blocks =
      ceil_div(situation.usual(situation.shape.common.front()), loops::UNIT) * (loops::LANES / lanes);
  return static_cast<double>(blocks) / static_cast<double>(beside * machine.multiprocessors);
}

// Whether hardly any multiprocessor is idle: not where a second wave has a few blocks.
bool fills(double waves) { return waves >= WAVE_AND_A_HALF || (waves >= MOST_OF_A_WAVE && waves <= 1); }

// Blocks for all multiprocessors, whose threads read at least a sector of memory beside each other; of them
// as many as have enough loads on their way together.
void choose_gathering(const Situation& situation, ColumnsPlan& plan) {
  const machine::Machine& machine = situation.machine;
  const std::int64_t units = ceil_div(situation.usual(situation.shape.common.front()), loops::UNIT);
  const std::int64_t each = situation.usual(situation.shape.columns->loop) / machine.multiprocessors;
  plan.width = std::clamp<std::int64_t>(power_of_two_below(each), LEAST_GATHERED_WIDTH, machine.warp_threads);
  plan.units = std::min(GATHERING_THREADS / plan.width, next_power_of_two(std::max<std::int64_t>(units, 1)));
}

}  // namespace

ColumnsPlan choose_columns(const Situation& situation, std::int64_t threads) {
  if (situation.machine.max_threads == 1) return {MOST_COLUMN_LANES};
  std::int64_t lanes = MOST_COLUMN_LANES;
  while (lanes > 1 && (waiting_bytes(situation, lanes) > situation.machine.scratch_bytes / 2 ||
                       !fills(waves(situation, lanes, threads))))
    lanes /= 2;
  const std::int64_t asked = situation.parameters.column_lanes();
  ColumnsPlan plan{asked != 0 ? asked : lanes};
  plan.place = loops::Place::scratch;
  choose_gathering(situation, plan);
  return plan;
}

}  // namespace twinloom::schedule
