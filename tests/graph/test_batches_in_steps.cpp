// Axes of products whose quotients and remainders a factor reads.
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "core/graph/composites.h"
#include "core/graph/passes.h"
#include "core/graph/print.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

Tensor input(Builder& builder, const char* name, Shape shape, ops::DType dtype = ops::DType::f32) {
  return builder.input(name, dtype, std::move(shape));
}

// [batch, length, heads * 8] as [batch * heads, length, 8].
Tensor heads_of(const Tensor& x, const index::Expr& batch, std::int64_t heads) {
  const index::Expr length = x.size(1);
  return reshape(permute(reshape(x, {batch, length, heads, 8}), {0, 2, 1, 3}), {batch * heads, length, 8});
}

Tensor scores(Builder& builder, const index::Expr& batch, std::int64_t heads, std::int64_t length,
              ops::DType dtype = ops::DType::f32) {
  const Tensor queries = heads_of(input(builder, "q", {batch, length, heads * 8}, dtype), batch, heads);
  const Tensor keys = heads_of(input(builder, "k", {batch, length, heads * 8}, dtype), batch, heads);
  return matrix_product(queries, transpose(keys, 1, 2));
}

Graph after_pass(const Graph& graph, bool is_worth = true) {
  Graph made = batches_in_steps(graph, [&](const Node&) { return is_worth; });
  verify(made);
  return made;
}

// What views of products read, and the shapes of the products.
std::string products_in(const Graph& graph) {
  std::string found;
  for (const Node& node : graph.nodes())
    if (const auto summed = summed_products(graph, node))
      found += cat(
          "[", join(graph[*summed].shape, " ", [](const index::Expr& size) { return index::print(size); }),
          "]");
  return found;
}

TEST(BatchesInSteps, SequencesAndHeadsBecomeTwoAxes) {
  Builder builder;
  builder.output(scores(builder, 3, 4, 5));
  const Graph graph = builder.take(), made = after_pass(graph);
  EXPECT_EQ(products_in(graph), "[12 5 8 5]");
  EXPECT_EQ(products_in(made), "[3 4 5 8 5]");
  const std::string text = print(made);
  EXPECT_NE(text.find("from [i0, i2, 8*i1 + i3]"), std::string::npos) << text;
  EXPECT_NE(text.find("from [floor_div(i0, 4), floor_mod(i0, 4), i1, i2]"), std::string::npos) << text;
}

TEST(BatchesInSteps, WhatIsCastOnItsWayToo) {
  Builder builder;
  builder.output(scores(builder, 3, 4, 5, ops::DType::bf16));
  const Graph made = after_pass(builder.take());
  EXPECT_EQ(products_in(made), "[3 4 5 8 5]");
  const std::string text = print(remove_dead(made));
  EXPECT_NE(text.find("bf16 [3, 4, 5, 8, 5] = view(%0)"), std::string::npos) << text;
}

TEST(BatchesInSteps, ASymbolicNumberOfSequences) {
  Builder builder;
  const index::Symbol batch("b");
  builder.size_parameter("b", batch);
  builder.output(scores(builder, batch, 4, 5));
  EXPECT_EQ(products_in(after_pass(builder.take())), "[b 4 5 8 5]");
}

TEST(BatchesInSteps, WhatReadsTheResultsByBothReadsThemInSteps) {
  Builder builder;
  const Tensor by_both = reshape(scores(builder, 3, 4, 5), {3, 4, 5, 5});
  builder.output(by_both + 1.0);
  const std::string text = print(remove_dead(after_pass(builder.take())));
  EXPECT_EQ(text.find("floor_"), std::string::npos) << text;
}

TEST(BatchesInSteps, WhatIsInStepsOrNotWorthItStays) {
  Builder plain;
  plain.output(matrix_product(input(plain, "a", {6, 4, 5}), input(plain, "b", {6, 5, 7})));
  const Graph graph = plain.take();
  EXPECT_EQ(print(after_pass(graph)), print(remove_dead(graph)));
  Builder heads;
  heads.output(scores(heads, 3, 4, 5));
  const Graph of_heads = heads.take();
  EXPECT_EQ(print(after_pass(of_heads, false)), print(remove_dead(of_heads)));
}

// The axis that is summed up stays one: whoever writes the heads chooses their order.
TEST(BatchesInSteps, ASummedAxisStays) {
  Builder builder;
  const Tensor heads = input(builder, "x", {3, 4, 5, 8});
  const Tensor rows = reshape(permute(heads, {0, 2, 1, 3}), {15, 32});
  builder.output(matrix_product(rows, input(builder, "w", {32, 7})));
  EXPECT_EQ(products_in(after_pass(builder.take())), "[3 5 32 7]");
}

}  // namespace
}  // namespace twinloom::graph
