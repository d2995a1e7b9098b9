// ONNX models on the command line, and their tests in processes of their own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "tests/tool/onnx_folder.h"
#include "tests/tool/program.h"
#include "tools/twinloom/guarded.h"

namespace twinloom::tests {

namespace {

TEST(ToolConformance, CountsWhatPassesFailsAndIsSkipped) {
  const Workplace place;
  write_onnx_folder(place.file("all/good"));
  write_onnx_folder(place.file("all/inner/wrong"), {"Relu", {-1, 2}, {0, 2.5}});
  write_onnx_folder(place.file("all/inner/shorter"), {"Relu", {-1, 2}, {0}});
  write_onnx_folder(place.file("all/unknown"), {"Frobnicate", {1}, {1}});
  const Outcome outcome = place.run("conformance all --jobs 2 --json out.json");
  EXPECT_CODE(outcome, 1);
  EXPECT_SAYS(outcome, "passed good\n");
  EXPECT_SAYS(outcome, "failed wrong: output 0 'y' differs in 1 of 2 elements, most at 1: 2, expected 2.5\n");
  EXPECT_SAYS(outcome, "failed shorter: output 0 'y' is f32[2], expected f32[1]\n");
  EXPECT_SAYS(outcome,
              "skipped unknown: node 'y' (Frobnicate, opset 17): the operator Frobnicate is not supported\n");
  EXPECT_SAYS(outcome, "\n1 passed, 2 failed, 1 skipped\n");
  const nlohmann::json json = nlohmann::json::parse(place.read("out.json"));
  EXPECT_EQ(json["counts"], "1 passed, 2 failed, 1 skipped");
  EXPECT_EQ(json["tests"].size(), 4U);
  EXPECT_CODE(place.run("conformance all/good all/unknown"), 0);
  EXPECT_CODE(place.run("conformance all --atol 1 --rtol 0"), 1);
  EXPECT_CODE(place.run("conformance all/inner/wrong --atol 1"), 0);
  EXPECT_SAYS(place.run_in_terminal("conformance all --jobs 2"), "\n1 passed, 2 failed, 1 skipped\r\n");
}

// Which random numbers there are is open, of which type and shape they are is not.
TEST(ToolConformance, RandomNumbersAreNotCompared) {
  const Workplace place;
  write_onnx_folder(place.file("all/open"), {"Bernoulli", {0.5, 0.5}, {7, 8}});
  write_onnx_folder(place.file("all/shorter"), {"Bernoulli", {0.5, 0.5}, {0}});
  const Outcome outcome = place.run("conformance all");
  EXPECT_SAYS(outcome, "passed open: of random numbers the type and the shape alone\n");
  EXPECT_SAYS(outcome, "failed shorter: output 0 'y' is f32[2], expected f32[1]\n");
}

TEST(ToolConformance, ModelsAreReadWhereverTextsAre) {
  const Workplace place;
  write_onnx_folder(place.file("relu"));
  const std::string data = " --inputs relu/test_data_set_0 --expect relu/test_data_set_0";
  EXPECT_CODE(place.run("run relu/model.onnx" + data), 0);
  EXPECT_CODE(place.run("run relu/model.onnx --input x=relu/test_data_set_0/input_0.pb --outputs out.npz"),
              0);
  EXPECT_CODE(place.run("run relu/model.onnx --inputs relu/test_data_set_0 --expect out.npz --exact"), 0);
  EXPECT_CODE(place.run("verify relu/model.onnx --size n=5"), 0);
  EXPECT_SAYS(place.run("explain relu/model.onnx"), "computes 'y'");
  EXPECT_CODE(place.run("bench relu/model.onnx --seconds 0"), 0);
  EXPECT_CODE(place.shell("cp relu/model.onnx without_ending"), 0);
  EXPECT_CODE(place.run("run without_ending"), 0);
  EXPECT_SAYS(place.run("run relu/model.onnx --graph 1"),
              "graph 1 was asked for; an ONNX model holds 1, counted from 0");
  place.write("broken.onnx", "this is no model");
  EXPECT_SAYS(place.run("run broken.onnx"), "this is no ONNX model, or not the whole of one");
  EXPECT_SAYS(place.run("ops --frontend onnx"), "\nSoftmax\n");
}

TEST(ToolConformance, WhatIsNoTest) {
  const Workplace place;
  EXPECT_SAYS(place.run("conformance nowhere"), "there is no folder 'nowhere'");
  EXPECT_SAYS(place.run("conformance ."), "there is no model.onnx in these folders");
}

// A crash, an endless loop, too much memory and an early end are answers; the others go on.
TEST(ToolConformance, ProcessesThatComeToNoEnd) {
  std::map<std::size_t, std::string> words;
  const auto work = [](std::size_t number) -> std::string {
    if (number == 0) std::raise(SIGSEGV);
    if (number == 1)
      while (true) pause();
    if (number == 2) _exit(3);
    if (number == 3) return std::string(100000, 'x');
    return cat("said ", number);
  };
  const tool::GuardLimits limits{.seconds = 0.5, .jobs = 3};
  tool::run_guarded(5, limits, work, [&](std::size_t number, const tool::Guarded& guarded) {
    words[number] = cat(guarded.ended ? "ended: " : "", guarded.words.substr(0, 40));
  });
  EXPECT_EQ(words[0], "ended by signal 11");
  EXPECT_EQ(words[1], "took longer than 0.5 s");
  EXPECT_EQ(words[2], "ended with code 3");
  EXPECT_EQ(words[3], "ended: " + std::string(40, 'x'));
  EXPECT_EQ(words[4], "ended: said 4");
}

}  // namespace

}  // namespace twinloom::tests
