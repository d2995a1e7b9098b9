// Inside of the component: what the calls of a library have in memory besides the operands of a run.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "backends/cpu/onednn.h"

namespace twinloom::cpu {

// Of one call, aligned as vectors want it. Error where there is none.
std::shared_ptr<std::byte> call_memory(std::size_t bytes);

// Of a constant in a library's order, which every run reads. Those of many calls lie side by side in huge pages:
// ResNet-50's 102 MB in pages of 4 KiB took a run 3.5 % longer (an EPYC, a virtual machine, 2026-11-28).
// Pages are given back when nobody has memory in them. Thread-safe. Error where there is none.
std::shared_ptr<std::byte> packed_memory(std::size_t bytes);

// Runs a primitive, with a scratchpad of this run.
void execute(onednn::Handle stream, const onednn::Primitive& primitive, std::vector<onednn::Argument> arguments);

// Copies a constant from one description to another, by parts where it is large: what has been copied of a file
// is given back to the system.
void pack(onednn::Handle stream, onednn::Handle given, void* address, onednn::Handle copied, void* copy);

}  // namespace twinloom::cpu
