// The functions of this process that compiled code may call without the text naming them: LLVM puts in
// calls for large copies, for remainders of floats, for rounding to 16-bit floats and for wide division.
#pragma once

#include <string>
#include <vector>

namespace twinloom::jit {

struct HostSymbol {
  std::string name;
  void* address = nullptr;
};

std::vector<HostSymbol> default_host_symbols();

}  // namespace twinloom::jit
