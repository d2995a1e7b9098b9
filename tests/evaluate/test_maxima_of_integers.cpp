// Maxima of integers that stand for maxima of what they are scaled to have their values, to the last bit.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "core/graph/passes.h"
#include "core/graph/pooling.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;

Value drawn(DType dtype, std::vector<std::int64_t> sizes) {
  std::mt19937 random(24);
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  std::vector<double> numbers;
  for (std::int64_t k = 0; k < count; ++k)
    numbers.push_back((dtype == DType::i8 ? -128 : 0) + static_cast<int>(random() % 256));
  return array(dtype, std::move(sizes), numbers);
}

// Of the maximum in the graph that is made.
DType type_of_maximum(DType type, double scale, const std::function<Tensor(const Tensor& x)>& maximum) {
  Builder builder;
  const Tensor numbers = builder.input("x", type, {1, 2, 7, 8});
  const Tensor x = cast(cast(numbers, DType::i32) - 77, DType::f32) * scale;
  builder.output(maximum(x));
  const graph::Graph before = builder.take(), after = maxima_of_integers(before);
  verify(after);
  const std::vector<Argument> arguments{drawn(type, {1, 2, 7, 8})};
  EXPECT_EQ(evaluate(after, arguments, Arithmetic::strict).front()->bytes,
            evaluate(before, arguments, Arithmetic::strict).front()->bytes)
      << print(after);
  for (const graph::Node& node : after.nodes())
    if (std::holds_alternative<graph::Reduce>(node.node)) return node.dtype;
  return DType::b8;
}

TEST(MaximaOfIntegers, HaveTheValuesOfReals) {
  for (const DType type : {DType::u8, DType::i8}) {
    EXPECT_EQ(type_of_maximum(type, 0.37, [](const Tensor& x) { return amax(x, {2, 3}); }), type);
    EXPECT_EQ(type_of_maximum(type, 0.37,
                              [](const Tensor& x) {
                                return max_pool(x, {"max_pool", {{3, 2, 1, 1}, {2, 3, 1, 2}}});
                              }),
              type);
  }
}

TEST(MaximaOfIntegers, NotWhereScalesTurnThem) {
  EXPECT_EQ(type_of_maximum(DType::u8, -0.37, [](const Tensor& x) { return amax(x, {2, 3}); }), DType::f32);
  EXPECT_EQ(type_of_maximum(DType::u8, 0, [](const Tensor& x) { return amax(x, {2, 3}); }), DType::f32);
}

TEST(MaximaOfIntegers, NotWhereOneIsOfNothing) {
  constexpr double NOTHING = -std::numeric_limits<double>::infinity();
  const auto padded = [](const std::vector<graph::Padding>& padding, double fill) {
    return type_of_maximum(DType::u8, 0.37,
                           [&](const Tensor& x) { return amax(pad(x, padding, fill), {3}); });
  };
  EXPECT_EQ(padded({{}, {}, {}, {1, 2}}, NOTHING), DType::u8);
  EXPECT_EQ(padded({{}, {}, {1, 0}, {}}, NOTHING), DType::f32);  // a row
  EXPECT_EQ(padded({{}, {}, {}, {1, 2}}, 0), DType::f32);        // which may be above all others
}

}  // namespace
}  // namespace twinloom::evaluate
