// The command line as a shell needs it to complete commands, options and their values.
#pragma once

#include <span>
#include <string>

#include "tools/twinloom/command_line.h"

namespace twinloom::tool {

// A script for the shell to read; `program` is what is typed.
std::string bash_completion(std::span<const CommandLine> commands, const std::string& program);
std::string zsh_completion(std::span<const CommandLine> commands, const std::string& program);
std::string fish_completion(std::span<const CommandLine> commands, const std::string& program);

}  // namespace twinloom::tool
