// Factors of products that views read out of step.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

// The shapes that have memory after the pass, and the graph.
struct Made {
  std::string shapes, text;
};
template <class Result>
Made made(Result result, bool is_worth = true) {
  Builder builder;
  builder.output(result(builder));
  const Graph graph = factors_in_steps(builder.take(), [&](const Node&, const Shape&) { return is_worth; });
  verify(graph);
  Made made{{}, print(graph)};
  for (const Node& node : graph.nodes())
    if (std::holds_alternative<Realize>(node.node))
      made.shapes += cat(made.shapes.empty() ? "" : ", ",
                         join(node.shape, " ", [](const index::Expr& size) { return index::print(size); }));
  return made;
}

Tensor input(Builder& builder, const char* name, Shape shape) {
  return builder.input(name, ops::DType::f32, std::move(shape));
}
Tensor with_filters(Builder& builder, const Tensor& x, std::int64_t channels, Taps taps) {
  return convolve(x, input(builder, "w", {8, channels, taps.before == 0 ? 1 : 3, taps.before == 0 ? 1 : 3}),
                  {"conv", {taps, taps}});
}
// Two halves of the channels, by turns.
Tensor shuffled(const Tensor& x) {
  return reshape(transpose(reshape(x, {2, 2, 6, 10, 10}), 1, 2), {2, 12, 10, 10});
}
Tensor enlarged(const Tensor& x) { return repeat_interleave(repeat_interleave(x, 2, 2), 3, 2); }

TEST(FactorsInSteps, ChannelsThatChangePlacesHaveMemory) {
  const auto shuffle = [](Builder& builder) {
    return with_filters(builder, shuffled(input(builder, "x", {2, 12, 10, 10})), 12, {.count = 10});
  };
  EXPECT_EQ(made(shuffle).shapes, "2 12 10 10");
  EXPECT_EQ(made(shuffle, false).shapes, "");
}

TEST(FactorsInSteps, OnlyThePartThatIsReadHasMemory) {
  const Made half = made([](Builder& builder) {
    const Tensor part = slice(shuffled(input(builder, "x", {2, 12, 10, 10})), 1, 6, 12);
    return with_filters(builder, part, 6, {.count = 10});
  });
  EXPECT_EQ(half.shapes, "2 6 10 10") << half.text;
}

TEST(FactorsInSteps, WindowsReadAnEnlargedImageThatHasMemory) {
  const Made windows = made([](Builder& builder) {
    return with_filters(builder, enlarged(input(builder, "x", {2, 4, 5, 5})), 4, {.before = 1, .count = 10});
  });
  EXPECT_EQ(windows.shapes, "2 4 10 10") << windows.text;
}

// Channels that become an image's places, read through windows: two walks and a channel.
TEST(FactorsInSteps, WindowsReadPlacesThatWereChannels) {
  const Made windows = made([](Builder& builder) {
    const Tensor x = input(builder, "x", {2, 36, 5, 5});
    const Tensor places = permute(reshape(x, {2, 4, 3, 3, 5, 5}), {0, 1, 4, 2, 5, 3});
    return with_filters(builder, reshape(places, {2, 4, 15, 15}), 4, {.before = 1, .count = 15});
  });
  EXPECT_EQ(windows.shapes, "2 15 15 4") << windows.text;
}

TEST(FactorsInSteps, SizesOfARunAreThoseOfTheMemory) {
  const index::Symbol n("n");
  const Made windows = made([&](Builder& builder) {
    return with_filters(builder, enlarged(input(builder, "x", {1, 4, n, n})), 4,
                        {.before = 1, .count = 2 * index::Expr(n)});
  });
  EXPECT_EQ(windows.shapes, "1 4 2*n 2*n") << windows.text;
}

// Each writer may choose such an order: a row behind an image, in both directions; heads behind each other.
TEST(FactorsInSteps, WhatLiesInSomeOrderIsLeft) {
  const auto layer = [](Builder& builder, const Tensor& row) {
    return matrix_product(row, input(builder, "w", {240, 16}));
  };
  EXPECT_EQ(made([&](Builder& builder) {
              return layer(builder, reshape(input(builder, "x", {3, 6, 5, 8}), {3, 240}));
            }).shapes,
            "");
  EXPECT_EQ(
      made([&](Builder& builder) {
        return layer(builder, reshape(permute(input(builder, "x", {3, 6, 5, 8}), {0, 3, 1, 2}), {3, 240}));
      }).shapes,
      "");
  EXPECT_EQ(made([&](Builder& builder) {
              return layer(builder, reshape(transpose(input(builder, "x", {3, 8, 7, 30}), 1, 2), {21, 240}));
            }).shapes,
            "");
}

}  // namespace
}  // namespace twinloom::graph
