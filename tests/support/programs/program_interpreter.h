// A back end without machine code: it schedules for a machine, as that machine's own would, and interprets
// the programs, so that the meaning of the loop form takes the place of the compiler.
#pragma once

#include <functional>
#include <memory>

#include "core/runtime/backend.h"

namespace twinloom::tests {

// Blocks run from the last to the first. Programs whose blocks have threads run twice, these from the first
// to the last and back: Bug where the two differ in a byte. `look` sees each program that is made. Of a
// machine with a library's rate every contraction is planned as a call of it.
std::shared_ptr<const runtime::Backend> interpreter_of_programs(
    machine::Machine machine, std::function<void(const loops::Program&)> look = {});

}  // namespace twinloom::tests
