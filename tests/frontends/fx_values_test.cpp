// What operators of FX texts mean, on the numbers 0, 1, 2, ...; the expected ones are PyTorch's.
#include <gtest/gtest.h>

#include "tests/frontends/texts.h"
#include "tests/frontends/values.h"

namespace twinloom::tests {
namespace {

// Long because it is a table.
TEST(FxValues, Prims) {
  const ValueRow rows[] = {
      // (1 + 2^-12) * (1 - 2^-12) - 1, rounded once.
      {"x: \"f32[]\"",
       "a = torch.ops.aten.add.Tensor(x, 1.000244140625)\nb = torch.ops.aten.add.Tensor(x, 0.999755859375)\n"
       "c = torch.ops.aten.sub.Tensor(x, 1.0)\ny = torch.ops.prims.fma.default(a, b, c)",
       "f32[]",
       {-0x1p-24}},
      {"x: \"f32[2, 3]\"", "y = torch.ops.prims.rev.default(x, [0])", "f32[2, 3]", {3, 4, 5, 0, 1, 2}},
      {"x: \"f32[2]\"", "y = torch.ops.prims.rev.default(x, [])", "f32[2]", {0, 1}},
      {"x: \"f32[2, 3]\"", "y = torch.ops.prims.sum.default(x, [1])", "f32[2]", {3, 12}},
      {"x: \"i32[2, 3]\"", "y = torch.ops.prims.sum.default(x, [0, 1])", "i32[]", {15}},
      {"x: \"f32[2]\"", "y = torch.ops.prims.sum.default(x, [])", "f32[2]", {0, 1}},
      {"x: \"f32[2, 3]\"", "y = torch.ops.prims.amax.default(x, [0])", "f32[3]", {3, 4, 5}},
      {"x: \"f32[2, 3]\"", "y = torch.ops.prims.var.default(x, [1], 0)", "f32[2]", {2.0f / 3, 2.0f / 3}},
      {"x: \"f32[2, 3]\"",
       "y = torch.ops.prims.transpose.default(x, [1, 0])",
       "f32[3, 2]",
       {0, 3, 1, 4, 2, 5}},
      {"x: \"f32[2, 3]\"",
       "y = torch.ops.prims.slice.default(x, [0, 1], [2, 3], [1, 1])",
       "f32[2, 2]",
       {1, 2, 4, 5}},
      {"x: \"f32[2]\"",
       "y = torch.ops.prims.broadcast_in_dim.default(x, [3, 2], [1])",
       "f32[3, 2]",
       {0, 1, 0, 1, 0, 1}},
      {"x: \"f32[2]\"",
       "y = torch.ops.prims.broadcast_in_dim.default(x, [2, 2], [0])",
       "f32[2, 2]",
       {0, 0, 1, 1}},
      {"x: \"i64[4]\"",
       "z = torch.ops.aten.sub.Tensor(x, 3)\ny = torch.ops.prims.div.default(z, 2)",
       "i64[4]",
       {-1, -1, 0, 0}},
      {"x: \"f32[3]\"",
       "y = torch.ops.prims.convert_element_type.default(x, torch.bfloat16)",
       "bf16[3]",
       {0, 1, 2}},
      {"x: \"f32[3]\"",
       "y = torch.ops.prims.iota.default(3, start = 2, step = 4, dtype = torch.int64)",
       "i64[3]",
       {2, 6, 10}},
      {"x: \"f32[1, 2]\"",
       "p = torch.ops.prims.prepare_softmax_online.default(x, 1)\ny = p[0]",
       "f32[1, 1]",
       {1}},
      {"x: \"i64[3]\"", "y = torch.ops.prims.inductor_lookup_seed.default(x, 2)", "i64[]", {2}},
      // Windows of 2 by 2, moved by 2, in a plane of 4 by 6, with the offsets 0, 1, 2, 3, 4 (past the
      // window), 5.
      {"x: \"i8[1, 2, 3]\"",
       "y = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(x, [2, 2], [4, 6], [2, 2], [0, "
       "0], "
       "[1, 1])",
       "i64[1, 2, 3]",
       {0, 3, 10, 19, 26, 29}},
  };
  expect_all(rows);
}

TEST(FxValues, OneSeedDrawsTheSameTwice) {
  const ValueRow rows[] = {
      {"x: \"i64[]\"",
       "a = torch.ops.prims.inductor_random.default([5], x, 'rand')\n"
       "z = torch.ops.aten.add.Tensor(x, 0)\n"
       "b = torch.ops.prims.inductor_random.default([5], z, 'rand')\ny = torch.ops.aten.eq.Tensor(a, b)",
       "b8[5]",
       {1, 1, 1, 1, 1}},
      {"x: \"i64[]\"",
       "z = torch.ops.aten.add.Tensor(x, 1)\na = torch.ops.prims.inductor_randint.default(0, 1000000, [3], "
       "x)\n"
       "b = torch.ops.prims.inductor_randint.default(0, 1000000, [3], z)\ny = torch.ops.aten.eq.Tensor(a, b)",
       "b8[3]",
       {0, 0, 0}},
  };
  expect_all(rows);
}

// Long because it is a table.
TEST(FxValues, Copies) {
  const ValueRow rows[] = {
      {"x: \"i32[3]\", z: \"f32[]\"",
       "w = torch.ops.aten.add.Tensor(z, 2.7)\ny = torch.ops.aten.copy.default(x, w)",
       "i32[3]",
       {2, 2, 2}},
      {"x: \"f32[6]\", z: \"f32[2]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\ny = torch.ops.aten.as_strided_scatter.default(x, w, [2], [2], "
       "1)",
       "f32[6]",
       {0, 10, 2, 11, 4, 5}},
      {"x: \"f32[7]\", z: \"f32[2, 2]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\n"
       "y = torch.ops.aten.as_strided_scatter.default(x, w, [2, 2], [1, 3], 1)",
       "f32[7]",
       {0, 10, 12, 3, 11, 13, 6}},
      // A stride of 0: all are written to one place, the last stays.
      {"x: \"f32[2]\", z: \"f32[3]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\ny = torch.ops.aten.as_strided_scatter.default(x, w, [3], [0], "
       "1)",
       "f32[2]",
       {0, 12}},
      {"x: \"f32[4]\", z: \"f32[2, 2]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\n"
       "y = torch.ops.aten.as_strided_scatter.default(x, w, [2, 2], [2, 1])",
       "f32[4]",
       {10, 11, 12, 13}},
      {"x: \"f32[3, 3]\", z: \"f32[2]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\ny = torch.ops.aten.diagonal_scatter.default(x, w, 1)",
       "f32[3, 3]",
       {0, 10, 2, 3, 4, 11, 6, 7, 8}},
      {"x: \"f32[3, 3]\", z: \"f32[2]\"",
       "w = torch.ops.aten.add.Tensor(z, 10)\ny = torch.ops.aten.diagonal_scatter.default(x, w, -1)",
       "f32[3, 3]",
       {0, 1, 2, 10, 4, 5, 6, 11, 8}},
      {"x: \"f32[1]\"",
       "y = torch.ops.aten.diagonal_backward.default(x, [2, 2], 1, 0, 1)",
       "f32[2, 2]",
       {0, 0, 0, 0}},
      {"x: \"f32[3]\"", "y = torch.ops.aten.new_empty_strided.default(x, [2], [1])", "f32[2]", {0, 0}},
  };
  expect_all(rows);
}

TEST(FxValues, AnIndexOfNothingMayHaveAnyRank) {
  const ValueRow rows[] = {
      {"x: \"f32[2]\", i: \"i64[0, 2]\", v: \"f32[0, 2]\"",
       "y = torch.ops.aten.scatter_add.default(x, 0, i, v)",
       "f32[2]",
       {0, 1}},
      {"x: \"f32[2]\", i: \"i64[0, 2]\", v: \"f32[0, 2]\"",
       "y = torch.ops.aten.scatter_reduce.two(x, 0, i, v, 'mean')",
       "f32[2]",
       {0, 1}},
  };
  expect_all(rows);
}

TEST(FxValues, EmptyTensorsAreConcatenatedAndSplit) {
  const ValueRow rows[] = {
      {"x: \"f32[0]\"", "y = torch.ops.aten.cat.default([x, x], -3)", "f32[0]", {}},
      {"x: \"f32[0]\"", "y = torch.ops.aten.split.Tensor(x, 0)[0]", "f32[0]", {}},
      {"x: \"f32[0]\", z: \"f32[1, 2]\"", "y = torch.ops.aten.cat.default([x, z], 1)", "f32[1, 2]", {0, 1}},
  };
  expect_all(rows);
}

// c64[2, 2] is f32[2, 2, 2]: 0 + 1i, 2 + 3i, ...
TEST(FxValues, ComplexNumbers) {
  const ValueRow rows[] = {
      {"x: \"c64[2]\"", "y: \"c64[2]\" = torch.ops.aten.mul.Tensor(x, x)", "f32[2, 2]", {-1, 0, -5, 12}},
      {"x: \"c64[2]\", z: \"f32[2]\"", "y = torch.ops.aten.mul.Tensor(z, x)", "f32[2, 2]", {0, 0, 2, 3}},
      {"x: \"c64[2]\"", "y = torch.ops.aten.add.Tensor(x, 2)", "f32[2, 2]", {2, 1, 4, 3}},
      {"x: \"c64[2]\", z: \"f32[2]\"", "y = torch.ops.aten.sub.Tensor(z, x)", "f32[2, 2]", {0, -1, -1, -3}},
      {"x: \"c64[2]\"", "y = torch.ops.aten.div.Tensor(x, 2)", "f32[2, 2]", {0, 0.5, 1, 1.5}},
      {"x: \"c64[2]\"", "y = torch.ops.aten._conj.default(x)", "f32[2, 2]", {0, -1, 2, -3}},
      {"x: \"f32[2]\"",
       "y: \"c64[2]\" = torch.ops.aten._to_copy.default(x, dtype = torch.complex64)",
       "f32[2, 2]",
       {0, 0, 1, 0}},
      {"x: \"f32[2, 2]\"",
       "z: \"c64[2]\" = torch.ops.aten.view_as_complex.default(x)\n"
       "w: \"c64[1, 2]\" = torch.ops.aten.unsqueeze.default(z, 0)\n"
       "y: \"f32[1, 2, 2]\" = torch.ops.aten.view_as_real.default(w)",
       "f32[1, 2, 2]",
       {0, 1, 2, 3}},
      {"x: \"c64[2, 2]\"",
       "y = torch.ops.aten.permute.default(x, [1, 0])",
       "f32[2, 2, 2]",
       {0, 1, 4, 5, 2, 3, 6, 7}},
      {"x: \"c64[2]\"", "y = torch.ops.aten.sum.dim_IntList(x, [0])", "f32[2]", {2, 4}},
      {"x: \"c64[2]\"", "y = torch.ops.aten.cat.default([x, x])", "f32[4, 2]", {0, 1, 2, 3, 0, 1, 2, 3}},
      {"x: \"c64[2]\"", "y = torch.ops.aten.real.default(x)", "f32[2]", {0, 2}},
      {"x: \"c64[1]\"", "y = torch.ops.aten.abs.default(x)", "f32[1]", {1}},
      {"x: \"f32[1]\"",
       "z = torch.ops.aten.polar.default(x, x)\ny = torch.ops.aten.view_as_real.default(z)",
       "f32[1, 2]",
       {0, 0}},
  };
  expect_all(rows);
  // What is made of pairs, is these pairs.
  const graph::Graph same = fx::read(module_text("x: \"f32[3, 2]\"",
                                                 "z = torch.ops.aten.view_as_complex.default(x)\n"
                                                 "y = torch.ops.aten.view_as_real.default(z)",
                                                 "(y,)"));
  EXPECT_EQ(same.nodes().size(), 3u);  // x and its two selects, which nobody uses
  const auto ownership = [](std::string_view statement) {
    return fx::read(module_text("x: \"c64[3]\"", statement, "(y,)")).results()[0].kind;
  };
  EXPECT_EQ(ownership("y = torch.ops.aten.clone.default(x)"), graph::Ownership::own);
  EXPECT_EQ(ownership("y = torch.ops.aten.alias.default(x)"), graph::Ownership::input);
  EXPECT_EQ(error_of(module_text("x: \"c64[3]\"", "y = torch.ops.aten.exp.default(x)", "(y,)")),
            "FX graph line 3: torch.ops.aten.exp.default: is not known of complex numbers");
  EXPECT_EQ(error_of(module_text("x: \"c64[3]\"", "y: \"f32[3]\" = torch.ops.aten.neg.default(x)", "(y,)")),
            "FX graph line 3: 'y' is a complex tensor of parts f32[3], the text says f32[3]");
}

// Where the mask does not hold an index may be anything; elsewhere it is moved to the nearest end.
TEST(FxValues, MaskedIndices) {
  const ValueRow rows[] = {
      {"x: \"f32[5]\", i: \"i64[3]\"",
       "m = torch.ops.aten.gt.Scalar(i, 0)\nj = torch.ops.aten.mul.Tensor(i, 3)\n"
       "y = torch.ops.aten._unsafe_masked_index.default(x, m, [j], 7.0)",
       "f32[3]",
       {7, 3, 4}},
      {"x: \"f32[5]\", i: \"i64[3]\"",
       "m = torch.ops.aten.ne.Scalar(i, 1)\nj = torch.ops.aten.mul.Tensor(i, -100)\nz = "
       "torch.ops.aten.add.Tensor(i, 10.0)\n"
       "y = torch.ops.aten._unsafe_masked_index_put_accumulate.default(x, m, [j], z)",
       "f32[5]",
       {22, 1, 2, 3, 4}},
      {"x: \"f32[3, 2]\", i: \"i64[2]\", z: \"f32[2, 2]\"",
       "g = torch.ops.aten.gt.Scalar(i, 0)\nm = torch.ops.aten.unsqueeze.default(g, -1)\n"
       "y = torch.ops.aten._unsafe_masked_index_put_accumulate.default(x, m, [i], z)",
       "f32[3, 2]",
       {0, 1, 4, 6, 4, 5}},
  };
  expect_all(rows);
}

// as_strided speaks of the memory that its argument lies in, not of the argument's own order.
TEST(FxValues, StridedViewsOfViews) {
  const ValueRow rows[] = {
      {"x: \"f32[2, 3]\"",
       "t = torch.ops.aten.permute.default(x, [1, 0])\ny = torch.ops.aten.as_strided.default(t, [4], [1], 1)",
       "f32[4]",
       {1, 2, 3, 4}},
      {"x: \"f32[2, 3]\"",
       "t = torch.ops.aten.permute.default(x, [1, 0])\n"
       "c = torch.ops.aten.clone.default(t, memory_format = torch.contiguous_format)\n"
       "y = torch.ops.aten.as_strided.default(c, [4], [1], 1)",
       "f32[4]",
       {3, 1, 4, 2}},
      // The parameter's axes lie in memory the other way round.
      {"x: \"f32[2, 3][1, 2]cpu\"",
       "y = torch.ops.aten.as_strided.default(x, [4], [1], 1)",
       "f32[4]",
       {3, 1, 4, 2}},
  };
  expect_all(rows);
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3][6, 2]\"",
                                 "y = torch.ops.aten.as_strided.default(x, [2], [1])", "(y,)")),
            "FX graph line 3: torch.ops.aten.as_strided.default: the argument lies in memory with gaps");
}

