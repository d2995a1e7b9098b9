// Which part of a kernel a library is given, and that fusion leaves it that.
#include "core/library_calls/split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/cpu/cpu.h"
#include "backends/cpu/onednn.h"
#include "core/base/text.h"
#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/pooling.h"
#include "core/graph/views.h"
#include "core/loops/contraction.h"
#include "core/pipeline/pipeline.h"
#include "core/steps/contraction.h"

namespace twinloom::tests {
namespace {

using graph::Tensor;

struct Made {
  graph::Graph graph;
  std::shared_ptr<const runtime::Variant> variant;
  std::size_t libraries() const {
    return static_cast<std::size_t>(std::ranges::count_if(
        variant->steps, [](const runtime::Step& step) { return step.program.library; }));
  }
};

class Split : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cpu::onednn_path()) GTEST_SKIP() << "oneDNN 3 is not found";
  }

  template <class Result>
  static Made made(Result result, pipeline::Mode mode = pipeline::Mode::fused) {
    graph::Builder builder;
    builder.output(result(builder));
    Made made{builder.take(), nullptr};
    const auto backend = cpu::make_cpu({.threads = 2});
    pipeline::Options options;
    options.mode = mode;
    options.verify = true;
    made.variant = pipeline::make_variant(made.graph, {}, *backend, options);
    return made;
  }
};

Tensor input(graph::Builder& builder, const char* name, graph::Shape shape) {
  return builder.input(name, ops::DType::f32, std::move(shape));
}

TEST_F(Split, WhatALibraryKnowsStaysInTheCall) {
  const auto linear = [](graph::Builder& builder) {
    return relu(matrix_product(input(builder, "x", {96, 128}), input(builder, "w", {128, 160})) +
                input(builder, "b", {160}));
  };
  const Made fused = made(linear);
  ASSERT_EQ(fused.variant->steps.size(), 1u);
  EXPECT_EQ(fused.libraries(), 1u);
  EXPECT_EQ(made(linear, pipeline::Mode::strict).libraries(), 0u);
}

TEST_F(Split, WhatElseIsDoneWithAProductReadsIt) {
  const auto linear = [](graph::Builder& builder) {
    return gelu(matrix_product(input(builder, "x", {96, 128}), input(builder, "w", {128, 160})) +
                input(builder, "b", {160}));
  };
  const Made fused = made(linear);
  ASSERT_EQ(fused.variant->steps.size(), 2u);
  EXPECT_TRUE(fused.variant->steps[0].program.library);
  EXPECT_FALSE(fused.variant->steps[1].program.library);
}

// Of every channel its own filter, 3 x 3: fewer products than are always worth a call, and twice the time
// where they are generated. Alone it is not worth a library that is opened for it.
TEST_F(Split, SmallerOnesThatTakeLongAreCallsBesideLargeOnes) {
  const auto small = [](const Tensor& x, graph::Builder& builder) {
    const graph::Taps taps{.stride = 2, .before = 1, .count = 14};
    return convolve(x, input(builder, "w", {240, 1, 3, 3}), {"conv", {taps, taps}, 240});
  };
  const Made both = made([&](graph::Builder& builder) {
    const graph::Taps taps{.count = 28};
    const Tensor x = input(builder, "x", {1, 80, 28, 28}), filters = input(builder, "v", {240, 80, 1, 1});
    return small(convolve(x, filters, {"conv", {taps, taps}}), builder);
  });
  EXPECT_EQ(both.libraries(), 2u);
  const Made alone = made([&](graph::Builder& builder) {
    return small(input(builder, "x", {1, 240, 28, 28}), builder);
  });
  EXPECT_EQ(alone.libraries(), 0u);
}

