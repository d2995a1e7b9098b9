// Which variances are made of those of parts, and of which parts.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

Tensor input(Builder& builder, Shape shape, ops::DType dtype = ops::DType::f32) {
  return builder.input(cat("x", builder.graph().nodes().size()), dtype, std::move(shape));
}

std::string words(const Shape& shape) {
  return join(shape, " ", [](const index::Expr& size) { return index::print(size); });
}

// What the graph's reductions leave of what they read, after the pass.
std::string reduced_in(const Graph& graph) {
  const Graph made = variance_in_parts(graph);
  verify(made);
  std::vector<std::string> found;
  for (const Node& node : made.nodes())
    if (std::holds_alternative<Reduce>(node.node))
      found.push_back(cat(words(made[node.inputs[0]].shape), " -> ", words(node.shape)));
  return join(found, ", ", [](const std::string& text) { return text; });
}
template <class Made>
std::string reduced(Made made) {
  Builder builder;
  builder.output(made(builder));
  return reduced_in(builder.take());
}
std::string variance_of(Shape shape, const Axes& axes) {
  return reduced([&](Builder& builder) { return var(input(builder, std::move(shape)), axes); });
}

TEST(VarianceInParts, ChannelsOfImages) {
  EXPECT_EQ(variance_of({64, 256, 56, 56}, {0, 2, 3}),
            "64 256 4 14 56 -> 64 256 4, 64 256 4 -> 256, 64 256 4 14 56 -> 64 256 4, "
            "64 256 4 14 56 -> 64 256 4, 64 256 4 -> 256");
  EXPECT_EQ(variance_of({128, 672, 14, 14}, {0, 2, 3}),
            "128 672 14 14 -> 128 672, 128 672 -> 672, 128 672 14 14 -> 128 672, 128 672 14 14 -> 128 672, "
            "128 672 -> 672");
}

TEST(VarianceInParts, ColumnsAndWhatIsLong) {
  EXPECT_EQ(variance_of({60000, 64}, {0}).substr(0, 24), "60 1000 64 -> 60 64, 60 ");
  EXPECT_EQ(variance_of({16, 56, 56, 64}, {0, 1, 2}).substr(0, 29), "16 4 14 56 64 -> 16 4 64, 16 ");
  EXPECT_EQ(variance_of({1 << 20}, {0}).substr(0, 21), "1024 1024 -> 1024, 10");
  EXPECT_EQ(variance_of({4, 1 << 20}, {1}).substr(0, 25), "4 1024 1024 -> 4 1024, 4 ");
}

// One kernel holds what it sums up, or the second kernel is more than the second reading.
TEST(VarianceInParts, WhatIsShortOrSmallStays) {
  EXPECT_EQ(variance_of({4096, 16384}, {1}), "4096 16384 -> 4096, 4096 16384 -> 4096");
  EXPECT_EQ(variance_of({64, 1 << 18}, {1}), "64 262144 -> 64, 64 262144 -> 64");
  EXPECT_EQ(variance_of({1, 128, 160, 239}, {0, 2, 3}), "1 128 160 239 -> 128, 1 128 160 239 -> 128");
  EXPECT_EQ(variance_of({8, 128, 28, 28}, {0, 2, 3}), "8 128 28 28 -> 128, 8 128 28 28 -> 128");
  EXPECT_EQ(variance_of({64, 4096, 7, 7}, {0, 2, 3}), "64 4096 7 7 -> 4096, 64 4096 7 7 -> 4096");
  EXPECT_EQ(variance_of({64, 0}, {1}), "64 0 -> 64, 64 0 -> 64");
  EXPECT_EQ(variance_of({0, 256, 56, 56}, {0, 2, 3}), "0 256 56 56 -> 256, 0 256 56 56 -> 256");
}

TEST(VarianceInParts, SizesWithoutFittingDivisorsStay) {
  EXPECT_EQ(variance_of({65537, 64}, {0}), "65537 64 -> 64, 65537 64 -> 64");
  EXPECT_EQ(variance_of({4096, 64, 3, 5}, {0, 2, 3}), "4096 64 3 5 -> 64, 4096 64 3 5 -> 64");
}

