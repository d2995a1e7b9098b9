// examples/gpt2.cpp, run beside models whose next tokens are plain.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "tests/onnx/models.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {

namespace {

constexpr std::int64_t tokens = 7;
std::int64_t successor(std::int64_t token) { return (3 * token + 1) % tokens; }

// Logits of [batch, sequence, 7], the largest that of successor((token + position) % 7); `mask` is 1.
Model language_model() {
  std::vector<float> table(tokens * tokens, 0);
  for (std::int64_t token = 0; token < tokens; ++token)
    table[static_cast<std::size_t>(token * tokens + successor(token))] = 1;
  Model model;
  for (const char* name : {"input_ids", "position_ids", "attention_mask"})
    model.input(name, int64, {"batch", "sequence"});
  model.reals("table", {tokens, tokens}, table).integers("tokens", {tokens});
  model.node("Mul", {"input_ids", "attention_mask"}, {"seen"})
      .node("Add", {"seen", "position_ids"}, {"sum"})
      .node("Mod", {"sum", "tokens"}, {"rows"})
      .node("Gather", {"table", "rows"}, {"logits"})
      .output("logits");
  return model;
}

struct Ended {
  std::string words;
  int status;
};
Ended run_example(const std::string& arguments) {
  const std::string command = "TWINLOOM_CACHE_BYTES=0 '" TWINLOOM_EXAMPLE_GPT2 "' " + arguments + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  Ended ended;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) ended.words += part.data();
  ended.status = pclose(pipe);
  return ended;
}

class OnnxExample : public testing::Test {
 protected:
  void SetUp() override {
#ifdef TWINLOOM_SANITIZED
    GTEST_SKIP() << "the examples are not built with a sanitizer";
#endif
  }
  std::string written(const Model& model) {
    std::ofstream(folder_.file("model.onnx"), std::ios::binary) << model.bytes();
    return "'" + folder_.file("model.onnx") + "'";
  }
  ScratchFolder folder_;
};

TEST_F(OnnxExample, TheNextTokensAreTheLikeliest) {
  std::vector<std::int64_t> sequence = {4, 2};
  std::string expected;
  for (int at = 0; at < 5; ++at) {
    const auto position = static_cast<std::int64_t>(sequence.size()) - 1;
    sequence.push_back(successor((sequence.back() + position) % tokens));
    expected += std::to_string(sequence.back()) + "\n";
  }
  const Ended ended = run_example(written(language_model()) + " 5 4 2");
  EXPECT_EQ(ended.words, expected);
  EXPECT_EQ(ended.status, 0);
}

TEST_F(OnnxExample, OtherModelsAreErrors) {
  Model model;
  model.input("input_ids", int64, {"batch", "sequence"}).node("Neg", {"input_ids"}, {"y"}).output("y");
  const Ended ended = run_example(written(model) + " 5 4 2");
  EXPECT_EQ(ended.words, "error: the first result is no [batch, sequence, tokens]\n");
  EXPECT_NE(ended.status, 0);
  EXPECT_TRUE(run_example("").words.starts_with("usage: "));
}

}  // namespace

}  // namespace twinloom::tests
