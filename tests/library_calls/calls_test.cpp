// Products that oneDNN computes, and what it does to their results, beside the interpreter.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/text.h"
#include "core/loops/epilogue.h"
#include "core/loops/interpret.h"
#include "tests/library_calls/near_interpreter.h"

namespace twinloom::tests {
namespace {

TEST_F(LibraryCalls, ProductsInEveryLayout) {
  for (const char* a : {"40*i + k", "31*k + i"})
    for (const char* b : {"23*k + j", "40*j + k"})
      for (const char* y : {"23*i + j", "31*j + i", "46*i + 2*j"})
        expect_near(cat("program p(a: f32[1240], b: f32[920], y: written f32[1430]) library { for i < 31 { "
                        "for j < 23 "
                        "{ start t0 : sum f32 free for k < 40 { t0 += mul(a[",
                        a, "], b[", b, "]) at k } y[", y, "] = t0 } } }"),
                    40);
}

TEST_F(LibraryCalls, BatchesAndFactorsThatStayWhereTheyAre) {
  for (const char* b : {"460*g + 23*k + j", "23*k + j"})
    expect_near(cat("program p(a: f32[2480], b: f32[1840], y: written f32[2852]) library { for g < 4 { for i "
                    "< 31 { for "
                    "j < 23 { start t0 : sum f32 free for k < 20 { t0 += mul(a[620*g + 20*i + k], b[",
                    b, "]) at k } y[713*g + 23*i + j] = t0 } } } }"),
                20);
}

TEST_F(LibraryCalls, HeadsOutsideOfRows) {
  expect_near(
      "program p(a: f32[960], b: f32[1104], y: written f32[460]) library { for i < 20 { for j < 23 { start "
      "t0 : sum "
      "f32 free for h < 4 { for d < 12 { t0 += mul(a[240*h + 12*i + d], b[276*h + 23*d + j]) at 12*h + d } } "
      "y[23*i + j] = t0 } } }",
      48);
}

// Patches of five dimensions are no convolution: they are copied first, from where they begin.
TEST_F(LibraryCalls, FactorsThatAreCopiedBeginLater) {
  expect_near(
      "program p(a: f32[1100], b: f32[768], y: written f32[768]) library { for i < 2 { for j < 2 { for k < 2 "
      "{ for l < 2 { for "
      "m < 2 { for o < 24 { start t0 : sum f32 free for r < 2 { for s < 2 { for t < 2 { for u < 2 { for v < "
      "2 { t0 += "
      "mul(a[512*i + 256*r + 128*j + 64*s + 32*k + 16*t + 8*l + 4*u + 2*m + v + 50], b[32*o + 16*r + 8*s + "
      "4*t + 2*u + v]) at "
      "16*r + 8*s + 4*t + 2*u + v } } } } } y[384*i + 192*j + 96*k + 48*l + 24*m + o] = t0 } } } } } } }",
      32);
}

TEST_F(LibraryCalls, SizesOfARun) {
  const std::string text =
      "program p(a: f32[20*n], b: f32[20*m], y: written f32[m*n]; m in 1.., n in 1..) library { for i < n { "
      "for j < m { "
      "start t0 : sum f32 free for k < 20 { t0 += mul(a[20*i + k], b[m*k + j]) at k } y[m*i + j] = t0 } } }";
  for (const std::int64_t n : {1, 7, 64}) expect_near(text, 20, {33, n});
}

// The steps of an epilogue, in the words of a nest: t is the total, c a column's operand, x an element's.
constexpr const char* EPILOGUES[] = {
    "relu(t)",
    "add(t, c)",
    "relu(add(c, t))",
    "relu(add(add(t, c), x))",
    "mul(sub(t, c), x)",
    "minimum(maximum(add(t, 0x1p-1:f32), 0x0p+0:f32), 0x1.8p+0:f32)",
    "maximum(minimum(t, 0x1p-2:f32), -0x1p-2:f32)",
    "mul(t, minimum(maximum(add(mul(t, 0x1.555556p-3:f32), 0x1p-1:f32), 0x0p+0:f32), 0x1p+0:f32))",
    "div(mul(t, minimum(maximum(add(t, 0x1.8p+1:f32), 0x0p+0:f32), 0x1.8p+2:f32)), 0x1.8p+2:f32)",
};

std::string replaced(std::string text, const std::string& word, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

// Words between brackets, commas and spaces that are t, c or x.
std::string epilogue(const std::string& steps, const std::string& column, const std::string& element) {
  std::string text = replaced(replaced(steps, "(", "( "), ")", " )");
  text = replaced(cat(" ", replaced(text, ",", " ,"), " "), " t ", " t0 ");
  return replaced(replaced(text, " c ", cat(" ", column, " ")), " x ", cat(" ", element, " "));
}

// How the matrices of a batch lie in its results: there is one matrix, one behind the other, or a row of each
// in turn.
enum class Batch { none, outside, between_rows };

// Two matrices by one, or each by its own; results are neighbours along rows or along columns.
std::string product_with(const std::string& steps, bool turned = false, Batch batch = Batch::none) {
  const bool has_batch = batch != Batch::none, between = batch == Batch::between_rows;
  const std::string matrix = !has_batch ? ""
                                        : cat(!between ? 744
                                              : turned ? 31
                                                       : 24,
                                              "*g + "),
                    element =
                        cat(matrix, (turned ? 31 : 24) * (between ? 2 : 1), turned ? "*j + i" : "*i + j");
  return cat(
      "program p(a: f32[2480], b: f32[960], c: f32[24], x: f32[1488], y: written f32[1488]) library { ",
      has_batch ? "for g < 2 { " : "",
      "for i < 31 { for j < 24 { start t0 : sum f32 free for k < 40 { t0 += mul(a[",
      has_batch ? "1240*g + " : "", "40*i + k], b[24*k + j]) at k } y[", element,
      "] = ", epilogue(steps, "c[j]", cat("x[", element, "]")), has_batch ? " }" : "", " } } }");
}

// Channels last, 3 x 3, of all channels or of each its own.
std::string convolution_with(const std::string& steps, bool has_channels) {
  const std::string sum = has_channels ? "for g < 16 { " : "";
  return cat(
      "program p(a: f32[1296], b: f32[", has_channels ? 2304 : 144,
      "], c: f32[16], x: f32[1296], y: written f32[1296]) library { for h < 9 { for w < 9 { for o < 16 { "
      "start t0 : sum f32 free ",
      sum, "for r < 3 { for s < 3 { t0 += mul((a[144*h + 16*w + 144*r + 16*s + ", has_channels ? "g" : "o",
      " - 160] if -1 < h + r - 1 && h + r - 1 < 9 && -1 < w + s - 1 && w + s - 1 < 9 else 0x0p+0:f32), b[",
      has_channels ? "144*o + 9*g" : "9*o", " + 3*r + s]) at ", has_channels ? "9*g + " : "", "3*r + s } } ",
      has_channels ? "} " : "", "y[144*h + 16*w + o] = ", epilogue(steps, "c[o]", "x[144*h + 16*w + o]"),
      " } } } }");
}

// A NaN stays one, as in the nest, although a library's maximum drops it; what is infinite, too.
TEST_F(LibraryCalls, EpiloguesAreThoseOfTheNest) {
  constexpr float INFINITE = std::numeric_limits<float>::infinity();
  const Elements special = {{7, std::nanf("")}, {130, INFINITE}, {411, -INFINITE}};
  int served = 0;
  const auto expect_near_if_served = [&](const std::string& text, const Elements& elements) {
    if (cpu().has_library_for(loops::parse(text))) ++served, expect_near(text, 40, {}, elements);
  };
  for (const char* steps : EPILOGUES) {
    for (const Elements& elements : {Elements(), special}) {
      for (const Batch batch : {Batch::none, Batch::outside}) {
        expect_near(product_with(steps, false, batch), 40, {}, elements);
        expect_near_if_served(product_with(steps, true, batch), elements);
      }
      for (const bool turned : {false, true})
        expect_near_if_served(product_with(steps, turned, Batch::between_rows), elements);
      expect_near(convolution_with(steps, true), 144, {}, elements);
      expect_near(convolution_with(steps, false), 12, {}, elements);
    }
  }
  EXPECT_GT(served, 0);
}

// Deep products of few rows and columns, which a convolution computes; by columns in either order.
TEST_F(LibraryCalls, DeepProductsOfFewRows) {
  for (const char* right : {"80*k + j", "200*j + k"})
    for (const Elements& elements : {Elements(), Elements{{7, std::nanf("")}}})
      expect_near(
          cat("program p(a: f32[8000], b: f32[16000], c: f32[80], x: f32[3200], y: written f32[3200]) "
              "library "
              "{ for i < 40 { for j < 80 { start t0 : sum f32 free for k < 200 { t0 += mul(a[200*i + k], b[",
              right, "]) at k } y[80*i + j] = relu(add(add(t0, c[j]), x[80*i + j])) } } }"),
          200, {}, elements);
}

// In one run flags are cleared once: each call takes its own, so that one after a call with a NaN has none of
// it, and one with a NaN after others still has.
TEST_F(LibraryCalls, EachCallOfARunTakesItsFlags) {
  const loops::Program nest = loops::parse(product_with("relu(t)"));
  const auto kernel = cpu().build(nest).kernel;
  for (const std::uint64_t run : {std::uint64_t{0}, std::uint64_t{1} << 60}) {
    for (const bool has_nan : {true, false, false, true}) {
      std::vector<std::vector<float>> arrays;
      for (unsigned b = 0; b < nest.buffers.size(); ++b)
        arrays.push_back(drawn(static_cast<std::size_t>(index::evaluate(nest.buffers[b].count, {})), b + 1));
      if (has_nan) arrays[0][41] = std::numeric_limits<float>::quiet_NaN();  // of row 1
      std::vector<loops::Memory> memory;
      for (std::vector<float>& array : arrays) memory.push_back({array.data(), 0, std::ssize(array)});
      runtime::RunSettings settings;
      settings.threads = 2;
      settings.run = run;
      EXPECT_FALSE(kernel->run(memory, {}, settings));
      const std::vector<float>& y = arrays.back();
      for (std::size_t at = 0; at < 31 * 24; ++at)
        ASSERT_EQ(std::isnan(y[at]), has_nan && at / 24 == 1) << run << " " << at;
    }
  }
}

// What is added may lie where the results go, unless something else reads it, or it lies otherwise. A NaN
// that a maximum drops is asked for again.
TEST_F(LibraryCalls, WhatIsAddedMayLieInTheResults) {
  const auto pairs = [](const std::string& text) {
    return cpu().build(loops::parse(text)).kernel->in_place({});
  };
  constexpr loops::InPlace X_IN_Y{loops::Buffer{3}, loops::Buffer{4}};
  for (const char* steps : {"relu(add(add(t, c), x))", "add(t, x)", "mul(add(t, x), c)"})
    for (const std::string& text : {product_with(steps), convolution_with(steps, true)})
      EXPECT_EQ(pairs(text), std::vector{X_IN_Y}) << text;
  for (const char* steps : {"relu(add(t, c))", "mul(t, x)", "add(mul(t, x), x)"})
    EXPECT_TRUE(pairs(product_with(steps)).empty()) << steps;
  // Steps along columns of another matrix.
  EXPECT_TRUE(pairs(replaced(product_with("add(t, x)"), "x[24*i + j]", "x[31*j + i]")).empty());

  const auto kernel = cpu().build(loops::parse(product_with("relu(add(t, x))"))).kernel;
  Arrays arrays = {drawn(2480, 1), drawn(960, 2), drawn(24, 3), drawn(1488, 4), drawn(1488, 5)};
  runtime::RunSettings settings;
  settings.threads = 2;
  EXPECT_FALSE(run_in_place(*kernel, X_IN_Y, arrays, {}, settings));
  arrays[0][41] = std::numeric_limits<float>::quiet_NaN();  // of row 1
  EXPECT_TRUE(run_in_place(*kernel, X_IN_Y, arrays, {}, settings));
  for (std::size_t at = 0; at < 31 * 24; ++at) ASSERT_EQ(std::isnan(arrays[4][at]), at / 24 == 1) << at;
  // A run that cannot begin again takes no risk.
  arrays[4] = arrays[3];
  std::vector<loops::Memory> memory = memory_of(arrays);
  memory[3] = memory[4];
  EXPECT_FALSE(kernel->run(memory, {}, settings));
  for (std::size_t at = 0; at < 31 * 24; ++at) ASSERT_EQ(std::isnan(arrays[4][at]), at / 24 == 1) << at;
}

TEST_F(LibraryCalls, EpiloguesThatNoLibraryHasAreNone) {
  for (const char* steps : {"tanh(t)", "sub(c, t)", "add(t, t)", "mul(t, relu(t))", "add(t, relu(x))"})
    EXPECT_FALSE(loops::contraction_call_of(loops::parse(product_with(steps)))) << steps;
}

// Constants of some 26 MB are packed by parts, along either dimension.
TEST_F(LibraryCalls, LargeConstantsArePacked) {
  constexpr std::int64_t ROWS = 5, COLUMNS = 2500, TERMS = 2600;
  for (const char* right : {"2500*k + j", "2600*j + k"}) {
    const loops::Program nest = loops::parse(
        cat("program p(a: f32[13000], b: f32[6500000], y: written f32[12500]) library { for i < 5 { for j < "
            "2500 { start t0 : sum f32 free for k < 2600 { t0 += mul(a[2600*i + k], b[",
            right, "]) at k } y[2500*i + j] = t0 } } }"));
    std::vector<float> a = drawn(ROWS * TERMS, 1), b = drawn(TERMS * COLUMNS, 2);
    const auto result = [&](const runtime::Kernel& kernel) {
      std::vector<float> y(ROWS * COLUMNS, std::numeric_limits<float>::quiet_NaN());
      const std::vector<loops::Memory> memory = {
          {a.data(), 0, std::ssize(a)}, {b.data(), 0, std::ssize(b)}, {y.data(), 0, std::ssize(y)}};
      EXPECT_FALSE(kernel.run(memory, {}, {}));
      return y;
    };
    const auto kernel = cpu().build(nest).kernel;
    const std::vector<float> expected = result(*kernel);
    const auto content = std::make_shared<const int>(0);
    const auto packed = kernel->with_constants(
        std::vector<runtime::ConstantArgument>{{}, {{b.data(), 0, std::ssize(b)}, content}, {}});
    ASSERT_NE(packed, nullptr);
    for (int run = 0; run < 2; ++run) {
      const std::vector<float> given = result(*packed);
      for (std::size_t at = 0; at < given.size(); ++at)
        ASSERT_TRUE(is_near(given[at], expected[at], TERMS * 0x1p-24 * TERMS / 2)) << right << " " << at;
      std::ranges::fill(b, 0.0F);  // it has a copy
    }
  }
}

TEST_F(LibraryCalls, ItsOwnReferenceIsNotTaken) {
  // Of f64 it has no product; of integers no sum of f32.
  const loops::Program nest = loops::parse(
      "program p(a: f16[40], b: f32[40], y: written f32[16]) library { for i < 4 { for j < 4 { start t0 : "
      "sum f32 free "
      "for k < 10 { t0 += mul(f32(a[10*i + k]), b[4*k + j]) at k } y[4*i + j] = t0 } } }");
  EXPECT_FALSE(cpu().has_library_for(nest));
}

}  // namespace
}  // namespace twinloom::tests