TEST(VarianceInParts, ImagesOfAnUnknownNumber) {
  Builder builder;
  const index::Symbol n("n");
  builder.size_parameter("n", n);
  const Tensor x = input(builder, {n, 64, 56, 56});
  builder.output(var(x, {0, 2, 3}));
  EXPECT_EQ(reduced_in(builder.take()),
            "n 64 4 14 56 -> n 64 4, n 64 4 -> 64, n 64 4 14 56 -> n 64 4, n 64 4 14 56 -> n 64 4, "
            "n 64 4 -> 64");
}
TEST(VarianceInParts, RowsOfAnUnknownNumberStay) {
  Builder builder;
  const index::Symbol n("n");
  builder.size_parameter("n", n);
  builder.output(var(input(builder, {n, 65536}), {0}));
  EXPECT_EQ(reduced_in(builder.take()), "n 65536 -> 65536, n 65536 -> 65536");
}

TEST(VarianceInParts, ColumnsOfAnUnknownNumber) {
  Builder builder;
  const index::Symbol n("n");
  builder.size_parameter("n", n);
  builder.output(var(input(builder, {60000, n}), {0}));
  EXPECT_EQ(reduced_in(builder.take()).substr(0, 22), "60 1000 n -> 60 n, 60 ");
}

TEST(VarianceInParts, ASumWhoseVarianceNobodyReadsStays) {
  EXPECT_EQ(reduced([](Builder& builder) {
              const auto [variance, average] = var_mean(input(builder, {60000, 64}), {0});
              return average;
            }).substr(0, 11),
            "60000 64 ->");
}

// In whatever words, and whatever else reads the mean.
TEST(VarianceInParts, OneMeanForAllWhoReadIt) {
  const Shape shape{64, 64, 56, 56};
  const Axes axes{0, 2, 3};
  const std::string expected =
      "64 64 4 14 56 -> 64 64 4, 64 64 4 -> 64, 64 64 4 14 56 -> 64 64 4, 64 64 4 14 56 -> 64 64 4, "
      "64 64 4 -> 64";
  EXPECT_EQ(reduced([&](Builder& builder) {
              return batch_norm_training(input(builder, shape), std::nullopt, std::nullopt, 1e-5).value;
            }),
            expected);
  EXPECT_EQ(reduced([&](Builder& builder) {
              const Tensor x = input(builder, shape), average = mean(x, axes, true);
              return mean(pow(x - average, 2), axes) + squeeze(average, axes);
            }),
            expected);
  EXPECT_EQ(reduced([&](Builder& builder) {
              const Tensor x = input(builder, shape);
              return sum(x, axes) + var(x, axes);
            }),
            expected);
  // A tensor of 16 bits whose casts were asked for twice.
  EXPECT_EQ(reduced([&](Builder& builder) {
              const Tensor x = input(builder, shape, ops::DType::bf16);
              const Tensor wide = cast(x, ops::DType::f32), implicit = cast(x, ops::DType::f32, true);
              return mean((implicit - mean(wide, axes, true)) * (implicit - mean(wide, axes, true)), axes);
            }),
            expected);
}

TEST(VarianceInParts, OtherSumsOfSquaresStay) {
  const auto stays = [](auto made) {
    EXPECT_EQ(reduced([&](Builder& builder) {
                return made(input(builder, {64, 64, 64, 64}));
              }).find("64 4 "),
              std::string::npos);
  };
  const Axes axes{0, 2, 3};
  const auto squares = [&](const Tensor& d) { return sum(d * d, axes); };
  stays([&](const Tensor& x) { return squares(x); });
  stays([&](const Tensor& x) { return squares(x - mean(x, {2, 3}, true)); });
  stays([&](const Tensor& x) { return squares(x - mean(x * 2.0, axes, true)); });
  stays([&](const Tensor& x) { return squares(x - sum(x, axes, true) / 64.0); });
  stays([&](const Tensor& x) { return squares(x - transpose(mean(x, axes, true), 1, 2)); });
  stays([&](const Tensor& x) { return squares(mean(x, axes, true) - x); });
}

TEST(VarianceInParts, ItsResultStaysAsItIs) {
  Builder builder;
  builder.output(var(input(builder, {64, 256, 56, 56}), {0, 2, 3}));
  const Graph once = variance_in_parts(builder.take());
  EXPECT_EQ(print(variance_in_parts(once)), print(once));
}

}  // namespace
}  // namespace twinloom::graph
