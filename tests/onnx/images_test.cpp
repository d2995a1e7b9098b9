// Images that are cropped, put together, resized and read at computed places, and transforms of signals.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/onnx/models.h"

namespace twinloom::tests {

namespace {

using Numbers = std::vector<double>;
using List = std::vector<std::int64_t>;

void expect_near(const Numbers& given, const Numbers& expected) {
  ASSERT_EQ(given.size(), expected.size());
  for (std::size_t k = 0; k < given.size(); ++k) EXPECT_NEAR(given[k], expected[k], 1e-5) << k;
}

TEST(OnnxImages, AreCroppedAndPaddedAroundTheirMiddle) {
  const auto around = [](std::int64_t size) {
    Model model(18);
    model.input("x", float32, {5}).integers("size", {size});
    return numbers_of(model.node("CenterCropPad", {"x", "size"}, {"y"}).output("y").read());
  };
  EXPECT_EQ(around(2), (Numbers{1, 2}));
  EXPECT_EQ(around(3), (Numbers{1, 2, 3}));
  EXPECT_EQ(around(8), (Numbers{0, 0, 1, 2, 3, 4, 0, 0}));
  Model symbolic(18);
  symbolic.input("x", float32, {"n", 5}).integers("size", {4}).node("CenterCropPad", {"x", "size"}, {"y"});
  symbolic.with("axes", List{-2}).output("y");
  EXPECT_EQ(type_of(symbolic.read()), "f32 [4, 5]");
  for (const std::int64_t n : {1, 3, 4, 7}) {
    const Numbers numbers = numbers_of(symbolic.read(), {{index::Symbol("n"), n}});
    const std::int64_t cut = n > 4 ? (n - 4) / 2 : 0, before = n < 4 ? (4 - n) / 2 : 0;
    EXPECT_EQ(numbers.at(static_cast<std::size_t>(before) * 5 + 1), static_cast<double>(cut * 5 + 1)) << n;
  }
}

// Of ones: how many windows reach each element.
TEST(OnnxImages, WindowsAreAddedUp) {
  const auto sums = [](const List& image, const List& block, std::int64_t count, const List& pads,
                       std::int64_t stride, std::int64_t dilation) {
    std::int64_t taps = 1;
    for (const std::int64_t each : block) taps *= each;
    Model model(18);
    model.reals("x", {1, taps, count}, std::vector<float>(static_cast<std::size_t>(taps * count), 1));
    model.integers("image", image).integers("block", block).node("Col2Im", {"x", "image", "block"}, {"y"});
    model.with("pads", pads).with("strides", List(block.size(), stride));
    return numbers_of(model.with("dilations", List(block.size(), dilation)).output("y").read());
  };
  EXPECT_EQ(sums({4}, {2}, 3, {0, 0}, 1, 1), (Numbers{1, 2, 2, 1}));
  EXPECT_EQ(sums({4}, {2}, 3, {1, 1}, 2, 1), (Numbers{1, 1, 1, 1}));
  EXPECT_EQ(sums({5}, {2}, 3, {0, 0}, 1, 2), (Numbers{1, 1, 2, 1, 1}));
  EXPECT_EQ(sums({3, 3}, {2, 2}, 4, {0, 0, 0, 0}, 1, 1), (Numbers{1, 2, 1, 2, 4, 2, 1, 2, 1}));
}

// Read at the places of the identity, an image is what it was; so is one of any number of sides.
TEST(OnnxImages, GridsOfTheIdentityChangeNothing) {
  for (const std::int64_t aligned : {0, 1}) {
    for (const std::int64_t sides : {1, 2, 3}) {
      std::vector<float> identity;
      List size = {1, 2};
      std::vector<Dimension> shape = {1, 2};
      for (std::int64_t row = 0; row < sides; ++row) {
        for (std::int64_t column = 0; column <= sides; ++column) identity.push_back(row == column ? 1 : 0);
        size.push_back(row + 2);
        shape.emplace_back(row + 2);
      }
      Model model(20);
      model.input("x", float32, shape).reals("theta", {1, sides, sides + 1}, identity).integers("size", size);
      model.node("AffineGrid", {"theta", "size"}, {"grid"}).with("align_corners", aligned);
      model.node("GridSample", {"x", "grid"}, {"y"}).with("align_corners", aligned).output("y");
      const Numbers numbers = numbers_of(model.read());
      Numbers counting;
      for (std::size_t k = 0; k < numbers.size(); ++k) counting.push_back(static_cast<double>(k));
      expect_near(numbers, counting);
    }
  }
}

TEST(OnnxImages, AnAxisOfOneElementHasItsMiddle) {
  Model model(20);
  model.reals("theta", {1, 1, 2}, {3, 0.5}).integers("size", {1, 1, 1});
  model.node("AffineGrid", {"theta", "size"}, {"y"}).with("align_corners", 1).output("y");
  EXPECT_EQ(numbers_of(model.read()), (Numbers{0.5}));
}

// x is 3 by 3, the filter takes its own element and half of the one below; offsets move all by (down, right).
Numbers moved(float down, float right, float mask) {
  Model model(22);
  model.input("x", float32, {1, 1, 3, 3}).reals("w", {1, 1, 2, 1}, {1, 0.5}).reals("b", {1}, {100});
  std::vector<float> offsets;
  for (int tap = 0; tap < 2; ++tap)
    for (const float each : {down, right}) offsets.insert(offsets.end(), 6, each);
  model.reals("o", {1, 4, 2, 3}, offsets).reals("m", {1, 2, 2, 3}, std::vector<float>(12, mask));
  return numbers_of(model.node("DeformConv", {"x", "w", "o", "b", "m"}, {"y"}).output("y").read());
}
TEST(OnnxImages, ElementsOfFiltersMove) {
  EXPECT_EQ(moved(0, 0, 1), (Numbers{101.5, 103, 104.5, 106, 107.5, 109}));
  EXPECT_EQ(moved(0, 1, 1), (Numbers{103, 104.5, 100, 107.5, 109, 100}));
  EXPECT_EQ(moved(-0.5, 0, 1), (Numbers{100.75, 101.75, 102.75, 103.75, 105.25, 106.75}));
  EXPECT_EQ(moved(0, 0, 2), (Numbers{103, 106, 109, 112, 115, 118}));
}

TEST(OnnxImages, RegionsHaveTheirGreatestElement) {
  Model model(22);
  model.input("x", float32, {1, 1, 4, 4}).reals("roi", {1, 4}, {1, 1, 3, 3}).integers("batch", {0});
  model.node("RoiAlign", {"x", "roi", "batch"}, {"y"}).with("mode", "max").with("sampling_ratio", 1);
  model.with("coordinate_transformation_mode", "output_half_pixel").output("y");
  // The sample lies on element (2, 2), which has the whole weight.
  EXPECT_EQ(numbers_of(model.read()), (Numbers{10}));
}

TEST(OnnxImages, ASmallerImageHasNoAliases) {
  const auto halved = [](const std::string& mode) {
    Model model(19);
    model.input("x", float32, {4}).reals("scale", {1}, {0.5}).node("Resize", {"x", "", "scale"}, {"y"});
    return numbers_of(model.with("mode", mode).with("antialias", 1).output("y").read());
  };
  expect_near(halved("linear"), {0.625, 2.375});
  const Numbers cubic = halved("cubic");
  EXPECT_NEAR(cubic.at(0) + cubic.at(1), 3, 1e-5);
  Model huge(19);
  huge.input("x", float32, {4096}).integers("size", {1}).node("Resize", {"x", "", "", "size"}, {"y"});
  EXPECT_EQ(huge.with("mode", "linear").with("antialias", 1).output("y").error(),
            "unsupported: node 'y' (Resize, opset 19): attribute 'antialias' with a scale of "
            "0.000244140625 is not supported");
}

// Half of the transform of real numbers is enough to find them again.
TEST(OnnxImages, OneSidedTransformsGoBack) {
  for (const std::int64_t length : {1, 2, 5, 6}) {
    Model model(20);
    model.input("x", float32, {1, length, 1})
        .raw("n", int64, {}, std::string(1, static_cast<char>(length)) + std::string(7, '\0'));
    model.node("DFT", {"x"}, {"half"}).with("onesided", 1);
    model.node("DFT", {"half", "n"}, {"y"}).with("onesided", 1).with("inverse", 1).output("y");
    EXPECT_EQ(type_of(model.read()), cat("f32 [1, ", length, ", 1]"));
    Numbers counting;
    for (std::int64_t k = 0; k < length; ++k) counting.push_back(static_cast<double>(k));
    expect_near(numbers_of(model.read()), counting);
  }
}

// The first half of the transform of complex numbers.
TEST(OnnxImages, OneSidedTransformsOfComplexNumbers) {
  const auto transformed = [](std::int64_t onesided) {
    Model model(20);
    model.input("x", float32, {1, 4, 2}).node("DFT", {"x"}, {"y"}).with("onesided", onesided).output("y");
    return numbers_of(model.read());
  };
  Numbers whole = transformed(0);
  whole.resize(6);
  EXPECT_EQ(transformed(1), whole);
}

}  // namespace

}  // namespace twinloom::tests
