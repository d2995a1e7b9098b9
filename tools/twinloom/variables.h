// The variables of the environment that the program and the library read, for --help and the manual.
#pragma once

#include <array>
#include <string_view>

namespace twinloom::tool {

struct Variable {
  std::string_view name, words;
};

inline constexpr std::array<Variable, 3> variables = {{
    {"TWINLOOM_LOG",
     "Logs on the error stream, with commas between them: fusion, schedule, guards, code, cache; or all"},
    {"TWINLOOM_CACHE_DIR",
     "Where compiled kernels are kept, else XDG_CACHE_HOME/twinloom, else HOME/.cache/twinloom"},
    {"TWINLOOM_CACHE_BYTES", "At most so many bytes of them, 1 GiB where it is not set; 0: none are kept"},
}};

}  // namespace twinloom::tool
