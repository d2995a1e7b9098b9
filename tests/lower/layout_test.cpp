// Strides of inputs and of what is made from them.
#include <gtest/gtest.h>

#include "core/fuse/fuse.h"
#include "core/graph/builder.h"
#include "core/graph/reductions.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

TEST(Layout, ChannelsLastStaysChannelsLast) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {4, 32, 5, 5}), s = b.input("s", DType::f32, {1, 32, 1, 1});
  const Tensor y = relu(x * s);
  b.output(cast(y, DType::f16));
  b.output(gt(y, 0.0));
  const Graph graph = b.take();
  const lower::Layouts layouts = {{0, {800, 1, 160, 32}}};
  const fuse::Fused fused = fuse::fuse(lower::lower(graph, layouts));
  ASSERT_EQ(fused.lowered.units.size(), 1U);
  for (const lower::Value& value : fused.lowered.values) {
    if (value.storage != lower::Storage::result) continue;
    EXPECT_EQ(value.strides, (std::vector<index::Expr>{800, 1, 160, 32})) << value.name;
  }
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, fused.lowered, arguments), expected), std::nullopt);
}

TEST(Layout, StridesMayBeSymbols) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {6, 10});
  b.output(sum(x * 2.0, {1}));
  b.output(x + 1.0);
  const Graph graph = b.take();
  const index::Symbol stride("st0");
  const fuse::Fused fused = fuse::fuse(lower::lower(graph, {{0, {stride, 1}}}));
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, fused.lowered, arguments, {{stride, 16}}), expected), std::nullopt);
}

// Of both sums and the result, which two kernels read: the sums make one of their own.
TEST(Layout, MemoryHolds16BitsBeforeTheyAreCast) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {512, 256}), y = b.input("y", DType::bf16, {512, 256});
  const Tensor wide = cast(where(gt(x, 0.0), x, y), DType::f32);
  const Tensor total = sum(wide, {0}, true), squares = sum(wide * wide, {0}, true);
  b.output(cast(wide * total - squares, DType::bf16));
  const Graph graph = b.take();
  const lower::Lowered lowered = lower::lower(graph);
  std::vector<DType> large;
  for (const lower::Value& value : lowered.values)
    if (value.storage == lower::Storage::temporary && value.shape.front() == 512)
      large.push_back(value.dtype);
  EXPECT_EQ(large, std::vector{DType::bf16});
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
}

TEST(Layout, IsPrintedBesideTheNests) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {2, 3});
  b.output(exp(x));
  const lower::Lowered lowered = lower::lower(b.take());
  EXPECT_EQ(lower::print(lowered), R"(in0: f32[2, 3] strides [3, 1] parameter 0
out1: f32[2, 3] strides [3, 1] result 0

program k0_exp(in0: f32[6], out1: written f32[6]) {
  for i0 < 2 {
    for i1 < 3 {
      out1[3*i0 + i1] = exp(in0[3*i0 + i1])
    }
  }
}
)");
}

}  // namespace twinloom::tests
