// Measures what machine::Machine holds and no system tells, by kernels of the back end's own: bandwidths,
// latencies, rates, and what starting takes. Some seconds; nothing else should run meanwhile.
#pragma once

#include "core/runtime/backend.h"

namespace twinloom::measure {

// The back end's machine with what was measured, rounded. Error where its kernels cannot be run, or there is
// too little memory.
machine::Machine calibrate(const runtime::Backend& backend);

}  // namespace twinloom::measure
