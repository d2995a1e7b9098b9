// What operators mean since opset 23, of small models.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

// From opset 28 on the remainder of reals has the sign of the divisor, a zero too.
TEST(OnnxOpsets, RemaindersOfReals) {
  const auto rest = [](double x, double y) {
    Model model(28);
    model.reals("x", {1}, {static_cast<float>(x)}).reals("y", {1}, {static_cast<float>(y)});
    return numbers_of(model.node("Mod", {"x", "y"}, {"z"}).output("z").read()).at(0);
  };
  EXPECT_EQ(rest(5.5, 3), 2.5);
  EXPECT_EQ(rest(-5.5, 3), 0.5);
  EXPECT_EQ(rest(5.5, -3), -0.5);
  EXPECT_EQ(rest(-1, infinity), infinity);
  EXPECT_EQ(rest(1, infinity), 1);
  EXPECT_TRUE(std::isnan(rest(1, 0)));
  EXPECT_TRUE(std::isnan(rest(infinity, 2)));
  EXPECT_TRUE(std::signbit(rest(6, -3)));
  EXPECT_FALSE(std::signbit(rest(-6, 3)));
  Model old(13);
  old.reals("x", {1}, {1}).node("Mod", {"x", "x"}, {"z"}).output("z");
  EXPECT_EQ(old.error(),
            "node 'z' (Mod, opset 13): needs attribute fmod for elements of f32 before opset 28");
}

TEST(OnnxOpsets, BlocksBecomeChannelsInEitherOrder) {
  const auto moved = [](const std::string& mode) {
    Model model = model_of("SpaceToDepth", {1, 2, 2, 2}, 28);
    return numbers_of(model.with("blocksize", 2).with("mode", mode).read());
  };
  EXPECT_EQ(moved("DCR"), (Numbers{0, 4, 1, 5, 2, 6, 3, 7}));
  EXPECT_EQ(moved("CRD"), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

// In f32, where 2049 is no f16.
TEST(OnnxOpsets, RangesOfHalfPrecisionAreCountedInSinglePrecision) {
  Model model(27);
  model.reals("from", {}, {2000}).reals("to", {}, {2060}).reals("by", {}, {1});
  for (const std::string name : {"from", "to", "by"})
    model.node("Cast", {name}, {"half " + name}).with("to", float16);
  model.node("Range", {"half from", "half to", "half by"}, {"y"}).output("y");
  const graph::Graph graph = model.read();
  EXPECT_EQ(type_of(graph), "f16 [60]");
  EXPECT_EQ(numbers_of(graph).at(49), 2048);
  EXPECT_EQ(numbers_of(graph).at(51), 2052);
}

}  // namespace

}  // namespace twinloom::tests
