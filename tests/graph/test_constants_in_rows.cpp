// Constant matrices that one row is multiplied by.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

Tensor matrix(Builder& builder, std::vector<std::int64_t> sizes, DType dtype = DType::f32) {
  std::size_t bytes = static_cast<std::size_t>(ops::size_of(dtype));
  for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
  return builder.constant(Array{dtype, std::move(sizes), std::vector<std::byte>(bytes)});
}

// The shapes that have memory after the pass; its bits are what tests of the CPU compare.
template <class Result>
std::string made(Result result, bool is_worth = true) {
  Builder builder;
  builder.output(result(builder));
  const Graph graph = constants_in_rows(builder.take(), [&](const Node&) { return is_worth; });
  verify(graph);
  std::string shapes;
  for (const Node& node : graph.nodes())
    if (std::holds_alternative<Realize>(node.node))
      shapes += cat(shapes.empty() ? "" : ", ",
                    join(node.shape, " ", [](const index::Expr& size) { return index::print(size); }));
  return shapes;
}

Tensor times(const Tensor& x, const Tensor& w) { return sum(unsqueeze(x, 2) * unsqueeze(w, 0), {1}); }

TEST(ConstantsInRows, OneRowReadsACopy) {
  const auto layer = [](Builder& b) { return times(b.input("x", DType::f32, {1, 6}), matrix(b, {6, 5})); };
  EXPECT_EQ(made(layer), "5 6");
  EXPECT_EQ(made(layer, false), "");
  EXPECT_EQ(
      made([](Builder& b) {
        return times(b.input("x", DType::f32, {1, 6}), cast(matrix(b, {6, 5}, DType::bf16), DType::f32));
      }),
      "5 6");
}

TEST(ConstantsInRows, WhatIsReadInRowsOrByManyStaysAsItIs) {
  EXPECT_EQ(made([](Builder& b) {
              return times(b.input("x", DType::f32, {1, 6}), transpose(matrix(b, {5, 6}), 0, 1));
            }),
            "");
  EXPECT_EQ(made([](Builder& b) { return times(b.input("x", DType::f32, {3, 6}), matrix(b, {6, 5})); }), "");
  EXPECT_EQ(made([](Builder& b) {
              return times(b.input("x", DType::f32, {1, 6}), b.input("w", DType::f32, {6, 5}));
            }),
            "");
  EXPECT_EQ(made([](Builder& b) {
              return sum(b.input("x", DType::f32, {6, 5}) * matrix(b, {6, 5}), {0});
            }),
            "")
      << "the other factor is a matrix too";
}

}  // namespace
}  // namespace twinloom::graph
