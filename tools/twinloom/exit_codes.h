// What the program exits with, and what that means: THE table, from which --help and the manual are.
#pragma once

#include <array>
#include <string_view>

namespace twinloom::tool {

struct ExitCode {
  int number;
  std::string_view words;
};

namespace exits {
inline constexpr int done = 0, different = 1, wrong_input = 2, bug = 3, wrong_command_line = 64;
}

inline constexpr std::array<ExitCode, 5> exit_codes = {{
    {exits::done, "done"},
    {exits::different, "a difference was found"},
    {exits::wrong_input, "wrong input"},
    {exits::bug, "a bug in Twinloom"},
    {exits::wrong_command_line, "wrong command line"},
}};

}  // namespace twinloom::tool
