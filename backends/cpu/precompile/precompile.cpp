// Runs while the project is built: compiles the prelude of kernels for each instruction set, so that no
// process has to do it again. The result is put into the library by preludes.cpp.
//   precompile FOLDER     writes FOLDER/NAME.pch for each instruction set
#include <fstream>
#include <iostream>

#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"

int main(int count, char** words) {
  using namespace twinloom;
  if (count != 2) {
    std::cerr << "usage: precompile FOLDER\n";
    return 2;
  }
  try {
    for (const cpu::Isa& isa : cpu::all_isas()) {
      const jit::Compiler compiler(isa.target, cpu::all_headers(), cpu::prelude());
      std::ofstream file(cat(words[1], "/", isa.name, ".pch"), std::ios::binary);
      file << compiler.precompiled();
      file.close();
      if (!file) throw std::runtime_error(cat(words[1], "/", isa.name, ".pch cannot be written"));
    }
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
