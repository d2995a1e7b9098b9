// The numbers that inputs are drawn from.
#include <gtest/gtest.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <vector>

#include "core/ops/convert.h"
#include "tools/twinloom/draw.h"

namespace twinloom::tests {
namespace {

using ops::DType;

std::vector<double> drawn(DType dtype, const std::string& specification, std::int64_t count,
                          std::uint64_t seed = 3) {
  const runtime::Tensor tensor = tool::draw(dtype, {count}, *tool::parse_specification(specification), seed);
  std::vector<double> numbers(static_cast<std::size_t>(count));
  ops::convert(dtype, DType::f64, tensor.data, numbers.data(), count);
  return numbers;
}

double share_below(const std::vector<double>& numbers, double limit) {
  const auto below = std::ranges::count_if(numbers, [&](double x) { return x < limit; });
  return static_cast<double>(below) / static_cast<double>(numbers.size());
}

// Within four standard deviations of what so many numbers would show.
TEST(Draw, NormalNumbersHaveTheirQuantiles) {
  constexpr std::int64_t COUNT = 1'000'000;
  for (const DType dtype : {DType::f32, DType::f64}) {
    const std::vector<double> numbers = drawn(dtype, "normal", COUNT);
    double sum = 0, squares = 0;
    for (const double x : numbers) {
      sum += x;
      squares += x * x;
    }
    EXPECT_NEAR(sum / COUNT, 0, 4e-3);
    EXPECT_NEAR(squares / COUNT, 1, 6e-3);
    for (const double limit : {-4.0, -3.2, -2.0, -0.5, 0.0, 0.1, 1.0, 2.5, 3.3, 4.0}) {
      const double expected = std::erfc(-limit / std::sqrt(2.0)) / 2;
      EXPECT_NEAR(share_below(numbers, limit), expected,
                  4 * std::sqrt(expected * (1 - expected) / COUNT) + 1e-7)
          << "below " << limit;
    }
  }
}

TEST(Draw, NumbersOfARangeStayInItAndFillIt) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::vector<double> numbers = drawn(dtype, "uniform", 200'000);
    EXPECT_GE(*std::ranges::min_element(numbers), 0) << ops::name(dtype);
    EXPECT_LT(*std::ranges::max_element(numbers), 1) << ops::name(dtype);
    EXPECT_NEAR(share_below(numbers, 0.25), 0.25, 6e-3) << ops::name(dtype);
  }
  for (const DType dtype : {DType::i8, DType::i32, DType::i64}) {
    std::map<double, int> counts;
    for (const double x : drawn(dtype, "-2..3", 60'000)) ++counts[x];
    EXPECT_EQ(counts.size(), 6U) << ops::name(dtype);
    for (const auto& [x, count] : counts) EXPECT_NEAR(count, 10'000, 400) << x;
  }
}

TEST(Draw, AConstantIsEverywhere) {
  for (const char* specification : {"zeros", "ones", "2.5"}) {
    const std::vector<double> numbers = drawn(DType::f32, specification, 10'000);
    EXPECT_TRUE(std::ranges::all_of(numbers, [&](double x) { return x == numbers.front(); }))
        << specification;
  }
  EXPECT_EQ(drawn(DType::f32, "2.5", 1).front(), 2.5);
  EXPECT_EQ(drawn(DType::i64, "7", 1).front(), 7);
}

TEST(Draw, ASeedGivesTheSameNumbersWhateverTheThreads) {
  constexpr std::int64_t COUNT = 100'003;
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    const std::vector<double> many = drawn(dtype, "normal", COUNT);
    const tbb::global_control one(tbb::global_control::max_allowed_parallelism, 1);
    EXPECT_EQ(drawn(dtype, "normal", COUNT), many);
    EXPECT_NE(drawn(dtype, "normal", COUNT, 4), many);
    const std::vector<double> fewer = drawn(dtype, "normal", COUNT / 2);
    EXPECT_TRUE(std::ranges::equal(fewer, std::span(many).first(fewer.size())));
  }
}

}  // namespace
}  // namespace twinloom::tests
