// The built program, run end to end in a folder of its own.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

struct Outcome {
  int code = -1;       // what the program exits with; -1 where it was ended by a signal
  std::string output;  // of both streams
};

#define EXPECT_CODE(outcome, expected) EXPECT_EQ((outcome).code, expected) << (outcome).output
#define EXPECT_SAYS(outcome, words) \
  EXPECT_NE((outcome).output.find(words), std::string::npos) << (outcome).output

// How often the words stand in the text.
std::size_t count_of(const std::string& text, std::string_view words);

class Workplace {
 public:
  // twinloom ARGUMENTS, in the folder, with a cache of compiled kernels there. The arguments go through the
  // shell.
  Outcome run(std::string_view arguments) const { return run_with("", arguments); }
  // The same with variables of the environment, as the shell spells them.
  Outcome run_with(std::string_view variables, std::string_view arguments) const;
  // The same in a terminal of so many columns and of the kind that TERM names; lines end in "\r\n", and what
  // goes to the terminal is the output.
  Outcome run_in_terminal(std::string_view arguments, int columns = 80,
                          std::string_view kind = "xterm") const;
  // A command of the shell, in the folder.
  Outcome shell(std::string_view command) const;
  void write(std::string_view name, std::string_view text) const;
  std::string read(std::string_view name) const;
  std::string file(std::string_view name) const { return folder_.file(name); }

 private:
  std::string command_line(std::string_view variables, std::string_view arguments) const;
  ScratchFolder folder_;
};

// y = softmax(x * 2, 1) of x: f32[s0, 8].
extern const char* const softmax_text;
// Rows of a table found by integers, and their sum: a gather and a reduction.
extern const char* const lookup_text;
extern const char* const scatters_text;  // one element a row, and many at a place

}  // namespace twinloom::tests
