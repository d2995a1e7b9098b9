// Ranges, divisors and proofs.
#include "core/index/facts.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/index/support.h"

namespace twinloom::index {
namespace {

using testing::parse_example;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();

Range range_of(std::string_view text) {
  const auto example = parse_example(text);
  return example.facts.range(example.expr);
}

TEST(Facts, RangesFollowTheArithmetic) {
  const std::optional<std::int64_t> unknown;
  EXPECT_EQ(range_of("2*i - j + 1 | i in 0..3, j in -1..4"), (Range{-3, 8}));
  EXPECT_EQ(range_of("i*n | i in 0..3, n in 1.."), (Range{0, unknown}));
  EXPECT_EQ(range_of("i*j | i in -2..3, j in -5..7"), (Range{-15, 21}));
  EXPECT_EQ(range_of("i*n | i in -3..-1, n in 2.."), (Range{unknown, -2}));
  EXPECT_EQ(range_of("floor_div(i, 4) | i in -5..9"), (Range{-2, 2}));
  EXPECT_EQ(range_of("floor_div(i, n) | i in 8..9, n in 1..4"), (Range{2, 9}));
  EXPECT_EQ(range_of("floor_mod(i, 4)"), (Range{0, 3}));
  EXPECT_EQ(range_of("floor_mod(i, 8) | i % 4"), (Range{0, 4}));
  EXPECT_EQ(range_of("floor_mod(i, 8) | i in 9..12"), (Range{1, 4}));
  EXPECT_EQ(range_of("least(i, n) | i in 0..3"), (Range{unknown, 3}));
  EXPECT_EQ(range_of("greatest(i, n) | i in 0..3"), (Range{0, unknown}));
  EXPECT_EQ(range_of("i | i < n, n in 1..10"), (Range{0, 9}));
}

TEST(Facts, ABoundThatLeaves64BitsIsUnknown) {
  Facts facts;
  facts.assume(Symbol("i"), {0, largest});
  EXPECT_EQ(facts.range(parse("2*i + 1")), (Range{1, std::nullopt}));
  EXPECT_EQ(facts.range(parse("i*i")), (Range{0, std::nullopt}));
  EXPECT_EQ(facts.range(parse("-2*i")), (Range{std::nullopt, 0}));
}

TEST(Facts, Divisors) {
  const auto divisor = [](std::string_view text) {
    const auto example = parse_example(text);
    return example.facts.divisor(example.expr);
  };
  EXPECT_EQ(divisor("6*i + 4*j | i % 2"), 4);
  EXPECT_EQ(divisor("i*n | i % 4, n % 6"), 24);
  EXPECT_EQ(divisor("floor_div(i, 4) | i % 12"), 3);
  EXPECT_EQ(divisor("floor_mod(i, n) | i % 12, n % 8"), 4);
  EXPECT_EQ(divisor("least(i, 8) | i % 12"), 4);
  EXPECT_EQ(divisor("0"), 0);
  EXPECT_EQ(divisor("-12"), 12);
  EXPECT_EQ(divisor("i | i % 4, i % 6"), 12);
}

bool proven(std::string_view less, std::string_view facts) {
  const std::string text = cat("0 | ", facts);
  const auto condition = parse_condition(less);
  return parse_example(text).facts.proves(condition);
}

TEST(Facts, ProvesWithSymbolicExtents) {
  EXPECT_TRUE(proven("i < n", "i < n"));
  EXPECT_TRUE(proven("i*m + k < n*m", "i < n, k < m, n in 0.., m in 0.."));
  EXPECT_TRUE(proven("i*m*l + k*l + j < n*m*l", "i < n, k < m, j < l, n in 1.., m in 1.., l in 1.."));
  EXPECT_TRUE(proven("8*j0 + j1 < n", "j0 < floor_div(n, 8), j1 in 0..7, n in 0.."));
  EXPECT_TRUE(proven("8*j0 + j1 < n + 7", "j0 < floor_div(n + 7, 8), j1 in 0..7, n in 0.."));
  EXPECT_TRUE(proven("floor_div(i, 8) < floor_div(n + 7, 8)", "i < n, n in 1.."));
  EXPECT_TRUE(proven("floor_mod(i, n) < n", "n in 1.."));
  EXPECT_TRUE(proven("m < n*m + 1", "n in 1.., m in 0.."));
  EXPECT_TRUE(proven("least(i, n - 1) < n", "n in 1.."));
  EXPECT_TRUE(proven("least(4, n) < least(8, n) + 1", "n in 0.."));
  EXPECT_TRUE(proven("greatest(4, n) < greatest(8, n) + 1", "n in 0.."));
  EXPECT_TRUE(proven("n - 1 - i < n", "i < n"));
  EXPECT_TRUE(proven("-1 < n - 1 - i", "i < n"));
  EXPECT_TRUE(proven("i < s77", "i < s27, s27 = s77"));
  EXPECT_TRUE(proven("floor_div(n, 16) < floor_div(n, 8)", "n in 16.., n % 16"));
  EXPECT_TRUE(proven("1024*i + 1023 < n", "i < floor_div(n, 1024), n in 1.., n % 1024"));
  EXPECT_TRUE(proven("floor_div(i, m) < n", "i < n*m, n in 1.., m in 1.."));
}

TEST(Facts, DoesNotProveWhatIsFalseSomewhere) {
  EXPECT_FALSE(proven("i < n - 1", "i < n"));
  EXPECT_FALSE(proven("i*m + k < n*m", "i < n, k in 0..3, n in 0.., m in 0.."));
  EXPECT_FALSE(proven("8*j0 + j1 < n", "j0 < floor_div(n + 7, 8), j1 in 0..7, n in 0.."));
  EXPECT_FALSE(proven("floor_div(n, 16) < floor_div(n, 8)", "n in 0.., n % 16"));
  EXPECT_FALSE(proven("i < 9223372036854775807", "n in 0.."));
  EXPECT_FALSE(proven("m < n*m", "n in 1.., m in 0.."));
  EXPECT_FALSE(proven("least(4, n) < least(8, n)", "n in 0.."));
}

TEST(Facts, ProvesEqual) {
  const auto example = parse_example("0 | n = m, k < n");
  EXPECT_TRUE(example.facts.proves_equal(parse("2*n + k"), parse("2*m + floor_mod(k, n)")));
  EXPECT_FALSE(example.facts.proves_equal(parse("n"), parse("k")));
  EXPECT_TRUE(parse_example("0 | 4 = 4*m").facts.proves_equal(parse("m*n"), parse("n")));
}

TEST(Facts, WhatNeverDividesHasARange) {
  Facts facts;
  facts.assume(Symbol("n"), {0, std::nullopt});
  facts.assume(Symbol("i"), {5, 9});
  for (const char* text : {"floor_div(i, -n)", "floor_mod(i, -n)", "floor_div(i, floor_div(-n, 3))"})
    EXPECT_NO_THROW(facts.range(parse(text))) << text;
}

TEST(Facts, ADivisorBelowOneIsABug) { EXPECT_THROW(Facts().assume(Symbol("i"), {}, 0), Bug); }

}  // namespace
}  // namespace twinloom::index
