// Random schedules of a nest: named pieces that exist, in orders and with binds that the law may refuse.
#pragma once

#include <random>

#include "core/schedule/schedule.h"

namespace twinloom::tests {

schedule::Schedule random_schedule(const loops::Program& nest, std::mt19937_64& random);

// A legal schedule that nobody chose, which the machine can run: one drawn as above, or one of the candidates
// of the heuristics, as drawn ones have no threads. As chosen where there is no other.
schedule::Schedule legal_schedule(const loops::Program& nest, const machine::Machine& machine,
                                  std::uint64_t seed);

}  // namespace twinloom::tests
