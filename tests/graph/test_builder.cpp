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

}  // namespace
}  // namespace twinloom::graph
