// Heuristics: whether rows whose neighbours lie beside each other in memory are walked by neighbouring
// threads, each by one, or each by several that lie far apart.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

// Registers that an element takes: what it loads, and its accumulators.
std::int64_t registers_of_element(const Situation& situation) {
  std::int64_t most = 1;
  for (std::size_t number = 0; number < situation.siblings.size(); ++number) {
    std::int64_t registers = 0;
    for (const Access& access : situation.accesses)
      registers += access.sibling == static_cast<int>(number) && !access.store ? 1 : 0;
    for (const auto& inner : situation.siblings[number]->inner)
      registers += std::holds_alternative<loops::Accumulate>(inner->node) ? 1 : 0;
    most = std::max(most, registers);
  }
  return most;
}

// Whether a thread a row would leave the machine idle, and be cut into parts. Then each also walks its row by
// some lanes of all units after the other, and so memory in steps of several rows, where several threads walk
// it as it lies. Their lanes of a unit fit registers where all threads of a multiprocessor have a block or
// two.
bool are_few(const Situation& situation) {
  const machine::Machine& machine = situation.machine;
  if (machine.max_threads == 1 || situation.siblings.empty() ||
      reach_of(situation.shape, *situation.siblings.front()) != Reach::canonical)
    return false;
  const double threads = static_cast<double>(machine.blocks_at_once) * machine::BLOCK_THREADS;
  const std::int64_t lanes = loops::LANES * FEW_ROWS_BESIDE / (FEW_ROWS_BLOCKS * machine::BLOCK_THREADS);
  return situation.rows() * THREADS_OF_FEW_ROWS <= threads &&
         situation.usual(situation.siblings.front()->loops.back()) > loops::UNIT &&
         lanes * registers_of_element(situation) + OWN_REGISTERS <=
             machine.registers_each / machine.max_threads;
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
  const auto most = situation.most(situation.shape.common[situation.vector_axis]);
  const auto length = situation.most(first).value_or(loops::LANES);
  Beside beside;
  beside.rows = most ? std::min(wanted, next_power_of_two(std::max<std::int64_t>(*most, 1))) : wanted;
  const std::int64_t span = next_power_of_two(std::clamp<std::int64_t>(length, 1, loops::LANES));
  beside.threads = std::min(situation.parameters.block_threads() * blocks / beside.rows, span);
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
