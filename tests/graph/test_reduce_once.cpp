// Reductions of what repeats.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/builder.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

// The input shapes of the graph's reductions, after the pass.
template <class Made>
std::string reduced(Made made) {
  Builder builder;
  builder.output(made(builder));
  const Graph graph = reduce_once(builder.take());
  verify(graph);
  std::string shapes;
  for (const Node& node : graph.nodes()) {
    if (!std::holds_alternative<Reduce>(node.node)) continue;
    for (const index::Expr& size : graph[node.inputs[0]].shape)
      shapes += cat(shapes.empty() ? "" : " ", size);
  }
  return shapes;
}

Tensor input(Builder& builder, Shape shape) {
  return builder.input(cat("x", builder.graph().nodes().size()), ops::DType::f32, std::move(shape));
}
Tensor expanded(Builder& builder) { return expand(unsqueeze(input(builder, {4, 6}), 1), {4, 5, 6}); }

TEST(ReduceOnce, AxesThatRepeatAreReducedOnce) {
  EXPECT_EQ(reduced([](Builder& builder) { return sum(expanded(builder), {2}); }), "4 1 6");
  EXPECT_EQ(reduced([](Builder& builder) { return amax(exp(expanded(builder) * 2.0), {0}); }), "4 1 6");
  EXPECT_EQ(reduced([](Builder& builder) { return sum(expanded(builder), {1}); }),
            "4 5 6");  // nothing repeats of what is kept
}

TEST(ReduceOnce, OneFactorIsEnoughToTell) {
  const auto with = [](Shape other) {
    return reduced([&](Builder& builder) { return sum(expanded(builder) * input(builder, other), {2}); });
  };
  EXPECT_EQ(with({4, 1, 6}), "4 1 6");
  EXPECT_EQ(with({4, 5, 6}), "4 5 6");
  EXPECT_EQ(with({5, 1}), "4 5 6");
}

TEST(ReduceOnce, PaddingAndUnknownSizesDoNotRepeat) {
  EXPECT_EQ(reduced([](Builder& builder) {
              return sum(pad(expanded(builder), {{0, 0}, {1, 0}, {0, 0}}, 0.0), {2});
            }),
            "4 6 6");
  EXPECT_EQ(reduced([](Builder& builder) {
              const index::Symbol n("n");
              return sum(expand(unsqueeze(input(builder, {4, n}), 1), {4, n, n}), {2});
            }),
            "4 n n");
}

// Behind a result, which has memory of its own.
TEST(ReduceOnce, AReductionOfOneElementIsTheElement) {
  const auto last = [](auto reduction) {
    return reduced([&](Builder& builder) { return exp(reduction(input(builder, {4, 1, 6}))); });
  };
  EXPECT_EQ(last([](const Tensor& x) { return sum(x, {1}); }), "");
  EXPECT_EQ(last([](const Tensor& x) { return amax(x, {1}); }), "");
  EXPECT_EQ(last([](const Tensor& x) { return sum(x, {0, 1}); }), "4 1 6");
  EXPECT_EQ(reduced([](Builder& builder) { return sum(input(builder, {4, 1, 6}), {1}); }), "4 1 6");
  EXPECT_EQ(reduced([](Builder& builder) { return argmax(input(builder, {4, 1, 6}), 1) + 1; }), "4 1 6");
}

}  // namespace
}  // namespace twinloom::graph
