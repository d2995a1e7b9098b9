// The manual of the program for man(1), from the same texts as --help.
#pragma once

#include <span>
#include <string>

#include "tools/twinloom/command_line.h"

namespace twinloom::tool {

// In the macros of man(7).
std::string manual(std::span<const CommandLine> commands, const std::string& program,
                   const std::string& version);

}  // namespace twinloom::tool
