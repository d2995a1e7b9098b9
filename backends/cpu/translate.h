// A program as the text of a kernel, and the key under which its machine code is kept.
//   KernelText text = translator.text(program);        // nothing of Clang is started for this
//   jit::Object object = translator.object(text, program.name);
#pragma once

#include <optional>
#include <string>

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "core/loops/loops.h"
#include "core/object_cache/key.h"
#include "jit/clang_compiler.h"

namespace twinloom::cpu {

using object_cache::KernelText;

// Thread-safe.
class Translator {
 public:
  // A text that Clang rejects is also written to `dump_directory`, unless that is empty.
  explicit Translator(const Isa& isa, const std::string& dump_directory = {});

  KernelText text(const loops::Program& program) const;
  // Another key of its machine code, where this build says what it is: without the text, which takes longer.
  std::optional<object_cache::Key> key(const loops::Program& program) const;
  jit::Object object(const KernelText& text, const std::string& name) const;

 private:
  std::string target_;
  CpuDialect dialect_;
  jit::Compiler compiler_;
};

}  // namespace twinloom::cpu
