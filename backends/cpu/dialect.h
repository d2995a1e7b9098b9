// C++ over Clang's vectors: the language of kernels for the CPU.
#pragma once

#include "backends/cpu/isa.h"
#include "core/emit/device_dialect.h"
#include "jit/clang_compiler.h"

namespace twinloom::cpu {

class CpuDialect : public emit::DeviceDialect {
 public:
  std::string head(const loops::Program& program) const override;
  std::vector<std::string> opening(const loops::Program& program) const override;
  std::string task(const std::string& task, std::int64_t blocks) const override;
  std::string array(const std::string& type, const std::string& name, const std::string& count,
                    loops::Place place) const override;
  std::string sync() const override { return {}; }
  bool transposes(ops::DType dtype, int count) const override;
  bool loads_every(std::int64_t stride, int lanes) const override;
  std::string slot_attributes() const override { return " __attribute__((always_inline))"; }
  bool has_threads() const override { return false; }
};

// What every kernel's text begins with, and the headers behind it.
std::string prelude();
// The same compiled when the project was built, for this instruction set.
std::string_view precompiled_prelude(const Isa& isa);
std::vector<jit::VirtualFile> all_headers();
std::vector<jit::VirtualFile> cpu_headers();  // those of backends/cpu/device
std::vector<jit::VirtualFile> abi_headers();  // core/emit/abi.h

}  // namespace twinloom::cpu