// A pooling's result lies as its input does, channels last.
TEST_F(Split, WindowsKeepTheLayoutThatTheyRead) {
  const Made pooled = made([](graph::Builder& builder) {
    const graph::Taps three{.before = 1, .count = 20}, one{.count = 10};
    const Tensor x = convolve(input(builder, "x", {1, 32, 20, 20}), input(builder, "w", {64, 32, 3, 3}),
                              {"conv", {three, three}});
    const Tensor most = max_pool(x, {"max_pool", {{2, 2}, {2, 2}}});
    return convolve(most, input(builder, "v", {64, 64, 1, 1}), {"conv", {one, one}});
  });
  ASSERT_EQ(pooled.variant->steps.size(), 3u);
  const auto last = loops::contraction_of(pooled.variant->steps[2].program);
  ASSERT_TRUE(last);
  EXPECT_TRUE(
      std::ranges::any_of(last->summed, [](const auto& axis) { return axis.left == 1 || axis.right == 1; }));
}

// One that a layer reads as one row, scaled before, lies as the layer counts its elements.
TEST_F(Split, FlattenedWindowsLieRowMajor) {
  const Made flattened = made([](graph::Builder& builder) {
    const graph::Taps three{.before = 1, .count = 20};
    const Tensor x = convolve(input(builder, "x", {1, 32, 20, 20}), input(builder, "w", {64, 32, 3, 3}),
                              {"conv", {three, three}});
    const Tensor most = max_pool(x, {"max_pool", {{2, 2}, {2, 2}}}) / 3.0;
    return matrix_product(reshape(most, {1, 6400}), input(builder, "v", {6400, 10}));
  });
  const auto& values = flattened.variant->values;
  const auto pooled = std::ranges::find(values, graph::Shape{1, 64, 10, 10}, &lower::Value::shape);
  ASSERT_NE(pooled, values.end());
  EXPECT_EQ(pooled->strides, index::contiguous_strides(pooled->shape));
}

// An image that is enlarged before a convolution, and channels that change places before another.
TEST_F(Split, WhatIsReadOutOfStepIsACallAsWell) {
  const Made enlarged = made([](graph::Builder& builder) {
    const graph::Taps three{.before = 1, .count = 20};
    const Tensor x = input(builder, "x", {1, 32, 10, 10});
    return convolve(repeat_interleave(repeat_interleave(x, 2, 2), 3, 2), input(builder, "w", {64, 32, 3, 3}),
                    {"conv", {three, three}});
  });
  EXPECT_EQ(enlarged.libraries(), 1u);
  const Made shuffled = made([](graph::Builder& builder) {
    const graph::Taps one{.count = 20};
    const Tensor x = input(builder, "x", {1, 64, 20, 20});
    const Tensor turned = reshape(transpose(reshape(x, {1, 2, 32, 20, 20}), 1, 2), {1, 64, 20, 20});
    return convolve(slice(turned, 1, 0, 32), input(builder, "w", {64, 32, 1, 1}), {"conv", {one, one}});
  });
  EXPECT_EQ(shuffled.libraries(), 1u);
}

// A relu that windows read is stored before, by the call that makes it: few products are a call then, too.
TEST_F(Split, FactorsOfFewProductsAreStored) {
  const Made both = made([](graph::Builder& builder) {
    const graph::Taps one{.count = 56}, three{.stride = 2, .before = 1, .count = 28};
    const Tensor x = convolve(input(builder, "x", {1, 24, 56, 56}), input(builder, "w", {58, 24, 1, 1}),
                              {"conv", {one, one}});
    return convolve(relu(x + input(builder, "b", {58, 1, 1})), input(builder, "v", {58, 1, 3, 3}),
                    {"conv", {three, three}, 58});
  });
  EXPECT_EQ(both.libraries(), 2u);
}

TEST_F(Split, AProductAloneWritesTheResult) {
  const Made alone = made([](graph::Builder& builder) {
    return matrix_product(input(builder, "x", {96, 128}), input(builder, "w", {128, 160}));
  });
  ASSERT_EQ(alone.variant->steps.size(), 1u);
  EXPECT_EQ(alone.libraries(), 1u);
}

Tensor scaled(const Tensor& numbers) {
  return cast(cast(numbers, ops::DType::i32) - 3, ops::DType::f32) * 0.5;
}
Tensor quantized(const Tensor& x) {
  return cast(clamp(round(x / 0.5) + 3, ops::Number(0.0), ops::Number(255.0)), ops::DType::u8);
}

