// --tune and --schedules: from the command line to files and back.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <thread>

#include "core/base/text.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

class ToolTuning : public testing::Test {
 protected:
  ToolTuning() {
    place.write("softmax.fx", softmax_text);
    place.write("lookup.fx", lookup_text);
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(place.file("kept")))
      names.push_back("kept/" + entry.path().filename().string());
    return names;
  }
  const std::string run = "run softmax.fx --size s0=500 --threads 1 --mode strict ";
  Workplace place;
};

TEST_F(ToolTuning, WhatIsTunedAndReplayedHasTheSameBits) {
  EXPECT_CODE(place.run(run + "--outputs usual.npz"), 0);
  const Outcome tuned = place.run(run + "--tune 3 --schedules kept --expect usual.npz --exact");
  EXPECT_CODE(tuned, 0);
  EXPECT_SAYS(tuned, "tuned k0_");
  ASSERT_EQ(files().size(), 1u);
  const Outcome replayed = place.run(run + "--schedules kept --expect usual.npz --exact");
  EXPECT_CODE(replayed, 0);
  EXPECT_EQ(replayed.output.find("tuned"), std::string::npos);
  EXPECT_CODE(place.run("verify softmax.fx --size s0=500 --tune 2"), 0);
  const Outcome benched = place.run("bench lookup.fx --seconds 0 --threads 1 --tune 2 --schedules kept");
  EXPECT_CODE(benched, 0);
  EXPECT_SAYS(benched, "tuned k");
  EXPECT_GT(files().size(), 1u);
}

TEST_F(ToolTuning, FilesAreExplainedAndRefused) {
  EXPECT_CODE(place.run(run + "--tune 2 --schedules kept"), 0);
  const std::string file = files().at(0), text = place.read(file);
  const std::string header = text.substr(0, text.find("schedule\n  ") + 9);
  place.write(file, header + "  loop -1 i0.0 block\n  loop 0 r0.0 serial\n");
  EXPECT_CODE(place.run(run + "--schedules kept"), 2);
  place.write(file, header + "  lop -1 i0.0 block\n");
  const Outcome broken = place.run(run + "--schedules kept");
  EXPECT_CODE(broken, 2);
  EXPECT_SAYS(broken, cat("error: '", file, "': schedule file line 7 column 3: expected grid, "));
  // For other threads it is not used.
  EXPECT_CODE(place.run("run softmax.fx --size s0=500 --threads 2 --schedules kept"), 0);
  const std::string edited =
      "  loop -1 i0.0 block\n  loop 0 r0.0 serial\n  loop 1 r1.0 serial\n  loop 2 r2.0 serial\n";
  place.write(file, header + edited);
  const Outcome explained =
      place.run("explain softmax.fx --size s0=500 --threads 1 --mode strict --schedules kept");
  EXPECT_SAYS(explained, "  loop 2 r2.0 serial\n");
  EXPECT_CODE(explained, 0);
}

TEST_F(ToolTuning, OptionsMustMakeSense) {
  const Outcome missing = place.run(run + "--schedules nowhere");
  EXPECT_CODE(missing, 2);
  EXPECT_SAYS(missing, "there is no folder 'nowhere' of schedules");
  EXPECT_CODE(place.run(run + "--tune -1"), 64);
  EXPECT_CODE(place.run(run + "--tune 0"), 0);
  EXPECT_CODE(place.run(run + "--tune 1"), 0);
  EXPECT_FALSE(std::filesystem::exists(place.file("kept")));
}

TEST_F(ToolTuning, ProcessesMayTuneSideBySide) {
  EXPECT_CODE(place.run(run + "--outputs usual.npz"), 0);
  std::array<Outcome, 3> outcomes;
  std::vector<std::jthread> processes;
  for (Outcome& outcome : outcomes)
    processes.emplace_back(
        [&] { outcome = place.run(run + "--tune 3 --schedules kept --expect usual.npz --exact"); });
  processes.clear();
  for (const Outcome& outcome : outcomes) {
    EXPECT_CODE(outcome, 0);
    EXPECT_SAYS(outcome, "tuned k0_");
  }
  ASSERT_EQ(files().size(), 1u);
  EXPECT_CODE(place.run(run + "--schedules kept --expect usual.npz --exact"), 0);
}

}  // namespace
}  // namespace twinloom::tests
