// Heuristics: whether rows whose neighbours lie beside each other in memory are walked by neighbouring
// threads, each by one, or each by several that lie far apart.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// Of what a sibling does with an element of its row, at most.
struct OfElement {
  std::int64_t loads = 0, accumulators = 0;
};
OfElement most_of_element(const Situation& situation) {
  OfElement most;
  for (std::size_t number = 0; number < situation.siblings.size(); ++number) {
    const auto is_load = [&](const Access& access) {
      return access.sibling == static_cast<int>(number) && !access.store;
    };
    const auto is_step = [](const auto& inner) {
      return std::holds_alternative<loops::Accumulate>(inner->node);
    };
    most.loads = std::max<std::int64_t>(most.loads, std::ranges::count_if(situation.accesses, is_load));
    most.accumulators = std::max<std::int64_t>(
        most.accumulators, std::ranges::count_if(situation.siblings[number]->inner, is_step));
  }
  return most;
}

// Rows that lie side by side and that a thread takes together, of one sum of each. Of several siblings it
// keeps the elements of one row.
std::int64_t packed_rows(const Situation& situation) {
  const bool sums = situation.siblings.size() == 1 &&
                    reach_of(situation.shape, *situation.siblings.front()) == Reach::canonical;
  return sums ? situation.words_along(situation.shape.common[situation.vector_axis]) : 1;
}

// Whether a thread a row would leave the machine idle, and be cut into parts. Then each also walks its row by
// some lanes of all units after the other, and so memory in steps of several rows, where several threads walk
// it as it lies. The accumulators of their lanes of a unit fit the registers of a multiprocessor that runs
// one block; where a thread a row and part fills the machine, what they load too, and those of one that is
// full.
bool are_few(const Situation& situation) {
  const machine::Machine& machine = situation.machine;
  if (machine.max_threads == 1 || situation.siblings.empty() ||
      reach_of(situation.shape, *situation.siblings.front()) != Reach::canonical)
    return false;
  const double threads = static_cast<double>(machine.blocks_at_once) * machine::BLOCK_THREADS;
  const std::int64_t length = situation.usual(situation.siblings.front()->loops.back());
  if (situation.rows() * THREADS_OF_FEW_ROWS > threads || length <= loops::UNIT) return false;
  const std::int64_t block = FEW_ROWS_BLOCKS * machine::BLOCK_THREADS;
  const std::int64_t lanes = loops::LANES * FEW_ROWS_BESIDE / block, packed = packed_rows(situation);
  const auto [loads, accumulators] = most_of_element(situation);
  const auto parts = static_cast<double>(ceil_div(length, loops::UNIT));
  if (situation.rows() / static_cast<double>(packed) * parts < threads)
    return lanes * packed * accumulators + OWN_REGISTERS <= machine.registers_each / block;
  return lanes * (loads + accumulators) + OWN_REGISTERS <= machine.registers_each / machine.max_threads;
}

}  // namespace

std::optional<Beside> rows_beside(const Situation& situation) {
  if (!situation.lockstep || situation.shape.columns || situation.siblings.empty() || situation.rows_vary())
    return std::nullopt;
  std::int64_t wanted = situation.parameters.beside(), blocks = 1;
  if (wanted == 0 && are_few(situation)) wanted = FEW_ROWS_BESIDE, blocks = FEW_ROWS_BLOCKS;
  if (wanted == 0) return std::nullopt;
  const NestLoop& first = situation.siblings.front()->loops.back();
  for (const loops::Sibling* sibling : situation.siblings) {
    const bool same = sibling->loops.size() == 1 && sibling->loops.back().extent == first.extent;
    if (!same || reach_of(situation.shape, *sibling) == Reach::scan) return std::nullopt;
  }
  const NestLoop& fast = situation.shape.common[situation.vector_axis];
  const auto most = situation.most(fast);
  const auto length = situation.most(first).value_or(loops::LANES);
  Beside beside;
  beside.packed = packed_rows(situation);
  beside.rows = wanted;
  if (most)
    beside.rows =
        std::min(wanted, next_power_of_two(std::max<std::int64_t>(ceil_div(*most, beside.packed), 1)));
  const std::int64_t span = next_power_of_two(std::clamp<std::int64_t>(length, 1, loops::LANES));
  beside.threads = std::min(situation.block_threads() * blocks / beside.rows, span);
  if (beside.rows < 2 || beside.threads < 2) return std::nullopt;
  return beside;
}

bool walks_rows_in_threads(const Situation& situation) {
  if (situation.shape.columns || rows_beside(situation)) return false;
  return situation.lockstep || std::ranges::any_of(situation.siblings, [&](const loops::Sibling* sibling) {
           return reach_of(situation.shape, *sibling) == Reach::scan &&
                  (situation.usual(sibling->loops.back()) < situation.parameters.least_scanned() ||
                   !scans_stand_alone(*sibling));
         });
}

}  // namespace twinloom::schedule
