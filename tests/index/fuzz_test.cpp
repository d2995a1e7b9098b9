// Random expressions: the makers and simplify() keep every value, simplify() ends where it began when
// repeated, ranges and divisors hold, proofs are true, and text comes back as it was.
// TWINLOOM_SEED sets the seed.
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/integers.h"
#include "tests/index/random_expr.h"
#include "tests/index/support.h"

namespace twinloom::index {
namespace {

std::uint64_t seed() {
  const char* given = std::getenv("TWINLOOM_SEED");
  return given ? std::strtoull(given, nullptr, 10) : std::random_device()();
}

class Fuzz : public ::testing::Test {
 protected:
  Fuzz() : seed_(seed()), random_(seed_) { std::cout << "TWINLOOM_SEED=" << seed_ << "\n"; }
  const std::uint64_t seed_;
  std::mt19937_64 random_;
};

constexpr int expressions = 4000;

TEST_F(Fuzz, SimplifiedKeepsItsValue) {
  for (int i = 0; i < expressions; ++i) {
    const Facts facts = testing::random_facts(random_);
    const Expr expr = testing::random_expr(random_, 3);
    const Expr shorter = simplify(expr, facts);
    for (int k = 0; k < 10; ++k) {
      const auto values = testing::draw(facts, symbols_of(expr), random_);
      if (!values) break;
      ASSERT_EQ(evaluate(expr, *values), evaluate(shorter, *values))
          << print(expr) << " became " << print(shorter) << " | " << testing::facts_text(facts);
    }
  }
}

TEST_F(Fuzz, SimplifiedTwiceIsSimplifiedOnce) {
  for (int i = 0; i < expressions; ++i) {
    const Facts facts = testing::random_facts(random_);
    const Expr expr = testing::random_expr(random_, 3);
    const Expr once = simplify(expr, facts);
    ASSERT_EQ(simplify(once, facts), once) << print(expr) << " | " << testing::facts_text(facts);
  }
}

TEST_F(Fuzz, TextComesBackAsItWas) {
  for (int i = 0; i < expressions; ++i) {
    const Expr expr = testing::random_expr(random_, 4);
    ASSERT_EQ(parse(print(expr)), expr) << print(expr);
  }
}

TEST_F(Fuzz, RangesDivisorsAndProofsHold) {
  int proven = 0;
  for (int i = 0; i < expressions; ++i) {
    const Facts facts = testing::random_facts(random_);
    const Expr expr = testing::random_expr(random_, 2), other = testing::random_expr(random_, 2);
    const Range range = facts.range(expr);
    const std::int64_t divisor = facts.divisor(expr);
    const bool less = facts.proves_less(expr, other), equal = facts.proves_equal(expr, other);
    proven += less ? 1 : 0;
    std::set<Symbol> symbols = symbols_of(expr);
    symbols.merge(symbols_of(other));
    for (int k = 0; k < 10; ++k) {
      const auto values = testing::draw(facts, symbols, random_);
      if (!values) break;
      const std::int64_t value = evaluate(expr, *values);
      const std::string where = cat(expr, " and ", other, " | ", testing::facts_text(facts));
      ASSERT_FALSE(range.low && value < *range.low) << where;
      ASSERT_FALSE(range.high && value > *range.high) << where;
      ASSERT_TRUE(divisor == 0 ? value == 0 : value % divisor == 0) << where;
      ASSERT_TRUE(!less || value < evaluate(other, *values)) << where;
      ASSERT_TRUE(!equal || value == evaluate(other, *values)) << where;
    }
  }
  EXPECT_GT(proven, expressions / 100);
}

TEST_F(Fuzz, SimplifiedConditionsKeepTheirTruth) {
  for (int i = 0; i < expressions / 4; ++i) {
    const Facts facts = testing::random_facts(random_);
    Condition condition;
    for (int k = 0; k < 3; ++k) {
      condition.all.push_back({testing::random_expr(random_, 1), testing::random_expr(random_, 2)});
    }
    const Condition shorter = simplify(condition, facts);
    ASSERT_EQ(simplify(shorter, facts), shorter) << print(condition) << " | " << testing::facts_text(facts);
    for (int k = 0; k < 10; ++k) {
      const auto values = testing::draw(facts, symbols_of(condition), random_);
      if (!values) break;
      ASSERT_EQ(evaluate(condition, *values), evaluate(shorter, *values))
          << print(condition) << " became " << print(shorter) << " | " << testing::facts_text(facts);
    }
  }
}

// Substituting and then evaluating is evaluating with the substituted value.
TEST_F(Fuzz, SubstitutionKeepsTheMeaning) {
  for (int i = 0; i < expressions; ++i) {
    const Facts facts = testing::random_facts(random_);
    const Expr expr = testing::random_expr(random_, 3), inner = testing::random_expr(random_, 1);
    std::set<Symbol> symbols = symbols_of(expr);
    symbols.merge(symbols_of(inner));
    auto values = testing::draw(facts, symbols, random_);
    if (!values) continue;
    const std::int64_t result = evaluate(substitute(expr, {{Symbol("i"), inner}}), *values);
    (*values)[Symbol("i")] = evaluate(inner, *values);
    ASSERT_EQ(result, evaluate(expr, *values)) << print(expr) << " with i = " << print(inner);
  }
}

}  // namespace
}  // namespace twinloom::index
