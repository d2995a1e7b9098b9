// What follows from arrays of a graph becomes an array, with the same bits, within bounds.
#include "core/evaluate/fold_constants.h"

#include <gtest/gtest.h>

#include "core/graph/composites.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder, graph::Tensor;
using ops::DType;

Tensor constant(Builder& builder, const std::vector<double>& elements) {
  Value value = array(DType::f32, {static_cast<std::int64_t>(elements.size())}, elements);
  return builder.constant(graph::Array{value.dtype, value.sizes, std::move(value.bytes)});
}

int nodes_that_compute(const graph::Graph& graph) {
  int count = 0;
  for (const graph::Node& node : graph.nodes())
    count +=
        std::holds_alternative<graph::Pointwise>(node.node) || std::holds_alternative<graph::Cast>(node.node);
  return count;
}

// The graph of x that is folded computes what it did; how many nodes of it compute is given.
void expect_folded(int left, const std::function<Tensor(Builder&, const Tensor& x)>& result,
                   const FoldLimits& limits = {}) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3});
  builder.output(result(builder, x));
  const graph::Graph folded = fold_constants(builder.graph(), limits);
  graph::verify(folded);
  EXPECT_EQ(nodes_that_compute(folded), left) << graph::print(folded);
  const std::vector<Argument> arguments = {array(DType::f32, {3}, {1.5, -2, 0x1p-140})};
  const auto expected = evaluate(builder.graph(), arguments, Arithmetic::strict),
             got = evaluate(folded, arguments, Arithmetic::strict);
  EXPECT_EQ(expected[0]->bytes, got[0]->bytes);
  EXPECT_EQ(expected[0]->sizes, got[0]->sizes);
}

TEST(FoldConstants, WhatArraysTellIsComputedOnce) {
  expect_folded(1, [](Builder& b, const Tensor& x) {
    return x + sqrt(constant(b, {1, 2, 3}) + 1e-5) * constant(b, {-0.0, 0x1p-149, 7});
  });
}

TEST(FoldConstants, AViewOfItIsReadThrough) {
  expect_folded(1, [](Builder& b, const Tensor& x) {
    return expand(graph::reshape(x, {1, 3}), {4, 3}) * expand(exp(constant(b, {1, 2, 3})), {4, 3});
  });
}

TEST(FoldConstants, AResultMayBeOne) {
  expect_folded(0, [](Builder& b, const Tensor&) { return constant(b, {1, 2, 3}) * 3; });
}

TEST(FoldConstants, NotWhatIsLargerThanItsArrays) {
  expect_folded(2, [](Builder& b, const Tensor& x) {
    const Tensor table = expand(graph::reshape(constant(b, {1, 2, 3}), {3, 1}), {3, 3}) + 1;
    return expand(x, {3, 3}) * table;
  });
}

TEST(FoldConstants, NotWhatNoArrayTells) {
  expect_folded(2, [](Builder& b, const Tensor& x) { return x * (b.iota({3}, 0, DType::f32) + 1); });
}

TEST(FoldConstants, NotBeyondItsLimits) {
  const auto result = [](Builder& b, const Tensor& x) { return x + exp(constant(b, {1, 2, 3})); };
  expect_folded(1, result);
  expect_folded(2, result, {.elements = 2});
  expect_folded(2, result, {.all = 2});
}

}  // namespace
}  // namespace twinloom::evaluate
