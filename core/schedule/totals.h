// What panel.cpp shares with totals.cpp. For the inside of this component.
#pragma once

#include <functional>

#include "core/schedule/build.h"

namespace twinloom::schedule {

// The statements inside all loops: each Accumulate becomes a Merge into what `target` names.
Ref<Stmt> merge_inner(const SiblingSource& source, const Surroundings& around,
                      const std::function<Temp(Temp)>& target);

}  // namespace twinloom::schedule
