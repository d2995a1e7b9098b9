// LLVM's form to machine code: the pass pipeline and the code generator of one target.
// Used by clang_compiler.cpp alone; no other room includes it.
#pragma once

#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <mutex>
#include <string>
#include <vector>

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

// The code generator of one target. Any number of threads may use it at once.
class CodeGenerator {
 public:
  explicit CodeGenerator(MachineTarget target);
  ~CodeGenerator();

  // Optimises and translates the module, which is changed. The times of both are set in `object`, its
  // bytes are the output. What LLVM rejects goes to the diagnostic handler of the module's context.
  void run(llvm::Module& module, Output output, Object& object);

 private:
  std::unique_ptr<llvm::TargetMachine> take_machine();
  void give_back(std::unique_ptr<llvm::TargetMachine> machine);

  MachineTarget target_;
  std::mutex mutex_;
  // LLVM's description of the target costs half a millisecond to make and serves one module at a time.
  std::vector<std::unique_ptr<llvm::TargetMachine>> idle_machines_;
};

}  // namespace twinloom::jit
