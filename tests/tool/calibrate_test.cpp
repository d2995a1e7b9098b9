// What the program measures of this machine, where it is kept, and what it may change.
#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/text.h"
#include "core/machine/machine.h"
#include "tests/tool/program.h"

namespace twinloom::tests {
namespace {

// The printed machine of an output; what stands behind it is a line that says where it is kept.
std::string machine_text(const Outcome& outcome) {
  return outcome.output.substr(0, outcome.output.rfind("}\n") + 2);
}
machine::Machine machine_of(const Outcome& outcome) { return machine::parse(machine_text(outcome)); }

std::string path_of(const Outcome& outcome) {
  const std::size_t at = outcome.output.rfind(" in ") + 4;
  return outcome.output.substr(at, outcome.output.size() - at - 1);
}

// A machine that takes a thousand times as long for everything.
std::string slow_text(const Outcome& shown) {
  machine::Machine machine = machine_of(shown);
  machine.clock_hertz /= 1000;
  machine.launch_seconds *= 1000;
  for (machine::MemoryLevel& level : machine.memory) level.bytes_per_second /= 1000;
  return machine::print(machine);
}

class ToolCalibrate : public testing::Test {
 protected:
  void SetUp() override {
    place.write("softmax.fx", softmax_text);
    shown = place.run("calibrate --show");
    EXPECT_CODE(shown, 0);
    name = std::filesystem::path(path_of(shown)).filename().string();
  }
  // In place of a measurement, which takes seconds.
  void keep(std::string_view text) const {
    EXPECT_CODE(place.run("run softmax.fx"), 0);  // makes the folder
    place.write("cache/" + name, text);
  }
  double estimate() const {
    const std::string words = "\n  estimate ";
    const Outcome explained = place.run("explain softmax.fx --threads 1");
    const std::size_t at = explained.output.find(words);
    EXPECT_NE(at, std::string::npos) << explained.output;
    return std::stod(explained.output.substr(at + words.size()));
  }
  Workplace place;
  Outcome shown;
  std::string name;
};

TEST_F(ToolCalibrate, MeasuresOnceAndKeepsIt) {
  EXPECT_SAYS(shown, "not measured; a measurement would be kept in /");
  EXPECT_SAYS(place.run("calibrate --clear"), "there is no /");
  const Outcome measured = place.run("calibrate");
  EXPECT_CODE(measured, 0);
  EXPECT_SAYS(measured, "}\nkept in ");
  EXPECT_EQ(place.read("cache/" + name), machine_text(measured));
  EXPECT_EQ(place.run("calibrate --show").output, measured.output);
  const machine::Machine machine = machine_of(measured);
  EXPECT_GT(machine.clock_hertz, 1e8);
  EXPECT_LT(machine.clock_hertz, 1e10);
  EXPECT_GT(machine.issue_each, 0.1);
  EXPECT_GT(machine.streamed_per_second, 1e8);
  EXPECT_LT(machine.launch_seconds, 1e-3);
  for (const machine::MemoryLevel& level : machine.memory) {
    for (const double rate : {level.bytes_per_second, level.read_per_second, level.written_per_second}) {
      EXPECT_GT(rate, 1e8) << level.name;
      EXPECT_LT(rate, 1e13) << level.name;
    }
    EXPECT_GE(level.workers, 1) << level.name;
  }
  EXPECT_GT(machine.memory.back().latency_seconds, machine.memory.front().latency_seconds);
  EXPECT_CODE(place.run("cache clear"), 0);
  EXPECT_SAYS(place.run("calibrate --show"), "}\nkept in ");
  EXPECT_SAYS(place.run("calibrate --clear"), "removed /");
  EXPECT_EQ(place.run("calibrate --show").output, shown.output);
}

TEST_F(ToolCalibrate, EstimatesStartFromIt) {
  const double usual = estimate();
  keep(slow_text(shown));
  EXPECT_GT(estimate(), 100 * usual);
  EXPECT_CODE(place.run("calibrate --clear"), 0);
  EXPECT_DOUBLE_EQ(estimate(), usual);
}

TEST_F(ToolCalibrate, ResultsDoNotDependOnIt) {
  const std::string usual = place.run("run softmax.fx --seed 3 --size s0=50").output;
  keep(slow_text(shown));
  EXPECT_EQ(place.run("run softmax.fx --seed 3 --size s0=50").output, usual);
  EXPECT_CODE(place.run("verify softmax.fx --mode strict --size s0=50"), 0);
}

TEST_F(ToolCalibrate, WhatCannotBeUsedIsIgnoredAndSaid) {
  const double usual = estimate();
  std::string foreign = slow_text(shown);
  const std::string_view masked = "sector_bytes ";
  foreign.insert(foreign.find(masked) + masked.size(), "9");
  struct Case {
    std::string text, words;
  };
  for (const Case& one :
       {Case{"", "machine line 1 column 1: expected 'machine'"},
        Case{slow_text(shown).substr(0, 200), "machine line "},
        Case{std::string(3 << 20, 'x'), "of at most 1048576 bytes"},
        Case{foreign, "it is of another machine: sector_bytes is '964' there and '64' here"}}) {
    keep(one.text);
    const Outcome ran = place.run("run softmax.fx");
    EXPECT_CODE(ran, 0);
    EXPECT_SAYS(ran, cat("warning: the calibration ", path_of(shown), " is not used: "));
    EXPECT_SAYS(ran, one.words);
    EXPECT_SAYS(ran, "; `twinloom calibrate` measures again\n");
    EXPECT_DOUBLE_EQ(estimate(), usual);
    EXPECT_SAYS(place.run("calibrate --show"), "not measured");
  }
}

TEST_F(ToolCalibrate, WhatHasNoFolderOrNoMachineIsAnError) {
  const Outcome nowhere = place.run_with("TWINLOOM_CACHE_DIR=x", "calibrate");
  EXPECT_CODE(nowhere, 2);
  EXPECT_SAYS(nowhere, "calibrations have no folder: TWINLOOM_CACHE_DIR is 'x'; expected an absolute path");
  place.write("file", "");
  const Outcome file = place.run_with(cat("TWINLOOM_CACHE_DIR=", place.file("file")), "calibrate --clear");
  EXPECT_SAYS(file, "there is no ");
  const Outcome reference = place.run("calibrate --device reference");
  EXPECT_CODE(reference, 2);
  EXPECT_SAYS(reference,
              "calibrate: there is nothing to measure of the device 'reference'; it is for cpu and cuda:N");
  EXPECT_CODE(place.run("calibrate --show --clear"), 64);
}

}  // namespace
}  // namespace twinloom::tests