// What is quantized behind a product is stored so by its call, also where a residual is added to it.
TEST_F(Split, WhatIsQuantizedIsStoredInEightBits) {
  if (!cpu::make_cpu({.threads = 2})->has_library_for(library_calls::sample_product(ops::DType::i8)))
    GTEST_SKIP() << "the processor has no products of 8-bit integers";
  const Made residual = made([&](graph::Builder& builder) {
    const Tensor weights = cast(builder.input("w", ops::DType::i8, {128, 160}), ops::DType::f32) * 0.25;
    const Tensor product = matrix_product(scaled(builder.input("x", ops::DType::u8, {96, 128})), weights);
    const Tensor left = scaled(quantized(product)),
                 right = scaled(builder.input("r", ops::DType::u8, {96, 160}));
    return quantized(relu(left + right));
  });
  ASSERT_EQ(residual.variant->steps.size(), 2u);
  const loops::Program& call = residual.variant->steps[0].program;
  EXPECT_TRUE(call.library);
  const auto written = std::ranges::find(call.buffers, true, &loops::BufferInfo::written);
  ASSERT_NE(written, call.buffers.end());
  EXPECT_EQ(written->dtype, ops::DType::u8) << loops::print(call);
}

// Of two products that are added, each quantized before, no sum is stored.
TEST_F(Split, WhatTwoProductsAreQuantizedToIsStored) {
  if (!cpu::make_cpu({.threads = 2})->has_library_for(library_calls::sample_product(ops::DType::i8)))
    GTEST_SKIP() << "the processor has no products of 8-bit integers";
  const Made both = made([&](graph::Builder& builder) {
    const auto product = [&](const char* x, const char* w) {
      const Tensor weights = cast(builder.input(w, ops::DType::i8, {128, 160}), ops::DType::f32) * 0.25;
      return scaled(quantized(matrix_product(scaled(builder.input(x, ops::DType::u8, {96, 128})), weights)));
    };
    return quantized(relu(product("x", "w") + product("y", "v")));
  });
  ASSERT_EQ(both.variant->steps.size(), 3u);
  EXPECT_EQ(both.libraries(), 2u);
  for (const runtime::Step& step : both.variant->steps)
    for (const loops::BufferInfo& buffer : step.program.buffers)
      EXPECT_TRUE(!buffer.written || buffer.dtype == ops::DType::u8) << loops::print(step.program);
}

// A norm in the factor, a softmax behind it: each of them would make a kernel that no library knows.
TEST_F(Split, NeighboursStayOutOfItsFactors) {
  const Made norm = made([](graph::Builder& builder) {
    const Tensor x = layer_norm(input(builder, "x", {96, 128}), 1, {}, {}, 1e-5).value;
    return softmax(matrix_product(gelu(x), input(builder, "w", {128, 160})), 1);
  });
  EXPECT_EQ(norm.libraries(), 1u);
  for (const runtime::Step& step : norm.variant->steps)
    EXPECT_TRUE(step.program.library || !steps::has_contraction(step.program)) << step.program.name;
}

TEST(Takes, NothingThatIsLookedUp) {
  const auto takes = [](const std::string& index, const std::string& begin) {
    return library_calls::takes(
        loops::parse(cat("program p(a: f32[n*20], at: i64[1], b: f32[120], y: written f32[24]; n in 1..) { "
                         "for i < 4 { for j < 6 { ",
                         index, " start t0 : sum f32 free for k < 20 { t0 += mul(a[", begin,
                         "20*i + k], b[6*k + j]) at k } "
                         "y[6*i + j] = relu(t0) } } }")),
        [](const loops::Program&) { return true; });
  };
  EXPECT_TRUE(takes("", ""));
  EXPECT_FALSE(takes("index x0 = at[0] below n node 5", "20*x0 + "));
}

TEST_F(Split, SmallOnesStayInTheirKernels) {
  const Made small = made([](graph::Builder& builder) {
    return relu(matrix_product(input(builder, "x", {8, 16}), input(builder, "w", {16, 8})));
  });
  EXPECT_EQ(small.libraries(), 0u);
  EXPECT_EQ(small.variant->steps.size(), 1u);
}

}  // namespace
}  // namespace twinloom::tests
