// What the makers promise: canonical forms, order, text, folding and its limits; and solve().
#include "core/index/expr.h"

#include <gtest/gtest.h>

#include "core/index/divisors.h"
#include "core/index/solve.h"
#include "tests/support/thrown.h"

namespace twinloom::index {
namespace {

void expect_made(std::string_view text, std::string_view printed) {
  EXPECT_EQ(print(parse(text)), printed) << text;
  EXPECT_EQ(parse(printed), parse(text)) << text;
}

TEST(Expr, SumsAreFlatSortedAndFolded) {
  expect_made("1 + (i + 2) + (i - 3)", "2*i");
  expect_made("n + i - n + 0*k", "i");
  expect_made("i + 4*j - i - 4*j", "0");
  expect_made("-i - 2*j", "-i - 2*j");
  expect_made("2 - -3*i - (-j)", "3*i + j + 2");
  expect_made("i -3", "i - 3");
}

TEST(Expr, ProductsAreDistributed) {
  EXPECT_EQ(parse("i*n + n"), parse("(i + 1)*n"));
  expect_made("(i + 2)*(j - 3)", "i*j - 3*i + 2*j - 6");
  expect_made("(m*n)*(n*k)*2", "2*k*m*n*n");
  expect_made("(a - b)*(a + b)", "a*a - b*b");
}

TEST(Expr, WhatIsTrueForAllIntegersIsFolded) {
  expect_made("floor_div(4*i + 8, 4)", "i + 2");
  expect_made("floor_div(5*i + j + 9, 4)", "i + floor_div(i + j + 1, 4) + 2");
  expect_made("floor_mod(5*i + r + 9, 4)", "floor_mod(i + r + 1, 4)");
  expect_made("floor_div(floor_div(x, 4) + 1, 2)", "floor_div(x + 4, 8)");
  expect_made("floor_div(floor_div(x, n), m)", "floor_div(x, m*n)");
  expect_made("floor_div(6*i + 3, 4)", "i + floor_div(i + 1, 2)");
  expect_made("floor_mod(6*i + 3, 4)", "2*floor_mod(i + 1, 2) + 1");
  expect_made("floor_div(floor_mod(x, 8), 4)", "floor_mod(floor_div(x, 4), 2)");
  expect_made("floor_mod(floor_mod(x, 8), 4)", "floor_mod(x, 4)");
  expect_made("floor_mod(floor_mod(x, 4), 8)", "floor_mod(x, 4)");
  expect_made("floor_div(i*n + k + 2*n, n)", "i + floor_div(k, n) + 2");
  expect_made("floor_mod(i*n + k + 2*n, n)", "floor_mod(k, n)");
  expect_made("floor_div(x, 1) + floor_mod(x, 1) + floor_div(0, n) + floor_mod(n, n)", "x");
  expect_made("floor_div(-7, 2)", "-4");
  expect_made("floor_mod(-7, 4)", "1");
  expect_made("ceil_div(7, 2)", "4");
  expect_made("ceil_div(n, 4)", "-floor_div(-n, 4)");
}

TEST(Expr, LeastAndGreatestAreFlatAndInOrder) {
  EXPECT_EQ(parse("least(c, least(b, a))"), parse("least(least(a, c), b)"));
  expect_made("least(n + 3, least(m, n))", "least(m, n)");
  expect_made("greatest(3, greatest(x, 7))", "greatest(7, x)");
  expect_made("greatest(x, x)", "x");
  expect_made("least(4, 3)", "3");
}

TEST(Expr, NumbersThatLeave64BitsAreErrors) {
  expect_made("i + -9223372036854775808", "i + -9223372036854775808");
  expect_made("-9223372036854775808*i", "-9223372036854775808*i");
  expect_made("i - 9223372036854775807*j", "i - 9223372036854775807*j");
  EXPECT_EQ(tests::words_of<Error>([] { parse("9223372036854775807 + 1"); }),
            "index expression: a constant in the sum does not fit 64 bits");
  EXPECT_EQ(tests::words_of<Error>([] { parse("-(i - 9223372036854775807 - 1)"); }),
            "index expression: a constant in the difference does not fit 64 bits");
  std::string many = "a0 + 1", powers = "i";
  for (int k = 1; k < 14; ++k) many = cat("(", many, ")*(a", k, " + 1)");
  for (int k = 0; k < 300; ++k) powers += "*i";
  EXPECT_EQ(tests::words_of<Error>([&] { parse(many); }),
            "index expression: a product has more than 4096 terms");
  EXPECT_EQ(tests::words_of<Error>([&] { parse(powers); }),
            "index expression: a product has more than 256 factors");
  EXPECT_EQ(tests::words_of<Error>([] { parse("4294967296*i*4294967296*j"); }),
            "index expression: a constant in the product does not fit 64 bits");
  EXPECT_EQ(tests::words_of<Error>([] {
              evaluate(parse("i*i"), {{Symbol("i"), std::int64_t{1} << 40}});
            }),
            "index expression i*i: its value does not fit 64 bits");
}

TEST(Expr, ADivisorIsPositive) {
  EXPECT_EQ(tests::words_of<Error>([] { floor_div(Expr(Symbol("i")), Expr(0)); }),
            "index expression: a divisor is 0");
  EXPECT_EQ(tests::words_of<Error>([] { floor_mod(Expr(Symbol("i")), Expr(-2)); }),
            "index expression: a divisor is -2");
  EXPECT_EQ(tests::words_of<Error>([] {
              evaluate(parse("floor_div(i, n)"), {{Symbol("i"), 1}, {Symbol("n"), 0}});
            }),
            "index expression: the divisor n is 0");
  EXPECT_THROW(evaluate(parse("i"), {}), Bug);
  EXPECT_EQ(tests::words_of<Error>([] { parse("floor_div(i, 0)"); }),
            "index expression line 1 column 15: expected a positive divisor before this place instead of 0, "
            "found ')'");
}

TEST(Expr, SymbolsAreShortNames) {
  EXPECT_EQ(Symbol("i.0").name(), "i.0");
  EXPECT_EQ(Symbol("i"), Symbol(std::string("i")));
  EXPECT_EQ(Symbol("abcdefghijklmnopqrstuvw").name().size(), 23u);
  EXPECT_THROW(Symbol("abcdefghijklmnopqrstuvwx"), Error);
  EXPECT_THROW(Symbol(""), Error);
  EXPECT_THROW(Symbol("3d"), Error);
  EXPECT_THROW(Symbol("a b"), Error);
  EXPECT_EQ(tests::words_of<Error>([] { Symbol("least"); }),
            "symbol 'least': expected 1 to 23 characters [A-Za-z_][A-Za-z0-9_.]* that are not the name of a "
            "function of index expressions");
}

TEST(Expr, BadTextIsAnErrorWithItsPlace) {
  EXPECT_EQ(tests::words_of<Error>([] { parse("4*i +"); }),
            "index expression line 1 column 6: expected an index expression, found the end of the text");
  EXPECT_EQ(tests::words_of<Error>([] { parse("i j"); }),
            "index expression line 1 column 3: expected the end of the text, found 'j'");
  const std::string deep = std::string(100000, '(') + "i";
  EXPECT_EQ(tests::words_of<Error>([&] { parse(deep); }),
            "index expression line 1 column 201: expected an expression of at most 200 levels, found "
            "'(((((((((((((((((((((((('");
  EXPECT_EQ(parse(std::string(100000, '-') + "i"), parse("i"));
  EXPECT_EQ(tests::words_of<Error>([] { parse_condition("i < n &&"); }),
            "condition line 1 column 9: expected an index expression, found the end of the text");
}

TEST(Expr, ConditionsPrintAndParse) {
  const Condition condition = parse_condition("i < n && 0 < i + 1");
  EXPECT_EQ(print(condition), "i < n && 0 < i + 1");
  EXPECT_EQ(parse_condition("true"), Condition{});
  EXPECT_EQ(print(Condition{}), "true");
  EXPECT_EQ(condition && parse_condition("0 < 1 + i && i < m"),
            parse_condition("i < n && 0 < i + 1 && i < m"));
  EXPECT_TRUE(evaluate(condition, {{Symbol("i"), 0}, {Symbol("n"), 1}}));
  EXPECT_FALSE(evaluate(condition, {{Symbol("i"), 0}, {Symbol("n"), 0}}));
}

TEST(Expr, OrderIsTotal) {
  std::vector<Expr> ordered;
  for (const char* text : {"0", "7", "m + 1", "m*n", "m", "n", "floor_div(m, 2)", "floor_mod(m, 2)",
                           "least(m, n)", "greatest(m, n)"}) {
    ordered.push_back(parse(text));
  }
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    for (std::size_t j = 0; j < ordered.size(); ++j) {
      EXPECT_EQ(comes_before(ordered[i], ordered[j]), i < j)
          << print(ordered[i]) << " and " << print(ordered[j]);
    }
  }
}

TEST(Expr, PartsAndSubstitution) {
  const Expr expr = parse("3*n*i + 2*i + n + floor_div(k, 4)");
  EXPECT_EQ(symbols_of(expr), (std::set{Symbol("i"), Symbol("k"), Symbol("n")}));
  EXPECT_EQ(print(substitute(expr, {{Symbol("k"), parse("8*i + 1")}, {Symbol("n"), Expr(1)}})), "7*i + 1");
  EXPECT_EQ(substitute(parse("i + j"), {{Symbol("i"), parse("j")}, {Symbol("j"), parse("i")}}),
            parse("i + j"));
  const auto linear = linear_in(expr, Symbol("i"));
  ASSERT_TRUE(linear);
  EXPECT_EQ(print(linear->scale), "3*n + 2");
  EXPECT_EQ(print(linear->rest), "n + floor_div(k, 4)");
  EXPECT_EQ(print(linear_in(expr, Symbol("z"))->scale), "0");
  EXPECT_FALSE(linear_in(expr, Symbol("k")));
  EXPECT_FALSE(linear_in(parse("i*i"), Symbol("i")));
  EXPECT_FALSE(linear_in(parse("i*floor_mod(i, 2)"), Symbol("i")));
}

TEST(Expr, ConstantScales) {
  for (const auto& [text, scale] :
       std::vector<std::pair<std::string, std::optional<std::int64_t>>>{{"i", 1},
                                                                        {"n", 0},
                                                                        {"7", 0},
                                                                        {"n - 3*i + 2", -3},
                                                                        {"3*n*i + 2*i", {}},
                                                                        {"n*i", {}},
                                                                        {"i*i", {}},
                                                                        {"2*i + floor_div(i, 4)", {}},
                                                                        {"2*i + floor_div(n, 4)", 2}}) {
    EXPECT_EQ(constant_scale_in(parse(text), Symbol("i")), scale) << text;
    const auto linear = linear_in(parse(text), Symbol("i"));
    EXPECT_EQ(linear ? constant_of(linear->scale) : std::nullopt, scale) << text;
  }
}

// By all characters of their names, of which one number holds eight.
TEST(Expr, SymbolsStandInTheOrderOfTheirTexts) {
  const std::vector<std::string> names = {"A",
                                          "B9",
                                          "_",
                                          "a",
                                          "a.0",
                                          "a0",
                                          "abcdefgh",
                                          "abcdefgh.1",
                                          "abcdefghi",
                                          "abcdefghijklmnopqrstuv",
                                          "abcdefghijklmnopqrstuvw",
                                          "b"};
  for (const std::string& a : names)
    for (const std::string& b : names) {
      EXPECT_EQ(Symbol(a) <=> Symbol(b), a <=> b) << a << " " << b;
      EXPECT_EQ(Symbol(a) == Symbol(b), a == b) << a << " " << b;
    }
}

TEST(Expr, ProductsAndStridesOfSizes) {
  const std::vector<Expr> sizes{parse("n"), Expr(3), parse("m")};
  EXPECT_EQ(product(sizes), parse("3*n*m"));
  EXPECT_EQ(product({}), Expr(1));
  const std::vector<Expr> strides{parse("3*m"), parse("m"), Expr(1)};
  EXPECT_EQ(contiguous_strides(sizes), strides);
  EXPECT_TRUE(contiguous_strides({}).empty());
}

TEST(Solve, LinearInTheSymbol) {
  const Values known{{Symbol("m"), 5}};
  EXPECT_EQ(solve(parse("3*n + 2"), 14, Symbol("n"), known), 4);
  EXPECT_EQ(solve(parse("3*n + 2"), 15, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("m*m - 2*n"), 1, Symbol("n"), known), 12);
  EXPECT_EQ(solve(parse("n + k"), 1, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("m*n"), 10, Symbol("n"), known), 2);
  EXPECT_EQ(solve(parse("m*n"), 11, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("k*n"), 10, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("m*n - 5*n"), 10, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("n + floor_div(7, m - 5)"), 10, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("floor_div(n, 2)"), 10, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("m + 1"), 6, Symbol("n"), known), std::nullopt);
  EXPECT_EQ(solve(parse("n - 9223372036854775807"), 9, Symbol("n"), known), std::nullopt);
}

TEST(Divisors, AreZeroAsFarAsTheValuesTell) {
  const auto divides = [](std::string_view text, const Values& values) {
    return divides_by_zero(parse(text), values);
  };
  const Symbol n("n"), m("m");
  EXPECT_TRUE(divides("i + 3*floor_div(i, n)", {{n, 0}}));
  EXPECT_TRUE(divides("m*floor_mod(i, n - least(2, n))", {{n, 2}}));
  EXPECT_TRUE(divides("greatest(0, floor_div(floor_mod(i, n), m))", {{n, 0}}));
  EXPECT_FALSE(divides("floor_div(i, n - least(2, n))", {{n, 3}}));
  EXPECT_FALSE(divides("floor_div(i, n)", {{m, 0}}));
  EXPECT_FALSE(divides("i*n", {{n, 0}}));
  EXPECT_TRUE(divides_by_zero(Condition{{{Symbol("i"), parse("floor_div(7, n)")}}}, {{n, 0}}));
  EXPECT_FALSE(divides_by_zero(Condition{{{Symbol("i"), parse("floor_div(7, n)")}}}, {{n, 1}}));
}

}  // namespace
}  // namespace twinloom::index
