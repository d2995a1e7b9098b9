// What operators mean since opset 23, of small models.
#include <gtest/gtest.h>

#include <bit>
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

TEST(OnnxOpsets, ProductsUpToEachElement) {
  Model model(26);
  model.reals("x", {3}, {2, 3, 4}).raw("axis", int64, {}, std::string(8, '\0'));
  model.node("CumProd", {"x", "axis"}, {"y"}).with("exclusive", 1).with("reverse", 1).output("y");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{12, 4, 1}));
}

TEST(OnnxOpsets, GatesHaveTheirSlope) {
  Model model(28);
  model.reals("a", {2}, {-1, 2}).reals("b", {2}, {3, 4}).node("SwiGLU", {"a", "b"}, {"y"});
  const Numbers numbers = numbers_of(model.with_real("alpha", 0.5).output("y").read());
  EXPECT_NEAR(numbers[0], -3 / (1 + std::exp(0.5)), 1e-6);
  EXPECT_NEAR(numbers[1], 8 / (1 + std::exp(-1.0)), 1e-6);
  Model other(28);
  other.input("a", float32, {2}).input("b", float32, {1}).node("SwiGLU", {"a", "b"}, {"y"}).output("y");
  EXPECT_NE(other.error().find("axis 0 of both tensors must have one size"), std::string::npos)
      << other.error();
}

Numbers bits_of(const std::string& bytes, std::int64_t count, const std::vector<Type>& types) {
  Model model(26);
  model.raw("0", types[0], {count}, bytes);
  for (std::size_t k = 1; k < types.size(); ++k)
    model.node("BitCast", {cat(k - 1)}, {cat(k)}).with("to", types[k]);
  return numbers_of(model.output(cat(types.size() - 1)).read());
}
template <class Number>
Numbers bits_of(const std::vector<Number>& numbers, const std::vector<Type>& types) {
  const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
  return bits_of(bytes, static_cast<std::int64_t>(numbers.size()), types);
}

// All floats of 16 bits, from their bits and back: those of a NaN are the ones of one NaN.
TEST(OnnxOpsets, BitsOfSmallFloatsComeBack) {
  for (const auto& [type, infinity_bits, nan_bits] :
       {std::tuple{float16, 0x7c00, 0x7e00}, std::tuple{bfloat16, 0x7f80, 0x7fc0}}) {
    std::vector<std::uint16_t> codes;
    Numbers expected;
    for (int code = 0; code < 1 << 16; ++code) {
      codes.push_back(static_cast<std::uint16_t>(code));
      expected.push_back((code & 0x7fff) > infinity_bits ? nan_bits : code);
    }
    EXPECT_EQ(bits_of(codes, {uint16, type, uint16}), expected) << type;
  }
}

TEST(OnnxOpsets, BitsOfFloats) {
  const std::vector<float> singles = {1, -2.5F, -0.0F, 0x1p-149F, -INFINITY, 0x1.fffffep127F, 0x1p-126F};
  Numbers expected;
  for (const float each : singles) expected.push_back(std::bit_cast<std::int32_t>(each));
  EXPECT_EQ(bits_of(singles, {float32, int32}), expected);
  EXPECT_EQ(bits_of(singles, {float32, uint32, float32}), Numbers(singles.begin(), singles.end()));
  const std::vector<double> doubles = {1,        -2.5, -0.0, 0x1p-1074, -INFINITY, 0x1.fffffffffffffp1023,
                                       0x1p-1022};
  EXPECT_EQ(bits_of(doubles, {float64, int64, float64}), doubles);
  EXPECT_EQ(bits_of<double>({-2.5}, {float64, int64}),
            (Numbers{static_cast<double>(std::bit_cast<std::int64_t>(-2.5))}));
  EXPECT_EQ(bits_of<std::int8_t>({-1, 3}, {int8, uint8}), (Numbers{255, 3}));
  EXPECT_EQ(bits_of(std::string("\x9f", 1), 2, {int4, uint4}), (Numbers{15, 9}));
}

TEST(OnnxOpsets, BitsThatAreNotRead) {
  Model wide = model_of("BitCast", {2}, 26);
  EXPECT_EQ(wide.with("to", int64).error(),
            "node 'y' (BitCast, opset 26): elements of f32 have 32 bits, those of i64 64");
  Model narrow(26);
  narrow.input("x", uint8, {2}).node("BitCast", {"x"}, {"y"}).with("to", float8e8m0).output("y");
  EXPECT_EQ(narrow.error(),
            "unsupported: node 'y' (BitCast, opset 26): the bits of u8 as float8e8m0 is not supported");
}

}  // namespace

}  // namespace twinloom::tests
