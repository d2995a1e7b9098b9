// C++ text to machine code, by Clang and LLVM inside this process.
//   Compiler compiler({"x86-64-v3", {}, 256}, {{"device/kernel.h", text}}, "#include \"device/kernel.h\"\n");
//   Object object = compiler.compile("extern \"C\" void kernel(float* out) { ... }", "kernel_1");
// Every file that a text may include is handed in; the disk is never read and nothing is printed. The
// prelude is compiled once, in memory, and every text begins as if it had included it. What precompiled()
// gives can be kept, in a program or a file, and handed to a later Compiler, which then need not do that.
// Floating point is exact to the letter (no contraction, no reassociation), integers wrap, a cast out of
// range does not make the program undefined, and memory may be read through any type. There are no
// exceptions and no type information. Only functions marked always_inline are inlined; loops are neither
// vectorised nor unrolled: the text says itself what a vector is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "jit/object.h"

namespace twinloom::jit {

struct Target {
  std::string cpu;                    // a name that Clang knows, such as "x86-64-v3"
  std::vector<std::string> features;  // what the machine has beyond `cpu`, such as "avx512bf16"
  int vector_bits = 256;              // the widest register that vectors may use
};

struct VirtualFile {
  std::string path;       // as an #include spells it
  std::string_view text;  // is copied
};

class Compiler {
 public:
  // A text that Clang rejects is also written to `dump_directory`, unless that is empty.
  // `precompiled` must stay valid; one that was made of something else is left alone.
  Compiler(const Target& target, const std::vector<VirtualFile>& headers, std::string prelude,
           std::string dump_directory = {}, std::string_view precompiled = {});
  ~Compiler();
  Compiler(Compiler&&) noexcept;
  Compiler& operator=(Compiler&&) noexcept;

  // Any number of threads may compile at once. A text that Clang rejects, and a crash of Clang or LLVM,
  // are a Bug; its words hold the diagnostics with the lines they speak of. `name` is a plain file name.
  Object compile(const std::string& text, const std::string& name) const;

  // The same compilation as assembly text, for people and tests.
  std::string assembly(const std::string& text, const std::string& name) const;

  // Compiles the prelude if that has not happened yet. The first compile() does it otherwise.
  void prepare() const;
  // The compiled prelude, for the same target, headers and prelude in another process.
  std::string precompiled() const;

  // Everything besides the text that decides what the machine code is: version, target, flags, passes,
  // headers, prelude, and the sources of this room. Lines of a name and its text; for cache keys.
  const std::string& identity() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace twinloom::jit
