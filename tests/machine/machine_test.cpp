// Machines as text, and what a calibration may change of one.
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/machine/calibration.h"
#include "core/machine/gpu.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

using machine::Machine;

Machine told() {
  Machine machine;
  machine.name = "cpu-avx2";
  machine.model = "a \"CPU\" of\ttwo";
  machine.blocks_at_once = 2;
  machine.memory = {{"L1", 32 << 10, 2e11}, {"memory", 0, 1e10}};
  machine.launch_seconds = 1e-6;
  return machine;
}

Machine measured() {
  Machine machine = told();
  machine.clock_hertz = 2.34567e9;
  machine.launch_seconds = 1.25e-7;
  machine.wake_seconds = 0.0000123;
  machine.memory[0] = {"L1", 32 << 10, 9.87e10, 1.94e-9, 1.55e11, 8.04e10, 2};
  machine.memory[1] = {"memory", 0, 1.2345e10, 1.13e-7, 1.5e10, 7e9, 1.34};
  return machine;
}

TEST(Machine, PrintsAndParses) {
  for (const Machine& machine : {told(), measured(), machine::h200()}) {
    const std::string text = machine::print(machine);
    EXPECT_EQ(machine::parse(text), machine) << text;
    EXPECT_EQ(machine::print(machine::parse(text)), text);
  }
}

std::string with(std::string text, std::string_view words, std::string_view instead) {
  const std::size_t at = text.find(words);
  EXPECT_NE(at, std::string::npos) << words;
  return text.replace(at, words.size(), instead);
}

TEST(Machine, ThreadsAreThoseOfABlockOrOfAFewThatShareARow) {
  const auto shape = [](std::int64_t threads) {
    const machine::BlockShape blocks = machine::block_shape(threads);
    return std::pair(blocks.threads, blocks.blocks);
  };
  EXPECT_EQ(shape(1), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(shape(1024), std::pair(std::int64_t{1024}, std::int64_t{1}));
  EXPECT_EQ(shape(2048), std::pair(std::int64_t{512}, std::int64_t{4}));
  EXPECT_EQ(shape(4096), std::pair(std::int64_t{512}, std::int64_t{8}));
  EXPECT_EQ(shape(8192), std::pair(std::int64_t{1024}, std::int64_t{8}));
}

// As texts from before this fact was known do.
TEST(Machine, WhatACallerDecidesMayBeLeftOut) {
  EXPECT_EQ(machine::parse(with(machine::print(measured()), "library_rate 0\n", "")), measured());
}

TEST(Machine, TextsThatAreNoneAreErrors) {
  const std::string text = machine::print(told());
  struct Case {
    std::string text;
    std::string_view words;
  };
  const std::vector<Case> cases = {
      {"", "machine line 1 column 1: expected 'machine'"},
      {"\x7f"
       "ELF",
       "expected 'machine'"},
      {with(text, "clock_hertz 1000000000", ""), "machine: 'clock_hertz' is missing before line "},
      {with(text, "clock_hertz 1000000000", "clock_hertz -1"), "a number that is not negative"},
      {with(text, "clock_hertz 1000000000", "clock_hertz nan"), "a number that is not negative"},
      {with(text, "clock_hertz 1000000000", "clock_hertz 1e999"), "a number within the range"},
      {with(text, "clock_hertz 1000000000", "clock_hertz fast"), "a number"},
      {with(text, "clock_hertz 1000000000", "voltage 1"),
       "a fact that was not given yet instead of 'voltage'"},
      {with(text, "clock_hertz", "issue_each 1\nclock_hertz"), "a fact that was not given yet"},
      {with(text, "vector_bytes 32", "vector_bytes 99999999999"), "a smaller number"},
      {with(text, "masked_memory 1", "masked_memory 2"), "a smaller number"},
      {text + "}", "expected the end of the text"},
  };
  for (const Case& one : cases) {
    const std::string words = words_of<Error>([&] { machine::parse(one.text); });
    EXPECT_NE(words.find(one.words), std::string::npos) << words << "\n" << one.text;
  }
}

TEST(Machine, ATextThatIsCutOffAnywhereIsAnError) {
  const std::string text = machine::print(measured());
  for (std::size_t length = 0; length < text.rfind('}'); ++length)
    EXPECT_THROW(machine::parse(text.substr(0, length)), Error) << length;
}

TEST(Calibration, HasTwoSignificantDigits) {
  const Machine rounded = machine::rounded(measured());
  EXPECT_EQ(rounded.clock_hertz, 2.3e9);
  EXPECT_EQ(rounded.launch_seconds, 1.3e-7);
  EXPECT_EQ(rounded.wake_seconds, 1.2e-5);
  EXPECT_EQ(rounded.memory[0], (machine::MemoryLevel{"L1", 32 << 10, 9.9e10, 1.9e-9, 1.6e11, 8e10, 2}));
  EXPECT_EQ(rounded.memory[1].bytes_per_second, 1.2e10);
  EXPECT_EQ(machine::rounded(rounded), rounded);
  Machine large = measured();
  large.memory[0].bytes = 123456789;
  EXPECT_EQ(machine::rounded(large).memory[0].bytes, 123456789);
}

TEST(Calibration, AddsOnlyWhatNoSystemTells) {
  Machine patient = told();
  patient.worth_a_thread_seconds = 1;
  Machine expected = measured();
  expected.worth_a_thread_seconds = 1;
  EXPECT_EQ(machine::calibrated(patient, measured()), expected);
}

TEST(Calibration, OfAnotherMachineIsAnError) {
  const auto words = [](auto change) {
    Machine other = measured();
    change(other);
    return words_of<Error>([&] { machine::calibrated(told(), other); });
  };
  EXPECT_EQ(words([](Machine& m) { m.name = "cpu-avx512"; }),
            "it is of another machine: name is 'cpu-avx512' there and 'cpu-avx2' here");
  EXPECT_EQ(words([](Machine& m) { m.blocks_at_once = 3; }),
            "it is of another machine: blocks_at_once is '3' there and '2' here");
  EXPECT_EQ(words([](Machine& m) { m.memory[0].bytes = 1; }),
            "it is of another machine: L1.bytes is '1' there and '32768' here");
  EXPECT_EQ(words([](Machine& m) { m.memory.pop_back(); }),
            "it is of another machine: its memory is 'L1' there and 'L1, memory' here");
  EXPECT_EQ(words([](Machine& m) { m.memory[1].bytes_per_second = 0; }),
            "'memory.bytes_per_second' is 0 in it");
  EXPECT_EQ(words([](Machine& m) { m.wake_seconds = 0; }), NOTHING_THROWN);
}

TEST(Machine, WorkersShareWhatIsWorthAThread) {
  Machine machine = told();
  machine.worth_a_thread_seconds = 1e-5;
  machine.memory.back().bytes_per_second = 1e10;
  EXPECT_EQ(machine::workers_for(machine, 90000, 64, 8), 1);
  EXPECT_EQ(machine::workers_for(machine, 110000, 64, 8), 8);
  EXPECT_EQ(machine::workers_for(machine, 110000, 3, 8), 3);
  EXPECT_EQ(machine::workers_for(machine, 110000, 0, 8), 1);
}

TEST(Calibration, IsNamedByMachineWorkersAndModel) {
  const std::string name = machine::calibration_name(told());
  EXPECT_TRUE(name.starts_with("calibration-cpu-avx2-2-")) << name;
  EXPECT_EQ(machine::calibration_name(measured()), name);
  Machine other = told();
  other.model = "another";
  EXPECT_NE(machine::calibration_name(other), name);
}

}  // namespace
}  // namespace twinloom::tests
