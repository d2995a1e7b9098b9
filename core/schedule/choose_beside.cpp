// Heuristics: whether rows whose neighbours lie beside each other in memory are walked by neighbouring
// threads, each by one, or each by several that lie far apart.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::NestLoop;

std::optional<Beside> rows_beside(const Situation& situation) {
  const std::int64_t wanted = situation.parameters.beside;
  if (wanted == 0 || !situation.lockstep || situation.shape.columns || situation.siblings.empty() ||
      situation.rows_vary())
    return std::nullopt;
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
  beside.threads = std::min(situation.parameters.block_threads / beside.rows, span);
  if (beside.rows < 2 || beside.threads < 2) return std::nullopt;
  return beside;
}

bool walks_rows_in_threads(const Situation& situation) {
  if (situation.shape.columns || rows_beside(situation)) return false;
  return situation.lockstep || std::ranges::any_of(situation.siblings, [&](const loops::Sibling* sibling) {
           return reach_of(situation.shape, *sibling) == Reach::scan &&
                  (situation.usual(sibling->loops.back()) < situation.parameters.least_scanned ||
                   !scans_stand_alone(*sibling));
         });
}

}  // namespace twinloom::schedule
