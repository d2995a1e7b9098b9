// Schedules of a nest by other parameters of the heuristics. First the usual ones, then one parameter is
// changed alone, each of its values once, so that every sort of schedule has its share; then several are
// changed together.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "core/loops/parts.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

std::vector<Changes> changes_of_blocks() {
  return {
      {[](Parameters& p) { p.lockstep = true; }, [](Parameters& p) { p.lockstep = false; }},
      {[](Parameters& p) { p.vector_rank = 1; }, [](Parameters& p) { p.vector_rank = 2; }},
      // Not 1024: of 31 pointwise nests measured on an H200 none was faster by more than 2 %, half of them by
      // more than 5 % slower than by 256.
      {[](Parameters& p) { p.block_threads = 64; }, [](Parameters& p) { p.block_threads = 128; },
       [](Parameters& p) { p.block_threads = 512; }},
      {[](Parameters& p) { p.times = 1; }, [](Parameters& p) { p.times = 2; },
       [](Parameters& p) { p.times = 4; }},
      {[](Parameters& p) { p.most_packed = 1; }, [](Parameters& p) { p.most_packed = 2; },
       [](Parameters& p) { p.most_packed = 4; }},
      {[](Parameters& p) { p.tile = 0; }, [](Parameters& p) { p.tile = 32; },
       [](Parameters& p) { p.tile = 128; }},
      {[](Parameters& p) { p.row_warps = 1; }, [](Parameters& p) { p.row_warps = 8; },
       [](Parameters& p) { p.row_warps = 16; }},
      {[](Parameters& p) { p.row_threads = 4; }, [](Parameters& p) { p.row_threads = 8; },
       [](Parameters& p) { p.row_threads = 16; }},
      {[](Parameters& p) { p.beside = 1; }, [](Parameters& p) { p.beside = 16; },
       [](Parameters& p) { p.beside = 32; }, [](Parameters& p) { p.beside = 64; }},
      {[](Parameters& p) { p.warps = 1; }, [](Parameters& p) { p.warps = 2; },
       [](Parameters& p) { p.warps = 4; }, [](Parameters& p) { p.warps = 8; },
       [](Parameters& p) { p.warps = 16; }, [](Parameters& p) { p.warps = 32; }},
      {[](Parameters& p) { p.scan_warps = 1; }, [](Parameters& p) { p.scan_warps = 4; },
       [](Parameters& p) { p.scan_warps = 16; }},
      {[](Parameters& p) { p.least_scanned = 1; }, [](Parameters& p) { p.least_scanned = 256; }},
      {[](Parameters& p) { p.scan_rows_written_out = false; }},
      {[](Parameters& p) { p.carry_threads = 32; }, [](Parameters& p) { p.carry_threads = 256; },
       [](Parameters& p) { p.carry_threads = 512; }},
      {[](Parameters& p) { p.kept_lanes = 4; }, [](Parameters& p) { p.kept_lanes = 8; },
       [](Parameters& p) { p.kept_lanes = 32; }},
      {[](Parameters& p) { p.parts = 0.25; }, [](Parameters& p) { p.parts = 4; },
       [](Parameters& p) { p.splits = false; }},
      {[](Parameters& p) { p.rows = Parameters::Rows::nowhere; },
       [](Parameters& p) { p.rows = Parameters::Rows::registers; },
       [](Parameters& p) { p.rows = Parameters::Rows::scratch; }},
      {[](Parameters& p) { p.divisions = Divisions::loads; }},
      {[](Parameters& p) { p.most_values = 0; }},
      {[](Parameters& p) { p.prefetches = false; }},
  };
}

std::vector<Changes> changes_of_vectors() {
  return {
      {[](Parameters& p) { p.lockstep = true; }, [](Parameters& p) { p.lockstep = false; }},
      {[](Parameters& p) { p.vector_rank = 1; }, [](Parameters& p) { p.vector_rank = 2; }},
      {[](Parameters& p) { p.task_seconds = 2e-6; }, [](Parameters& p) { p.task_seconds = 1e-3; }},
      {[](Parameters& p) { p.wide_vectors = 1; }, [](Parameters& p) { p.wide_vectors = 2; },
       [](Parameters& p) { p.wide_vectors = 8; }},
      {[](Parameters& p) { p.accumulators = 1; }, [](Parameters& p) { p.accumulators = 2; },
       [](Parameters& p) { p.accumulators = 4; }, [](Parameters& p) { p.accumulators = 8; }},
      {[](Parameters& p) { p.memory_order = true; }, [](Parameters& p) { p.memory_order = false; }},
      {[](Parameters& p) { p.stages = false; }},
      {[](Parameters& p) { p.streams = false; }},
      {[](Parameters& p) { p.panel = true; }, [](Parameters& p) { p.panel = false; }},
      {[](Parameters& p) { p.transposes = false; }},
      {[](Parameters& p) { p.splits = false; }},
      {[](Parameters& p) { p.most_values = 0; }},
      {[](Parameters& p) { p.prefetches = false; }},
  };
}

std::vector<Parameters> drawn_parameters(const std::vector<Changes>& things, int count,
                                         std::mt19937_64& random) {
  std::vector<Parameters> drawn(1);  // the usual ones
  for (const Changes& changes : things)
    for (const Change change : changes) change(drawn.emplace_back());
  for (int number = 0; number < count; ++number) {
    Parameters& parameters = drawn.emplace_back();
    for (const Changes& changes : things)
      if (random() % 3 == 0) changes[random() % changes.size()](parameters);
  }
  return drawn;
}

}  // namespace

const std::vector<Changes>& changes_for(const machine::Machine& machine) {
  static const std::vector<Changes> of_blocks = changes_of_blocks(), of_vectors = changes_of_vectors();
  return machine.max_threads > 1 ? of_blocks : of_vectors;
}

std::vector<Schedule> candidates(const loops::Program& nest, const machine::Machine& machine, int most,
                                 std::uint64_t seed) {
  if (loops::has_parts(nest)) return {};
  std::mt19937_64 random(seed);
  const Forms forms(nest);
  const auto& things = changes_for(machine);
  std::vector<Schedule> found;
  std::set<std::string> seen = {print(choose(nest, machine))};
  const auto consider = [&](Schedule schedule) {
    if (seen.insert(print(schedule)).second && is_legal(forms, schedule))
      found.push_back(std::move(schedule));
  };
  for (Schedule& schedule : choose_products(nest, machine)) consider(std::move(schedule));
  for (const Parameters& parameters : drawn_parameters(things, 4 * most, random))
    consider(choose(forms, machine, parameters));
  // Of each sort some: those that change one thing stand first and are not all there is room for.
  if (found.size() > static_cast<std::size_t>(most)) {
    std::shuffle(found.begin(), found.end(), random);
    found.resize(static_cast<std::size_t>(most));
  }
  return found;
}

std::vector<std::size_t> shortlist(const std::vector<double>& seconds, int count) {
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (order.empty()) return order;
  std::stable_sort(order.begin() + 1, order.end(),
                   [&](std::size_t a, std::size_t b) { return seconds[a] < seconds[b]; });
  order.resize(std::min(order.size(), static_cast<std::size_t>(count) + 1));
  return order;
}

}  // namespace twinloom::schedule
