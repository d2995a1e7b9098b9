// Random numbers of ONNX: which they are is open, how they are spread is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;

constexpr std::int64_t count = 1 << 14;
const std::vector<std::int64_t> shape = {4, count / 4};

double mean_of(const Numbers& numbers) {
  double sum = 0;
  for (const double each : numbers) sum += each;
  return sum / static_cast<double>(numbers.size());
}

TEST(OnnxRandom, NumbersLieBetweenTheirBounds) {
  Model model(22);
  model.node("RandomUniform", {}, {"y"}).with("shape", shape).with_real("low", -2).with_real("high", 4);
  const Numbers numbers = numbers_of(model.output("y").read());
  EXPECT_EQ(type_of(model.read()), cat("f32 [4, ", count / 4, "]"));
  EXPECT_GE(std::ranges::min(numbers), -2);
  EXPECT_LT(std::ranges::max(numbers), 4);
  EXPECT_NEAR(mean_of(numbers), 1, 0.05);
}

TEST(OnnxRandom, NormalNumbersHaveMeanAndDeviation) {
  Model model(22);
  model.input("x", float16, {"n"}).node("RandomNormalLike", {"x"}, {"y"}).with("dtype", 11);
  model.with_real("mean", 3).with_real("scale", 2).output("y");
  EXPECT_EQ(type_of(model.read()), "f64 [n]");
  Numbers numbers = numbers_of(model.read(), {{index::Symbol("n"), count}});
  EXPECT_NEAR(mean_of(numbers), 3, 0.1);
  for (double& each : numbers) each = (each - 3) * (each - 3);
  EXPECT_NEAR(mean_of(numbers), 4, 0.2);
}

TEST(OnnxRandom, TruthsAreAsFrequentAsTheirElementsSay) {
  Model model(22);
  std::vector<float> frequencies;
  for (std::int64_t k = 0; k < count; ++k)
    frequencies.push_back(k % 4 == 0 ? 0.0F : k % 4 == 1 ? 1.0F : 0.25F);
  model.reals("p", {count}, frequencies).node("Bernoulli", {"p"}, {"y"}).with("dtype", int32).output("y");
  const Numbers numbers = numbers_of(model.read());
  double quarter = 0;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    if (k % 4 < 2) {
      EXPECT_EQ(numbers[k], k % 4);
    } else {
      quarter += numbers[k];
    }
  }
  EXPECT_NEAR(quarter / static_cast<double>(count / 2), 0.25, 0.02);
}

TEST(OnnxRandom, ClassesAreAsFrequentAsTheirWeights) {
  Model model(22);
  model.reals("log", {1, 3}, {std::log(0.5F), std::log(0.125F), std::log(0.375F)});
  model.node("Multinomial", {"log"}, {"y"}).with("sample_size", count).output("y");
  EXPECT_EQ(type_of(model.read()), cat("i32 [1, ", count, "]"));
  std::array<double, 3> found{};
  for (const double each : numbers_of(model.read())) found.at(static_cast<std::size_t>(each)) += 1.0 / count;
  EXPECT_NEAR(found[0], 0.5, 0.02);
  EXPECT_NEAR(found[1], 0.125, 0.02);
}

// What stays is larger by as much as is dropped; the mask says what stays.
TEST(OnnxRandom, DropoutDropsInTraining) {
  Model model(13);
  model.reals("x", {count}, std::vector<float>(count, 3)).reals("ratio", {}, {0.75});
  model.raw("training", boolean, {}, "\1").node("Dropout", {"x", "ratio", "training"}, {"y", "mask"});
  model.output("y").output("mask");
  const Numbers values = numbers_of(model.read()), mask = numbers_of(model.read(), {}, 1);
  for (std::size_t k = 0; k < values.size(); ++k) EXPECT_EQ(values[k], mask[k] * 12);
  EXPECT_NEAR(mean_of(mask), 0.25, 0.02);
}

TEST(OnnxRandom, NodesDrawNumbersOfTheirOwn) {
  Model model(22);
  model.input("x", float32, {64}).node("RandomUniformLike", {"x"}, {"a"}).with_real("seed", 1);
  model.node("RandomUniformLike", {"x"}, {"b"}).with_real("seed", 1).output("a").output("b");
  EXPECT_NE(numbers_of(model.read(), {}, 0), numbers_of(model.read(), {}, 1));
}

// No size can follow from them.
TEST(OnnxRandom, NumbersAreNotKnownBeforeTheRun) {
  Model model(22);
  model.node("RandomUniform", {}, {"r"}).with("shape", std::vector<std::int64_t>{1});
  model.node("Cast", {"r"}, {"size"}).with("to", int64).node("ConstantOfShape", {"size"}, {"y"}).output("y");
  EXPECT_EQ(model.error(),
            "unsupported: node 'y' (ConstantOfShape, opset 22): input 0 'size' must be known before the run");
}

}  // namespace

}  // namespace twinloom::tests
