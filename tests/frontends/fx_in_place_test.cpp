// Operators in place: what is written, who sees it, and what cannot be written. Inputs count 0, 1, 2, ...;
// the expected numbers are PyTorch's.
#include <gtest/gtest.h>

#include "core/graph/bind.h"
#include "tests/evaluate/arrays.h"
#include "tests/frontends/texts.h"
#include "tests/support/thrown.h"

namespace twinloom::tests {
namespace {

using Reals = std::vector<double>;

struct Row {
  std::string_view parameters, statements, results;
  std::vector<Reals> numbers;  // of the results, then of parameters that are written
};

std::vector<Reals> results_of(const graph::Graph& graph) {
  std::vector<evaluate::Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    arguments.emplace_back(evaluate::counting(node.dtype, graph::sizes_of(node.shape, {})));
  }
  std::vector<Reals> numbers;
  for (const auto& result : evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict))
    if (result) numbers.push_back(evaluate::numbers_in(*result));
  return numbers;
}

// The statements with torch.ops.aten. for aten.
std::string in_full(std::string_view statements) {
  std::string text(statements);
  for (std::size_t at = 0; (at = text.find("aten.", at)) != std::string::npos; at += 15)
    text.insert(at, "torch.ops.");
  return text;
}

void expect_all(std::span<const Row> rows) {
  for (const Row& row : rows) {
    const std::string text = module_text(row.parameters, in_full(row.statements), row.results);
    ASSERT_EQ(error_of(text), "nothing was thrown") << row.statements;
    EXPECT_EQ(results_of(fx::read(text)), row.numbers) << row.statements;
  }
}

// Long because it is a table: operators.
TEST(FxInPlace, TheResultIsHeldByWhatIsWritten) {
  constexpr std::string_view three = "x: \"f32[3]\"";
  constexpr std::string_view indexed = "x: \"f32[3]\", i: \"i64[2]\", v: \"f32[2]\"";
  const Row rows[] = {
      {three,
       "c = aten.clone.default(x)\ny = aten.add_.Scalar(c, 1)",
       "(x, c, y)",
       {{0, 1, 2}, {1, 2, 3}, {1, 2, 3}}},
      {three, "c = aten.clone.default(x)\ny = aten.sub_.Tensor(c, x, alpha = 2)", "(c,)", {{0, -1, -2}}},
      {three,
       "c = aten.clone.default(x)\ny = aten.mul_.Tensor(c, c)\nz = aten.neg_.default(y)",
       "(c, y)",
       {{0, -1, -4}, {0, -1, -4}}},
      {three, "c = aten.clone.default(x)\ny = aten.clamp_min_.default(c, 1)", "(c,)", {{1, 1, 2}}},
      {three, "c = aten.neg.default(x)\ny = aten.relu_.default(c)", "(c,)", {{0, 0, 0}}},
      {three, "c = aten.clone.default(x)\ny = aten.fill_.Scalar(c, 7)", "(x, c)", {{0, 1, 2}, {7, 7, 7}}},
      {three, "c = aten.clone.default(x)\ny = aten.zero_.default(c)", "(c, y)", {{0, 0, 0}, {0, 0, 0}}},
      {three,
       "c = aten.neg.default(x)\nm = aten.lt.Scalar(c, -1)\ny = aten.masked_fill_.Scalar(c, m, 9)",
       "(c,)",
       {{0, -1, 9}}},
      {indexed, "c = aten.neg.default(x)\ny = aten.index_add_.default(c, 0, i, v)", "(c,)", {{0, 0, -2}}},
      {indexed, "c = aten.neg.default(x)\ny = aten.scatter_.src(c, 0, i, v)", "(c,)", {{0, 1, -2}}},
      {indexed, "c = aten.neg.default(x)\ny = aten.scatter_.value(c, 0, i, 5)", "(c,)", {{5, 5, -2}}},
      {indexed,
       "c = aten.neg.default(x)\ny = aten.index_put_.default(c, [i], v, True)",
       "(c,)",
       {{0, 0, -2}}},
      // Written in another type and shape, by copy_ also in a lower category.
      {"x: \"i32[2]\", z: \"f32[]\"",
       "c = aten.clone.default(x)\nw = aten.add.Tensor(z, 2.5)\n"
       "y = aten.copy_.default(c, w)",
       "(c,)",
       {{2, 2}}},
      {"x: \"i32[2]\", z: \"i64[2]\"",
       "c = aten.clone.default(x)\ny: \"i32[2]\" = aten.add_.Tensor(c, z)",
       "(c,)",
       {{0, 2}}},
      {three, "c = aten.clone.default(x)\ny: \"f32[3]\" = aten.gt_.Scalar(c, 0)", "(c,)", {{0, 1, 1}}},
      {"x: \"f16[3]\", z: \"f32[3]\"",
       "c = aten.clone.default(x)\ny: \"f16[3]\" = aten.add_.Tensor(c, z)",
       "(c,)",
       {{0, 2, 4}}},
      // Into the argument 'out'.
      {three,
       "c = aten.clone.default(x)\nv = aten.slice.Tensor(c, 0, 1)\n"
       "y = aten.neg.out(aten.slice.Tensor(x, 0, 1), out = v)",
       "(c, y)",
       {{0, -1, -2}, {-1, -2}}},
  };
  expect_all(rows);
}