TEST(FxValues, WordsOfWhatIsWrong) {
  const struct {
    std::string_view statement, words;
  } rows[] = {
      {"y = torch.ops.prims.broadcast_in_dim.default(x, [2, 3], [1])",
       "'broadcast_dimensions' must hold one number for each of the 2 axes of 'a', it holds 1"},
      {"y = torch.ops.prims.broadcast_in_dim.default(x, [2, 3], [1, 0])",
       "'broadcast_dimensions' must ascend below 2, it holds 0"},
      {"y = torch.ops.prims.slice.default(x, [0], [2])",
       "needs a start, a limit and a stride for each of the 2 axes"},
      {"y = torch.ops.prims.inductor_random.default([5], x, 'random')",
       "'mode' must be 'rand' or 'randn', it is 'random'"},
      {"t = torch.ops.aten.permute.default(x, [1, 0])\ny = torch.ops.aten.as_strided_scatter.default(t, t, "
       "[2], [1])",
       "'self' is a view whose elements do not lie in memory one after the other"},
      {"y = torch.ops.prims._low_memory_max_pool_offsets_to_indices.default(x, [2, 2], [4], [2, 2], [0, 0], "
       "[1, 1])",
       "needs one number an axis of the window, which has 2"},
  };
  for (const auto& row : rows) {
    const std::string words = error_of(module_text("x: \"f32[2, 3]\"", row.statement, "(y,)"));
    EXPECT_TRUE(words.ends_with(row.words)) << words;
  }
}

