// LLVM's form to machine code: the pass pipeline and the code generator of one target.
// Used by clang_compiler.cpp alone; no other room includes it.
#pragma once

#include <llvm/IR/Module.h>

#include <string>

#include "jit/object.h"

namespace twinloom::jit {

inline constexpr const char* target_triple = "x86_64-pc-linux-gnu";

enum class Output {
  object,    // a relocatable ELF file
  assembly,  // text for people
};

// The passes, as LLVM spells a pipeline.
const char* pass_pipeline();

struct MachineTarget {
  std::string cpu;
  std::string features;  // "+a,+b"
};

// Optimises and translates the module, which is changed. The times of both are set in `object`, its bytes
// are the output. What LLVM rejects (an unknown instruction in inline assembly) is a Bug.
void generate_code(llvm::Module& module, const MachineTarget& target, Output output, Object& object);

}  // namespace twinloom::jit