TEST(FxInPlace, WhatWasComputedBeforeStays) {
  const Row rows[] = {
      {"x: \"f32[3]\"",
       "c = aten.exp.default(aten.mul.Tensor(x, 0))\nb = aten.add.Tensor(c, x)\nd = aten.clone.default(c)\n"
       "y = aten.add_.Tensor(c, 1)\na = aten.add.Tensor(c, x)",
       "(b, d, a)",
       {{1, 2, 3}, {1, 1, 1}, {2, 3, 4}}},
      // Equal values are one node of the graph, and two memories.
      {"x: \"f32[2]\"",
       "a = aten.neg.default(x)\nb = aten.neg.default(x)\ny = aten.add_.Tensor(a, 1)",
       "(a, b)",
       {{1, 0}, {0, -1}}},
      {"x: \"f32[2]\"",
       "a = aten.zeros_like.default(x)\nb = aten.zeros_like.default(x)\n"
       "y = aten.add_.Tensor(a, 1)",
       "(a, b)",
       {{1, 1}, {0, 0}}},
  };
  expect_all(rows);
}

TEST(FxInPlace, AliasesOfTheWholeSeeIt) {
  const Row rows[] = {
      {"x: \"f32[2]\"",
       "c = aten.clone.default(x)\na = aten.alias.default(c)\nd = aten.detach.default(a)\n"
       "y = aten.add_.Tensor(d, 1)\nz = aten.mul_.Tensor(a, 3)",
       "(c, a, d, y)",
       {{3, 6}, {3, 6}, {3, 6}, {3, 6}}},
      {"x: \"f32[2]\"", "c = aten.clone.default(x)\na = c\ny = aten.add_.Tensor(a, 1)", "(c,)", {{1, 2}}},
  };
  expect_all(rows);
}