TEST(FxValues, StridesOfParameters) {
  const std::string text = module_text("x: \"f32[2, s0][1, 2]cuda:0\", n: \"Sym(s0)\", z: \"f32[3]\"",
                                       "y = torch.ops.aten.neg.default(z)", "(y,)");
  const auto strides = fx::parameter_strides(text);
  ASSERT_EQ(strides.size(), 3u);
  EXPECT_EQ(strides[0], (graph::Shape{1, 2}));
  EXPECT_EQ(strides[1], std::nullopt);
  EXPECT_EQ(strides[2], std::nullopt);
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3][1]\"", "y = x", "(y,)")),
            "FX graph line 2: 'f32[2, 3][1]' has 1 strides for 2 axes");
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3][1\"", "y = x", "(y,)")),
            "FX graph line 2: 'f32[2, 3][1' has strides without an end");
}

// A reshape of what the text says is row-major lies in the parameter's memory, as in PyTorch.
TEST(FxValues, StridesOfParametersSayWhatIsAView) {
  const auto kind = [](std::string_view annotation, std::string_view statement) {
    return fx::read(module_text(cat("x: \"", annotation, "\""), statement, "(y,)")).results().front().kind;
  };
  constexpr std::string_view flat = "y = torch.ops.aten.view.default(x, [24])";
  constexpr std::string_view turned =
      "p = torch.ops.aten.permute.default(x, [2, 0, 1])\n        "
      "y = torch.ops.aten.reshape.default(p, [2, 12])";
  EXPECT_EQ(kind("f32[3, 4, 2][8, 2, 1]", flat), graph::Ownership::input);
  EXPECT_EQ(kind("f32[3, 4, 2][8, 2, 1]", turned), graph::Ownership::input);
  EXPECT_EQ(kind("f32[3, 4, 2]", turned), graph::Ownership::own) << "it may lie in any way";
  EXPECT_EQ(kind("f32[3, 4, 2][1, 3, 12]", turned), graph::Ownership::own);
  EXPECT_EQ(kind("f32[3, 4, 2][16, 4, 2]", turned), graph::Ownership::own);
}

}  // namespace
}  // namespace twinloom::tests
