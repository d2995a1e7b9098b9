// What sorts of FX texts mean, on the numbers 0, 1, 2, ...; the expected ones are PyTorch's.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/frontends/texts.h"
#include "tests/frontends/values.h"

namespace twinloom::tests {
namespace {

// 0 2 4 1 3, in each of two rows.
std::string of_rows(std::string_view call, std::string_view part) {
  return cat("a = torch.ops.aten.mul.Tensor(x, 7)\nm = torch.ops.aten.remainder.Scalar(a, 5)\n",
             "s = torch.ops.aten.", call, "\ny = s", part);
}

TEST(FxSorting, ValuesAndIndices) {
  constexpr std::string_view x = "x: \"f32[2, 5]\"";
  const std::string texts[] = {
      of_rows("sort.default(m)", "[0]"),
      of_rows("sort.default(m, 1, True)", "[1]"),
      of_rows("sort.stable(m, stable = True, dim = 0, descending = True)", "[1]"),
      of_rows("sort.stable(m, stable = False)", "[1]"),
      of_rows("topk.default(m, 2)", "[0]"),
      of_rows("topk.default(m, 2, -1, False, False)", "[1]"),
      of_rows("topk.default(m, 0, 1)", "[1]"),
      of_rows("kthvalue.default(m, 4)", "[0]"),
      of_rows("kthvalue.default(m, 4, 1, True)", "[1]"),
      of_rows("median.dim(m, 1)", "[1]"),
      of_rows("nanmedian.dim(m, 1, True)", "[0]"),
  };
  const ValueRow rows[] = {
      {x, texts[0], "f32[2, 5]", {0, 1, 2, 3, 4, 0, 1, 2, 3, 4}},
      {x, texts[1], "i64[2, 5]", {2, 4, 1, 3, 0, 2, 4, 1, 3, 0}},
      {x, texts[2], "i64[2, 5]", {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}},
      {x, texts[3], "i64[2, 5]", {0, 3, 1, 4, 2, 0, 3, 1, 4, 2}},
      {x, texts[4], "f32[2, 2]", {4, 3, 4, 3}},
      {x, texts[5], "i64[2, 2]", {0, 3, 0, 3}},
      {x, texts[6], "i64[2, 0]", {}},
      {x, texts[7], "f32[2]", {3, 3}},
      {x, texts[8], "i64[2, 1]", {4, 4}},
      {x, texts[9], "i64[2]", {1, 1}},
      {x, texts[10], "f32[2, 1]", {2, 2}},
      {x, "y = torch.ops.aten.argsort.default(x, 1, True)", "i64[2, 5]", {4, 3, 2, 1, 0, 4, 3, 2, 1, 0}},
      {x,
       "y = torch.ops.aten.argsort.stable(x, stable = True, dim = 0, descending = True)",
       "i64[2, 5]",
       {1, 1, 1, 1, 1, 0, 0, 0, 0, 0}},
      {x, "y = torch.ops.aten.msort.default(x)", "f32[2, 5]", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}},
      {x, "y = torch.ops.aten.median.default(x)", "f32[]", {4}},
      {x, "y = torch.ops.aten.nanmedian.default(x)", "f32[]", {4}},
  };
  expect_all(rows);
}

TEST(FxSorting, ATensorWithoutAxesIsOneElement) {
  const ValueRow rows[] = {
      {"x: \"f32[]\"", "s = torch.ops.aten.sort.default(x, 0)\ny = s[1]", "i64[]", {0}},
      {"x: \"f32[]\"", "s = torch.ops.aten.topk.default(x, 0)\ny = s[0]", "f32[]", {0}},
      {"x: \"b8[]\"", "s = torch.ops.aten.kthvalue.default(x, 1)\ny = s[0]", "b8[]", {0}},
      {"x: \"i32[]\"", "s = torch.ops.aten.median.dim(x, 0, True)\ny = s[0]", "i32[]", {0}},
      {"x: \"f32[0]\"",
       "m = torch.ops.aten.median.default(x)\ny = torch.ops.aten.isnan.default(m)",
       "b8[]",
       {1}},
  };
  expect_all(rows);
}

TEST(FxSorting, Errors) {
  const auto error = [](std::string_view statement) {
    return error_of(module_text("x: \"f32[3, 4]\", n: \"Sym(s0)\"", statement, "(x,)"));
  };
  EXPECT_EQ(
      error("y = torch.ops.aten.topk.default(x, 5)"),
      "FX graph line 3: topk 'y': k is 5, of 4 elements along axis 1; it must be at least 0 and at most 4");
  EXPECT_EQ(error("y = torch.ops.aten.kthvalue.default(x, 4, 0)"),
            "FX graph line 3: kthvalue 'y': k is 4, of 3 elements along axis 0; it must be at least 1 and at "
            "most 3");
  EXPECT_EQ(error("y = torch.ops.aten.sort.default(x, -3)"),
            "FX graph line 3: sort 'y': axis -3 is out of range for rank 2");
  EXPECT_EQ(error("y = torch.ops.aten.topk.default(x, n)"), "nothing was thrown");
}

}  // namespace
}  // namespace twinloom::tests
