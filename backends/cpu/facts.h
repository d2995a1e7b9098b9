// What schedules may know of this CPU: cores and caches from the system, bandwidths estimated from them.
#pragma once

#include "backends/cpu/isa.h"
#include "core/machine/machine.h"

namespace twinloom::cpu {

int usable_cores();  // that this process may run on
machine::Machine machine_of(const Isa& isa, int threads, double worth_a_thread_seconds);

}  // namespace twinloom::cpu
