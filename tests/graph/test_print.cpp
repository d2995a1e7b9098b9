// The text form reads back to the same graph, for every kind of node and result.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "core/graph/sorting.h"
#include "core/graph/views.h"
#include "tests/support/thrown.h"

namespace twinloom::graph {
namespace {

using ops::DType;

void expect_round_trip(const Graph& graph) {
  verify(graph);
  const std::string text = print(graph);
  const Graph again = parse(text);
  verify(again);
  EXPECT_EQ(print(again), text);
  ASSERT_EQ(again.nodes().size(), graph.nodes().size());
  for (std::size_t k = 0; k < graph.nodes().size(); ++k) {
    EXPECT_EQ(again.nodes()[k].node, graph.nodes()[k].node);
    EXPECT_EQ(again.nodes()[k].inputs, graph.nodes()[k].inputs);
  }
}

// Every kind, every result, requirements, facts and origins.
void add_everything(Builder& builder) {
  const index::Expr n = index::Symbol("n");
  builder.size_parameter("rows", n);
  builder.origin = {"a \"quoted\" file.py", 12, "x", "", 0};
  const Tensor x = builder.input("x", DType::f32, {n, 4}, true);
  builder.size_parameter("more", 2 * n + 1);
  builder.origin = {};
  const Tensor m = builder.input("y", DType::f32, {index::Symbol("m"), 4});
  const Tensor at = builder.input("at", DType::i64, {n, 1});
  const Tensor z = softmax(x + m, -1) * builder.size(n, DType::f32);
  const Tensor table =
      builder.constant(Array{DType::i16, {2, 1}, std::vector<std::byte>(4, std::byte{0xfe})});
  const Tensor numbers =
      concat({builder.constant(-0.0, DType::f64, {2}), builder.constant(NAN, DType::f64, {2}),
              builder.constant(-INFINITY, DType::f64, {1}), builder.constant(0.1, DType::f64, {1})},
             0);
  const Tensor drawn = builder.uniform({n}, DType::f32) + builder.normal({n}, DType::f32);
  builder.output(z, "z");
  builder.output(table);
  builder.output(numbers);
  builder.output(drawn);
  builder.output(builder.integers(-2, 9, {3}));
  builder.output(pad(transpose(x, 0, 1), {{1, 0}, {0, n}}, 2.5));
  builder.output(take_along(x, 1, at));
  builder.output(index(x, {at}, Negative::wraps));
  builder.output(scatter(x, 1, at, 1.0, Mode::greatest, false, Negative::wraps));
  builder.output(max_with_place(x, 0).place);
  builder.output(cumsum(x, 0, {true, true}));
  builder.output(argsort(cast(x, DType::f16), 0));
  builder.output(cummax(x, 1).place);
  builder.output(cast(realize(x), DType::bf16, true) * 0.5);
  builder.output(builder.iota({n, 3}, 1, DType::i32));
  builder.output_of_input(transpose(x, 0, 1), 1, "view");
  builder.output_view(transpose(z, 0, 1), z, "turned");
  builder.output_size(n * n + 2, "count");
  builder.output_none("gone");
  builder.graph().facts().assume(index::Symbol("n"), {1, 4096}, 2);
  builder.graph().require({{{0, n}}}, "there must be rows");
  builder.graph().require({{{n, 4097}, {index::floor_mod(n, 2), 1}}}, "there must be few rows, in pairs");
}

TEST(Print, ReadsBackWhatItPrints) {
  Builder builder("every \\ kind");
  add_everything(builder);
  expect_round_trip(builder.graph());
  expect_round_trip(remove_dead(builder.graph()));
  expect_round_trip(drop_implicit_rounding(builder.graph()));
  expect_round_trip(fused_meaning(builder.graph()));
  expect_round_trip(scatter_to_select(builder.graph()));
}

TEST(Print, LooksAsDocumented) {
  Builder builder("example");
  const index::Expr n = index::Symbol("n");
  const Tensor x = builder.input("x", DType::f32, {n, 4});
  const Tensor y = sum(transpose(x, 0, 1), {1});
  builder.output(y, "y");
  builder.output_view(slice(y, 0, 1, 3), y, "z");
  EXPECT_EQ(print(builder.graph()),
            "graph \"example\"\n"
            "fact n in 0 to inf\n"
            "parameter \"x\" = %0\n"
            "%0: f32 [n, 4] = input slot 0 name \"x\"\n"
            "%1: f32 [4, n] = view(%0) at [i0, i1] from [i1, i0]\n"
            "%2: f32 [4] = reduce sum over [1] (%1)\n"
            "%3: f32 [2] = view(%2) at [i0] from [i0 + 1]\n"
            "result \"y\" = own %2\n"
            "result \"z\" = view %3 of %2\n");
}

TEST(Print, MistakesAreErrorsWithLineAndColumn) {
  const auto error_of = [](std::string_view text) { return tests::words_of<Error>([&] { parse(text); }); };
  EXPECT_EQ(error_of("graph \"g\"\nfoo"),
            "graph line 2 column 1: expected a node, a result or the end, found "
            "'foo'");
  const std::string head = "graph \"g\"\nparameter \"x\" = %0\n%0: f32 [2] = input slot 0 name \"x\"\n";
  EXPECT_EQ(error_of(head), tests::NOTHING_THROWN);
  EXPECT_NE(error_of(head + "%1: f32 [2] = exp(%7)").find("an input that was defined before"),
            std::string::npos);
  EXPECT_NE(error_of(head + "%1: f32 [3] = exp(%0)\n").find("the type f32 [2] for %1"), std::string::npos);
  EXPECT_NE(error_of(head + "%1: f32 [2] = expo(%0)\n").find("not 'expo'"), std::string::npos);
  EXPECT_NE(error_of(head + "result \"y\" = own %4\n").find("a result that the graph has"),
            std::string::npos);
  EXPECT_NE(error_of(head + "result \"y\" = view %0 of %1\n").find("a result that the graph has"),
            std::string::npos);
  EXPECT_NE(error_of("graph \"g\"\nparameter \"x\" = %0\n").find("an input for parameter 0"),
            std::string::npos);
}

}  // namespace
}  // namespace twinloom::graph
