// The line at a terminal that says how far a command is: there while it takes long, and gone at its end.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/base/text.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

constexpr std::string_view ERASE = "\r\x1b[K";

// What a person sees in the end, line by line.
std::vector<std::string> screen_of(const std::string& output) {
  std::vector<std::string> lines(1);
  std::size_t column = 0;
  for (std::size_t at = 0; at < output.size(); ++at) {
    std::string& line = lines.back();
    if (output[at] == '\n') {
      lines.emplace_back();
      column = 0;
    } else if (output[at] == '\r') {
      column = 0;
    } else if (output.compare(at, 3, "\x1b[K") == 0) {
      line.resize(std::min(line.size(), column));
      at += 2;
    } else {
      line.resize(std::max(line.size(), column + 1), ' ');
      line[column++] = output[at];
    }
  }
  return lines;
}

std::string seen(const std::string& output) {
  return join(screen_of(output), "\n", [](const std::string& line) { return line; });
}

class ToolProgress : public testing::Test {
 protected:
  ToolProgress() { place.write("softmax.fx", softmax_text); }
  Workplace place;
};

TEST_F(ToolProgress, ALongCommandSaysHowFarItIsAndErasesIt) {
  const Outcome done = place.run_in_terminal("bench softmax.fx --seconds 2");
  EXPECT_CODE(done, 0);
  EXPECT_SAYS(done, "twinloom bench: ");
  EXPECT_SAYS(done, " (1 s)");
  EXPECT_EQ(seen(done.output).find("twinloom bench: "), std::string::npos) << seen(done.output);
  EXPECT_NE(seen(done.output).find("peak memory"), std::string::npos) << seen(done.output);
}

TEST_F(ToolProgress, ALineIsNoLongerThanTheTerminalIsWide) {
  const Outcome done = place.run_in_terminal("bench softmax.fx --seconds 2", /*columns=*/20);
  EXPECT_CODE(done, 0);
  std::size_t drawn = 0;
  for (std::size_t at = done.output.find(ERASE); at != std::string::npos;
       at = done.output.find(ERASE, at + 1)) {
    const std::size_t begin = at + ERASE.size(), end = done.output.find_first_of("\r\n", begin);
    if (done.output.compare(begin, 9, "twinloom ") != 0) continue;
    EXPECT_LT(end - begin, 20U) << done.output.substr(begin, end - begin);
    ++drawn;
  }
  EXPECT_GT(drawn, 0U) << done.output;
}

TEST_F(ToolProgress, WhatIsPrintedMeanwhileIsWhole) {
  const Outcome failed = place.run_in_terminal("bench softmax.fx nothing.fx softmax.fx --seconds 0.8");
  EXPECT_CODE(failed, 2);
  EXPECT_SAYS(failed, " s)");
  bool said = false;
  for (const std::string& line : screen_of(failed.output))
    said |= line == "error: nothing.fx: cannot read 'nothing.fx'";
  EXPECT_TRUE(said) << seen(failed.output);
  EXPECT_EQ(seen(failed.output).find("twinloom bench: "), std::string::npos) << seen(failed.output);
}

TEST_F(ToolProgress, AQuickCommandShowsNothing) {
  const Outcome done = place.run_in_terminal("run softmax.fx --device reference");
  EXPECT_CODE(done, 0);
  EXPECT_EQ(done.output.find('\x1b'), std::string::npos) << done.output;
}

TEST_F(ToolProgress, NothingIsShownWhereThereIsNoTerminal) {
  for (const std::string& output :
       {place.run("bench softmax.fx --seconds 1.5").output,
        place.run_in_terminal("bench softmax.fx --seconds 1.5 2>errors", 80).output,
        place.run_in_terminal("bench softmax.fx --seconds 1.5", 80, "dumb").output}) {
    EXPECT_EQ(output.find('\x1b'), std::string::npos) << output;
    EXPECT_EQ(output.find("twinloom bench: "), std::string::npos) << output;
  }
  EXPECT_EQ(place.read("errors"), "");
}

}  // namespace
}  // namespace twinloom::tests
