// What pooling operators of FX texts mean, on the numbers 0, 1, 2, ...; the expected ones are PyTorch's.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/frontends/texts.h"
#include "tests/frontends/values.h"

namespace twinloom::tests {
namespace {

// 0 2 4 1 3, in each of four rows.
constexpr std::string_view UNORDERED =
    "a = torch.ops.aten.mul.Tensor(x, 7)\nm = torch.ops.aten.remainder.Scalar(a, 5)\n";
// NaN three times, -inf, 0 and growing numbers.
constexpr std::string_view WITH_NANS =
    "a = torch.ops.aten.sub.Tensor(x, 3)\nm = torch.ops.aten.log.default(a)\n";

// Long because it is a table.
TEST(FxPooling, Averages) {
  const ValueRow rows[] = {
      {"x: \"f32[1, 4, 5]\"",
       "y = torch.ops.aten.avg_pool2d.default(x, [3, 3], [2, 2], [1, 1])",
       "f32[1, 2, 3]",
       {12 / 9.0f, 27 / 9.0f, 24 / 9.0f, 63 / 9.0f, 108 / 9.0f, 81 / 9.0f}},
      {"x: \"f32[1, 4, 5]\"",
       "y = torch.ops.aten.avg_pool2d.default(x, [3, 3], [2, 2], [1, 1], False, False)",
       "f32[1, 2, 3]",
       {3, 4.5, 6, 10.5, 12, 13.5}},
      // The last windows hold less than four elements.
      {"x: \"f32[1, 4, 5]\"",
       "y = torch.ops.aten.avg_pool2d.default(x, [2], [3], 0, True)",
       "f32[1, 2, 2]",
       {3, 6, 15.5, 18.5}},
      {"x: \"f32[1, 4, 5]\"",
       "y = torch.ops.aten.avg_pool2d.default(x, [3, 3], [3, 3], [1, 1], True)",
       "f32[1, 2, 2]",
       {12 / 9.0f, 33 / 9.0f, 52 / 9.0f, 93 / 9.0f}},
      {"x: \"f32[1, 4, 5]\"",
       "y = torch.ops.aten.avg_pool2d.default(x, [3, 1], [1, 2], [0, 0], False, True, 4)",
       "f32[1, 2, 3]",
       {3.75, 5.25, 6.75, 7.5, 9, 10.5}},
      {"x: \"f32[2, 5]\"",
       "y = torch.ops.aten.avg_pool1d.default(x, [3], [1], [1])",
       "f32[2, 5]",
       {1 / 3.0f, 1, 2, 3, 7 / 3.0f, 11 / 3.0f, 6, 7, 8, 17 / 3.0f}},
      {"x: \"f32[1, 2, 4, 4]\"",
       "y = torch.ops.aten.avg_pool3d.default(x, [2, 2, 2])",
       "f32[1, 1, 2, 2]",
       {10.5, 12.5, 18.5, 20.5}},
      // Windows of one element are that.
      {"x: \"f32[1, 2, 3]\"",
       "y = torch.ops.aten._adaptive_avg_pool2d.default(x, [2, 3])",
       "f32[1, 2, 3]",
       {0, 1, 2, 3, 4, 5}},
      {"x: \"f32[1, 4, 6]\"",
       "y = torch.ops.aten._adaptive_avg_pool2d.default(x, [2, 3])",
       "f32[1, 2, 3]",
       {3.5, 5.5, 7.5, 15.5, 17.5, 19.5}},
      {"x: \"f32[1, 5, 7]\"",
       "y = torch.ops.aten._adaptive_avg_pool2d.default(x, [3, 4])",
       "f32[1, 3, 4]",
       {4, 5.5, 7.5, 9, 14.5, 16, 18, 19.5, 25, 26.5, 28.5, 30}},
      // Quotients of integers are cut.
      {"x: \"i64[1, 3, 3]\"",
       "a = torch.ops.aten.sub.Tensor(x, 5)\ny = torch.ops.aten.avg_pool2d.default(a, [2, 2], [1, 1], [1, "
       "1])",
       "i64[1, 4, 4]",
       {-1, -2, -1, 0, -1, -3, -2, 0, 0, 0, 1, 0, 0, 0, 1, 0}},
      {"x: \"bf16[1, 2, 4]\"",
       "a = torch.ops.aten.mul.Tensor(x, 9)\ny = torch.ops.aten.avg_pool2d.default(a, [2, 4])",
       "bf16[1, 1, 1]",
       {31.5}},
  };
  expect_all(rows);
}

// Long because it is a table.
TEST(FxPooling, Maxima) {
  const auto with = [](std::string_view made, std::string_view call, int part) {
    return cat(made, "p = torch.ops.", call, "\ny = p[", part, "]");
  };
  constexpr std::string_view padded = "aten.max_pool2d_with_indices.default(m, [3, 3], [2, 2], [1, 1])";
  constexpr std::string_view dilated =
      "aten.max_pool2d_with_indices.default(m, [2, 2], [2, 2], [0, 0], [1, 2], True)";
  constexpr std::string_view offsets =
      "prims._low_memory_max_pool_with_offsets.default(m, [3, 3], [2, 2], [1, 1], [1, 1], False)";
  constexpr std::string_view columns = "aten.max_pool2d_with_indices.default(m, [4, 1], [1, 1])";
  constexpr std::string_view corners = "aten.max_pool2d_with_indices.default(m, [2, 2], [2, 2], [1, 1])";
  const std::string lowest = "a = torch.ops.aten.mul.Tensor(x, 0)\nm = torch.ops.aten.log.default(a)\n";
  constexpr std::string_view lowest_offsets =
      "prims._low_memory_max_pool_with_offsets.default(m, [2, 2], [2, 2], [1, 1], [1, 1], False)";
  const std::string least = "m = torch.ops.aten.sub.Tensor(x, 128)\n";
  const std::string texts[] = {
      with(UNORDERED, padded, 0),
      with(UNORDERED, padded, 1),
      with(UNORDERED, dilated, 0),
      with(UNORDERED, dilated, 1),
      with(UNORDERED, offsets, 1),
      with(WITH_NANS, columns, 1),
      with(WITH_NANS, corners, 1),
      with(lowest, corners, 1),
      with(lowest, lowest_offsets, 1),
      with(least, corners, 0),
      with(least, corners, 1),
      with("m = x\n", "aten.max_pool3d_with_indices.default(m, [2, 2, 2])", 1),
  };
  const ValueRow rows[] = {
      {"x: \"f32[1, 4, 5]\"", texts[0], "f32[1, 2, 3]", {2, 4, 3, 2, 4, 3}},
      {"x: \"f32[1, 4, 5]\"", texts[1], "i64[1, 2, 3]", {1, 2, 4, 6, 7, 9}},
      {"x: \"f32[1, 4, 5]\"", texts[2], "f32[1, 2, 2]", {4, 4, 4, 4}},
      {"x: \"f32[1, 4, 5]\"", texts[3], "i64[1, 2, 2]", {2, 2, 12, 12}},
      {"x: \"f32[1, 4, 5]\"", texts[4], "i8[1, 2, 3]", {5, 4, 4, 2, 1, 1}},
      {"x: \"f32[1, 4, 5]\"", texts[5], "i64[1, 1, 5]", {0, 1, 2, 18, 19}},
      // Of several NaNs the first counts, as where PyTorch compiles; its eager operator takes the last.
      {"x: \"f32[1, 4, 5]\"", texts[6], "i64[1, 3, 3]", {0, 1, 4, 10, 12, 14, 15, 17, 19}},
      // All are equal to what stands for the padding, which is never chosen.
      {"x: \"f32[1, 2, 2]\"", texts[7], "i64[1, 2, 2]", {0, 1, 2, 3}},
      {"x: \"f32[1, 2, 2]\"", texts[8], "i8[1, 2, 2]", {3, 2, 1, 0}},
      {"x: \"i8[1, 2, 2]\"", texts[9], "i8[1, 2, 2]", {-128, -127, -126, -125}},
      {"x: \"i8[1, 2, 2]\"", texts[10], "i64[1, 2, 2]", {0, 1, 2, 3}},
      {"x: \"f32[1, 2, 4, 4]\"", texts[11], "i64[1, 1, 2, 2]", {21, 23, 29, 31}},
  };
  expect_all(rows);
}

TEST(FxPooling, ANanIsTheLargest) {
  const std::string text =
      cat(WITH_NANS,
          "p = torch.ops.aten.max_pool2d_with_indices.default(m, [2, 2], [2, 2], [1, 1])\n"
          "y = torch.ops.aten.isnan.default(p[0])");
  const ValueRow rows[] = {{"x: \"f32[1, 4, 5]\"", text, "b8[1, 3, 3]", {1, 1, 0, 0, 0, 0, 0, 0, 0}}};
  expect_all(rows);
}

// Long because it is a table.
TEST(FxPooling, Gradients) {
  const auto chosen = [](std::string_view windows) {
    return cat(UNORDERED, "p = torch.ops.aten.max_pool2d_with_indices.default(m, ", windows,
               ")\ny = torch.ops.aten.max_pool2d_with_indices_backward.default(g, m, ", windows, ", p[1])");
  };
  const std::string padded = chosen("[3, 3], [2, 2], [1, 1], [1, 1], False");
  const std::string dilated = chosen("[2, 2], [1, 1], [0, 0], [2, 2], False");
  const ValueRow rows[] = {
      {"x: \"f32[1, 4, 5]\", g: \"f32[1, 2, 2]\"",
       "y = torch.ops.aten.avg_pool2d_backward.default(g, x, [2, 2], [3, 3], [0, 0], True, True, None)",
       "f32[1, 4, 5]",
       {0, 0, 0, 0.25, 0.25, 0, 0, 0, 0.25, 0.25, 0, 0, 0, 0, 0, 1, 1, 0, 1.5, 1.5}},
      {"x: \"f32[1, 4, 4]\", g: \"f32[1, 3, 3]\"",
       "y = torch.ops.aten.avg_pool2d_backward.default(g, x, [2, 2], [1, 1], [0, 0], False, True, None)",
       "f32[1, 4, 4]",
       {0, 0.25, 0.75, 0.5, 0.75, 2, 3, 1.75, 2.25, 5, 6, 3.25, 1.5, 3.25, 3.75, 2}},
      {"x: \"f32[1, 4, 5]\", g: \"f32[1, 2, 3]\"",
       "y = torch.ops.aten.avg_pool2d_backward.default(g, x, [3, 3], [2, 2], [1, 1], False, False, 2)",
       "f32[1, 4, 5]",
       {0, 0.5, 0.5, 1.5, 1, 1.5, 4, 2.5, 6, 3.5, 1.5, 3.5, 2, 4.5, 2.5, 1.5, 3.5, 2, 4.5, 2.5}},
      {"x: \"f32[1, 4, 5]\", g: \"f32[1, 2, 3]\"", padded, "f32[1, 4, 5]", {0, 0, 1, 0, 2, 0, 3, 4, 0, 5,
                                                                            0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
      {"x: \"f32[1, 4, 5]\", g: \"f32[1, 2, 3]\"", dilated, "f32[1, 4, 5]", {0, 1, 2, 0, 0, 0, 4, 8, 0, 0,
                                                                             0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
  };
  expect_all(rows);
}

TEST(FxPooling, Messages) {
  struct Case {
    std::string_view statement, words;
  };
  const Case cases[] = {
      {"y = torch.ops.aten.avg_pool2d.default(x, [3, 3], [1, 1], [2, 2])",
       "the padding 2 is more than half of windows of 3"},
      {"y = torch.ops.aten.avg_pool2d.default(x, [5, 2])",
       "windows of 5 do not fit 4 elements with 0 more at each end"},
      {"y = torch.ops.aten.avg_pool2d.default(x, [2, 2], [0, 1])", "the stride 0 must be at least 1"},
      {"y = torch.ops.aten.avg_pool2d.default(x, [2, 2], [1, 1], [0, 0], False, True, 0)",
       "the divisor is 0"},
      {"y = torch.ops.aten.avg_pool2d.default(x, [2, 2, 2])",
       "'kernel_size' must hold one number for each of 2 axes, it holds 3"},
      {"y = torch.ops.aten.avg_pool2d.default(x, [])", "'kernel_size' is empty"},
      {"y = torch.ops.aten.avg_pool3d.default(x, [2])", "'self' must have 4 or 5 axes, it has 3"},
      {"a = torch.ops.aten.gt.Scalar(x, 1)\ny = torch.ops.aten.avg_pool2d.default(a, [2, 2])",
       "needs elements of a floating type or i64, given b8"},
      {"a = torch.ops.aten.gt.Scalar(x, 1)\ny = torch.ops.aten.max_pool2d_with_indices.default(a, [2, 2])",
       "needs numbers, given b8"},
      {"y = torch.ops.aten._adaptive_avg_pool2d.default(x, [0, 2])", "0 windows along an axis"},
      {"y = torch.ops.aten.avg_pool2d_backward.default(x, x, [2, 2], [1, 1], [0, 0], False, True, None)",
       "windows give [1, 3, 4], what is given of them has [1, 4, 5]"},
  };
  for (const Case& each : cases) {
    const std::string words = error_of(module_text("x: \"f32[1, 4, 5]\"", each.statement, "(y,)"));
    EXPECT_TRUE(words.ends_with(each.words)) << words;
  }
}

TEST(FxPooling, SizesThatOnlyARunKnows) {
  const std::string text = module_text("n: \"Sym(s0)\", x: \"f32[2, s0, s0]\"",
                                       "y = torch.ops.aten.avg_pool2d.default(x, [3, 3], [2, 2], [1, 1])\n"
                                       "p = torch.ops.aten.max_pool2d_with_indices.default(x, [2, 2])\n"
                                       "z = p[0]",
                                       "(y, z)");
  ASSERT_EQ(error_of(text), "nothing was thrown");
  const graph::Graph graph = fx::read(text);
  EXPECT_EQ(result_type(graph, 0), "f32[2, floor_div(s0 + 1, 2), floor_div(s0 + 1, 2)]");
  EXPECT_EQ(result_type(graph, 1), "f32[2, floor_div(s0, 2), floor_div(s0, 2)]");
}

}  // namespace
}  // namespace twinloom::tests
