// Which nests are products and convolutions, and of what shape.
#include "core/loops/contraction.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/loops/products.h"

namespace twinloom::loops {
namespace {

// for KEPT { sum over SUMMED of `product`; y[out] = t }
Program nest(const std::string& kept, const std::string& summed, const std::string& product,
             const std::string& out, const std::string& start = "sum f32 free") {
  const auto loops = [](const std::string& axes) {
    std::string text;
    for (std::size_t at = 0; at < axes.size(); at = axes.find(' ', at) + 1) {
      const std::size_t end = std::min(axes.find(' ', at), axes.size());
      const std::string axis = axes.substr(at, end - at);
      const std::size_t colon = axis.find(':');
      text += cat("for ", axis.substr(0, colon), " < ", axis.substr(colon + 1), " { ");
      if (end == axes.size()) break;
    }
    return text;
  };
  const auto closed = [](const std::string& axes) {
    return std::string(static_cast<std::size_t>(std::ranges::count(axes, ' ')) + 1, '}');
  };
  return parse(
      cat("program p(a: f32[99999], b: f32[99999], h: bf16[99999], y: written f32[99999], z: written "
          "bf16[99999]; n in 1..) { ",
          loops(kept), "start t0 : ", start, " ", loops(summed), "t0 += ", product, " at k ", closed(summed),
          " ", out, " ", closed(kept), " }"));
}

std::string words(const Contraction::Axis& axis) {
  return cat(axis.extent, ":", axis.out, ",", axis.left, ",", axis.right);
}

TEST(Contraction, AProductHasOneAxisOfEach) {
  const auto found =
      contraction_of(nest("i:4 j:6", "k:5", "mul(a[5*i + k + 7], b[6*k + j])", "y[6*i + j] = t0"));
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->windows.empty());
  EXPECT_EQ(index::print(found->left_begin), "7");
  const auto product = matrix_product_of(*found);
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->batch.empty());
  EXPECT_EQ(words(product->rows), "4:6,5,0");
  EXPECT_EQ(words(product->columns), "6:1,0,1");
  EXPECT_EQ(words(product->depth), "5:0,1,6");
}

TEST(Contraction, AxesThatFollowEachOtherAreOne) {
  const auto found = contraction_of(nest("g:2 i:3 j:4 c:n", "k:5 l:7",
                                         "mul(a[420*g + 140*i + 35*j + 7*k + l], b[c + 7*n*k + n*l])",
                                         "y[12*n*g + 4*n*i + n*j + c] = t0"));
  ASSERT_TRUE(found);
  const auto product = matrix_product_of(*found);
  ASSERT_TRUE(product);
  EXPECT_TRUE(product->batch.empty());
  EXPECT_EQ(words(product->rows), "24:n,35,0");
  EXPECT_EQ(words(product->columns), "n:1,0,1");
  EXPECT_EQ(words(product->depth), "35:0,1,n");
}

TEST(Contraction, WhatDoesNotFollowIsOfTheBatch) {
  const auto found = contraction_of(
      nest("g:2 i:3 j:4", "k:5", "mul(a[100*g + 5*i + k], b[20*g + 4*k + j])", "y[12*g + 4*i + j] = t0"));
  ASSERT_TRUE(found);
  const auto product = matrix_product_of(*found);
  ASSERT_TRUE(product);
  ASSERT_EQ(product->batch.size(), 1u);
  EXPECT_EQ(words(product->batch.front()), "2:12,100,20");
}

