// Walks the table of rules: each row's own example, and that no other row is needed for it. Then
// what several rules do together, for the index maps that reshapes, splits and merges make.
#include "core/index/simplify.h"

#include <gtest/gtest.h>

#include "tests/index/support.h"

namespace twinloom::index {
namespace {

using testing::parse_example;

void expect_simplified(std::string_view text, std::string_view expected) {
  const auto example = parse_example(text);
  const Expr result = simplify(example.expr, example.facts);
  EXPECT_EQ(print(result), print(parse(expected))) << text;
  EXPECT_EQ(simplify(result, example.facts), result) << "simplified again: " << text;
}

TEST(Simplify, EachRowTurnsItsExampleIntoItsResult) {
  for (const Rule& rule : rules()) {
    const auto example = parse_example(rule.before);
    expect_simplified(rule.before, rule.after);
    EXPECT_NE(example.expr, parse(rule.after)) << rule.name << ": the makers do this already";
  }
}

// The rows that say something of the example or of one of its parts.
std::set<std::string_view> rows_that_fire(const Expr& expr, const Facts& facts) {
  std::set<std::string_view> names;
  for (const Rule& rule : rules()) {
    const auto result = rule.apply(expr, facts);
    if (result && *result != expr) names.insert(rule.name);
  }
  const auto merge = [&](const Expr& part) { names.merge(rows_that_fire(part, facts)); };
  const auto both = [&](const Expr& a, const Expr& b) {
    merge(a);
    merge(b);
  };
  if (const Sum* sum = std::get_if<Sum>(&expr.form().node)) {
    for (const Term& term : sum->terms) merge(term.factor);
  } else if (const Product* product = std::get_if<Product>(&expr.form().node)) {
    for (const Expr& factor : product->factors) merge(factor);
  } else if (const FloorDiv* div = std::get_if<FloorDiv>(&expr.form().node)) {
    both(div->dividend, div->divisor);
  } else if (const FloorMod* mod = std::get_if<FloorMod>(&expr.form().node)) {
    both(mod->dividend, mod->divisor);
  } else if (const Least* least = std::get_if<Least>(&expr.form().node)) {
    both(least->a, least->b);
  } else if (const Greatest* greatest = std::get_if<Greatest>(&expr.form().node)) {
    both(greatest->a, greatest->b);
  }
  return names;
}

TEST(Simplify, EachExampleNeedsItsOwnRowAndNoOther) {
  for (const Rule& rule : rules()) {
    const auto example = parse_example(rule.before);
    EXPECT_EQ(rows_that_fire(example.expr, example.facts), std::set<std::string_view>{rule.name})
        << rule.before;
  }
}

TEST(Simplify, EachExampleKeepsItsValue) {
  std::mt19937_64 random(1);
  for (const Rule& rule : rules()) {
    const auto example = parse_example(rule.before);
    const Expr after = parse(rule.after);
    for (int i = 0; i < 1000; ++i) {
      const auto values = testing::draw(example.facts, symbols_of(example.expr), random);
      ASSERT_TRUE(values) << rule.name;
      EXPECT_EQ(evaluate(example.expr, *values), evaluate(after, *values)) << rule.name;
    }
  }
}

TEST(Simplify, SplitAndMergeOfAnAxis) {
  expect_simplified("floor_div(4*i + j, 4) | j in 0..3", "i");
  expect_simplified("floor_mod(4*i + j, 4) | j in 0..3", "j");
  expect_simplified("floor_mod(i*n + j, n) | n in 1.., j < n", "j");
  expect_simplified("floor_div(i*n + j, n) | n in 1.., j < n", "i");
  expect_simplified("8*floor_div(i, 8) + floor_mod(i, 8)", "i");
  expect_simplified("floor_div(32*i + 8*j + k, 8) | k in 0..7, j in 0..3", "4*i + j");
  expect_simplified("floor_mod(floor_div(32*i + 8*j + k, 8), 4) | k in 0..7, j in 0..3", "j");
  expect_simplified("floor_mod(4*i + j, 8) | j in 0..3", "4*floor_mod(i, 2) + j");
  expect_simplified("floor_div(4*i + j, 8) | j in 0..3", "floor_div(i, 2)");
}

TEST(Simplify, ReshapeWithSymbolicSizes) {
  expect_simplified("floor_div(i*s27 + j, s77) | s27 in 1.., s77 in 1.., j < s27, s27 = s77", "i");
  expect_simplified("floor_mod(i*s27 + j, s77) | s27 in 1.., s77 in 1.., j < s27, s27 = s77", "j");
  expect_simplified("floor_div(i*n*m + j*n + k, n) | n in 1.., m in 1.., j < m, k < n", "i*m + j");
  expect_simplified("floor_div(i*n*m + j*n + k, n*m) | n in 1.., m in 1.., j < m, k < n", "i");
  expect_simplified("floor_mod(floor_div(i*n*m + j*n + k, n), m) | n in 1.., m in 1.., j < m, k < n", "j");
  expect_simplified("floor_mod(i*n*m + j*n + k, n*m) | n in 1.., m in 1.., j < m, k < n", "j*n + k");
  expect_simplified(
      "n*m*floor_div(i, n*m) + n*floor_mod(floor_div(i, n), m) + floor_mod(i, n) | n in 1.., m in 1..", "i");
  expect_simplified("floor_div(i*s2*s3 + j, s0*s1) | s0 in 1.., s1 in 1.., j < s0*s1, s0*s1 = s2*s3", "i");
}

TEST(Simplify, FlipsAndPads) {
  expect_simplified("floor_mod(15 - i, 16) | i in 0..15", "15 - i");
  expect_simplified("floor_div(-1 - i, 16) | i in 0..15", "-1");
  expect_simplified("floor_mod(n - 1 - i, n) | n in 1.., i < n", "n - 1 - i");
  expect_simplified("least(i + 3, n + 3) | i < n", "i + 3");
  expect_simplified("greatest(0, least(i, n - 1)) | n in 1.., i < n", "i");
}

TEST(Simplify, TurnsThatAreBegunAndWholeOnesOfAMultiple) {
  expect_simplified("-floor_div(-n, 8) | n % 8", "floor_div(n, 8)");
  expect_simplified("-floor_div(-n, 8) - floor_div(n, 8) | n % 8", "0");
  expect_simplified("-floor_div(32*k - n, 8) - floor_div(n - 32*k, 8) | n % 8", "0");
  expect_simplified("floor_div(-n, 8) | n % 4", "floor_div(-n, 8)");
  expect_simplified("-floor_div(-m*n, 8) | n % 8", "floor_div(m*n, 8)");
}

TEST(Simplify, EqualitiesThatDependOnEachOther) {
  expect_simplified("n + m + k | n = m + 1, m = k + 1", "3*k + 3");
  expect_simplified("a + b + c | a = b, b = c, c = a", "3*a");
  expect_simplified("n | n = m + 1, m = n - 1", "m + 1");
  expect_simplified("k*i | k = 4", "4*i");
}

TEST(Simplify, ConditionsDropWhatCannotDecideThem) {
  Facts facts;
  facts.assume(Symbol("j"), {0, 7});
  facts.assume(Symbol("k"), {0, 3});
  facts.assume(Symbol("l"), {0, 39});
  const std::pair<std::string_view, std::string_view> rows[] = {
      {"8*i + j < 512", "8*i < 512"},
      {"511 < 8*i + j", "504 < 8*i"},
      {"8*i + j < 508", "8*i + j < 508"},
      {"8*i + j < 8*n", "8*i < 8*n"},
      {"32*i + 8*k + j < 96", "32*i < 96"},
      {"32*i + 8*k + j < 88", "32*i + 8*k < 88"},
      {"8*i + m < 512", "8*i + m < 512"},
      {"j < 5", "j < 5"},
      {"8*i + floor_div(l, 5) < 16", "8*i < 16"},
      {"15 < 8*i + floor_mod(m, 5)", "8 < 8*i"},
      {"8*i + floor_div(l, 4) < 16", "8*i + floor_div(l, 4) < 16"},
      {"8*i + floor_mod(m, 9) < 16", "8*i + floor_mod(m, 9) < 16"},
  };
  for (const auto& [before, after] : rows)
    EXPECT_EQ(print(simplify(parse_condition(before), facts)), after) << before;
}

TEST(Simplify, ConditionsDropWhatIsProven) {
  Facts facts;
  facts.assume(Symbol("n"), {1, std::nullopt});
  facts.assume_below(Symbol("i"), parse("n"));
  facts.assume(Symbol("k"), {0, 7});
  EXPECT_EQ(print(simplify(parse_condition("i < n && k < n && -1 < i && k < 8"), facts)), "k < n");
  EXPECT_EQ(print(simplify(parse_condition("i < n"), facts)), "true");
  EXPECT_EQ(print(simplify(parse_condition("k < n && n < i"), facts)), "0 < 0");
}

}  // namespace
}  // namespace twinloom::index
