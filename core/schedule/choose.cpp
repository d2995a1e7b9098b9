// Heuristics: which axis fills the vectors, how totals are cut into lanes, what one task does. Reads the nest
// and the machine, writes a Schedule; everything it writes must be lawful, and tests hold it to that.
//
//   pointwise     axes that are neighbours in memory walked as one; the vector along the axis with most
//                 unit strides; tiles where another axis has unit strides too
//   rows          each sibling vectorised along its own axis, one task some rows; or, where the common
//                 axes have the unit strides, a vector of rows in lock-step
//   totals        as many accumulators as registers allow; heavy bodies get fewer, for the size of the code
#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// Parts of the first reduction where there are fewer rows, or blocks of rows in lock-step, than workers.
std::optional<GridSplit> choose_grid(const Situation& situation) {
  const machine::Machine& machine = situation.machine;
  if (situation.siblings.empty() || machine.blocks_at_once < 2 || !situation.parameters.splits()) return {};
  std::int64_t rows = std::llround(situation.rows()), beside = 1;
  if (situation.lockstep) {
    const NestLoop& along = situation.shape.common[situation.vector_axis];
    beside = std::min(std::max<std::int64_t>(situation.usual(along), 1), situation.lanes_along(along.axis));
    rows = common_tasks(situation);
  }
  const NestLoop& loop = situation.siblings.front()->loops.back();
  if (rows >= machine.blocks_at_once) return {};
  const std::int64_t parts = ceil_div(TASKS_A_WORKER * machine.blocks_at_once, rows);
  std::int64_t units = situation.usual(loop) / loops::UNIT / parts;
  if (units * beside < LEAST_PART_UNITS) return {};
  if (!constant(loop) && machine.max_threads == 1)
    units = std::max(units / PARTS_OF_A_CLASS, ceil_div(LEAST_PART_UNITS, beside));
  return GridSplit{std::string(loop.axis.name()), power_of_two_below(units)};
}

// A row of each input, for all turns of a task or for later siblings; a tile for the innermost serial loop.
std::vector<TempPlan> possible_stages(const Situation& situation, const Schedule& schedule) {
  std::vector<std::string> common;
  for (const LoopPlan& loop : schedule.loops) {
    if (loop.sibling < 0) common.push_back(loop.piece);
  }
  if (situation.siblings.empty() && common.size() > 1) common.pop_back();
  if (common.empty()) return {};
  std::vector<TempPlan> result;
  for (const loops::BufferInfo& info : situation.nest.buffers) {
    if (info.written || info.local) continue;
    for (const std::string& turns : {std::string(TASK), common.back()})
      result.push_back({info.name, loops::Place::registers, turns, 0});
  }
  return result;
}

// Whether caching the row is faster: 16-bit floats are then converted once.
bool pays(const Staged& staged, ops::DType dtype) {
  if (staged.lanes != 0) return staged.lanes <= LARGEST_SQUARE;
  return staged.of_task || ops::is_16_bit_float(dtype) || staged.siblings.size() >= SEVERAL_READERS;
}

// Whether all that read the row of an iteration hold it in registers; of tiles, no one.
bool is_in_registers(const Situation& situation, const Staged& staged) {
  return !staged.of_task && staged.lanes == 0 &&
         std::ranges::all_of(staged.siblings, [&](std::size_t sibling) {
           return situation.holds_row(*situation.siblings[sibling]);
         });
}

// Bytes of rows that wait in a core's second cache, on the stack of a thread.
std::int64_t far_room(const machine::Machine& machine) {
  return std::min(machine::level_bytes(machine, "L2") / FAR_L2_SHARE, MOST_FAR_BYTES);
}

// How many values are cached, as long as their rows fit and what is left of the nest is not better walked in
// lock-step, where rows have no arrays of their own, and as long as computing them takes longer than loading
// them. Expensive ones may be cached in L2.
int choose_kept_values(const Forms& forms, const Situation& situation, std::int64_t& room) {
  if (situation.lockstep || situation.shape.common.empty() || choose_grid(situation)) return 0;
  std::int64_t far = far_room(situation.machine);
  int values = 0;
  while (values < situation.parameters.most_values()) {
    const auto next = forms.form(situation.fused, values + 1);
    if (!std::holds_alternative<const Form*>(next)) break;
    const Form& form = *std::get<const Form*>(next);
    if (form.kept.back().computed < LEAST_COMPUTED) break;
    const std::int64_t bytes = form.kept.back().count * ops::size_of(form.nest.buffers.back().dtype);
    std::int64_t& left = bytes > room && form.kept.back().work >= FAR_WORK ? far : room;
    if (bytes > left || Situation(forms, situation.machine, situation.parameters, values + 1).lockstep) break;
    left -= bytes;
    ++values;
  }
  return values;
}