TEST(Contraction, PaddedWindowsAreDimensions) {
  // [2, 3, 9, 9] by [4, 3, 3, 3], stride 2, padding 1, dilation 2 along the rows.
  const auto found = contraction_of(nest(
      "n0:2 o:4 y0:4 x0:5", "c:3 r:3 s:3",
      "mul(b[27*o + 9*c + 3*r + s], (a[243*n0 + 81*c + 18*y0 + 18*r + 2*x0 + s - 10] if 0 < 2*y0 + 2*r && "
      "2*y0 + 2*r - 1 < 9 && 0 < 2*x0 + s && 2*x0 + s - 1 < 9 else 0x0p+0:f32))",
      "y[80*n0 + 20*o + 5*y0 + x0] = t0"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->windows.size(), 2u);
  EXPECT_FALSE(matrix_product_of(*found));
  const auto convolution = convolution_of(*found);
  ASSERT_TRUE(convolution);
  EXPECT_EQ(words(convolution->batch), "2:80,243,0");
  EXPECT_EQ(words(convolution->results), "4:20,0,27");
  EXPECT_EQ(words(convolution->inputs), "3:0,81,9");
  ASSERT_EQ(convolution->dimensions.size(), 2u);
  const Convolution::Dimension &rows = convolution->dimensions[0], &columns = convolution->dimensions[1];
  EXPECT_EQ(
      (std::vector{rows.extent, rows.step, rows.results, rows.taps, rows.stride, rows.dilation, rows.before}),
      (std::vector<std::int64_t>{9, 9, 4, 3, 2, 2, 1}));
  EXPECT_EQ((std::vector{columns.extent, columns.step, columns.results, columns.taps, columns.stride,
                         columns.dilation, columns.before, columns.after()}),
            (std::vector<std::int64_t>{9, 1, 5, 3, 2, 1, 1, 1}));
  EXPECT_EQ(index::print(found->left_begin), "0");
}

TEST(Contraction, WindowsWithoutPaddingAreSeenFromSteps) {
  // Patches of 4 x 4 of [3, 8, 12], no two of which overlap.
  const auto found = contraction_of(nest("o:7 y0:2 x0:3", "c:3 r:4 s:4",
                                         "mul(a[96*c + 48*y0 + 12*r + 4*x0 + s], b[48*o + 16*c + 4*r + s])",
                                         "y[6*o + 3*y0 + x0] = t0"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(matrix_product_of(*found));
  const auto convolution = convolution_of(*found);
  ASSERT_TRUE(convolution);
  ASSERT_EQ(convolution->dimensions.size(), 2u);
  for (const Convolution::Dimension& each : convolution->dimensions) {
    EXPECT_EQ(each.stride, 4);
    EXPECT_EQ(each.taps, 4);
    EXPECT_EQ(each.after(), 0);
  }
  EXPECT_EQ(words(convolution->inputs), "3:0,96,16");
}

TEST(Contraction, ACopyMakesOneAxisOfSeveral) {
  // Heads outside of rows: [2, 5, 3] as [5, 6].
  const auto found = contraction_of(
      nest("i:5 j:4", "h:2 d:3", "mul(a[15*h + 3*i + d], b[12*h + 4*d + j])", "y[4*i + j] = t0"));
  ASSERT_TRUE(found);
  EXPECT_FALSE(matrix_product_of(*found));
  const Copied copied = with_left_copied(*found);
  const auto product = matrix_product_of(copied.contraction);
  ASSERT_TRUE(product);
  EXPECT_EQ(words(product->depth), "6:0,1,4");
  EXPECT_EQ(words(product->rows), "5:4,6,0");
  ASSERT_EQ(copied.axes.size(), 3u);
  EXPECT_EQ(index::print(copied.axes[0].step), "3");
  EXPECT_EQ(index::print(copied.axes[1].step), "15");
  EXPECT_EQ(index::print(copied.axes[1].copy_step), "3");
}

TEST(Contraction, OtherNestsAreNone) {
  const std::string product = "mul(a[5*i + k], b[6*k + j])", out = "y[6*i + j] = t0";
  EXPECT_TRUE(contraction_of(nest("i:4 j:6", "k:5", product, out)));
  EXPECT_TRUE(
      contraction_of(nest("i:4 j:6", "k:5", "mul(f32(h[5*i + k]), b[6*k + j])", "z[6*i + j] = bf16(t0)")));
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", product, out, "sum f32")));  // the canonical order
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", product, out, "max f32")));
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", product, "y[6*i + j] = relu(t0)")));
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", "mul(a[5*i + k], b[k])", out)));    // no axis of b alone
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", "mul(a[5*i], b[6*k + j])", out)));  // a lacks the sum's
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", "mul(relu(a[5*i + k]), b[6*k + j])", out)));
  EXPECT_FALSE(contraction_of(nest("i:4 j:6", "k:5", "mul(a[floor_div(5*i, 2) + k], b[6*k + j])", out)));
  EXPECT_FALSE(
      contraction_of(nest("i:4 j:6", "k:5", "mul((a[5*i + k] if k < i + i else 0x0p+0:f32), b[6*k + j])",
                          out)));  // a triangle is no window
  EXPECT_FALSE(contraction_of(
      nest("i:4 j:6", "k:5", "mul((a[i + k - 1] if 0 < i + k else 0x1p+0:f32), b[6*k + j])", out)));
}

}  // namespace
}  // namespace twinloom::loops
