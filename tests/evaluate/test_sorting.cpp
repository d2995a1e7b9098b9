// Sorts against the C++ library's: stable, NaN above all, zeros equal, in every type.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/base/error.h"
#include "core/graph/sorting.h"
#include "tests/evaluate/arrays.h"
#include "tests/support/thrown.h"

namespace twinloom::evaluate {
namespace {

using graph::Builder;
using graph::Direction;
using graph::Tensor;
using ops::DType;
using Reals = std::vector<double>;

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

Reals offsets_of(const Reals& x, Direction direction) {
  Reals order(x.size());
  std::iota(order.begin(), order.end(), 0.0);
  std::ranges::stable_sort(order, [&](double a, double b) {
    const double left = x[static_cast<std::size_t>(a)], right = x[static_cast<std::size_t>(b)];
    return direction == Direction::ascending ? less(left, right) : less(right, left);
  });
  return order;
}

// Few different numbers, so that many are equal.
Reals drawn(std::size_t count, DType dtype, std::mt19937& random) {
  Reals numbers(count);
  for (double& number : numbers) {
    number = static_cast<double>(random() % 20) - (kind(dtype) == ops::TypeKind::unsigned_int ? 0 : 10);
    if (ops::is_floating(dtype)) number = random() % 8 == 0 ? nan : random() % 8 == 0 ? -inf : number / 4;
    if (dtype == DType::b8) number = number > 0 ? 1 : 0;
  }
  return numbers;
}

// On both sides of every limit that a way of sorting has.
TEST(Sorting, IsStableInEveryType) {
  std::mt19937 random(3);
  for (const DType dtype : ops::all_dtypes()) {
    if (!ops::is_floating(dtype) && !ops::is_integer(dtype) && dtype != DType::b8) continue;
    for (const std::int64_t size : {0, 1, 2, 8, 9, 32, 33, 64, 65, 128, 129, 256, 257, 511, 512, 5000}) {
      const Reals numbers = drawn(static_cast<std::size_t>(size), dtype, random);
      for (const Direction direction : {Direction::ascending, Direction::descending}) {
        Builder builder;
        const Tensor x = builder.input("x", dtype, {size});
        const Reals expected = offsets_of(numbers, direction);
        const Value given = array(dtype, {size}, numbers);
        for (const Arithmetic arithmetic : {Arithmetic::strict, Arithmetic::wide}) {
          EXPECT_EQ(numbers_in(value_of(argsort(x, 0, direction), {given}, arithmetic)), expected)
              << ops::name(dtype) << " " << size;
          const std::int64_t few = std::min<std::int64_t>(size, 11);
          EXPECT_EQ(numbers_in(value_of(top(x, few, 0, direction).offsets, {given}, arithmetic)),
                    Reals(expected.begin(), expected.begin() + few));
        }
      }
    }
  }
}

TEST(Sorting, EndsOfTypesAreInOrder) {
  Builder builder;
  const auto offsets = [&](DType dtype, const Reals& numbers) {
    const auto size = static_cast<std::int64_t>(numbers.size());
    Builder own;
    return numbers_in(value_of(argsort(own.input("x", dtype, {size}), 0), {array(dtype, {size}, numbers)}));
  };
  EXPECT_EQ(offsets(DType::f32, {nan, inf, 1e-45, 0.0, -0.0, -1e-45, -inf}), (Reals{6, 5, 3, 4, 2, 1, 0}));
  EXPECT_EQ(offsets(DType::f16, {nan, inf, 65504, 6e-8, -0.0, 0.0, -65504, -inf}),
            (Reals{7, 6, 4, 5, 3, 2, 1, 0}));
  EXPECT_EQ(offsets(DType::u64, {0x1p63, 0x1.8p63, 0, 1}), (Reals{2, 3, 0, 1}));
  EXPECT_EQ(offsets(DType::i64, {0x1p62, -0x1p63, 0, -1}), (Reals{1, 3, 2, 0}));
  EXPECT_EQ(offsets(DType::i8, {127, -128, 0, -1}), (Reals{1, 3, 2, 0}));
}

TEST(Sorting, MediansTakeTheLowerMiddleAndTheFirstNaN) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {4, 4});
  const Value given = array(DType::f32, {4, 4}, {4, 1, 3, 2, 1, nan, 0, nan, nan, nan, nan, nan, 7, 7, 5, 9});
  const graph::Extreme wins = graph::median(x, 1), ignored = graph::median(x, 1, true, graph::Nans::ignored);
  EXPECT_EQ(numbers_in(value_of(wins.place, {given})), (Reals{3, 1, 0, 0}));
  EXPECT_EQ(numbers_in(value_of(ignored.place, {given})), (Reals{3, 2, 0, 0}));
  EXPECT_EQ(value_of(ignored.value, {given}).sizes, (std::vector<std::int64_t>{4, 1}));
  EXPECT_EQ(numbers_in(value_of(graph::median(x, graph::Nans::ignored), {given})), (Reals{3}));
  EXPECT_TRUE(std::isnan(numbers_in(value_of(graph::median(x), {given}))[0]));
}

TEST(Sorting, WrongNumbersAreErrors) {
  Builder builder;
  const Tensor x = builder.input("x", DType::f32, {3, 4}), none = builder.input("none", DType::i32, {0});
  const auto error_of = [](const auto& build) { return tests::words_of<Error>(build); };
  EXPECT_EQ(error_of([&] { top(x, 5, 1); }),
            "topk: k is 5, of 4 elements along axis 1; it must be at least 0 and at most 4");
  EXPECT_EQ(error_of([&] { top(x, -1, 0); }),
            "topk: k is -1, of 3 elements along axis 0; it must be at least 0 and at most 3");
  EXPECT_EQ(error_of([&] { kth_value(x, 0, 1); }),
            "kthvalue: k is 0, of 4 elements along axis 1; it must be at least 1 and at most 4");
  EXPECT_EQ(error_of([&] { sort(x, 2); }), "sort: axis 2 is out of range for rank 2");
  EXPECT_EQ(error_of([&] { graph::median(none); }), "median: there are no elements along axis 0");
}

}  // namespace
}  // namespace twinloom::evaluate
