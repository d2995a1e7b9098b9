// Attention, its masks and caches, and the operators beside it, of small models. Queries that are 0 see every
// key alike: the result is the mean of the values that they see.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

// Values 0, 1, ... of so many keys, queries of 0; further inputs by name.
Model uniform(std::int64_t queries, std::int64_t keys, const Names& inputs = {}, std::int64_t opset = 25) {
  Model model(opset);
  model.reals("q", {1, 1, queries, 1}, std::vector<float>(static_cast<std::size_t>(queries), 0));
  std::vector<float> values;
  for (std::int64_t k = 0; k < keys; ++k) values.push_back(static_cast<float>(k));
  model.reals("kv", {1, 1, keys, 1}, values);
  Names all = {"q", "kv", "kv"};
  all.insert(all.end(), inputs.begin(), inputs.end());
  model.node("Attention", all, {"y", "keys", "values", "scores"});
  return model.output("y").output("values").output("scores");
}

TEST(OnnxAttention, QueriesSeeTheKeysThatMasksLeave) {
  EXPECT_EQ(numbers_of(uniform(2, 3).read()), (Numbers{1, 1}));
  EXPECT_EQ(numbers_of(uniform(3, 3).with("is_causal", 1).read()), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(numbers_of(uniform(4, 4).with("left_window_size", 1).read()), (Numbers{1.5, 1.5, 2, 2.5}));
  EXPECT_EQ(numbers_of(uniform(3, 4).with("right_window_size", 0).read()), (Numbers{0, 0.5, 1}));
  EXPECT_EQ(numbers_of(uniform(3, 4).with("left_window_size", 0).with("right_window_size", 0).read()),
            (Numbers{0, 1, 2}));
}

// Shorter ones hide the keys that they say nothing of; a query that sees none gives 0.
TEST(OnnxAttention, MasksAreTruthsOrAddedNumbers) {
  Model truths = uniform(2, 4, {"mask"});
  truths.raw("mask", boolean, {2, 3}, std::string("\0\1\1\0\0\0", 6));
  EXPECT_EQ(numbers_of(truths.read()), (Numbers{1.5, 0}));
  Model numbers = uniform(1, 3, {"mask"});
  const float log_of_3 = std::log(3.0F);
  numbers.reals("mask", {1, 3}, {0, log_of_3, -INFINITY});
  EXPECT_FLOAT_EQ(static_cast<float>(numbers_of(numbers.read()).at(0)), 0.75F);
  Model none = uniform(1, 2, {"mask"});
  EXPECT_TRUE(std::isnan(numbers_of(none.reals("mask", {1, 2}, {0, NAN}).read()).at(0)));
}

TEST(OnnxAttention, PositionsCountBehindThePast) {
  Model model = uniform(2, 2, {"", "past", "past"});
  model.reals("past", {1, 1, 2, 1}, {8, 10}).with("is_causal", 1);
  EXPECT_EQ(numbers_of(model.read()), (Numbers{6, 19.0 / 4}));
  EXPECT_EQ(numbers_of(model.read(), {}, 1), (Numbers{8, 10, 0, 1}));
}

// Of a cache of 4 keys the first ones are there, the last of these belongs to the last query.
TEST(OnnxAttention, LengthsOfACacheDecideAboutPositions) {
  const auto seen = [](std::int64_t length, std::int64_t causal) {
    Model model = uniform(2, 4, {"", "", "", "length"});
    return numbers_of(model.integers("length", {length}).with("is_causal", causal).read());
  };
  EXPECT_EQ(seen(3, 0), (Numbers{1, 1}));
  EXPECT_EQ(seen(3, 1), (Numbers{0.5, 1}));
  EXPECT_EQ(seen(1, 1), (Numbers{0, 0}));  // the first query has no key
}

TEST(OnnxAttention, StagesAreResults) {
  const auto stage = [](std::int64_t mode) {
    Model model(25);
    model.reals("q", {1, 1, 1, 1}, {2}).reals("k", {1, 1, 2, 1}, {1, 3}).raw("m", boolean, {2}, "\1\1");
    model.node("Attention", {"q", "k", "k", "m"}, {"y", "", "", "scores"})
        .with("qk_matmul_output_mode", mode);
    model.with_real("softcap", 4);
    return numbers_of(model.output("scores").read());
  };
  EXPECT_EQ(stage(0), (Numbers{2, 6}));
  const double first = 4 * std::tanh(0.5), second = 4 * std::tanh(1.5);
  for (const std::int64_t mode : {1, 2}) {
    EXPECT_NEAR(stage(mode).at(0), first, 1e-6);
    EXPECT_NEAR(stage(mode).at(1), second, 1e-6);
  }
  EXPECT_NEAR(stage(3).at(1), 1 / (1 + std::exp(first - second)), 1e-6);
}

// Two heads of queries for each head of keys, in tensors of 3 and of 4 axes, of any length.
TEST(OnnxAttention, HeadsOfKeysAreShared) {
  Model model(23);
  model.input("q", float32, {"batch", "length", 8}).input("k", float32, {"batch", "keys", 4});
  model.node("Attention", {"q", "k", "k"}, {"y"}).with("q_num_heads", 4).with("kv_num_heads", 2).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [batch, length, 8]");
  const auto numbers = numbers_of(
      model.read(), {{index::Symbol("batch"), 1}, {index::Symbol("length"), 1}, {index::Symbol("keys"), 1}});
  EXPECT_EQ(numbers, (Numbers{0, 1, 0, 1, 2, 3, 2, 3}));
}

TEST(OnnxAttention, RefusesWhatDoesNotFit) {
  EXPECT_EQ(uniform(1, 1, {"", "kv"}).error(),
            "node 'y' (Attention, opset 25): needs past keys and past values, or neither");
  EXPECT_EQ(uniform(1, 1).with("left_window_size", -2).error(),
            "node 'y' (Attention, opset 25): attribute 'left_window_size' must be -1 or more, it is -2");
  EXPECT_EQ(uniform(1, 1).with("qk_matmul_output_mode", 4).error(),
            "node 'y' (Attention, opset 25): attribute 'qk_matmul_output_mode' must lie in 0 to 3, it is 4");
  EXPECT_EQ(uniform(1, 1, {}, 22).error(),
            "unsupported: node 'y' (Attention, opset 22): opset 22 is not supported, only 23 and later");
  Model model(23);
  model.input("q", float32, {1, 2, 6}).node("Attention", {"q", "q", "q"}, {"y"});
  model.with("q_num_heads", 4).with("kv_num_heads", 4).output("y");
  EXPECT_NE(model.error().find("the last axis must be a multiple of 4 heads"), std::string::npos)
      << model.error();
}

TEST(OnnxAttention, ScoresMayBeChangedByAGraph) {
  Model twice(26);
  twice.input("s", float32, {1, 1, 1, 2}).reals("mask", {2}, {0, -INFINITY});
  twice.node("Add", {"s", "mask"}, {"t"}).output("t");
  Model model(26);
  model.proto.opset_import.push_back({"ai.onnx.preview", 1});
  model.reals("q", {1, 1, 1, 1}, {2}).reals("k", {1, 1, 2, 1}, {5, 3});
  model.node("FlexAttention", {"q", "k", "k"}, {"y"}).with("score_mod", twice).output("y");
  model.node(0).domain = "ai.onnx.preview";
  EXPECT_EQ(numbers_of(model.read()), (Numbers{5}));
}

// Rotation by 90 degrees: (a, b) becomes (-b, a).
TEST(OnnxAttention, PairsAreTurned) {
  const auto turned = [](std::int64_t interleaved, std::int64_t part) {
    Model model(23);
    model.input("x", float32, {1, 1, 1, 4}).reals("c", {1, 2}, {0, 0}).reals("s", {1, 2}, {1, 1});
    if (part == 2) model.graph().initializer.clear();
    if (part == 2) model.reals("c", {1, 1}, {0}).reals("s", {1, 1}, {1});
    model.raw("at", int64, {1, 1}, std::string(8, '\0'));
    model.node("RotaryEmbedding", {"x", "c", "s", "at"}, {"y"}).output("y");
    return numbers_of(model.with("interleaved", interleaved).with("rotary_embedding_dim", part).read());
  };
  EXPECT_EQ(turned(0, 0), (Numbers{-2, -3, 0, 1}));
  EXPECT_EQ(turned(1, 0), (Numbers{-1, 0, -3, 2}));
  EXPECT_EQ(turned(0, 2), (Numbers{-1, 0, 2, 3}));
}

TEST(OnnxAttention, CachesAreWrittenWhereSequencesEnd) {
  const auto put = [](const std::string& mode, std::vector<std::int64_t> at) {
    Model model(24);
    model.input("cache", float32, {2, 3, 1}).reals("new", {2, 2, 1}, {10, 11, 12, 13}).integers("at", at);
    model.node("TensorScatter", {"cache", "new", "at"}, {"y"}).with("mode", mode).output("y");
    return numbers_of(model.read());
  };
  EXPECT_EQ(put("linear", {1, 0}), (Numbers{0, 10, 11, 12, 13, 5}));
  EXPECT_EQ(put("circular", {2, 4}), (Numbers{11, 1, 10, 3, 12, 13}));
  EXPECT_THROW(put("linear", {2, 0}), Error);
}

// What a call leaves behind goes into the next one.
TEST(OnnxAttention, ConvolutionsGoOn) {
  const auto run = [](const std::vector<float>& x, const std::vector<float>& past, std::size_t output) {
    Model model(27);
    model.reals("x", {1, 1, static_cast<std::int64_t>(x.size())}, x).reals("w", {1, 1, 3}, {1, 10, 100});
    model.reals("p", {1, 1, 2}, past).node("CausalConvWithState", {"x", "w", "", "p"}, {"y", "state"});
    return numbers_of(model.output("y").output("state").read(), {}, output);
  };
  EXPECT_EQ(run({1, 2, 3}, {0, 0}, 0), (Numbers{100, 210, 321}));
  EXPECT_EQ(run({1, 2}, {0, 0}, 1), (Numbers{1, 2}));
  EXPECT_EQ(run({3}, {1, 2}, 0), (Numbers{321}));
}

// With one element for each head: the state s becomes g*s + b*k*(v - g*s*k), without decay g and rate b of 1
// and v in place of the difference.
TEST(OnnxAttention, LinearAttentionHasFourRules) {
  const auto run = [](const std::string& rule, const Names& inputs) {
    Model model(27);
    model.reals("q", {1, 2, 1}, {1, 1}).reals("k", {1, 2, 1}, {1, 2}).reals("v", {1, 2, 1}, {3, 5});
    model.reals("past", {1, 1, 1, 1}, {4}).reals("half", {1, 2, 1}, {0.5, 0.5});
    model.reals("log", {1, 2, 1}, {std::log(0.5F), std::log(0.5F)});
    model.node("LinearAttention", inputs, {"y", "state"}).with("update_rule", rule);
    model.with("q_num_heads", 1).with("kv_num_heads", 1).output("y");
    Numbers numbers = numbers_of(model.read());
    for (double& each : numbers) each = std::round(each * 1e4) / 1e4;
    return numbers;
  };
  EXPECT_EQ(run("linear", {"q", "k", "v", "past"}), (Numbers{7, 17}));
  EXPECT_EQ(run("gated", {"q", "k", "v", "past", "log"}), (Numbers{5, 12.5}));
  EXPECT_EQ(run("delta", {"q", "k", "v", "past", "", "half"}), (Numbers{3.5, 1.5}));
  EXPECT_EQ(run("gated_delta", {"q", "k", "v", "past", "log", "half"}), (Numbers{2.5, 3.75}));
  Model wrong(27);
  wrong.reals("q", {1, 1, 1}, {1}).node("LinearAttention", {"q", "q", "q"}, {"y", "s"}).output("y");
  wrong.with("q_num_heads", 1).with("kv_num_heads", 1);
  EXPECT_EQ(wrong.error(),
            "node 'y' (LinearAttention, opset 27): update rule 'gated_delta' takes a decay and a rate");
}

// The result is of the scale's type.
TEST(OnnxAttention, RootMeanSquares) {
  Model model(23);
  model.reals("x", {1, 2}, {1, 7}).reals("s", {2}, {5, 10}).node("Cast", {"x"}, {"h"}).with("to", float16);
  model.node("RMSNormalization", {"h", "s"}, {"y"}).output("y");
  EXPECT_EQ(type_of(model.read()), "f32 [1, 2]");
  EXPECT_NEAR(numbers_of(model.read()).at(1), 14, 1e-4);
}

}  // namespace

}  // namespace twinloom::tests
