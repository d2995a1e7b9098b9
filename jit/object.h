// What comes out of the compiler and goes into a session: one relocatable object (ELF) as bytes. It may
// be kept on disk and loaded by another process of the same kind of machine: it holds no addresses.
#pragma once

#include <string>

namespace twinloom::jit {

// Seconds of wall time that each part of one compilation took.
struct CompileTimes {
  double parse = 0;     // text to LLVM's form, the set-up of Clang included
  double optimise = 0;  // the pass pipeline
  double codegen = 0;   // LLVM's form to machine code
};

struct Object {
  std::string name;    // of the text it was compiled from; for messages
  std::string bytes;   // a relocatable ELF file
  CompileTimes times;  // zero when the object was read from a cache
};

}  // namespace twinloom::jit
