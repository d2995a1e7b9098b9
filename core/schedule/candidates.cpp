// Schedules of a nest that differ in what taste is free in. One taste is drawn a candidate: first one free
// thing is changed alone, each of its values in turn, so that every sort of schedule has its share; then
// several together.
#include <algorithm>
#include <random>
#include <set>

#include "core/schedule/taste.h"

namespace twinloom::schedule {

namespace {

std::vector<Changes> changes_of_blocks() {
  return {
      {[](Taste& t) { t.lockstep = true; }, [](Taste& t) { t.lockstep = false; }},
      {[](Taste& t) { t.vector_rank = 1; }, [](Taste& t) { t.vector_rank = 2; }},
      {[](Taste& t) { t.block_threads = 64; }, [](Taste& t) { t.block_threads = 128; },
       [](Taste& t) { t.block_threads = 512; }, [](Taste& t) { t.block_threads = 1024; }},
      {[](Taste& t) { t.times = 1; }, [](Taste& t) { t.times = 2; }, [](Taste& t) { t.times = 4; }},
      {[](Taste& t) { t.most_packed = 1; }, [](Taste& t) { t.most_packed = 2; },
       [](Taste& t) { t.most_packed = 4; }},
      {[](Taste& t) { t.tile = 0; }, [](Taste& t) { t.tile = 32; }, [](Taste& t) { t.tile = 128; }},
      {[](Taste& t) { t.row_warps = 1; }, [](Taste& t) { t.row_warps = 8; },
       [](Taste& t) { t.row_warps = 16; }},
      {[](Taste& t) { t.warps = 1; }, [](Taste& t) { t.warps = 2; }, [](Taste& t) { t.warps = 4; },
       [](Taste& t) { t.warps = 8; }, [](Taste& t) { t.warps = 16; }, [](Taste& t) { t.warps = 32; }},
      {[](Taste& t) { t.scan_warps = 1; }, [](Taste& t) { t.scan_warps = 4; },
       [](Taste& t) { t.scan_warps = 16; }},
      {[](Taste& t) { t.kept_lanes = 4; }, [](Taste& t) { t.kept_lanes = 8; },
       [](Taste& t) { t.kept_lanes = 32; }},
      {[](Taste& t) { t.parts = 0.25; }, [](Taste& t) { t.parts = 4; }, [](Taste& t) { t.splits = false; }},
      {[](Taste& t) { t.rows = Taste::Rows::nowhere; }, [](Taste& t) { t.rows = Taste::Rows::registers; },
       [](Taste& t) { t.rows = Taste::Rows::scratch; }},
      {[](Taste& t) { t.most_values = 0; }},
      {[](Taste& t) { t.prefetches = false; }},
  };
}

std::vector<Changes> changes_of_vectors() {
  return {
      {[](Taste& t) { t.lockstep = true; }, [](Taste& t) { t.lockstep = false; }},
      {[](Taste& t) { t.vector_rank = 1; }, [](Taste& t) { t.vector_rank = 2; }},
      {[](Taste& t) { t.task_seconds = 2e-6; }, [](Taste& t) { t.task_seconds = 1e-3; }},
      {[](Taste& t) { t.wide_vectors = 1; }, [](Taste& t) { t.wide_vectors = 2; },
       [](Taste& t) { t.wide_vectors = 8; }},
      {[](Taste& t) { t.accumulators = 1; }, [](Taste& t) { t.accumulators = 2; },
       [](Taste& t) { t.accumulators = 4; }, [](Taste& t) { t.accumulators = 8; }},
      {[](Taste& t) { t.memory_order = true; }, [](Taste& t) { t.memory_order = false; }},
      {[](Taste& t) { t.stages = false; }},
      {[](Taste& t) { t.streams = false; }},
      {[](Taste& t) { t.panel = false; }},
      {[](Taste& t) { t.splits = false; }},
      {[](Taste& t) { t.most_values = 0; }},
      {[](Taste& t) { t.prefetches = false; }},
  };
}

std::vector<Taste> drawn_tastes(const std::vector<Changes>& things, int count, std::mt19937_64& random) {
  std::vector<Taste> tastes;
  for (const Changes& changes : things)
    for (const Change change : changes) change(tastes.emplace_back());
  for (int drawn = 0; drawn < count; ++drawn) {
    Taste& taste = tastes.emplace_back();
    for (const Changes& changes : things)
      if (random() % 3 == 0) changes[random() % changes.size()](taste);
  }
  return tastes;
}

}  // namespace

const std::vector<Changes>& changes_for(const machine::Machine& machine) {
  static const std::vector<Changes> of_blocks = changes_of_blocks(), of_vectors = changes_of_vectors();
  return machine.max_threads > 1 ? of_blocks : of_vectors;
}

std::vector<Schedule> candidates(const loops::Program& nest, const machine::Machine& machine, int most,
                                 std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto& things = changes_for(machine);
  std::vector<Schedule> found;
  std::set<std::string> seen = {print(choose(nest, machine)), print(choose(nest, machine, Taste{}))};
  found.push_back(choose(nest, machine, Taste{}));
  for (const Taste& taste : drawn_tastes(things, 4 * most, random)) {
    Schedule schedule = choose(nest, machine, taste);
    if (!seen.insert(print(schedule)).second || why_illegal(nest, schedule)) continue;
    found.push_back(std::move(schedule));
  }
  // Of each sort some: those that change one thing stand first and are not all there is room for.
  if (found.size() > static_cast<std::size_t>(most)) {
    std::shuffle(found.begin(), found.end(), random);
    found.resize(static_cast<std::size_t>(most));
  }
  return found;
}

}  // namespace twinloom::schedule
