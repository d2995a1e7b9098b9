// Inside of the component: runs the library's primitives, and brings constants into the order that they want.
#pragma once

#include <cstddef>
#include <vector>

#include "backends/cpu/onednn.h"

namespace twinloom::cpu {

// Runs a primitive, with a scratchpad of this run.
void execute(onednn::Handle stream, const onednn::Primitive& primitive,
             std::vector<onednn::Argument> arguments);

// Runs a reorder of what lies so at one address to another.
void run_reorder(onednn::Handle stream, const onednn::Primitive& reorder, onednn::Handle from_description,
                 void* from, onednn::Handle to_description, void* to);

// Copies a constant from one description to another, by parts where it is large: what has been copied of a
// file is given back to the system.
void pack(onednn::Handle stream, onednn::Handle given, void* address, onednn::Handle copied, void* copy);

}  // namespace twinloom::cpu
