// Back ends that plan for stored machines and write sources: what they make depends on nothing of the machine
// that runs them, and no compiler is asked.
#pragma once

#include <memory>
#include <vector>

#include "core/runtime/backend.h"

namespace twinloom::tests {

// Named "cpu-avx2", "cpu-avx512" and "h200", as their machines are.
std::vector<std::shared_ptr<const runtime::Backend>> planners();

}  // namespace twinloom::tests
