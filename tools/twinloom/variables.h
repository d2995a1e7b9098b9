// The variables of the environment that the program and the library read, for --help and the manual.
#pragma once

#include <array>
#include <string_view>

namespace twinloom::tool {

struct Variable {
  std::string_view name, words;
};

inline constexpr std::array<Variable, 6> variables = {{
    {"TWINLOOM_LOG",
     "Logs on the error stream, with commas between them: fusion, schedule, guards, code, cache; or all"},
    {"TWINLOOM_CACHE_DIR",
     "Where compiled kernels are kept, else XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom"},
    {"TWINLOOM_CACHE_BYTES", "At most so many bytes of them, 1 GiB where it is not set; 0: none are kept"},
    {"TWINLOOM_ONEDNN",
     "oneDNN's library or its folder, else it is looked for; 0: products and convolutions of CPUs are "
     "generated"},
    {"TWINLOOM_CUBLAS",
     "cuBLASLt's library or its folder, else it is looked for; 0: products of GPUs are generated"},
    {"TWINLOOM_CUDA_PATH",
     "Folders with CUDA's libraries, with colons between them, before the others that are searched"},
}};

}  // namespace twinloom::tool
