// The CPU as a back end: programs become C++ over vectors, and machine code in this process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/machine/calibration.h"
#include "core/object_cache/object_cache.h"
#include "core/runtime/backend.h"

namespace twinloom::cpu {

struct CpuOptions {
  std::string isa = {};                   // "avx2" or "avx512"; empty: the widest that this CPU has
  int threads = 0;                        // that a kernel may use; 0: one for each CPU of this process
  double worth_a_thread_seconds = 15e-6;  // kernels with less work run on the calling thread
  bool compile_only = false;              // accepts an isa that this CPU lacks; kernels then must not be run
  std::string dump_directory = {};        // where text goes that the compiler rejects; empty: nowhere
  // Where machine code is kept for other processes; null: nowhere, each kernel is compiled.
  std::shared_ptr<const object_cache::ObjectCache> cache = nullptr;
  machine::Calibrations calibrations = {};  // null: the machine is what the system tells
};

// Error when the isa is unknown or this CPU does not have it.
std::unique_ptr<runtime::Backend> make_cpu(const CpuOptions& options = {});

// Has the machine of that instruction set, also where this CPU lacks it, and makes no kernels: for programs
// that are only looked at. Error when the isa is unknown.
std::shared_ptr<const runtime::Backend> make_planner(const std::string& isa,
                                                     const machine::Calibrations& calibrations = {});

// Compiles for other processes: what it builds has Built::code and no kernel. For any known instruction set,
// by the caches and threads of this CPU.
std::shared_ptr<const runtime::Backend> make_exporter(const CpuOptions& options);

// Runs what an exporter compiled, on the CPU that is here, and compiles nothing: it needs neither Clang nor
// LLVM.
std::unique_ptr<runtime::Backend> make_loader(const CpuOptions& options = {});

// The instruction sets that this CPU has, widest last.
std::vector<std::string> supported_isas();

}  // namespace twinloom::cpu