// Those that the law lets pass and that fit the room, one for each input.
std::vector<TempPlan> choose_stages(const Situation& situation, const Schedule& schedule, const Plan& plan,
                                    std::int64_t room) {
  std::vector<TempPlan> chosen;
  for (const TempPlan& candidate : possible_stages(situation, schedule)) {
    if (!chosen.empty() && chosen.back().buffer == candidate.buffer) continue;
    const auto result = stage(plan, candidate);
    const auto* staged = std::get_if<Staged>(&result);
    if (staged == nullptr) continue;
    const ops::DType dtype = plan.nest.buffers[staged->buffer.index].dtype;
    if (!pays(*staged, dtype) || is_in_registers(situation, *staged)) continue;
    const std::int64_t bytes = staged->lanes != 0 ? staged->count * staged->lanes * ops::size_of(dtype)
                                                  : staged->count * ops::size_of(ops::compute_type(dtype));
    if (bytes > room) continue;
    room -= bytes;
    chosen.push_back(candidate);
  }
  return chosen;
}

}  // namespace

Schedule choose(const loops::Program& nest, const machine::Machine& machine) {
  if (loops::has_parts(nest)) {
    auto chosen = choose_parts(nest, machine);
    CHECK(chosen.has_value(), "a nest of several parts that none of their schedules fits\n",
          loops::print(nest));
    return std::move(*chosen);
  }
  if (!is_searched(nest, machine)) return choose(Forms(nest), machine, Parameters{});
  return choose_by_estimate(nest, machine);
}

Schedule choose(const Forms& forms, const machine::Machine& machine, const Parameters& parameters) {
  if (is_call(forms.nest())) return {};
  if (machine.max_threads > 1) return choose_for_threads(forms, machine, parameters);
  Schedule schedule;
  std::int64_t room = machine.scratch_bytes;
  const Situation plain(forms, machine, parameters);
  schedule.kept_values = choose_kept_values(forms, plain, room);
  std::optional<Situation> keeping;
  if (schedule.kept_values != 0) keeping.emplace(forms, machine, parameters, schedule.kept_values);
  const Situation& situation = keeping ? *keeping : plain;
  schedule.steps = situation.fused;
  if (situation.shape.columns) {
    schedule.columns = choose_columns(situation, 1);
    ScopeChoice a_block_each(-1);
    a_block_each.loop(situation.shape.common.front(), 0, loops::Bind::block);
    a_block_each.append_to(schedule);
  } else if (!situation.shape.common.empty()) {
    choose_common(situation).append_to(schedule);
  }
  for (std::size_t number = 0; number < situation.siblings.size(); ++number)
    choose_sibling(situation, static_cast<int>(number)).append_to(schedule);
  // What the law refuses of the extras is left out: a store before a reduction, rows read at different
  // places.
  schedule.panel = situation.wants_panel();
  if (schedule.panel && !is_legal(forms, schedule)) schedule.panel = false;
  schedule.transposed_rows = situation.wants_transposed_rows();
  if (schedule.transposed_rows && !is_legal(forms, schedule)) schedule.transposed_rows = false;
  schedule.grid = choose_grid(situation);
  if (schedule.grid && !is_legal(forms, schedule)) schedule.grid.reset();
  schedule.scan_split = choose_scan_split(forms, situation, schedule);
  const auto& resolved = forms.resolved(schedule);
  if (const auto* plan = std::get_if<Plan>(&resolved)) {
    if (parameters.stages()) schedule.temps = choose_stages(situation, schedule, *plan, room);
    if (parameters.prefetches()) schedule.prefetches = choose_prefetches(situation, *plan);
  }
  if (parameters.streams()) schedule.streams = choose_streams(situation, schedule);
  return schedule;
}

}  // namespace twinloom::schedule
