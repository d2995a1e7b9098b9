// Heuristics: which sibling fetches what the next turn reads and what a later sibling writes. The one that
// computes most while its own row is at hand: not the first, which waits for memory itself.
#include <algorithm>

#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// Of shorter rows the processor fetches the next by itself.
constexpr std::int64_t LEAST_ROW_BYTES = 2048;

bool is_long_row(const Situation& situation, std::size_t sibling, int bytes) {
  const loops::NestLoop& loop = situation.siblings[sibling]->loops.back();
  return situation.usual(loop) * bytes >= LEAST_ROW_BYTES;
}

}  // namespace

std::vector<PrefetchPlan> choose_prefetches(const Situation& situation, const Plan& plan) {
  if (situation.lockstep || situation.siblings.size() < 2 || situation.shape.common.empty()) return {};
  std::size_t busiest = 1;
  for (std::size_t number = 1; number < situation.siblings.size(); ++number) {
    if (work_of(situation.siblings[number]->inner) > work_of(situation.siblings[busiest]->inner))
      busiest = number;
  }
  std::vector<PrefetchPlan> chosen;
  for (const loops::BufferInfo& info : plan.nest.buffers) {
    if (info.local) continue;
    const PrefetchPlan row{info.name, static_cast<int>(busiest)};
    if (is_long_row(situation, busiest, ops::size_of(info.dtype)) &&
        std::holds_alternative<Prefetched>(prefetch(plan, row)))
      chosen.push_back(row);
  }
  return chosen;
}

// Results that the caches would not hold until they are read. One that is fetched ahead of its stores is in
// the cache when it is stored; those of a scan come in bursts, for which such stores are slower (24 ms, then
// 26).
std::vector<StorePlan> choose_streams(const Situation& situation, const Schedule& schedule) {
  const std::int64_t cache = machine::cache_bytes(situation.machine);
  std::vector<StorePlan> chosen;
  const bool scans = std::ranges::any_of(situation.siblings, [&](const loops::Sibling* sibling) {
    return reach_of(situation.shape, *sibling) == Reach::scan;
  });
  if (cache == 0 || scans || situation.machine.vector_bytes <= 4) return chosen;
  for (std::uint32_t at = 0; at < situation.nest.buffers.size(); ++at) {
    const loops::BufferInfo& info = situation.nest.buffers[at];
    const auto count = index::constant_of(info.count);
    const bool fetched = std::ranges::any_of(
        schedule.prefetches, [&](const PrefetchPlan& row) { return row.buffer == info.name; });
    if (!info.written || info.local || fetched || !count) continue;
    const bool held = *count * ops::size_of(info.dtype) <= cache;
    if (!held && !is_loaded(situation.nest, loops::Buffer{at})) chosen.push_back({info.name, true});
  }
  return chosen;
}

}  // namespace twinloom::schedule
