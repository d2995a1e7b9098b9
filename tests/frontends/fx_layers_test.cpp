// Layers as torch.export prints them before anything takes them apart. Expected are the numbers of
// PyTorch 2.11.
#include <gtest/gtest.h>

#include "tests/frontends/texts.h"
#include "tests/frontends/values.h"

namespace twinloom::tests {
namespace {

// Long because it is a table: a row for each operator.
TEST(FxLayers, GiveWhatPyTorchGives) {
  const ValueRow rows[] = {
      {"x: \"f32[2, 3]\", w: \"f32[3, 2]\"",
       "y = torch.ops.aten.einsum.default('ij,jk->ki', [x, w])",
       "f32[2, 2]",
       {10, 28, 13, 40}},
      {"x: \"f32[2, 2]\"", "y = torch.ops.aten.einsum.default('ii', [x])", "f32[]", {3}},
      {"x: \"f32[2, 2]\"", "y = torch.ops.aten.einsum.default('...i->...', [x])", "f32[2]", {1, 5}},
      {"x: \"f32[2, 3]\", w: \"f32[3, 2]\"",
       "y = torch.ops.aten.matmul.default(x, w)",
       "f32[2, 2]",
       {10, 13, 28, 40}},
      {"x: \"f32[3]\", w: \"f32[3, 2]\"", "y = torch.ops.aten.matmul.default(x, w)", "f32[2]", {10, 13}},
      {"x: \"f32[3]\", w: \"f32[3]\"", "y = torch.ops.aten.matmul.default(x, w)", "f32[]", {5}},
      {"x: \"f32[2, 1, 3]\", w: \"f32[2, 3, 2]\"",
       "y = torch.ops.aten.matmul.default(x, w)",
       "f32[2, 1, 2]",
       {10, 13, 100, 112}},
      {"x: \"f32[2, 3]\", w: \"f32[2, 3]\"",
       "y = torch.ops.aten.linear.default(x, w)",
       "f32[2, 2]",
       {5, 14, 14, 50}},
      {"x: \"f32[1, 2, 3]\", w: \"f32[2, 3]\", b: \"f32[2]\"",
       "y = torch.ops.aten.linear.default(x, w, b)",
       "f32[1, 2, 2]",
       {5, 15, 14, 51}},
      {"x: \"f32[2, 2]\", w: \"f32[2]\"",
       "y = torch.ops.aten.layer_norm.default(x, [2], w, w, 0.0)",
       "f32[2, 2]",
       {0, 2, 0, 2}},
      {"x: \"f32[1, 2, 2]\", w: \"f32[2]\"",
       "y = torch.ops.aten.group_norm.default(x, 2, w, w, 0.0)",
       "f32[1, 2, 2]",
       {0, 0, 0, 2}},
      {"x: \"f32[1, 2, 2]\", w: \"f32[2]\"",
       "y = torch.ops.aten.batch_norm.default(x, w, w, w, w, False, 0.1, 3.0, False)",
       "f32[1, 2, 2]",
       {0, 0, 1.5, 2}},
      {"x: \"f32[1, 2, 2]\", w: \"f32[2]\"",
       "y = torch.ops.aten.batch_norm.default(x, w, None, None, None, True, 0.1, 0.0, False)",
       "f32[1, 2, 2]",
       {0, 0, -1, 1}},
      {"x: \"f32[3]\"", "y = torch.ops.aten.dropout.default(x, 0.5, False)", "f32[3]", {0, 1, 2}},
      {"x: \"f32[3]\"", "y = torch.ops.aten.dropout_.default(x, 0.0, True)", "f32[3]", {0, 1, 2}},
      {"x: \"f32[3]\"", "y = torch.ops.aten.to.dtype(x, torch.int64)", "i64[3]", {0, 1, 2}},
      {"x: \"i64[3]\"",
       "y = torch.ops.aten.to.device(x, device(type='cpu'), torch.float32)",
       "f32[3]",
       {0, 1, 2}},
      {"x: \"i64[3]\"",
       "y = torch.ops.aten.to.dtype_layout(x, dtype = torch.bool, layout = torch.strided)",
       "b8[3]",
       {0, 1, 1}},
      {"x: \"i64[3]\", w: \"f32[]\"", "y = torch.ops.aten.to.other(x, w)", "f32[3]", {0, 1, 2}},
      {"x: \"i64[3]\", w: \"f32[]\"", "y = torch.ops.aten.type_as.default(x, w)", "f32[3]", {0, 1, 2}},
      {"x: \"i64[2, 3]\"", "y = torch.ops.aten.diff.default(x)", "i64[2, 2]", {1, 1, 1, 1}},
      {"x: \"i64[2, 3]\", w: \"i64[1, 3]\"",
       "y = torch.ops.aten.diff.default(x, 2, 0, w, w)",
       "i64[2, 3]",
       {3, 3, 3, -6, -6, -6}},
      {"x: \"b8[4]\"", "y = torch.ops.aten.diff.default(x)", "b8[3]", {1, 0, 0}},
      {"x: \"i64[2, 1, 3]\"", "y = torch.ops.aten.flatten.using_ints(x, 1)", "i64[2, 3]", {0, 1, 2, 3, 4, 5}},
      {"x: \"i64[]\"", "y = torch.ops.aten.flatten.using_ints(x)", "i64[1]", {0}},
      {"x: \"i64[4]\"", "y = torch.ops.aten.unflatten.int(x, 0, [2, -1])", "i64[2, 2]", {0, 1, 2, 3}},
      {"x: \"i64[2, 3]\"", "y = torch.ops.aten.swapaxes.default(x, 0, 1)", "i64[3, 2]", {0, 3, 1, 4, 2, 5}},
      {"x: \"i64[2, 3]\"", "y = torch.ops.aten.swapdims.default(x, 0, -1)", "i64[3, 2]", {0, 3, 1, 4, 2, 5}},
      {"x: \"i64[2, 2]\"",
       "y = torch.ops.aten.pad.default(x, [1, 0, 0, -1], 'constant', 7.0)",
       "i64[1, 3]",
       {7, 0, 1}},
      {"x: \"f32[1, 1, 2, 3]\", w: \"f32[1, 1, 2, 2]\"",
       "y = torch.ops.aten.conv2d.default(x, w)",
       "f32[1, 1, 1, 2]",
       {19, 25}},
      {"x: \"f32[1, 4]\", w: \"f32[2, 1, 3]\", b: \"f32[2]\"",
       "y = torch.ops.aten.conv1d.default(x, w, b, [2], [1])",
       "f32[2, 2]",
       {2, 8, 6, 27}},
      {"x: \"f32[1, 1, 4]\", w: \"f32[1, 1, 2]\"",
       "y = torch.ops.aten.conv1d.padding(x, w, None, [1], 'same')",
       "f32[1, 1, 4]",
       {1, 2, 3, 0}},
      {"x: \"f32[1, 1, 4]\", w: \"f32[1, 1, 2]\"",
       "y = torch.ops.aten.conv1d.padding(x, w, None, [2], 'valid')",
       "f32[1, 1, 2]",
       {1, 3}},
      {"x: \"f32[1, 2, 4]\"", "y = torch.ops.aten.max_pool2d.default(x, [2, 2])", "f32[1, 1, 2]", {5, 7}},
      {"x: \"f32[1, 2, 4]\"",
       "y = torch.ops.aten.adaptive_avg_pool2d.default(x, [1, 2])",
       "f32[1, 1, 2]",
       {2.5, 4.5}},
      {"x: \"f32[2]\", w: \"f32[2]\"", "y = torch.ops.aten.max.other(x, w)", "f32[2]", {0, 1}},
      {"x: \"f32[2]\", w: \"f32[]\"", "y = torch.ops.aten.min.other(x, w)", "f32[2]", {0, 0}},
  };
  expect_all(rows);
}

struct Row {
  std::string_view call, words;
};

TEST(FxLayers, ThatCannotBeComputedAreErrors) {
  const Row rows[] = {
      {"linear.default(x, y)", "needs tensors of one floating type, given f32 and f16"},
      {"linear.default(x, x3)", "needs a weight of 2 axes, given one of 3"},
      {"matmul.default(x, y)", "needs tensors of one floating type, given f32 and f16"},
      {"batch_norm.default(x, None, None, None, None, False, 0.1, 1.0, False)",
       "needs 'running_mean' and 'running_var' where it does not train"},
      {"batch_norm.default(x, None, None, x, x, True, 0.1, 1.0, False)",
       "training writes 'running_mean' and 'running_var', which is not supported"},
      {"einsum.default('ij,jk', [x, y])", "needs tensors of one floating type, given f32 and f16"},
      {"dropout.default(x, 0.5, True)",
       "'train' must be False where 'p' is 0.5; which elements PyTorch drops at random cannot be reproduced"},
      {"diff.default(x, 65)", "'n' must lie in 0 to 64, it is 65"},
      {"diff.default(x, 1, -1, y)", "needs tensors of one type"},
      {"flatten.using_ints(x, 1, 0)", "'start_dim' 1 lies behind 'end_dim' 0"},
      {"pad.default(x, [1, 1], 'reflect')", "'mode' must be constant, it is reflect"},
      {"conv1d.default(x, x)", "needs an input of 2 or 3 axes and a weight of 3, given tensors of 2 and 2"},
      {"conv1d.padding(x3, x3, None, [1], 'most')", "'padding' must be same or valid, it is most"},
      {"conv1d.padding(x3, x3, None, [2], 'same')", "'padding' of same needs a stride of 1"},
  };
  for (const Row& row : rows) {
    const std::string target = cat("torch.ops.aten.", row.call.substr(0, row.call.find('(')));
    EXPECT_EQ(error_of(module_text("x: \"f32[2, 2]\", x3: \"f32[2, 2, 2]\", y: \"f16[2, 2]\"",
                                   cat("z = torch.ops.aten.", row.call), "(None,)")),
              cat("FX graph line 3: ", target, ": ", row.words));
  }
  for (const auto& [call, words] :
       {std::pair{"'ij,jk', [x]", "the equation 'ij,jk' has 2 terms for 1 tensors"},
        {"'ijk', [x]", "the term 'ijk' does not fit a tensor of 2 axes"},
        {"'ij->ii', [x]", "the result has a letter twice, or one that no term has"}})
    EXPECT_EQ(error_of(module_text("x: \"f32[2, 3]\"", cat("y = torch.ops.aten.einsum.default(", call, ")"),
                                   "(y,)")),
              cat("FX graph line 3: einsum 'y': ", words));
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3]\"", "y = torch.ops.aten.matmul.default(x, x)", "(y,)")),
            "FX graph line 3: matrices of 3 columns and 2 rows do not fit together");
}

// What dropout gives is its argument, in memory too: a write into one is seen in the other.
TEST(FxLayers, DropoutThatDropsNothingIsItsArgument) {
  const ValueRow rows[] = {
      {"x: \"f32[3]\"",
       "z = torch.ops.aten.add.Tensor(x, 1)\ny = torch.ops.aten.dropout_.default(z, 0.5, False)\n"
       "w = torch.ops.aten.mul_.Tensor(z, 2)",
       "f32[3]",
       {2, 4, 6}}};
  expect_all(rows);
}

}  // namespace
}  // namespace twinloom::tests
