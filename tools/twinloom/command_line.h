// What the command line is, as the parser itself knows it: for shell completion and the manual.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace twinloom::tool {

// What an option takes, as --help shows it, and what that means to a shell.
namespace takes {
inline constexpr const char* file = "FILE";
inline constexpr const char* folder = "FOLDER";
// "a|b|c": one of these.
std::string one_of(const std::vector<std::string>& choices);
}  // namespace takes

struct OptionLine {
  std::vector<std::string> names;  // "-h", "--help"; empty: it has a place instead of a name
  std::string value;               // that it takes, "FILE"; empty where it takes none
  std::string description;
  bool several = false;  // values
  bool takes_file() const { return value == takes::file; }
  bool takes_folder() const { return value == takes::folder; }
  // What can be typed of "a|b|c:N": without what stands for something else.
  std::vector<std::string> choices() const;
};

struct CommandLine {
  std::vector<std::string> path;  // "cache", "list"; none: the program
  std::string description, notes;
  std::vector<OptionLine> options, places;
  std::vector<std::string> commands;  // one of which follows
  std::string name() const;           // "cache list"
};

// The program first, and each command before its own.
std::vector<CommandLine> command_lines(const CLI::App& program);

}  // namespace twinloom::tool
