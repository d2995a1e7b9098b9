// Sums of the rows of a matrix and of its columns: two kernels, or one pass.
#include <gtest/gtest.h>

#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/loops/nest.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

// Why two kernels are not one.
std::string only_refusal(const fuse::Fused& fused) {
  EXPECT_EQ(fused.refusals.size(), 1U);
  if (fused.refusals.empty()) return "";
  EXPECT_EQ(fused.refusals.front().reason, fuse::Reason::mixed_order);
  return fused.refusals.front().words;
}

TEST(RowsAndColumns, AreTwoKernels) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80});
  b.output(sum(x, {0}));
  b.output(sum(x, {1}));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 2U);
  EXPECT_EQ(
      only_refusal(fuse::fuse(lower::lower(graph))),
      "common loops [80] and [64]: each sums up along what the other walks in common; one pass over both "
      "pays only where blocks have threads");
}

// Loops of equal extents are not the same where a matrix is walked along both of its axes.
TEST(RowsAndColumns, OfASquareAreTwoKernelsToo) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 64}), w = b.input("w", DType::f32, {64});
  b.output(sum(x * w, {0}));
  b.output(sum(x * w, {1}));
  const Graph graph = b.take();
  EXPECT_EQ(expect_same_bits(graph), 2U);
  EXPECT_NE(only_refusal(fuse::fuse(lower::lower(graph))), "");
}
TEST(RowsAndColumns, RowsOfTwoSquaresWithWeightsInCommonAreOne) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 64}), y = b.input("y", DType::f32, {64, 64});
  const Tensor w = b.input("w", DType::f32, {64});
  b.output(sum(x * w, {1}));
  b.output(sum(y * w, {1}));
  EXPECT_EQ(expect_same_bits(b.take()), 1U);
}

TEST(RowsAndColumns, AreOnePassWhereThatPays) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80});
  b.output(sum(x, {0}) * 2.0);
  b.output(sum(x, {1}));
  const lower::Lowered lowered = lower::lower(b.take());
  fuse::Limits limits;
  limits.one_pass = true;
  // One pass saves one over memory, but its stores may lie apart, which the estimate knows.
  const auto kernels_where_one_takes = [&](double seconds, std::int64_t cached_elements) {
    fuse::Limits asked = limits;
    asked.cached_elements = cached_elements;
    asked.most_of_one_pass = 1.5;
    asked.most_of_cached_pass = 1.1;
    asked.seconds = asked.seconds_as_chosen = [=](const loops::Program& nest) {
      return loops::take_apart(nest).columns ? seconds : 1.0;
    };
    return fuse::fuse(lowered, asked).lowered.units.size();
  };
  EXPECT_EQ(kernels_where_one_takes(2.9, 64 * 80), 1U);
  EXPECT_EQ(kernels_where_one_takes(3.1, 64 * 80), 2U);
  EXPECT_EQ(kernels_where_one_takes(2.1, 64 * 80 + 1), 1U);
  EXPECT_EQ(kernels_where_one_takes(2.3, 64 * 80 + 1), 2U);
  const fuse::Fused one = fuse::fuse(lowered, limits);
  ASSERT_EQ(one.lowered.units.size(), 1U);
  EXPECT_TRUE(one.refusals.empty());
  EXPECT_EQ(loops::print(one.lowered.units.front().nest),
            R"(program k0_sum_mul(in0: f32[5120], out2: written f32[80], out3: written f32[64]) {
  start t2: sum f32 copies (r0)
  for i0 < 64 {
    start t0: sum f32
    for r0 < 80 {
      t1 = in0[80*i0 + r0]
      t0 += t1 at r0
      t2 += t1 at i0
    }
    out3[i0] = t0
  }
  for r0 < 80 {
    out2[r0] = mul(t2, 0x1p+1:f32)
  }
}
)");
}

// The bits of the evaluator where rows and columns may be summed up in one pass; how many kernels that takes.
fuse::Fused one_pass_of(const Graph& graph) {
  fuse::Limits limits;
  limits.one_pass = true;
  fuse::Fused fused = fuse::fuse(lower::lower(graph), limits);
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, fused.lowered, arguments), expected), std::nullopt);
  return fused;
}

// A residual and a gradient that are sums of two: what the columns add up is stored for the rows, unless one
// pass makes both.
TEST(RowsAndColumns, AreOnePassOfWhatTheColumnsStore) {
  Builder b;
  const auto matrix = [&](const char* name) { return b.input(name, DType::f32, {64, 80}); };
  const Tensor x = matrix("x") + matrix("residual"), gradient = matrix("g") + matrix("h");
  b.output(sum(gradient * x, {0}));
  b.output(x * sum(gradient * x, {1}, /*keep=*/true) + gradient);
  EXPECT_EQ(one_pass_of(b.take()).lowered.units.size(), 1U);
}
// The gradient of the bias of a product before a norm: columns of what the rows make of their totals.
TEST(RowsAndColumns, ColumnsOfWhatTheRowsStoreAreInThePassToo) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80}), gradient = b.input("g", DType::f32, {64, 80});
  const Tensor back = gradient - x * sum(gradient * x, {1}, /*keep=*/true);
  b.output(sum(gradient * x, {0}));
  b.output(back);
  b.output(sum(back, {0}) * 2.0);
  b.output(sum(permute(exp(back), {1, 0}), {1}));
  b.output(amax(x * back, {0}));
  EXPECT_EQ(one_pass_of(b.take()).lowered.units.size(), 1U);
}

TEST(RowsAndColumns, RowsThatNeedTheTotalsOfColumnsAreTwo) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80}), y = exp(x);
  b.output(y);
  b.output(sum(y * sum(y, {0}, /*keep=*/true), {1}));
  const fuse::Fused fused = one_pass_of(b.take());
  EXPECT_EQ(fused.lowered.units.size(), 2U);
  const std::string words = only_refusal(fused);
  EXPECT_NE(words.find("; the rows need the totals of columns"), std::string::npos) << words;
}

// Columns that need the totals of other columns, which one pass has only at its end.
TEST(RowsAndColumns, ColumnsOfTotalsOfColumnsAreNotInThePass) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80}), mean = realize(sum(x, {0}, /*keep=*/true) / 64.0);
  b.output(sum(x, {1}));
  b.output(mean);
  b.output(sum((x - mean) * (x - mean), {0}));
  EXPECT_EQ(one_pass_of(b.take()).lowered.units.size(), 2U);
}

TEST(RowsAndColumns, InAnotherOrderThanColumnsSumThemUpAreTwo) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {8, 9, 80});
  b.output(sum(permute(x, {1, 0, 2}), {0, 1}));
  b.output(sum(x, {2}));
  fuse::Limits limits;
  limits.one_pass = true;
  EXPECT_EQ(
      only_refusal(fuse::fuse(lower::lower(b.take()), limits)),
      "common loops [80] and [8, 9]: each sums up along what the other walks in common; the rows are not in "
      "the order in which the columns sum them up");
}

TEST(RowsAndColumns, OfTooManyColumnsKeepTheirKernels) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {64, 80});
  b.output(sum(x, {0}));
  b.output(sum(x, {1}));
  fuse::Limits limits;
  limits.one_pass = true;
  limits.most_ragged_columns = 79;
  EXPECT_EQ(
      only_refusal(fuse::fuse(lower::lower(b.take()), limits)),
      "common loops [80] and [64]: each sums up along what the other walks in common; one pass over both "
      "keeps totals of at most 79 columns that are no power of two");
}

}  // namespace twinloom::tests
