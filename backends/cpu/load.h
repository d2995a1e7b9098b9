// Kernels of machine code that another process compiled: runtime::Code holds one packed jit::CodeImage. Needs
// no compiler.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/isa.h"
#include "core/machine/machine.h"
#include "core/runtime/backend.h"

namespace twinloom::cpu {

// "cpu avx2": what machine code for the instruction set is made for.
std::string target_of(const Isa& isa);

// "cpu: avx2, 4 threads"
std::string device_line(const Isa& isa, int threads);

// What a processor that uses this instruction set runs, the best first.
std::vector<std::string> loaded_targets(const Isa& isa);

// Error where the code is none.
std::unique_ptr<const runtime::Kernel> load_kernel(const loops::Program& program, const runtime::Code& code,
                                                   const machine::Machine& machine);

}  // namespace twinloom::cpu
