// The accumulators of a sibling, with the names they have on the way. For the inside of this component.
#pragma once

#include <functional>
#include <vector>

#include "core/schedule/build.h"

namespace twinloom::schedule {

struct SiblingTotal {
  loops::Start start;
  Temp lanes;  // has the copies that the innermost statements merge into
  Temp unit;   // canonical: of one unit
  Temp group;  // canonical: of the units that threads walk side by side; else the unit's
  Temp stack;  // canonical: of units or groups
};

// Under the names of the nest, without a stack.
std::vector<SiblingTotal> totals_of(const SiblingSource& source);

// The statements inside all loops: each Accumulate becomes a Merge into what `target` names.
Ref<Stmt> merge_inner(const SiblingSource& source, const Surroundings& around,
                      const std::function<Temp(Temp)>& target);

}  // namespace twinloom::schedule