// Long because it is a table: views.
TEST(FxInPlace, ViewsOfWhatIsWrittenSeeIt) {
  constexpr std::string_view table = "x: \"f32[2, 3]\"";
  const Row rows[] = {
      {table,
       "c = aten.clone.default(x)\nt = aten.t.default(c)\ns = aten.select.int(t, 0, 1)\n"
       "y = aten.add_.Tensor(c, 10)",
       "(t, s)",
       {{10, 13, 11, 14, 12, 15}, {11, 14}}},
      // Of a value that is itself a movement of another, which stays.
      {table,
       "f = aten.flip.default(x, [0])\ns = aten.select.int(f, 0, 0)\ny = aten.neg_.default(f)",
       "(x, s)",
       {{0, 1, 2, 3, 4, 5}, {-3, -4, -5}}},
      {table,
       "c = aten.clone.default(x)\np = aten.split.Tensor(c, 2, 1)\ny = aten.neg_.default(c)",
       "(p[0], p[1])",
       {{0, -1, -3, -4}, {-2, -5}}},
      // Where the run tells the position, too.
      {"x: \"f32[2]\", i: \"i64[]\"",
       "c = aten.clone.default(x)\nn = aten._local_scalar_dense.default(i)\n"
       "s = aten.select.int(c, 0, n)\ny = aten.add_.Tensor(c, 5)",
       "(s,)",
       {{5}}},
      {table,
       "c = aten.clone.default(x)\ne = aten.expand.default(c, [2, 2, 3])\ny = aten.fill_.Scalar(c, 1)",
       "(e,)",
       {{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}}},
      {"x: \"f32[3]\"",
       "c = aten.clone.default(x)\nu = aten.unfold.default(c, 0, 2, 1)\n"
       "y = aten.add_.Tensor(c, 1)",
       "(u,)",
       {{1, 2, 2, 3}}},
      // Arguments are read when the operator runs.
      {"x: \"f32[2]\"",
       "c = aten.clone.default(x)\ny = aten.add.Tensor(c, aten.add_.Tensor(c, 1))",
       "(y,)",
       {{2, 4}}},
  };
  expect_all(rows);
}

// Long because it is a table: views that are written.
TEST(FxInPlace, WritesIntoViewsAreSeenByTheirBase) {
  constexpr std::string_view table = "x: \"f32[2, 3]\"";
  const Row rows[] = {
      {table,
       "c = aten.clone.default(x)\ns = aten.select.int(c, 1, -1)\ny = aten.fill_.Scalar(s, 9)",
       "(x, c, s, y)",
       {{0, 1, 2, 3, 4, 5}, {0, 1, 9, 3, 4, 9}, {9, 9}, {9, 9}}},
      {table,
       "c = aten.clone.default(x)\ns = aten.slice.Tensor(c, 1, 0, 9223372036854775807, 2)\n"
       "y = aten.mul_.Tensor(s, 10)",
       "(c,)",
       {{0, 1, 20, 30, 4, 50}}},
      {table,
       "c = aten.clone.default(x)\nv = aten.view.default(c, [6])\ny = aten.neg_.default(v)",
       "(c, v)",
       {{0, -1, -2, -3, -4, -5}, {0, -1, -2, -3, -4, -5}}},
      {table,
       "c = aten.clone.default(x)\nt = aten.permute.default(c, [1, 0])\n"
       "s = aten.select.int(t, 0, 0)\ny = aten.add_.Tensor(s, 7)\nz = aten.neg_.default(t)",
       "(c, s)",
       {{-7, -1, -2, -10, -4, -5}, {-7, -10}}},
      {table,
       "c = aten.clone.default(x)\nt = aten.transpose.int(c, 0, -1)\ny = aten.add_.Tensor(t, 1)",
       "(c,)",
       {{1, 2, 3, 4, 5, 6}}},
      {table,
       "c = aten.clone.default(x)\nd = aten.diagonal.default(c, 1)\ny = aten.zero_.default(d)",
       "(c,)",
       {{0, 0, 2, 3, 4, 0}}},
      {table,
       "c = aten.clone.default(x)\np = aten.split_with_sizes.default(c, [1, 2], 1)\n"
       "y = aten.zero_.default(p[1])",
       "(c, p[0])",
       {{0, 0, 0, 3, 0, 0}, {0, 3}}},
      {table,
       "c = aten.clone.default(x)\np = aten.split.Tensor(c, 2, 1)\ny = aten.zero_.default(p[1])",
       "(c,)",
       {{0, 1, 0, 3, 4, 0}}},
      {table,
       "c = aten.clone.default(x)\np = aten.chunk.default(c, 2, 1)\ny = aten.zero_.default(p[0])",
       "(c,)",
       {{0, 0, 2, 0, 0, 5}}},
      {table,
       "c = aten.clone.default(x)\np = aten.unbind.int(c, 0)\ny = aten.zero_.default(p[1])",
       "(c, p[0])",
       {{0, 1, 2, 0, 0, 0}, {0, 1, 2}}},
      {table,
       "c = aten.clone.default(x)\nu = aten.unsqueeze.default(c, 1)\n"
       "e = aten.expand.default(u, [-1, 1, 3])\nq = aten.squeeze.dim(e, 1)\ny = aten.add_.Tensor(q, 1)",
       "(c,)",
       {{1, 2, 3, 4, 5, 6}}},
      {table,
       "c = aten.clone.default(x)\nv = aten.select.int(c, 0, 1)\n"
       "a = aten.as_strided.default(v, [2], [2], 1)\ny = aten.zero_.default(a)",
       "(c, v)",
       {{0, 0, 2, 0, 4, 5}, {0, 4, 5}}},
      // Zeros are one number in the graph: their views are places all the same.
      {table,
       "c = aten.zeros.default([2, 2])\nt = aten.t.default(c)\ns = aten.select.int(t, 0, 0)\n"
       "y = aten.fill_.Scalar(s, 1)",
       "(c, t)",
       {{1, 0, 1, 0}, {1, 1, 0, 0}}},
      // Two views of one base that overlap.
      {"x: \"f32[4]\"",
       "c = aten.clone.default(x)\na = aten.slice.Tensor(c, 0, 0, 3)\n"
       "b = aten.slice.Tensor(c, 0, 1, 4)\ny = aten.neg_.default(a)\nz = aten.mul_.Tensor(b, 10)",
       "(c, a, b)",
       {{0, -10, -20, 30}, {0, -10, -20}, {-10, -20, 30}}},
  };
  expect_all(rows);
}

