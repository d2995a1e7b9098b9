// Contractions and what stands around them as parts of one kernel: which may be, with the evaluator's bits.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/fuse/fuse.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "core/loops/parts.h"
#include "tests/lower/run_lowered.h"

namespace twinloom::tests {

using namespace graph;
using ops::DType;

namespace {

// a[.., i, k] * b[.., k, j], summed over k.
Tensor product(const Tensor& a, const Tensor& b) { return sum(unsqueeze(a, -1) * unsqueeze(b, -3), {-2}); }

// One kernel takes as long as any other.
fuse::Fused in_parts(const lower::Lowered& lowered) {
  fuse::Limits limits;
  limits.seconds_in_parts = [](const loops::Program&) { return 1e-6; };
  return fuse::fuse(lowered, limits);
}

void expect_kernels(const Graph& graph, std::size_t kernels) {
  const lower::Lowered lowered = lower::lower(graph);
  const fuse::Fused fused = in_parts(lowered);
  const std::string text = lower::print(fused.lowered);
  EXPECT_EQ(fused.lowered.units.size(), kernels) << text;
  const auto arguments = random_arguments(graph, 7);
  EXPECT_EQ(difference(run_lowered(graph, fused.lowered, arguments), run_lowered(graph, lowered, arguments)),
            std::nullopt)
      << text;
}

Tensor attention(Builder& b, const index::Expr& heads) {
  const Tensor q = b.input("q", DType::f32, {heads, 20, 8}), k = b.input("k", DType::f32, {heads, 20, 8}),
               v = b.input("v", DType::f32, {heads, 20, 8});
  return product(softmax(product(q, transpose(k, 1, 2)) * 0.25, -1), v);
}

TEST(Parts, AttentionIsOneKernel) {
  Builder b;
  b.output(attention(b, 3));
  const Graph graph = b.take();
  expect_kernels(graph, 1);
  EXPECT_EQ(
      loops::print(in_parts(lower::lower(graph)).lowered.units.front().nest),
      R"(program k0_sum_max_mul_exp(in0: f32[480], in1: f32[480], in2: f32[480], out7: written f32[480], temp3: local f32[20]) {
  for i0 < 3 {
    for i1 < 20 {
      scratch temp3[20] in scratch {
        for r0 < 20 {
          start t0: sum f32
          for r1 < 8 {
            t0 += mul(in0[160*i0 + 8*i1 + r1], in1[160*i0 + 8*r0 + r1]) at r1
          }
          temp3[r0] = t0
        }
        start t1: max f32
        for r2 < 20 {
          t2 = mul(temp3[r2], 0x1p-2:f32)
          temp3[r2] = t2
          t1 += t2 at r2
        }
        start t3: sum f32
        for r3 < 20 {
          t4 = exp(sub(temp3[r3], t1))
          temp3[r3] = t4
          t3 += t4 at r3
        }
        for r4 < 20 {
          temp3[r4] = div(temp3[r4], t3)
        }
        for r5 < 8 {
          start t5: sum f32
          for r6 < 20 {
            t5 += mul(temp3[r6], in2[160*i0 + r5 + 8*r6]) at r6
          }
          out7[160*i0 + 8*i1 + r5] = t5
        }
      }
    }
  }
}
)");
}

TEST(Parts, AttentionOfAnyNumberOfHeadsIsOneKernel) {
  Builder b;
  b.output(attention(b, index::Symbol("heads")));
  EXPECT_EQ(in_parts(lower::lower(b.take())).lowered.units.size(), 1U);
}

TEST(Parts, AProductAndTheNormOfItsRowsAreOneKernel) {
  Builder b;
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40}));
  b.output(layer_norm(x, 1, b.input("w", DType::f32, {40}), b.input("c", DType::f32, {40}), 1e-5).value);
  expect_kernels(b.take(), 1);
}

TEST(Parts, TwoLayersAndWhatStandsBetweenAreOneKernel) {
  Builder b;
  const Tensor hidden = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40}));
  b.output(product(relu(hidden + b.input("c", DType::f32, {40})), b.input("z", DType::f32, {40, 16})));
  expect_kernels(b.take(), 1);
}

TEST(Parts, AValueThatIsReadTwiceTakesThePlaceOfItsElements) {
  Builder b;
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40})) * 2.0;
  const Tensor any = gt(sum(x * x, {1}, true), 1.0);
  b.output(where(any, exp(x - amax(x, {1}, true)), 0.0));
  const Graph graph = b.take();
  expect_kernels(graph, 1);
  const std::string nest = loops::print(in_parts(lower::lower(graph)).lowered.units.front().nest);
  EXPECT_NE(nest.find("temp2[r2] = t"), std::string::npos) << nest;
}

// What others compute from the elements too stays beside the value.
TEST(Parts, AValueTakesNoPlaceThatIsReadLater) {
  Builder b;
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40}));
  b.output(exp(x * 2.0 - amax(x * 2.0, {1}, true)) + x);
  const Graph graph = b.take();
  expect_kernels(graph, 1);
}

struct Missed {
  std::string words;
  std::size_t kernels = 0;
};

Missed missed(Builder& b, const std::function<double(const loops::Program&)>& seconds) {
  fuse::Limits limits;
  limits.seconds_in_parts = seconds;
  const fuse::Fused fused = fuse::fuse(lower::lower(b.take()), limits);
  return {fused.refusals.empty() ? "" : fused.refusals.front().words, fused.lowered.units.size()};
}
double one_microsecond(const loops::Program&) { return 1e-6; }

// The rows of what is handed on would be another iteration's.
TEST(Parts, AProductAndRowsInAnotherOrderAreTwo) {
  Builder b;
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40}));
  b.output(softmax(flip(x, {0}), 1));
  EXPECT_EQ(missed(b, one_microsecond).words,
            "common loops [24, 40] and [24] run differently often; no loops walk what is handed on alike");
}

TEST(Parts, WhatOthersNeedTooStaysInMemory) {
  Builder b;
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, 40}));
  b.output(x);
  b.output(softmax(x, 1));
  EXPECT_EQ(missed(b, one_microsecond).words,
            "common loops [24, 40] and [24]: one turn of the second needs several of the first; others need "
            "out2 too");
}

TEST(Parts, ThatTakeLongerAsOneKernelAreTwo) {
  Builder b;
  b.output(attention(b, 3));
  const Missed two =
      missed(b, [](const loops::Program& nest) { return loops::has_parts(nest) ? 3e-6 : 1e-6; });
  EXPECT_EQ(two.kernels, 3U);
  EXPECT_EQ(two.words,
            "common loops [3, 20, 20] and [3, 20]: one turn of the second needs several of the first; as "
            "parts of one kernel they would take 3.0 us, as two 2.0 us by their estimates");
}

TEST(Parts, ASizeWithoutABoundIsNotHandedOn) {
  Builder b;
  const index::Expr n = index::Symbol("n");
  const Tensor x = product(b.input("x", DType::f32, {24, 16}), b.input("y", DType::f32, {16, n}));
  b.output(softmax(x, 1));
  EXPECT_EQ(missed(b, one_microsecond).words,
            "common loops [24, n] and [24]: one turn of the second needs several of the first; the place in "
            "temp2 does not tell the iteration of the common loops");
}

}  // namespace

}  // namespace twinloom::tests
