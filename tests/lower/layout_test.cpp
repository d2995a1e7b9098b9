// Strides of inputs and of what is made from them.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/fuse/fuse.h"
#include "core/graph/builder.h"
#include "core/graph/passes.h"
#include "core/graph/pooling.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
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

lower::Value temporary_of(const lower::Lowered& lowered, const Shape& shape) {
  const auto found = std::ranges::find_if(lowered.values, [&](const lower::Value& value) {
    return value.storage == lower::Storage::temporary && value.shape == shape;
  });
  return found == lowered.values.end() ? lower::Value{} : *found;
}

// Parts that lie channels-last, few and many, before a barrier and before a sum.
TEST(Layout, WhatIsJoinedLiesAsItsParts) {
  for (const int parts : {2, 9}) {
    Builder b;
    std::vector<Tensor> joined;
    lower::Layouts layouts;
    for (int k = 0; k < parts; ++k) {
      joined.push_back(b.input(cat("x", k), DType::f32, {2, 8, 5, 6}));
      layouts[k] = {240, 1, 48, 8};
    }
    b.output(sum(b.add(Realize{.any_order = true}, {concat(joined, 1)}), {3}));
    const Graph graph = b.take();
    const lower::Lowered lowered = lower::lower(graph, layouts);
    const std::int64_t channels = 8 * parts;
    EXPECT_EQ(temporary_of(lowered, {2, channels, 5, 6}).strides,
              (std::vector<index::Expr>{30 * channels, 1, 6 * channels, channels}));
    const auto arguments = random_arguments(graph, 1);
    const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
    EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
  }
}

// Strides of each result of a graph whose inputs lie channels-last.
std::vector<std::vector<index::Expr>> strides_of_results(const Graph& graph, const lower::Layouts& layouts,
                                                         bool row_major = false) {
  const lower::Lowered lowered = lower::lower(graph, layouts, {}, {}, row_major);
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
  std::vector<std::vector<index::Expr>> strides;
  for (const lower::Value& value : lowered.values)
    if (value.storage == lower::Storage::result) strides.push_back(value.strides);
  return strides;
}

TEST(Layout, PooledPaddedAndJoinedImagesLieAsTheImage) {
  Builder b;
  const Tensor x = b.input("x", DType::bf16, {2, 8, 6, 6}), y = b.input("y", DType::bf16, {2, 4, 6, 6});
  const graph::Pooling pooling{"avg_pool2d", {{3, 1, 1, 1}, {3, 1, 1, 1}}};
  b.output(average_pool(x, pooling, {}));
  b.output(pad(x, {{}, {}, {1, 1}, {1, 1}}, 0.0));
  b.output(concat({x, y}, 1));
  b.output(sum(x, {2}));
  b.output(permute(x, {0, 2, 1, 3}));  // a copy is wanted as its axes are
  const Graph graph = b.take();
  const lower::Layouts layouts = {{0, {288, 1, 48, 8}}, {1, {144, 1, 24, 4}}};
  using Strides = std::vector<index::Expr>;
  EXPECT_EQ(strides_of_results(graph, layouts),
            (std::vector<Strides>{
                {288, 1, 48, 8}, {512, 1, 64, 8}, {432, 1, 72, 12}, {48, 1, 8}, {288, 48, 6, 1}}));
  for (const Strides& strides : strides_of_results(graph, layouts, true))
    EXPECT_EQ(strides.back(), index::Expr(1));
}

// A load is given what lies outside of a padded image, which is not chosen, also where the image is widened
// first.
TEST(Layout, ALoadSaysWhatLiesOutside) {
  for (const double fill : {0.0, -0.0, 1.5, 0.1}) {
    Builder b;
    const Tensor x = b.input("x", DType::bf16, {2, 6});
    b.output(sum(pad(cast(x, DType::f32), {{}, {1, 2}}, fill), {1}));
    const Graph graph = b.take();
    const lower::Lowered lowered = lower::lower(graph);
    const bool chooses = print(lowered).find("where(") != std::string::npos;
    EXPECT_EQ(chooses, fill == 0.1) << "which bf16 has not";
    const auto arguments = random_arguments(graph, 1);
    const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
    EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
  }
}

