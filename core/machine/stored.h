// Machines as they were measured, for programs that are made where none of them is.
#pragma once

#include "core/machine/machine.h"

namespace twinloom::machine {

// An NVIDIA H200 (Hopper, 132 multiprocessors; a copy was measured at 4297 GB/s).
Machine h200();

}  // namespace twinloom::machine
