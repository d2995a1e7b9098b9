// Element types of ONNX that the graph holds in a wider type: read from files, rounded to and computed from.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Narrow {
  Type type;
  int bits;
  double greatest;
};
constexpr Narrow floats[] = {{float4e2m1, 4, 6},        {float6e2m3, 6, 7.5},   {float6e3m2, 6, 28},
                             {float8e4m3fn, 8, 448},    {float8e5m2, 8, 57344}, {float8e4m3fnuz, 8, 240},
                             {float8e5m2fnuz, 8, 57344}};

// All elements of the type, by their bits.
Numbers elements_of(Type type, int bits) {
  const std::int64_t count = std::int64_t{1} << bits;
  std::string bytes(static_cast<std::size_t>(count * bits / 8), '\0');
  for (std::int64_t code = 0; code < count; ++code)
    for (int bit = 0; bit < bits; ++bit)
      if ((code >> bit & 1) != 0) {
        const std::int64_t at = code * bits + bit;
        bytes[static_cast<std::size_t>(at / 8)] |= static_cast<char>(1 << at % 8);
      }
  Model model(28);
  model.raw("x", type, {count}, bytes).node("Cast", {"x"}, {"y"}).with("to", float32).output("y");
  return numbers_of(model.read());
}

TEST(OnnxNarrowTypes, HaveTheirElements) {
  EXPECT_EQ(elements_of(int4, 4), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1}));
  EXPECT_EQ(elements_of(uint4, 4), (Numbers{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(elements_of(int2, 2), (Numbers{0, 1, -2, -1}));
  EXPECT_EQ(elements_of(uint2, 2), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(elements_of(float4e2m1, 4),
            (Numbers{0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6}));
  for (const auto& [type, bits, greatest] : floats) {
    double found = 0;
    for (const double each : elements_of(type, bits))
      if (std::isfinite(each)) found = std::max(found, each);
    EXPECT_EQ(found, greatest) << type;
  }
  const Numbers e4m3fnuz = elements_of(float8e4m3fnuz, 8), e5m2fnuz = elements_of(float8e5m2fnuz, 8);
  EXPECT_EQ(e4m3fnuz[1], 0x1p-10);
  EXPECT_EQ(e5m2fnuz[1], 0x1p-17);
  EXPECT_TRUE(std::isnan(e4m3fnuz[128]) && std::isnan(e5m2fnuz[128]));
  const Numbers e8m0 = elements_of(float8e8m0, 8);
  EXPECT_EQ(e8m0[0], 0x1p-127);
  EXPECT_EQ(e8m0[254], 0x1p127);
  EXPECT_TRUE(std::isnan(e8m0[255]));
}

Numbers cast(const std::vector<float>& numbers, Type to, bool saturates = true) {
  Model model(28);
  model.reals("x", {static_cast<std::int64_t>(numbers.size())}, numbers).node("Cast", {"x"}, {"n"});
  model.with("to", to).with("saturate", saturates ? 1 : 0);
  model.node("Cast", {"n"}, {"y"}).with("to", float32).output("y");
  return numbers_of(model.read());
}

// Between each two neighbours a, b: the middle is rounded to the one whose bits are even, what is beside it
// to the nearer one.
TEST(OnnxNarrowTypes, AreRoundedToTheNearestAndTiesToEven) {
  for (const auto& [type, bits, greatest] : floats) {
    const Numbers elements = elements_of(type, bits);
    std::vector<float> given;
    Numbers expected;
    for (std::size_t code = 0; elements[code] != greatest; ++code) {
      const auto a = static_cast<float>(elements[code]), b = static_cast<float>(elements[code + 1]);
      const float middle = (a + b) / 2, below = std::nextafter(middle, 0.0F),
                  above = std::nextafter(middle, 1e9F);
      const double even = code % 2 == 0 ? a : b;
      for (const float sign : {1.0F, -1.0F}) {
        given.insert(given.end(), {sign * a, sign * below, sign * middle, sign * above});
        for (const double each : {double{a}, double{a}, even, double{b}}) expected.push_back(sign * each);
      }
    }
    EXPECT_EQ(cast(given, type), expected) << type;
  }
}

TEST(OnnxNarrowTypes, SaturateOrNot) {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  for (const auto& [type, bits, greatest] : floats) {
    EXPECT_EQ(cast({1e6F, -1e6F, inf, -inf}, type), (Numbers{greatest, -greatest, greatest, -greatest}));
    const double nan = cast({std::nanf("")}, type).at(0);
    EXPECT_TRUE(bits < 8 ? nan == 0 : std::isnan(nan)) << type;
  }
  EXPECT_EQ(cast({1e6F, -inf}, float8e5m2, false), (Numbers{infinity, -infinity}));
  for (const Type type : {float8e4m3fn, float8e4m3fnuz, float8e5m2fnuz})
    for (const double each : cast({1e6F, inf, -inf}, type, false)) EXPECT_TRUE(std::isnan(each)) << type;
  // Integers lose their high bits, as those of more bits do.
  EXPECT_EQ(cast({-9, 7.9F, 8}, int4), (Numbers{7, 7, -8}));
  EXPECT_EQ(cast({-1, 5, 16}, uint4), (Numbers{15, 5, 0}));
}

TEST(OnnxNarrowTypes, PowersOfTwoAreRoundedAsTheNodeSays) {
  const auto powers = [](const std::string& mode, std::int64_t saturates) {
    Model model(28);
    model.reals("x", {6}, {1.25F, 1.5F, 4, 0x1.8p-127F, 0, std::numeric_limits<float>::max()});
    model.node("Cast", {"x"}, {"n"}).with("to", float8e8m0).with("round_mode", mode);
    model.with("saturate", saturates).node("Cast", {"n"}, {"y"}).with("to", float32).output("y");
    return numbers_of(model.read());
  };
  EXPECT_EQ(powers("up", 1), (Numbers{2, 2, 4, 0x1p-126, 0x1p-127, 0x1p127}));
  EXPECT_EQ(powers("down", 1), (Numbers{1, 1, 4, 0x1p-127, 0x1p-127, 0x1p127}));
  const Numbers nearest = powers("nearest", 0);
  EXPECT_EQ(Numbers(nearest.begin(), nearest.begin() + 4), (Numbers{1, 2, 4, 0x1p-126}));
  EXPECT_TRUE(std::isnan(nearest[4]) && std::isnan(nearest[5]));
}

// 4-bit elements of a field of integers are two in each, those of 6 bits one.
TEST(OnnxNarrowTypes, AreReadFromFieldsOfIntegers) {
  format::TensorProto tensor;
  tensor.dims = {3};
  tensor.data_type = int4;
  tensor.int32_data = {0x2f, 0x08};
  const graph::Array array = onnx::read_tensor(encoded(tensor), "x.pb");
  EXPECT_EQ(array.dtype, ops::DType::i8);
  EXPECT_EQ(static_cast<int>(array.bytes.read()[0]), 255);
  EXPECT_EQ(static_cast<int>(array.bytes.read()[1]), 2);
  EXPECT_EQ(static_cast<int>(array.bytes.read()[2]), 0xf8);
  tensor.data_type = float6e2m3;
  EXPECT_THROW(onnx::read_tensor(encoded(tensor), "x.pb"), Error);
  tensor.int32_data = {0x2f, 0x08, 1};
  EXPECT_EQ(onnx::read_tensor(encoded(tensor), "x.pb").dtype, ops::DType::f16);
}

TEST(OnnxNarrowTypes, FilesOfOtherSizesAreRefused) {
  const auto error = [](Type type, std::int64_t count, const std::string& bytes) {
    return Model(28).raw("x", type, {count}, bytes).node("Shape", {"x"}, {"y"}).output("y").error();
  };
  EXPECT_EQ(error(int4, 3, "12"), "nothing was thrown");
  EXPECT_EQ(error(int4, 3, "1"), "initializer 'x': holds 1 bytes, its dimensions and type need 2");
  EXPECT_EQ(error(uint2, 5, "1"), "initializer 'x': holds 1 bytes, its dimensions and type need 2");
  EXPECT_EQ(error(float6e3m2, 4, "1234"), "initializer 'x': holds 4 bytes, its dimensions and type need 3");
  EXPECT_EQ(error(float8e8m0, 4, "123"), "initializer 'x': holds 3 bytes, its dimensions and type need 4");
  EXPECT_EQ(error(int4, 3, ""), "initializer 'x': holds 0 numbers, its dimensions need 2");
  EXPECT_EQ(error(int4, std::int64_t{1} << 60, "1"),
            "initializer 'x': dimensions 1152921504606846976 of i8 are more than 1099511627776 bytes");
}

// Equal constants in the graph, which stand for different types.
TEST(OnnxNarrowTypes, AreNotThoseThatHoldThem) {
  for (const auto& [type, expected] : {std::pair{int4, 7.0}, std::pair{int8, 100.0}}) {
    Model model(25);
    model.reals("x", {1}, {100}).reals("s", {}, {1}).raw("other", int8, {1}, std::string(1, '\0'));
    model.raw("zero", type, {1}, std::string(1, '\0')).integers("shape", {1, 1});
    model.node("Reshape", {"zero", "shape"}, {"moved"}).node("Squeeze", {"moved", "axis"}, {"z"});
    model.integers("axis", {0}).node("QuantizeLinear", {"x", "s", "z"}, {"q"});
    model.node("DequantizeLinear", {"q", "s", "z"}, {"y"}).output("y");
    EXPECT_EQ(numbers_of(model.read()), (Numbers{expected}));
  }
}

// Constants, what is carried through loops, and branches.
TEST(OnnxNarrowTypes, GoThroughGraphs) {
  Model branch(25), body(25);
  branch.node("Identity", {"zero"}, {"taken"}).output("taken");
  body.input("i", int64, {}).input("c", boolean, {}).input("z", int4, {1});
  body.node("Identity", {"c"}, {"on"}).node("Transpose", {"z"}, {"same"}).output("on").output("same");
  Model model(25);
  model.raw("yes", boolean, {}, "\1").integers("count", {2}).integers("one", {1});
  model.node("ConstantOfShape", {"one"}, {"zero"});
  format::TensorProto zero;
  zero.data_type = int4;
  zero.dims = {1};
  zero.int32_data = {0};
  format::AttributeProto value;
  value.name = "value";
  value.type = format::AttributeType::tensor;
  value.t = std::make_shared<format::TensorProto>(zero);
  model.node(0).attribute.push_back(value);
  model.node("If", {"yes"}, {"z1"}).with("then_branch", branch).with("else_branch", branch);
  model.node("Loop", {"count", "yes", "z1"}, {"z2"}).with("body", body);
  model.reals("x", {2}, {100, -100}).node("CastLike", {"x", "z2"}, {"like"});
  model.reals("s", {}, {1}).node("QuantizeLinear", {"x", "s", "z2"}, {"q"});
  model.node("DequantizeLinear", {"q", "s"}, {"y"}).node("Cast", {"like"}, {"l"}).with("to", float32);
  model.output("y").output("l");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{7, -8}));
  EXPECT_EQ(numbers_of(model.read(), {}, 1), (Numbers{4, -4}));
}

// 8-bit floats of integers, and of what does not fit.
TEST(OnnxNarrowTypes, IntegersAreRoundedOnce) {
  for (const std::int64_t saturates : {0, 1}) {
    Model model(25);
    model.integers("x", {17, 1000, -3}).node("Cast", {"x"}, {"n"}).with("to", float8e4m3fn);
    model.with("saturate", saturates).node("Cast", {"n"}, {"y"}).with("to", float32).output("y");
    const Numbers numbers = numbers_of(model.read());
    EXPECT_EQ(numbers[0], 16);
    EXPECT_TRUE(saturates == 1 ? numbers[1] == 448 : std::isnan(numbers[1]));
    EXPECT_EQ(numbers[2], -3);
  }
}

TEST(OnnxNarrowTypes, AreRefusedByOtherOperators) {
  Model model(25);
  model.input("x", int4, {2}).node("Add", {"x", "x"}, {"y"}).output("y");
  EXPECT_EQ(model.error(), "unsupported: node 'y' (Add, opset 25): input 0 'x' of int4 is not supported");
  EXPECT_EQ(model_of("EyeLike", {2, 2}, 22).with("dtype", int4).error(),
            "unsupported: node 'y' (EyeLike, opset 22): attribute 'dtype': elements of type int4");
}

TEST(OnnxNarrowTypes, BlocksHaveScales) {
  Model model(25);
  model.raw("w", int4, {1, 5}, std::string("\x21\x43\x05", 3)).reals("s", {1, 3}, {1, 10, 100});
  model.node("DequantizeLinear", {"w", "s"}, {"y"}).with("block_size", 2).output("y");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{1, 2, 30, 40, 500}));
  Model few(25);
  few.raw("w", int4, {1, 5}, std::string("\x21\x43\x05", 3)).reals("s", {1, 2}, {1, 10});
  few.node("DequantizeLinear", {"w", "s"}, {"y"}).with("block_size", 2).output("y");
  EXPECT_NE(few.error(), "nothing was thrown");
}

// The precision of the quotient, and the type of the result.
TEST(OnnxNarrowTypes, QuotientsAndProductsHaveTheirPrecision) {
  Model model(25);
  model.reals("x", {1}, {2049}).reals("s", {}, {1}).node("QuantizeLinear", {"x", "s"}, {"q"});
  model.with("precision", float16).with("output_dtype", 5);
  model.node("DequantizeLinear", {"q", "s"}, {"y"}).with("output_dtype", float16).output("y");
  EXPECT_EQ(type_of(model.read()), "f16 [1]");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{2048}));
}

}  // namespace

}  // namespace twinloom::tests
