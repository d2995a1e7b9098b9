// Values of variances in parts, beside those of f64.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "core/graph/passes.h"
#include "core/graph/reductions.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::evaluate {
namespace {

using graph::Axes;
using graph::Builder;
using graph::Tensor;
using ops::DType;
using Reals = std::vector<double>;

constexpr std::int64_t ROW = 264000;  // elements, in parts of 1000

Reals row_of(const std::function<double(std::int64_t)>& element, DType dtype, std::int64_t count = ROW) {
  Reals numbers;
  for (std::int64_t k = 0; k < count; ++k) numbers.push_back(element(k));
  return numbers_in(array(dtype, {count}, numbers));
}

struct Exact {
  double mean, variance, largest;
};
Exact exact_of(const Reals& numbers, double correction) {
  long double sum = 0, squares = 0;
  double largest = 0;
  for (const double number : numbers) sum += number, largest = std::max(largest, std::abs(number));
  const auto count = static_cast<long double>(numbers.size());
  for (const double number : numbers) squares += (number - sum / count) * (number - sum / count);
  return {static_cast<double>(sum / count), static_cast<double>(squares / (count - correction)), largest};
}

// Variance, mean and deviation of a row.
std::vector<Reals> moments_of(const Reals& numbers, DType dtype, double correction = 0, bool keep = false) {
  Builder builder;
  const auto count = static_cast<std::int64_t>(numbers.size());
  const Tensor x = builder.input("x", dtype, {count});
  const auto [variance, mean] = var_mean(x, {0}, correction, keep);
  builder.output(variance);
  builder.output(mean);
  builder.output(standard_deviation(x, {0}, correction, keep));
  const graph::Graph before = builder.take(), after = graph::fused_meaning(before);
  EXPECT_GT(after.nodes().size(), graph::drop_implicit_rounding(before).nodes().size()) << "is not in parts";
  std::vector<Reals> found;
  for (const auto& result :
       evaluate(after, std::vector<Argument>{array(dtype, {count}, numbers)}, Arithmetic::strict))
    found.push_back(numbers_in(*result));
  return found;
}

// The bound of a variance of two passes (docs/numerics.md), and half a step of the result's type.
void expect_within_bounds(const Reals& numbers, DType dtype, double correction = 0) {
  const Exact exact = exact_of(numbers, correction);
  const auto found = moments_of(numbers, dtype, correction);
  const double unit = dtype == DType::f64 ? 0x1p-53 : 0x1p-24;
  const double step = dtype == DType::bf16 ? 0x1p-8 : dtype == DType::f16 ? 0x1p-11 : 0;
  const double bound =
      16 * unit * exact.variance + std::pow(8 * unit * exact.largest, 2) + step * exact.variance;
  EXPECT_NEAR(found[0][0], exact.variance, bound);
  EXPECT_NEAR(found[1][0], exact.mean, 8 * unit * exact.largest + step * std::abs(exact.mean));
}

TEST(VarianceInParts, IsWithinTheBoundOfTwoPasses) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const DType dtype : {DType::f32, DType::f64, DType::f16, DType::bf16}) {
    expect_within_bounds(row_of([&](std::int64_t) { return normal(random); }, dtype), dtype);
    expect_within_bounds(row_of([&](std::int64_t) { return 3 + normal(random); }, dtype), dtype, 1);
  }
  // A mean that is much larger than what lies around it.
  expect_within_bounds(row_of([&](std::int64_t) { return 1e4 + 1e-2 * normal(random); }, DType::f32),
                       DType::f32);
  // Parts that are apart: what the rounding of their means leaves must be in the result.
  for (const double far : {10, 100, 1000, 10000})
    expect_within_bounds(
        row_of([&](std::int64_t k) { return far + std::sin(double(k / 1000)) + 1e-3 * normal(random); },
               DType::f32),
        DType::f32);
}

// Roundings of what is 0 make no root of a negative number.
TEST(VarianceInParts, OfEqualElementsIsNotNegative) {
  for (const double number : {0.1, 1.0 / 3, 1e4 / 7, 1e-20, 0.0, -0.7}) {
    const auto found = moments_of(row_of([&](std::int64_t) { return number; }, DType::f32), DType::f32);
    EXPECT_GE(found[0][0], 0) << number;
    EXPECT_LE(found[0][0], std::pow(8 * 0x1p-24 * number, 2)) << number;
    EXPECT_GE(found[2][0], 0) << number;
  }
}

TEST(VarianceInParts, InfinitiesAndNaNsGoThrough) {
  for (const double special : {double(INFINITY), -double(INFINITY), double(NAN), 3e38}) {
    const auto found = moments_of(
        row_of([&](std::int64_t k) { return k == 170000 ? special : 1.0; }, DType::f32), DType::f32);
    EXPECT_EQ(std::isinf(found[1][0]), std::isinf(special)) << special;
    EXPECT_EQ(std::isnan(found[1][0]), std::isnan(special)) << special;
    // (3e38)^2 is infinite, and so is a variance of two passes.
    EXPECT_EQ(std::isnan(found[0][0]), special != 3e38) << special;
    EXPECT_FALSE(std::isfinite(found[0][0])) << special;
  }
}

TEST(VarianceInParts, CorrectionsAndKeptAxes) {
  const Reals numbers = row_of([](std::int64_t k) { return std::cos(double(k)); }, DType::f32);
  for (const double correction : {0.0, 1.0, 2.5}) expect_within_bounds(numbers, DType::f32, correction);
  EXPECT_EQ(moments_of(numbers, DType::f32, 1, true), moments_of(numbers, DType::f32, 1, false));
  EXPECT_EQ(moments_of(numbers, DType::f32, ROW)[0][0], INFINITY);
}

TEST(VarianceInParts, OfChannelsWithAnUnknownNumberOfImages) {
  Builder builder;
  const index::Symbol n("n");
  builder.size_parameter("n", n);
  const Tensor x = builder.input("x", DType::f32, {n, 16, 32, 32});
  const auto [variance, mean] = var_mean(x, {0, 2, 3}, 0, true);
  builder.output(variance);
  builder.output((x - mean) / sqrt(variance));
  const graph::Graph before = builder.take(), after = graph::fused_meaning(before);
  EXPECT_GT(after.nodes().size(), before.nodes().size());
  for (const std::int64_t images : {0, 1, 3}) {
    Reals numbers;
    for (std::int64_t k = 0; k < images * 16 * 1024; ++k) numbers.push_back(std::sin(double(k % 977)));
    const std::vector<Argument> arguments{images, array(DType::f32, {images, 16, 32, 32}, numbers)};
    const auto one = evaluate(before, arguments, Arithmetic::strict),
               parts = evaluate(after, arguments, Arithmetic::strict);
    for (std::size_t r = 0; r < 2; ++r) {
      const Reals want = numbers_in(*one[r]), got = numbers_in(*parts[r]);
      ASSERT_EQ(want.size(), got.size());
      for (std::size_t k = 0; k < want.size(); ++k)
        if (images == 0)
          EXPECT_TRUE(std::isnan(want[k]) && std::isnan(got[k]));
        else
          ASSERT_NEAR(got[k], want[k], 1e-6) << images << " " << k;
    }
  }
}

}  // namespace
}  // namespace twinloom::evaluate
