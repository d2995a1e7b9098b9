// Heuristics: which sibling fetches what the next turn reads and what a later sibling writes. The one that
// computes most while its own row is at hand: not the first, which waits for memory itself.
#include <algorithm>
#include <set>

#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

bool is_long_row(const Situation& situation, std::size_t sibling, int bytes) {
  const loops::NestLoop& loop = situation.siblings[sibling]->loops.back();
  return situation.usual(loop) * bytes >= LEAST_FETCHED_BYTES;
}

// Whether siblings store rows of several results, and what they read, those of the next iteration and these
// rows fill half of the first cache: they push each other out of it before they are stored. Layer norm with
// its backward pass, bf16 [2048, 1024], 0.97 ms with results fetched, 0.89 without, softmax with its own, f32
// [1024, 2048], 1.47 and 1.15; of rows of 512 1.35 and 1.53.
bool crowd_each_other(const Situation& situation, std::size_t sibling) {
  const std::int64_t near = machine::level_bytes(situation.machine, "L1");
  std::set<loops::Buffer> read, stored;
  for (const Access& access : situation.accesses)
    if (access.sibling >= 0) (access.store ? stored : read).insert(access.buffer);
  std::int64_t bytes = 0, results = 0;
  for (std::uint32_t at = 0; at < situation.nest.buffers.size(); ++at) {
    const loops::BufferInfo& info = situation.nest.buffers[at];
    const bool is_read = read.contains(loops::Buffer{at}), is_stored = stored.contains(loops::Buffer{at});
    if (is_stored && !info.local) ++results;
    const int rows = is_stored ? 1 : is_read ? 2 : 0;
    bytes += rows * situation.usual(situation.siblings[sibling]->loops.back()) * ops::size_of(info.dtype);
  }
  return results > 1 && near > 0 && 2 * bytes >= near;
}

// How many elements of a list ahead the rows are fetched that lists look up, column by column: as many as
// leave the first cache room. Nothing of what lies in the second cache or not far from it.
std::optional<std::int64_t> elements_ahead(const Situation& situation, const Access& access) {
  const loops::BufferInfo& info = situation.nest.buffers[access.buffer.index];
  const std::int64_t near = machine::level_bytes(situation.machine, "L2");
  if (!access.found || access.store || access.sibling < 0 || near == 0) return std::nullopt;
  const auto most = situation.facts.range(info.count).high;
  if (most && *most * access.bytes <= NEAR_CACHES * near) return std::nullopt;
  const loops::NestLoop& columns = situation.shape.common[situation.vector_axis];
  const std::int64_t row = situation.usual(columns) * access.bytes;
  if (stride_along(access, columns.axis) != 1 || row < situation.machine.sector_bytes) return std::nullopt;
  return std::clamp<std::int64_t>(MOST_BYTES_AHEAD / row, 1, MOST_ELEMENTS_AHEAD);
}

// What lists look up, in lock-step.
std::vector<PrefetchPlan> choose_looked_up(const Situation& situation, const Plan& plan) {
  std::vector<PrefetchPlan> chosen;
  for (const Access& access : situation.accesses) {
    const auto ahead = elements_ahead(situation, access);
    if (!ahead) continue;
    const PrefetchPlan row{plan.nest.buffers[access.buffer.index].name, access.sibling, *ahead};
    if (std::ranges::find(chosen, row) == chosen.end() &&
        std::holds_alternative<Prefetched>(prefetch(plan, row)))
      chosen.push_back(row);
  }
  return chosen;
}

}  // namespace

std::vector<PrefetchPlan> choose_prefetches(const Situation& situation, const Plan& plan) {
  if (situation.lockstep) return choose_looked_up(situation, plan);
  if (situation.siblings.size() < 2 || situation.shape.common.empty()) return {};
  std::size_t busiest = 1;
  for (std::size_t number = 1; number < situation.siblings.size(); ++number) {
    if (work_of(situation.siblings[number]->inner) > work_of(situation.siblings[busiest]->inner))
      busiest = number;
  }
  const bool are_crowded = crowd_each_other(situation, busiest);
  std::vector<PrefetchPlan> chosen;
  for (const loops::BufferInfo& info : plan.nest.buffers) {
    if (info.local || (info.written && are_crowded)) continue;
    const PrefetchPlan row{info.name, static_cast<int>(busiest)};
    if (is_long_row(situation, busiest, ops::size_of(info.dtype)) &&
        std::holds_alternative<Prefetched>(prefetch(plan, row)))
      chosen.push_back(row);
  }
  return chosen;
}

