// Sums of integers that stand for sums of scaled ones have their values, to the last bit: scales are powers
// of two, and sums are below 2^24, so that those of reals are exact too.
#include <gtest/gtest.h>

#include <random>

#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/passes.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;

Value drawn(DType dtype, std::vector<std::int64_t> sizes, unsigned seed) {
  std::mt19937 random(seed);
  const int low = dtype == DType::i8 ? -128 : 0;
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < count; ++k) numbers.push_back(low + static_cast<int>(random() % 256));
  return array(dtype, std::move(sizes), numbers);
}

// A tensor's numbers less zero points that are drawn too: none, one, or one along an axis.
enum class Zeros { none, one, along };
Tensor centred(const Tensor& numbers, Zeros zeros, int axis) {
  const Tensor wide = cast(numbers, DType::i32);
  if (zeros == Zeros::none) return wide;
  if (zeros == Zeros::one) return wide - 119;
  graph::Shape shape(static_cast<std::size_t>(numbers.rank()), 1);
  shape[static_cast<std::size_t>(axis)] = numbers.size(axis);
  const auto count = *index::constant_of(numbers.size(axis));
  const Value value = drawn(numbers.dtype(), {count}, 7);
  const Tensor zero = numbers.builder().constant(graph::Array{value.dtype, value.sizes, value.bytes});
  return wide - expand(cast(reshape(zero, shape), DType::i32), numbers.shape());
}

struct Types {
  DType values, weights;
};

void expect_same(Builder& builder, const Tensor& result, const std::vector<Argument>& arguments) {
  builder.output(result);
  const graph::Graph before = builder.take();
  int asked = 0;
  const graph::Graph after = integer_products(before, [&](const graph::Node&) { return ++asked > 0; });
  verify(after);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(numbers_in(*evaluate(after, arguments, Arithmetic::strict).front()),
            numbers_in(*evaluate(before, arguments, Arithmetic::strict).front()))
      << print(after);
}

constexpr Types ALL_TYPES[] = {
    {DType::u8, DType::u8}, {DType::u8, DType::i8}, {DType::i8, DType::u8}, {DType::i8, DType::i8}};

TEST(IntegerProducts, OfMatricesHaveTheValuesOfReals) {
  for (const auto& [values, weights] : ALL_TYPES)
    for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::along})
      for (const bool is_array : {false, true}) {
        Builder builder;
        const Tensor x = builder.input("x", values, {5, 12});
        const Value array = drawn(weights, {12, 18}, 2);
        const Tensor w = is_array ? builder.constant(graph::Array{array.dtype, array.sizes, array.bytes})
                                  : builder.input("w", weights, {12, 18});
        const Tensor real_x = cast(centred(x, Zeros::one, 0), DType::f32) * 0.5,
                     real_w = cast(centred(w, zeros, 1), DType::f32) * 0.25;
        std::vector<Argument> arguments{drawn(values, {5, 12}, 1)};
        if (!is_array) arguments.emplace_back(array);
        expect_same(builder, matrix_product(real_x, real_w), arguments);
      }
}

TEST(IntegerProducts, OfWindowsHaveTheValuesOfReals) {
  for (const auto& [values, weights] : ALL_TYPES)
    for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::along}) {
      Builder builder;
      const Tensor x = builder.input("x", values, {1, 3, 6, 6}),
                   w = builder.input("w", weights, {16, 3, 3, 3});
      const graph::Taps taps{.before = 1, .count = 6};
      const Tensor real_x = cast(centred(x, Zeros::one, 0), DType::f32) * 0.5,
                   real_w = cast(centred(w, zeros, 0), DType::f32) * 0.25;
      expect_same(builder, convolve(real_x, real_w, {"convolution", {taps, taps}}),
                  {drawn(values, {1, 3, 6, 6}, 1), drawn(weights, {16, 3, 3, 3}, 2)});
    }
}

// As QLinearConv has them: what pads the windows is the zero point, also where each channel has its filter
// and no library is asked.
TEST(IntegerProducts, OfPaddedIntegersHaveTheirValues) {
  for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::along}) {
    Builder builder;
    const Tensor x = builder.input("x", DType::u8, {1, 3, 6, 6}),
                 w = builder.input("w", DType::u8, {3, 1, 3, 3});
    const graph::Taps taps{.before = 1, .count = 6};
    const Tensor y =
        convolve(centred(x, Zeros::one, 0), centred(w, zeros, 0), {"convolution", {taps, taps}, 3});
    builder.output(y);
    const graph::Graph before = builder.take();
    const graph::Graph after = integer_products(before, [](const graph::Node&) { return false; });
    EXPECT_NE(print(after).find("else 119"), std::string::npos) << print(after);
    const std::vector<Argument> arguments{drawn(DType::u8, {1, 3, 6, 6}, 1),
                                          drawn(DType::u8, {3, 1, 3, 3}, 2)};
    EXPECT_EQ(numbers_in(*evaluate(after, arguments, Arithmetic::strict).front()),
              numbers_in(*evaluate(before, arguments, Arithmetic::strict).front()));
  }
}

// As ConvInteger has them, whose zero point a run computes.
TEST(IntegerProducts, OfPaddedIntegersWithAZeroPointOfARunHaveTheirValues) {
  for (const DType weights : {DType::i8, DType::u8})
    for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::along}) {
      Builder builder;
      const Tensor x = builder.input("x", DType::u8, {1, 3, 6, 6}),
                   w = builder.input("w", weights, {16, 3, 3, 3}), zero = builder.input("z", DType::u8, {});
      const graph::Taps taps{.before = 1, .count = 6};
      const Tensor left = cast(x, DType::i32) - cast(zero, DType::i32);
      expect_same(
          builder, convolve(left, centred(w, zeros, 0), {"convolution", {taps, taps}}),
          {drawn(DType::u8, {1, 3, 6, 6}, 1), drawn(weights, {16, 3, 3, 3}, 2), array(DType::u8, {}, {77})});
    }
}

// Which wrap beyond 32 bits, as those do that they stand for.
TEST(IntegerProducts, OfIntegersHaveTheirValues) {
  for (const Zeros zeros : {Zeros::none, Zeros::one, Zeros::along}) {
    Builder builder;
    const Tensor x = builder.input("x", DType::u8, {5, 12}), w = builder.input("w", DType::u8, {12, 18}),
                 zero = builder.input("z", DType::u8, {});
    const Tensor left = cast(x, DType::i32) - expand(cast(zero, DType::i32), {5, 12});
    expect_same(builder, matrix_product(left, centred(w, zeros, 1)),
                {drawn(DType::u8, {5, 12}, 1), drawn(DType::u8, {12, 18}, 2), array(DType::u8, {}, {77})});
  }
}

}  // namespace
}  // namespace twinloom::evaluate
