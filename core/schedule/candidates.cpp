// Schedules of a nest by other parameters of the heuristics. First the usual ones, then one parameter is
// changed alone, each of its values once, so that every sort of schedule has its share; then several are
// changed together.
#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <type_traits>

#include "core/loops/parts.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

template <class T>
Changes values_of(Parameter<T> Parameters::*which, std::initializer_list<std::type_identity_t<T>> values) {
  Changes changes;
  for (const T& value : values)
    changes.push_back({[=](Parameters& parameters) { parameters.*which = value; },
                       [=](const Parameters& parameters) { return (parameters.*which).matters(value); }});
  return changes;
}

Changes both(Changes changes, const Changes& others) {
  changes.insert(changes.end(), others.begin(), others.end());
  return changes;
}

std::vector<Changes> changes_of_blocks() {
  using Rows = Parameters::Rows;
  return {
      values_of(&Parameters::lockstep, {true, false}),
      values_of(&Parameters::vector_rank, {1, 2}),
      // Not 1024: of 31 pointwise nests measured on an H200 none was faster by more than 2 %, half of them by
      // more than 5 % slower than by 256.
      values_of(&Parameters::block_threads, {64, 128, 256, 512}),
      values_of(&Parameters::times, {1, 2, 4}),
      values_of(&Parameters::most_packed, {1, 2, 4}),
      values_of(&Parameters::tile, {0, 32, 128}),
      values_of(&Parameters::row_warps, {1, 8, 16}),
      values_of(&Parameters::row_threads, {4, 8, 16, 32}),
      values_of(&Parameters::beside, {1, 16, 32, 64}),
      values_of(&Parameters::warps, {1, 2, 4, 8, 16, 32}),
      values_of(&Parameters::repeats_last, {true}),
      values_of(&Parameters::scan_warps, {1, 4, 16}),
      values_of(&Parameters::scan_lanes, {false}),
      values_of(&Parameters::least_scanned, {1, 256}),
      values_of(&Parameters::scan_rows_written_out, {false}),
      values_of(&Parameters::column_lanes, {1, 2, 4, 8, 16}),
      values_of(&Parameters::kept_lanes, {4, 8, 32}),
      both(values_of(&Parameters::parts, {0.25, 4}), values_of(&Parameters::splits, {false})),
      values_of(&Parameters::rows, {Rows::nowhere, Rows::registers, Rows::scratch, Rows::cluster}),
      values_of(&Parameters::divisions, {Divisions::loads}),
      values_of(&Parameters::most_values, {0}),
      values_of(&Parameters::prefetches, {false}),
  };
}

std::vector<Changes> changes_of_vectors() {
  return {
      values_of(&Parameters::lockstep, {true, false}),
      values_of(&Parameters::vector_rank, {1, 2}),
      values_of(&Parameters::task_seconds, {2e-6, 1e-3}),
      values_of(&Parameters::wide_vectors, {1, 2, 8}),
      values_of(&Parameters::accumulators, {1, 2, 4, 8}),
      values_of(&Parameters::memory_order, {true, false}),
      values_of(&Parameters::stages, {false}),
      values_of(&Parameters::streams, {false}),
      values_of(&Parameters::panel, {true, false}),
      values_of(&Parameters::transposes, {false}),
      values_of(&Parameters::splits, {false}),
      values_of(&Parameters::most_values, {0}),
      values_of(&Parameters::prefetches, {false}),
  };
}

std::vector<Parameters> drawn_parameters(const std::vector<Changes>& things, int count,
                                         std::mt19937_64& random) {
  std::vector<Parameters> drawn(1);  // the usual ones
  for (const Changes& changes : things)
    for (const Change& change : changes) change.make(drawn.emplace_back());
  for (int number = 0; number < count; ++number) {
    Parameters& parameters = drawn.emplace_back();
    for (const Changes& changes : things)
      if (random() % 3 == 0) changes[random() % changes.size()].make(parameters);
  }
  return drawn;
}

}  // namespace

const std::vector<Changes>& changes_for(const machine::Machine& machine) {
  static const std::vector<Changes> of_blocks = changes_of_blocks(), of_vectors = changes_of_vectors();
  return machine.max_threads > 1 ? of_blocks : of_vectors;
}

std::vector<Schedule> choose_steps(const loops::Program& nest, const machine::Machine& machine) {
  std::vector<Schedule> schedules = choose_products(nest, machine);
  std::ranges::move(choose_updates(nest, machine), std::back_inserter(schedules));
  return schedules;
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
  for (Schedule& schedule : choose_steps(nest, machine)) consider(std::move(schedule));
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