TEST(FxInPlace, ParametersHoldWhatIsWritten) {
  const Row rows[] = {
      {"x: \"f32[2]\"", "y = aten.add_.Tensor(x, 1)\nz = aten.neg.default(x)", "(z,)", {{-1, -2}, {1, 2}}},
      {"x: \"f32[2]\"", "y = aten.add_.Tensor(x, 1)\nz = aten.mul_.Tensor(x, 3)", "(y,)", {{3, 6}}},
      {"x: \"f32[2]\"", "a = aten.alias.default(x)\ny = aten.add_.Tensor(a, 1)", "(None,)", {{1, 2}}},
      {"x: \"f32[2, 2]\"",
       "s = aten.select.int(x, 1, 0)\ny = aten.add_.Tensor(s, 10)",
       "(s,)",
       {{10, 12}, {10, 1, 12, 3}}},
      // Two parameters change their elements.
      {"x: \"f32[2]\", z: \"f32[2]\"",
       "n = aten.neg_.default(z)\nc = aten.clone.default(x)\n"
       "a = aten.copy_.default(x, z)\nb = aten.copy_.default(z, c)",
       "(None,)",
       {{0, -1}, {0, 1}}},
      // A parameter that lies column by column is looked at as it lies, also when it was written.
      {"x: \"f32[2, 2][1, 2]cpu\"",
       "y = aten.mul_.Tensor(x, 10)\ns = aten.as_strided.default(x, [4], [1], 0)",
       "(s,)",
       {{0, 20, 10, 30}, {0, 10, 20, 30}}},
  };
  expect_all(rows);
}

TEST(FxInPlace, ParametersAreCountedWithNumbers) {
  const graph::Graph graph = fx::read(
      module_text("s0: \"Sym(s0)\", x: \"f32[s0]\"", "y = torch.ops.aten.add_.Tensor(x, 1)", "(y,)"));
  EXPECT_EQ(graph.results()[0].kind, graph::Ownership::written);
  EXPECT_EQ(graph.results()[0].input, 1);
}

