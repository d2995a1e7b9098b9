// What shells and man(1) are given: sourced in a real shell and asked, where there is one.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "core/base/text.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

using Words = std::set<std::string>;

class ToolCompletion : public testing::Test {
 protected:
  ToolCompletion() {
    for (const char* shell : {"bash", "zsh", "fish"}) {
      const Outcome script = place.run(cat("completion ", shell));
      EXPECT_CODE(script, 0);
      place.write(cat("script.", shell), script.output);
    }
    place.write("a model.fx", "");
  }
  // What bash offers when the last of these words is being typed.
  Words offered(const std::vector<std::string>& words) const {
    const std::string line = join(words, " ", [](const std::string& word) { return cat("'", word, "'"); });
    const Outcome outcome = place.shell(cat("bash -c \"source script.bash; COMP_WORDS=(twinloom ", line,
                                            "); COMP_CWORD=", words.size(),
                                            "; _twinloom; printf '%s\\n' \\\"\\${COMPREPLY[@]}\\\"\""));
    EXPECT_CODE(outcome, 0);
    Words each;
    std::istringstream lines(outcome.output);
    for (std::string one; std::getline(lines, one);)
      if (!one.empty()) each.insert(one);
    return each;
  }
  bool has(const char* program) const { return place.shell(cat("command -v ", program)).code == 0; }
  Workplace place;
};

TEST_F(ToolCompletion, BashOffersCommandsOptionsAndValues) {
  const Words commands = offered({""});
  for (const char* command : {"run", "verify", "cache", "completion", "man"})
    EXPECT_TRUE(commands.contains(command)) << command;
  EXPECT_EQ(offered({"ver"}), Words{"verify"});
  EXPECT_EQ(offered({"run", "--tr"}), Words{"--trace"});
  EXPECT_EQ(offered({"explain", "--tr"}), Words{});
  EXPECT_EQ(offered({"run", "--device", ""}), (Words{"cpu", "reference", "cuda", "h200"}));
  EXPECT_EQ(offered({"run", "x.fx", "--device", "=", "r"}), Words{"reference"});
  EXPECT_EQ(offered({"run", "--mode", "f"}), (Words{"fused", "fast"}));
  EXPECT_EQ(offered({"cache", ""}), (Words{"list", "clear", "why-miss"}));
  EXPECT_EQ(offered({"cache", "why-miss", "--is"}), Words{"--isa"});
  EXPECT_EQ(offered({"completion", ""}), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(offered({"dump", "x.fx", "--after", "fus"}), Words{"fuse"});
  EXPECT_EQ(offered({"ops", "--frontend", ""}), (Words{"fx", "onnx"}));
  EXPECT_EQ(offered({"run", "--seed", ""}), Words{});
}

TEST_F(ToolCompletion, BashOffersFilesAndFolders) {
  EXPECT_EQ(offered({"run", "a"}), Words{"a model.fx"});
  EXPECT_EQ(offered({"bench", "x.fx", "scr"}), (Words{"script.bash", "script.fish", "script.zsh"}));
  EXPECT_EQ(offered({"run", "x.fx", "--inputs", "script.b"}), Words{"script.bash"});
  EXPECT_EQ(offered({"run", "x.fx", "--schedules", "script.b"}), Words{});
  EXPECT_CODE(place.shell("mkdir folder"), 0);
  EXPECT_EQ(offered({"run", "x.fx", "--schedules", "fo"}), Words{"folder"});
}

// The words in a text that begin with "--", by what stands before them.
Words options_in(const std::string& text, std::string_view before) {
  Words options;
  for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
    const std::size_t begin = at + before.size() - 2;
    options.insert(text.substr(begin, text.find_first_of(" =,\n", begin) - begin));
  }
  return options;
}

TEST_F(ToolCompletion, TheOptionsAreThoseOfHelp) {
  for (const char* command : {"run", "verify", "bench", "explain", "dump", "export", "calibrate", "ops"}) {
    Words expected = options_in(place.run(cat(command, " --help")).output, "\n  --");
    expected.insert("--help");  // it stands behind -h
    EXPECT_EQ(offered({command, "--"}), expected) << command;
  }
}

TEST_F(ToolCompletion, FishOffersTheSame) {
  if (!has("fish")) GTEST_SKIP() << "there is no fish";
  const auto asked = [&](const char* line) {
    return place.shell(cat("HOME=. fish -c 'source script.fish; complete -C \"twinloom ", line, "\"'"))
        .output;
  };
  EXPECT_NE(asked("ver").find("verify\t"), std::string::npos) << asked("ver");
  EXPECT_NE(asked("run --tr").find("--trace\t"), std::string::npos) << asked("run --tr");
  EXPECT_EQ(asked("explain --tr").find("--trace"), std::string::npos);
  EXPECT_NE(asked("run --device r").find("reference"), std::string::npos) << asked("run --device r");
  EXPECT_NE(asked("cache why").find("why-miss\t"), std::string::npos) << asked("cache why");
  EXPECT_NE(asked("run a").find("a model.fx"), std::string::npos) << asked("run a");
}

// The arguments of zsh's own functions, where the first word is `command` or still being typed.
TEST_F(ToolCompletion, ZshIsToldTheSame) {
  if (!has("zsh")) GTEST_SKIP() << "there is no zsh";
  EXPECT_EQ(place.shell("zsh -n script.zsh").output, "");
  const auto told = [&](const char* state, const char* command) {
    return place
        .shell(cat("zsh -f -c 'compdef() { :; }; _files() { :; }; _describe() { print -l -- $commands; }\n"
                   "_arguments() { print -l -- \"$@\"; state=",
                   state, "; line=(", command, "); return 1; }\nsource script.zsh; _twinloom'"))
        .output;
  };
  const std::string run = told("argument", "run"), explain = told("argument", "explain");
  EXPECT_NE(told("command", "").find("verify:Run a model and compare"), std::string::npos);
  EXPECT_NE(run.find("--trace=["), std::string::npos) << run;
  EXPECT_NE(run.find("--device=[Where kernels run; h200 only plans]:value:(cpu reference cuda h200)\n"),
            std::string::npos)
      << run;
  EXPECT_NE(run.find("\n1:file:_files\n"), std::string::npos) << run;
  EXPECT_EQ(explain.find("--trace=["), std::string::npos) << explain;
  EXPECT_EQ(told("argument", "nothing").find("not found"), std::string::npos);
}

TEST_F(ToolCompletion, AnUnknownShellIsAnError) {
  const Outcome unknown = place.run("completion tcsh");
  EXPECT_CODE(unknown, 2);
  EXPECT_SAYS(unknown, "there is no completion for the shell 'tcsh'; shells are bash, zsh, fish");
}

TEST_F(ToolCompletion, TheManualHasNoWarningsAndSaysWhatHelpSays) {
  const Outcome manual = place.run("man");
  EXPECT_CODE(manual, 0);
  place.write("twinloom.1", manual.output);
  EXPECT_SAYS(manual, ".SH ENVIRONMENT\n");
  EXPECT_SAYS(manual, "\\fBTWINLOOM_LOG\\fR\n");
  if (!has("groff")) GTEST_SKIP() << "there is no groff";
  EXPECT_EQ(place.shell("groff -ww -man -Tutf8 -z twinloom.1").output, "");
  const std::string shown = place.shell("groff -man -Tascii -P-c -P-b -P-u twinloom.1").output;
  EXPECT_NE(shown.find("--trace FILE"), std::string::npos) << shown;
  EXPECT_NE(shown.find("twinloom cache why-miss FILE"), std::string::npos) << shown;
}

}  // namespace
}  // namespace twinloom::tests
