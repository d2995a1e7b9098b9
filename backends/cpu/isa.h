// Instruction sets, chosen by what CPUID says the CPU can do, never by its name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jit/clang_compiler.h"

namespace twinloom::cpu {

struct Isa {
  std::string name;  // "avx2", "avx512"
  jit::Target target;
  int vector_bytes;
  int vector_registers;
  bool masked_memory;  // of every element type, at the cost of a plain load
};

std::vector<Isa> all_isas();        // narrowest first
bool is_supported(const Isa& isa);  // by this CPU
// The one of that name, or the widest supported where it is empty. Error as make_cpu says.
Isa choose_isa(std::string_view name, bool compile_only);

}  // namespace twinloom::cpu