// Long because it is a table: messages.
TEST(FxInPlace, WhatCannotBeWritten) {
  const struct {
    std::string_view parameters, statements, words;
  } rows[] = {
      {"x: \"i64[3]\"", "c = aten.clone.default(x)\ny = aten.div_.Scalar(c, 2)",
       "FX graph line 4: torch.ops.aten.div_.Scalar: its result, a tensor f32[3], does not become i64, the "
       "type of "
       "what is written"},
      {"x: \"b8[3]\"", "c = aten.clone.default(x)\ny = aten.add_.Tensor(c, 1)",
       "FX graph line 4: torch.ops.aten.add_.Tensor: its result, a tensor i64[3], does not become b8, the "
       "type of "
       "what is written"},
      {"x: \"f32[3]\", z: \"f32[2, 3]\"", "c = aten.clone.default(x)\ny = aten.add_.Tensor(c, z)",
       "FX graph line 4: torch.ops.aten.add_.Tensor: its result, a tensor f32[2, 3], has not the shape of "
       "what is "
       "written, a tensor f32[3]"},
      {"x: \"f32[1]\", z: \"f32[3]\"", "c = aten.clone.default(x)\ny = aten.mul_.Tensor(c, z)",
       "FX graph line 4: torch.ops.aten.mul_.Tensor: its result, a tensor f32[3], has not the shape of what "
       "is "
       "written, a tensor f32[1]"},
      {"x: \"f32[3]\"", "y = aten.add_.Tensor(2, x)",
       "FX graph line 3: torch.ops.aten.add_.Tensor: what is written must be a tensor, it is the integer 2"},
      {"x: \"f32[3]\"", "y = aten.cummax_.default(x, 0)",
       "FX graph line 3: torch.ops.aten.cummax_.default: its result, a list of 2, cannot be written"},
      {"x: \"f32[3]\"",
       "c = aten.clone.default(x)\ne = aten.expand.default(c, [2, 3])\ny = aten.zero_.default(e)",
       "FX graph line 5: torch.ops.aten.expand.default: its result, which is written to, may show elements "
       "more "
       "than once"},
      {"x: \"f32[4]\"",
       "a = aten.as_strided.default(x, [2, 3], [1, 1], 0)\ns = aten.select.int(a, 0, 0)\ny = "
       "aten.zero_.default(s)",
       "FX graph line 5: torch.ops.aten.as_strided.default: its result, which is written to, may show "
       "elements more "
       "than once"},
      {"x: \"f32[3]\"",
       "c = aten.clone.default(x)\nu = aten.unfold.default(c, 0, 2, 1)\ny = aten.zero_.default(u)",
       "FX graph line 5: torch.ops.aten.zero_.default: a tensor that unfold gave cannot be written to"},
      {"x: \"c64[3]\"", "c = aten.clone.default(x)\ns = aten.select.int(c, 0, 1)\ny = aten.mul_.Tensor(s, 2)",
       "FX graph line 5: torch.ops.aten.mul_.Tensor: a tensor that select gave cannot be written to where it "
       "is "
       "complex"},
      {"x: \"c64[3]\"",
       "r = aten.neg.default(aten.view_as_real.default(x))\ns = aten.select.int(r, -1, 0)\n"
       "y = aten.copy_.default(s, x)",
       "FX graph line 5: torch.ops.aten.copy_.default: is not known of complex numbers"},
      {"x: \"f32[2, 2][1, 2]cpu\"", "s = aten.as_strided.default(x, [2], [1], 0)\ny = aten.zero_.default(s)",
       "FX graph line 4: torch.ops.aten.as_strided.default: what is written lies in a parameter whose "
       "elements are "
       "not in order in memory"},
      // These change the shape of what they are given.
      {"x: \"f32[3]\"", "c = aten.clone.default(x)\ny = aten.unsqueeze_.default(c, 0)",
       "FX graph line 4: operator torch.ops.aten.unsqueeze_.default is not known; the nearest known: "
       "'unsqueeze', "
       "'squeeze'"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(error_of(module_text(row.parameters, in_full(row.statements), "(x,)")), row.words);
}

TEST(FxInPlace, AConstantCannotBeWritten) {
  fx::ReadOptions options;
  options.constants["k"] = {ops::DType::f32, {2}, std::vector<std::byte>(8)};
  const auto words = [&](std::string_view statements) {
    return error_of(module_text("x: \"f32[2]\"", in_full(statements), "(x,)"), options);
  };
  EXPECT_EQ(words("k = self.k\ny = aten.add_.Tensor(k, x)"),
            "FX graph line 4: torch.ops.aten.add_.Tensor: a constant cannot be written to");
  EXPECT_EQ(words("k = aten.lift_fresh_copy.default(self.k)\ny = aten.add_.Tensor(k, x)"), NOTHING_THROWN);
}

// Where a text does not tell whether memory is shared, a write leaves what may have changed without a value.
TEST(FxInPlace, ReshapeGivesAViewOrACopy) {
  const auto words = [](std::string_view statements, std::string_view results) {
    return error_of(module_text("x: \"f32[2, 3]\"", in_full(statements), results));
  };
  const std::string reason =
      "reshape, contiguous and their like give a view or a copy, which the text does not tell";
  const std::string read = cat("what is read may have been written by line 5: ", reason);
  constexpr std::string_view made =
      "c = aten.neg.default(x)\nr = aten.reshape.default(aten.t.default(c), [6])\n";
  EXPECT_EQ(words(cat(made, "y = aten.add_.Tensor(r, 1)"), "(r,)"), NOTHING_THROWN);
  EXPECT_EQ(words(cat(made, "y = aten.add_.Tensor(c, 1)"), "(c,)"), NOTHING_THROWN);
  EXPECT_EQ(words(cat(made, "y = aten.add_.Tensor(r, 1)"), "(c,)"), cat("FX graph line 6: ", read));
  EXPECT_EQ(words(cat(made, "y = aten.add_.Tensor(c, 1)\nz = aten.neg.default(r)"), "(z,)"),
            cat("FX graph line 6: ", read));
  EXPECT_EQ(words("r = aten.contiguous.default(x)\ny = aten.add_.Tensor(r, 1)", "(r,)"),
            cat("FX graph line 4: torch.ops.aten.add_.Tensor: may write to a parameter: ", reason));
}

// A chain of views that has to be taken anew is limited.
TEST(FxInPlace, ChainsOfViewsAreLimited) {
  std::string chain = "c = aten.neg.default(x)\nv = aten.t.default(c)\n";
  for (int k = 0; k < 200; ++k) chain += "v = aten.t.default(v)\n";
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3]\"", in_full(chain), "(v,)")), NOTHING_THROWN);
  EXPECT_EQ(error_of(module_text("x: \"f32[2, 3]\"", in_full(chain + "y = aten.zero_.default(c)"), "(v,)")),
            "FX graph line 206: views of memory that is written to are chained more than 64 deep");
}

// Views of one value that was written share its memory, as in PyTorch.
TEST(FxInPlace, ResultsShareMemory) {
  const std::string text = module_text(
      "x: \"f32[2, 3]\"",
      in_full("c = aten.neg.default(x)\ns = aten.select.int(c, 0, 0)\ny = aten.add_.Tensor(s, 1)"), "(c, s)");
  const graph::Graph graph = fx::read(text);
  EXPECT_EQ(graph.results()[0].kind, graph::Ownership::own);
  EXPECT_EQ(graph.results()[1].kind, graph::Ownership::view);
  EXPECT_EQ(graph.results()[1].base, graph.results()[0].value);
}

}  // namespace
}  // namespace twinloom::tests
