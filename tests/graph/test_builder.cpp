// What the builder's functions give, as printed nodes.
#include <gtest/gtest.h>

#include "core/graph/builder.h"
#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/print.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {
namespace {

using ops::DType;

index::Expr sym(const char* name) { return index::Symbol(name); }

// The line of the node without its number.
std::string line(const Tensor& x) {
  const std::string text = print_node(x.builder().graph(), x.id());
  return text.substr(text.find(": ") + 2);
}

struct Fixture {
  Builder builder;
  Tensor x = builder.input("x", DType::f32, {sym("n"), 4});
  Tensor y = builder.input("y", DType::f32, {4, 6});
  Tensor half = builder.input("half", DType::bf16, {3});
  Tensor whole = builder.input("whole", DType::i64, {3});
};

TEST(Builder, BroadcastsAndReusesEqualNodes) {
  Fixture f;
  const Tensor a = f.x + f.builder.constant(1.0, DType::f32, {4});
  const Tensor b = f.x + 1.0;
  EXPECT_EQ(a.id(), b.id());
  EXPECT_EQ(line(a), "f32 [n, 4] = add(%0, %5)");
}

TEST(Builder, NumberBesideBf16StaysF32) {
  Fixture f;
  const Tensor scaled = f.half * 0.1;
  EXPECT_EQ(line(scaled), "bf16 [3] = cast(%7) implicit");
  EXPECT_EQ(line({&f.builder, NodeId{7}}), "f32 [3] = mul(%4, %6)");
  EXPECT_EQ(line({&f.builder, NodeId{4}}), "f32 [3] = cast(%2) implicit");
  EXPECT_EQ(line(gt(f.half, 0.1)).substr(0, 6), "b8 [3]");
}

// The node with those that it is made of in place of their numbers.
std::string formula(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const bool is_x = std::holds_alternative<Input>(node.node);
  const auto* constant = std::get_if<Constant>(&node.node);
  if (is_x) return node.origin.name;
  if (constant != nullptr) return ops::print(std::get<ops::Number>(constant->value));
  const auto of_input = [&](NodeId input) { return formula(graph, input); };
  return cat(kind_name(node.node), "(", join(node.inputs, ", ", of_input), ")");
}

TEST(Builder, PowersByNumbersAreTheirSteps) {
  struct Row {
    std::string_view input;
    ops::Number exponent;
    std::string_view formula;
  };
  const Row rows[] = {
      {"x", 0, "0x1p+0"},
      {"x", 1, "x"},
      {"x", 2, "mul(x, x)"},
      {"x", 2.0, "mul(x, x)"},
      {"x", 3, "mul(mul(x, x), x)"},
      {"x", 4, "mul(mul(x, x), mul(x, x))"},
      {"x", 0.5, "sqrt(x)"},
      {"x", -0.5, "rsqrt(x)"},
      {"x", -1, "reciprocal(x)"},
      {"x", -2, "reciprocal(mul(x, x))"},
      {"x", 5, "pow(x, 0x1.4p+2)"},
      {"x", 1.5, "pow(x, 0x1.8p+0)"},
      {"half", 3, "cast to bf16(mul(mul(cast to f32(half), cast to f32(half)), cast to f32(half)))"},
      {"half", -0.5, "cast to bf16(rsqrt(cast to f32(half)))"},
      {"whole", 0, "1"},
      {"whole", 3, "mul(mul(whole, whole), whole)"},
      {"whole", -1, "pow(whole, -1)"},
  };
  for (const Row& row : rows) {
    Fixture f;
    const Tensor& input = row.input == "x" ? f.x : row.input == "half" ? f.half : f.whole;
    const Tensor power = pow(input, row.exponent);
    EXPECT_EQ(formula(f.builder.graph(), power.id()), row.formula);
    EXPECT_EQ(power.dtype(), input.dtype()) << row.formula;
    EXPECT_EQ(power.shape(), input.shape()) << row.formula;
  }
  Fixture f;
  EXPECT_EQ(formula(f.builder.graph(), pow(2.0, f.x).id()).substr(0, 4), "pow(");
  EXPECT_EQ(formula(f.builder.graph(), pow(f.x, f.x).id()), "pow(x, x)");
}

}  // namespace
}  // namespace twinloom::graph