namespace {

// Bytes that the caches keep until somebody reads them.
std::int64_t kept_bytes(const machine::Machine& machine) {
  return std::min(machine::cache_bytes(machine), MOST_CACHED_BYTES * machine.blocks_at_once);
}

// The axis of the rows of a tile, where there is one.
std::optional<index::Symbol> tiled_axis(const Situation& situation, const Schedule& schedule) {
  if (schedule.temps.empty()) return std::nullopt;
  const std::string& inside = schedule.temps.front().inside;
  for (const loops::NestLoop& loop : situation.shape.common)
    if (inside.starts_with(cat(loop.axis, "."))) return loop.axis;
  return std::nullopt;
}

// Along which axis a vector moves on from one store to the next: of a scan's rows, or of a tile of small
// elements.
std::optional<index::Symbol> jumping_axis(const Situation& situation, const Schedule& schedule,
                                          const Access& access) {
  if (access.sibling >= 0) {
    const loops::Sibling& sibling = *situation.siblings[static_cast<std::size_t>(access.sibling)];
    if (reach_of(situation.shape, sibling) == Reach::scan) return sibling.loops.back().axis;
    return std::nullopt;
  }
  if (!situation.siblings.empty() || access.bytes > MOST_STREAMED_BYTES) return std::nullopt;
  return tiled_axis(situation, schedule);
}

// Whether all that stores to the buffer are vectors, lines as a whole, each far from the last: nothing
// fetches such lines ahead, so a store would wait for what it overwrites. A scan of columns takes 0.33 ms so,
// and 0.55 without.
bool stores_lines_apart(const Situation& situation, const Schedule& schedule, loops::Buffer buffer) {
  const std::int64_t line = situation.machine.sector_bytes;
  if (!situation.lockstep) return false;
  const index::Symbol& vector = situation.shape.common[situation.vector_axis].axis;
  const auto split = std::ranges::find_if(schedule.splits, [&](const SplitPlan& plan) {
    return plan.sibling < 0 && plan.axis == vector.name() && !plan.factors.empty();
  });
  if (split == schedule.splits.end()) return false;
  return std::ranges::all_of(situation.accesses, [&](const Access& access) {
    if (access.buffer != buffer || !access.store) return true;
    const auto axis = jumping_axis(situation, schedule, access);
    const auto apart = axis ? stride_along(access, *axis) : std::nullopt;
    return apart && stride_along(access, vector) == 1 && *apart * access.bytes > line &&
           *apart * access.bytes % line == 0 && split->factors.back() * access.bytes % line == 0;
  });
}

// Whether what is stored along the axis begins where a register does, as far as strides are known: a vector
// that does not goes through the caches (softmax of rows of 2049 took 5.4 ms so, and 3.8).
bool begins_aligned(const Situation& situation, const Access& access, const index::Symbol& vector) {
  return std::ranges::all_of(situation.shape.common, [&](const loops::NestLoop& loop) {
    const auto apart = stride_along(access, loop.axis);
    return loop.axis == vector || !apart || *apart * access.bytes % situation.machine.vector_bytes == 0;
  });
}

// Whether all that stores to the buffer are vectors as they are, for what lanes store apart, and single
// elements, leave lines that the caches fill up. In a tile each must be a line, since its neighbours come
// rows later.
bool stores_neighbours(const Situation& situation, const Schedule& schedule, loops::Buffer buffer) {
  return std::ranges::all_of(situation.accesses, [&](const Access& access) {
    if (access.buffer != buffer || !access.store) return true;
    if (!situation.lockstep) {
      if (access.sibling < 0) return false;
      const loops::Sibling& row = *situation.siblings[static_cast<std::size_t>(access.sibling)];
      const index::Symbol& along = row.loops.back().axis;
      return stride_along(access, along) == 1 && begins_aligned(situation, access, along);
    }
    const index::Symbol& vector = situation.shape.common[situation.vector_axis].axis;
    const auto split = std::ranges::find_if(schedule.splits, [&](const SplitPlan& plan) {
      return plan.sibling < 0 && plan.axis == vector.name() && !plan.factors.empty();
    });
    const bool fills = (!tiled_axis(situation, schedule) && situation.siblings.empty()) ||
                       split == schedule.splits.end() ||
                       split->factors.back() * access.bytes % situation.machine.sector_bytes == 0;
    return fills && stride_along(access, vector) == 1;
  });
}

}  // namespace

// Results that the caches would not hold until they are read. One that is fetched ahead of its stores is in
// the cache when it is stored; those of a scan along memory come in bursts, for which such stores are slower
// (24 ms, then 26).
std::vector<std::string> choose_streams(const Situation& situation, const Schedule& schedule) {
  std::vector<std::string> chosen;
  const bool scans = std::ranges::any_of(situation.siblings, [&](const loops::Sibling* sibling) {
    return reach_of(situation.shape, *sibling) == Reach::scan;
  });
  const std::int64_t kept = kept_bytes(situation.machine),
                     near = machine::level_bytes(situation.machine, "L2") * situation.machine.blocks_at_once;
  if (kept == 0 || situation.machine.vector_bytes <= 4) return chosen;
  for (std::uint32_t at = 0; at < situation.nest.buffers.size(); ++at) {
    const loops::BufferInfo& info = situation.nest.buffers[at];
    const auto count = situation.facts.range(info.count).low;  // of what all sizes of the class have
    const bool fetched = std::ranges::any_of(
        schedule.prefetches, [&](const PrefetchPlan& row) { return row.buffer == info.name; });
    if (!info.written || info.local || fetched || !count ||
        loops::loads_from(*situation.nest.body, loops::Buffer{at}))
      continue;
    const std::int64_t bytes = *count * ops::size_of(info.dtype);
    const bool jumps = near > 0 && bytes > (scans ? near : MOST_CACHED_BYTES) &&
                       stores_lines_apart(situation, schedule, loops::Buffer{at});
    // What a tile stores waits for lines that nothing fetches ahead.
    const bool is_past = tiled_axis(situation, schedule) ? bytes >= kept : bytes > kept;
    if (jumps || (!scans && is_past && stores_neighbours(situation, schedule, loops::Buffer{at})))
      chosen.push_back(info.name);
  }
  return chosen;
}

}  // namespace twinloom::schedule
