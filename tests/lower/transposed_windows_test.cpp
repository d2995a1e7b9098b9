// Windows that are walked backwards, of which a pass makes such that are walked forwards: of integers, whose
// sums are the same in any order.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/graph/builder.h"
#include "core/graph/convolution.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/views.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {
namespace {

using namespace graph;
using index::Expr;
using ops::DType;

struct Along {  // one axis: so many elements, taps and results
  std::int64_t extent, taps, stride = 1, before = 0, dilation = 1, more = 0;
  std::int64_t results() const {
    return (extent - 1) * stride - 2 * before + dilation * (taps - 1) + 1 + more;
  }
};

Graph transposed(const Along& h, const Along& w, std::int64_t groups = 1) {
  Builder b;
  const Tensor x = b.input("x", DType::i32, {2, 4 * groups, h.extent, w.extent}),
               filters = b.input("w", DType::i32, {4 * groups, 3, h.taps, w.taps});
  const auto taps = [](const Along& along) {
    return Taps{along.stride, along.dilation, along.before, along.results()};
  };
  b.output(convolve_transposed(x, filters, {"transposed", {taps(h), taps(w)}, groups}) + 1);
  return b.take();
}

Graph forwards(const Graph& graph) {
  return remove_dead(transposed_windows(graph, [](const Node&) { return true; }));
}

std::ptrdiff_t sums_in(const Graph& graph) {
  return std::ranges::count_if(graph.nodes(),
                               [](const Node& node) { return std::holds_alternative<Reduce>(node.node); });
}

// No window reads at i - k any more, and each sum of products is what it was.
void expect_forwards(const Graph& graph, std::ptrdiff_t sums) {
  const Graph made = forwards(graph);
  verify(made);
  SCOPED_TRACE(print(made));
  EXPECT_EQ(sums_in(made), sums);
  for (const Node& node : made.nodes()) {
    const auto* view = std::get_if<View>(&node.node);
    if (view == nullptr || view->inside.all.empty()) continue;
    for (const Expr& source : view->source)
      for (const index::Symbol axis : view->axes) {
        const auto linear = index::linear_in(source, axis);
        ASSERT_TRUE(linear);
        EXPECT_GE(index::constant_of(linear->scale).value_or(-1), 0);
      }
  }
  const auto arguments = random_arguments(graph, 1, {}, 100);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(evaluate::evaluate(made, arguments, evaluate::Arithmetic::strict), expected),
            std::nullopt);
}

TEST(TransposedWindows, OfTheSameStepAreTurned) {
  expect_forwards(transposed({5, 3}, {7, 3}), 1);
  expect_forwards(transposed({5, 3, 1, 1}, {7, 4, 1, 2}), 1);
  expect_forwards(transposed({5, 3, 1, 1, 2}, {7, 2, 1, 1, 3}), 1);
}

TEST(TransposedWindows, PhasesWithTheSameTapsAreOneSum) {
  expect_forwards(transposed({4, 4, 2, 1}, {5, 4, 2, 1}), 1);
  expect_forwards(transposed({4, 6, 3, 2}, {5, 2, 2}), 1);
}

TEST(TransposedWindows, OthersHaveSumsOfTheirOwn) {
  expect_forwards(transposed({4, 3, 2, 1, 1, 1}, {5, 3, 2, 1, 1, 1}), 4);
  expect_forwards(transposed({4, 5, 3}, {5, 4, 2, 3}), 2);
  expect_forwards(transposed({4, 2, 3}, {5, 3, 3}), 1);  // phases that no tap has are 0
}

// The first layer of a generator.
TEST(TransposedWindows, OfOneElementIsAProduct) {
  expect_forwards(transposed({1, 4}, {1, 3}), 1);
  expect_forwards(transposed({1, 4}, {5, 4, 2, 1}), 1);
}

TEST(TransposedWindows, ElementsThatNoTapHasLeaveItAsItIs) {
  const Graph graph = remove_dead(transposed({1, 3, 1, 0, 1, 1}, {1, 3}));
  EXPECT_EQ(print(forwards(graph)), print(graph));
}

TEST(TransposedWindows, OfGroupsAndOfAFlattenedImage) {
  expect_forwards(transposed({4, 4, 2, 1}, {5, 4, 2, 1}, 3), 1);
  Builder b;
  const Tensor rows = b.input("x", DType::i32, {2, 60}), filters = b.input("w", DType::i32, {3, 2, 4, 4});
  b.output(convolve_transposed(reshape(rows, {2, 3, 4, 5}), filters,
                               {"transposed", {{2, 1, 1, 8}, {2, 1, 1, 10}}}));
  expect_forwards(b.take(), 1);
}

TEST(TransposedWindows, SizesOfARunStayThose) {
  Builder b;
  const index::Symbol n("n");
  const Tensor x = b.input("x", DType::i32, {1, 2, n, 5}), filters = b.input("w", DType::i32, {2, 3, 4, 3});
  b.output(convolve_transposed(x, filters, {"transposed", {{2, 1, 1, 2 * Expr(n)}, {1, 1, 1, 5}}}));
  const Graph graph = b.take(), made = forwards(graph);
  EXPECT_NE(print(made), print(graph));
  for (const std::int64_t size : {1, 2, 7}) {
    const auto arguments = random_arguments(graph, 1, {{n, size}}, 100);
    const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
    EXPECT_EQ(difference(evaluate::evaluate(made, arguments, evaluate::Arithmetic::strict), expected),
              std::nullopt);
  }
}

TEST(TransposedWindows, WhatIsWalkedForwardsStays) {
  Builder b;
  const Tensor x = b.input("x", DType::i32, {2, 4, 9, 9}), filters = b.input("w", DType::i32, {3, 4, 3, 3});
  b.output(convolve(x, filters, {"conv", {{2, 1, 1, 5}, {1, 2, 2, 9}}}));
  const Graph graph = remove_dead(b.take());
  EXPECT_EQ(print(forwards(graph)), print(graph));
}

}  // namespace
}  // namespace twinloom::tests
