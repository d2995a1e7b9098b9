// Mode fast: products that one addition or subtraction uses become part of it.
#include <gtest/gtest.h>

#include "core/graph/builder.h"
#include "core/graph/passes.h"

namespace twinloom::graph {
namespace {

using ops::DType;

struct Values {
  Builder builder;
  Tensor a = builder.input("a", DType::f32, {4});
  Tensor b = builder.input("b", DType::f32, {4});
  Tensor c = builder.input("c", DType::f32, {4});
  // What stands for the results.
  std::string contracted(std::initializer_list<Tensor> results) {
    for (const Tensor& result : results) builder.output(result);
    const Graph made = remove_dead(contract_products(builder.graph()));
    verify(made);
    std::string text;
    for (const Node& node : made.nodes())
      if (const auto* pointwise = std::get_if<Pointwise>(&node.node))
        text += cat(text.empty() ? "" : " ", ops::name(pointwise->op));
    return text;
  }
};

TEST(ContractProducts, SumsOfOneProduct) {
  EXPECT_EQ(Values().contracted({}), "");
  Values left, right;
  EXPECT_EQ(left.contracted({left.a * left.b + left.c}), "fma");
  EXPECT_EQ(right.contracted({right.c + right.a * right.b}), "fma");
}

TEST(ContractProducts, DifferencesHaveANegativeOperand) {
  Values left, right;
  EXPECT_EQ(left.contracted({left.a * left.b - left.c}), "neg fma");
  EXPECT_EQ(right.contracted({right.c - right.a * right.b}), "neg fma");
}

TEST(ContractProducts, OfTwoProductsTheFirst) {
  Values v;
  EXPECT_EQ(v.contracted({v.a * v.b + v.b * v.c}), "mul fma");
}

TEST(ContractProducts, NotWhatOthersUseToo) {
  Values twice, returned, itself;
  const Tensor product = twice.a * twice.b;
  EXPECT_EQ(twice.contracted({product + twice.c, product - twice.c}), "mul add sub");
  const Tensor result = returned.a * returned.b;
  EXPECT_EQ(returned.contracted({result + returned.c, result}), "mul add");
  const Tensor square = itself.a * itself.b;
  EXPECT_EQ(itself.contracted({square + square}), "mul add");
}

TEST(ContractProducts, NotOf16BitsOrIntegers) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::i32}) {
    Values v;
    const Tensor x = v.builder.input("x", dtype, {4});
    EXPECT_EQ(v.contracted({x * x + x}), "mul add") << ops::name(dtype);
  }
}

TEST(ContractProducts, AreTheMeaningOfTheRelaxationAlone) {
  Values v;
  v.builder.output(v.a * v.b + v.c);
  const Graph& graph = v.builder.graph();
  EXPECT_EQ(print(fast_meaning(graph, {})), print(fused_meaning(graph)));
  EXPECT_EQ(print(fast_meaning(graph, {Relaxation::reassociate})), print(fused_meaning(graph)));
  EXPECT_EQ(print(fast_meaning(graph, {Relaxation::contract})),
            print(contract_products(fused_meaning(graph))));
}

TEST(Relaxations, HaveNamesThatReadBack) {
  for (const Relaxation each : all_relaxations()) {
    EXPECT_EQ(relaxation_named(name(each)), each);
    EXPECT_TRUE(Relaxations::all().has(each));
    EXPECT_FALSE(Relaxations().has(each));
  }
  EXPECT_THROW(relaxation_named("nothing"), Error);
}

}  // namespace
}  // namespace twinloom::graph