// Parts that are rounded are so once, behind the choice among them.
TEST(Layout, AChoiceAmongRoundedPartsIsRoundedOnce) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {4, 8}), y = b.input("y", DType::f32, {4, 8});
  b.output(concat({cast(x, DType::bf16), cast(y, DType::bf16)}, 1));
  const Graph graph = b.take();
  const lower::Lowered lowered = lower::lower(graph);
  const std::string text = print(lowered);
  EXPECT_EQ(text.find("bf16(where("), text.rfind("bf16(")) << text;
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
}

// Of a loop over a concatenation that is not split, each element would compute all parts.
TEST(Layout, FewPartsAreWrittenOneByOneWhereLoopsAreNotSplit) {
  for (const bool splits : {true, false}) {
    Builder b;
    const Tensor x = b.input("x", DType::f32, {64, 4096}), y = b.input("y", DType::f32, {64, 4096});
    b.output(concat({exp(sin(x)), exp(cos(y))}, 1));  // more work than what is moved
    b.output(concat({x, y}, 1));
    lower::Costs costs;
    costs.splits_parts = splits;
    const lower::Lowered lowered = lower::lower(b.take(), {}, {}, costs);
    EXPECT_EQ(lowered.units.size(), splits ? 4U : 3U) << print(lowered);  // temporaries, which fusion removes
  }
}

// Channels that change places stay channels-last; a pass makes them memory, and no element changes.
TEST(Layout, FactorsInStepsLieAsWhatTheyAreMadeOf) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {2, 12, 4, 5}), w = b.input("w", DType::f32, {7, 6});
  const Tensor shuffled = reshape(transpose(reshape(x, {2, 2, 6, 4, 5}), 1, 2), {2, 12, 4, 5});
  const Tensor half = permute(slice(shuffled, 1, 6, 12), {0, 2, 3, 1});
  b.output(sum(unsqueeze(half, 3) * w, {4}));
  const Graph graph = b.take();
  const Graph memory = factors_in_steps(graph, [](const Node&, const Shape&) { return true; });
  const lower::Lowered lowered = lower::lower(memory, {{0, {240, 1, 60, 12}}});
  EXPECT_EQ(temporary_of(lowered, {2, 6, 4, 5}).strides, (std::vector<index::Expr>{120, 1, 30, 6}));
  const auto arguments = random_arguments(graph, 1);
  const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
  EXPECT_EQ(difference(run_lowered(memory, lowered, arguments), expected), std::nullopt);
}

// Directions of a recurrent layer that the next layer walks as one row: where a library multiplies they lie
// as the product reads them, in steps.
TEST(Layout, WhatAProductReadsAsOneLiesInOneStep) {
  Builder b;
  const Tensor x = b.input("x", DType::f32, {6, 2, 2, 3}), w = b.input("w", DType::f32, {5, 6});
  const Tensor both = b.add(Realize{.any_order = true}, {tanh(x)});
  const Tensor rows = reshape(permute(both, {0, 2, 1, 3}), {6, 2, 6});
  b.output(sum(unsqueeze(rows, 2) * w, {3}));
  const Graph graph = remove_dead(b.take());
  for (const bool has_library : {false, true}) {
    lower::Routines routines;
    if (has_library) routines.has_library_call = [](const loops::Program&) { return true; };
    const lower::Lowered lowered = lower::lower(graph, {}, routines);
    const auto expected_strides =
        has_library ? std::vector<index::Expr>{12, 3, 6, 1} : std::vector<index::Expr>{12, 6, 3, 1};
    EXPECT_EQ(temporary_of(lowered, {6, 2, 2, 3}).strides, expected_strides);
    const auto arguments = random_arguments(graph, 1);
    const Results expected = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict);
    EXPECT_EQ(difference(run_lowered(graph, lowered, arguments), expected), std::nullopt);
  }
}

}  // namespace twinloom::tests
