// Every command ends in a code of the table that --help, the manual and the README print.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include "core/base/error.h"
#include "tests/support/heard.h"
#include "tests/tool/onnx_folder.h"
#include "tests/tool/program.h"
#include "tools/twinloom/commands.h"

namespace twinloom::tests {
namespace {

struct Row {
  const char* command;
  const char* good;  // ends with 0
  const char* bad;
  int code;  // of the bad one
};
constexpr Row ROWS[] = {
    {"run", "softmax.fx", "nothing.fx", 2},
    {"verify", "softmax.fx", "softmax.fx --size s0=-1", 2},
    {"bench", "softmax.fx --seconds 0", "softmax.fx nothing.fx --seconds 0", 2},
    {"explain", "softmax.fx", "softmax.fx --device cpx", 2},
    {"dump", "softmax.fx", "softmax.fx --after nothing", 2},
    {"export", "softmax.fx --package softmax.twinloom", "softmax.fx --package nowhere/softmax.twinloom", 2},
    {"conformance", "relu", "nowhere", 2},
    {"cache", "list", "list more", 64},
    {"cache", "why-miss softmax.fx", "why-miss softmax.fx --device reference", 2},
    {"cache", "clear", "", 64},
    {"calibrate", "--show", "--show --clear", 64},
    {"calibrate", "--show", "--show --isa mmx", 2},
    {"devices", "", "more", 64},
    {"ops", "", "--frontend tf", 2},
    {"completion", "bash", "tcsh", 2},
    {"man", "", "--no-such-option", 64},
};

class ToolExitCodes : public testing::Test {
 protected:
  ToolExitCodes() {
    place.write("softmax.fx", softmax_text);
    write_onnx_folder(place.file("relu"));
  }
  Workplace place;
};

TEST_F(ToolExitCodes, EachCommandWellAndBadly) {
  for (const Row& row : ROWS) {
    EXPECT_CODE(place.run(cat(row.command, " ", row.good)), 0) << row.command << ' ' << row.good;
    EXPECT_CODE(place.run(cat(row.command, " ", row.bad)), row.code) << row.command << ' ' << row.bad;
    EXPECT_CODE(place.run(cat(row.command, " --help")), 0) << row.command;
  }
}

TEST_F(ToolExitCodes, TheTableAboveHasEveryCommand) {
  const std::string help = place.run("--help").output;
  std::istringstream lines(help.substr(help.find("Subcommands:")));
  std::set<std::string> commands, tested;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line.starts_with("  "))
    if (line[2] != ' ') commands.insert(line.substr(2, line.find(' ', 2) - 2));
  for (const Row& row : ROWS) tested.insert(row.command);
  EXPECT_EQ(commands, tested) << help;
}

TEST_F(ToolExitCodes, ADifferenceIs1) {
  EXPECT_CODE(place.run("run softmax.fx --outputs out.npz"), 0);
  EXPECT_CODE(place.run("run softmax.fx --seed 1 --expect out.npz"), 1);
}

TEST_F(ToolExitCodes, ABugIs3) {
  const std::vector<std::string> words = {"explain", place.file("softmax.fx")};
  const Heard heard;
  const int code =
      tool::run_program(words, [](std::string_view, const CpuOptions&) -> Device { throw Bug("no device"); });
  EXPECT_EQ(code, 3);
  EXPECT_EQ(heard.words(), "no device\n");
}

TEST_F(ToolExitCodes, HelpAndReadmeAndTheManualSayTheSame) {
  const std::string words =
      "0 done, 1 a difference was found, 2 wrong input, 3 a bug in Twinloom, 64 wrong command line";
  EXPECT_SAYS(place.run("--help"), "Exit codes: " + words);
  std::ifstream readme(std::string(TWINLOOM_SOURCE) + "/README.md");
  const std::string text{std::istreambuf_iterator<char>(readme), {}};
  EXPECT_NE(text.find("Exit codes: " + words), std::string::npos);
  const Outcome manual = place.run("man");
  EXPECT_SAYS(manual, ".SH EXIT STATUS\n");
  for (const char* item : {"\\fB0\\fR\ndone", "\\fB1\\fR\na difference was found", "\\fB2\\fR\nwrong input",
                           "\\fB3\\fR\na bug in Twinloom", "\\fB64\\fR\nwrong command line"})
    EXPECT_SAYS(manual, item);
}

// The texts "TWINLOOM_..." of the sources of what the program is made of.
std::set<std::string> variables_in_sources() {
  namespace fs = std::filesystem;
  std::set<std::string> found;
  for (const char* part : {"api", "backends", "core", "frontends", "jit"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(TWINLOOM_SOURCE) / part)) {
      if (entry.path().extension() != ".cpp" && entry.path().extension() != ".h") continue;
      std::ifstream file(entry.path());
      const std::string text{std::istreambuf_iterator<char>(file), {}};
      const std::regex variable("\"(TWINLOOM_[A-Z_]+)\"");
      for (std::sregex_iterator at(text.begin(), text.end(), variable), end; at != end; ++at)
        found.insert((*at)[1]);
    }
  }
  return found;
}

TEST_F(ToolExitCodes, HelpAndTheManualNameEveryVariableThatIsRead) {
  const std::set<std::string> read = variables_in_sources();
  EXPECT_TRUE(read.contains("TWINLOOM_ONEDNN"));
  const Outcome help = place.run("--help"), manual = place.run("man");
  for (const std::string& variable : read) {
    EXPECT_SAYS(help, cat("\n  ", variable, "  "));
    EXPECT_SAYS(manual, cat("\\fB", variable, "\\fR\n"));
  }
}

}  // namespace
}  // namespace twinloom::tests
