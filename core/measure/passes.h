// Kernels that pass over memory `rounds` times, for calibrate.cpp. For the inside of this room.
#pragma once

#include "core/runtime/backend.h"

namespace twinloom::measure {

enum class Pass : std::uint8_t { copy, read, write, stream };  // stream: past the caches

// One task, by whole vectors of f32 or i32: arguments x[elements] (write, stream: none) and y, sizes
// `elements` (a multiple of passed_elements) and `rounds`.
loops::Program cpu_pass(Pass pass, const machine::Machine& machine);
std::int64_t passed_elements(const machine::Machine& machine);

// The same without memory: `ARITHMETIC` vector instructions an iteration, which wait for nothing.
constexpr int ARITHMETIC = 8;
loops::Program cpu_arithmetic(const machine::Machine& machine);

// `elements` tasks that do next to nothing.
loops::Program cpu_tasks();

}  // namespace twinloom::measure
