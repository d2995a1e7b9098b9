// Inside of the component: brings operands, and constants for good, into the order that a primitive wants.
#pragma once

#include "backends/cpu/onednn.h"

namespace twinloom::cpu {

// Runs a reorder of what lies so at one address to another.
void run_reorder(const onednn::Primitive& reorder, onednn::Handle from_description, void* from,
                 onednn::Handle to_description, void* to);

// Copies a constant from one description to another, by parts where it is large: what has been copied of a
// file is given back to the system.
void pack(onednn::Handle given, void* address, onednn::Handle copied, void* copy);

}  // namespace twinloom::cpu
