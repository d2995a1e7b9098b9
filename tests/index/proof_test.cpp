// Z3 proves that simplify() changes no value: for random expressions with negative numbers, nested
// divisions and symbolic sizes, "allowed by the facts and different" has no model. What Z3 cannot
// decide in its time is counted, and must stay the smaller part.
#include <gtest/gtest.h>
#include <z3++.h>

#include <cstdlib>
#include <ctime>
#include <iostream>

#include "core/base/match.h"
#include "tests/index/random_expr.h"
#include "tests/index/support.h"

namespace twinloom::index {
namespace {

// Says in Z3's words what an expression is. A division becomes a quotient and a remainder of their own,
// with dividend = quotient*divisor + remainder and 0 <= remainder < divisor: the definition of
// floor_div, with nothing left to Z3's idea of a division.
class Translation {
 public:
  explicit Translation(z3::context& context, z3::solver& solver) : context_(context), solver_(solver) {}

  z3::expr operator()(const Expr& expr) {
    return match(
        expr.form(),
        [&](const Symbol& symbol) { return context_.int_const(std::string(symbol.name()).c_str()); },
        [&](const Sum& sum) {
          z3::expr total = number(sum.offset);
          for (const Term& term : sum.terms) total = total + number(term.scale) * (*this)(term.factor);
          return total;
        },
        [&](const Product& product) {
          z3::expr total = number(1);
          for (const Expr& factor : product.factors) total = total * (*this)(factor);
          return total;
        },
        [&](const FloorDiv& div) { return divided(div.dividend, div.divisor).first; },
        [&](const FloorMod& mod) { return divided(mod.dividend, mod.divisor).second; },
        [&](const Least& least) {
          const z3::expr a = (*this)(least.a), b = (*this)(least.b);
          return z3::ite(a <= b, a, b);
        },
        [&](const Greatest& greatest) {
          const z3::expr a = (*this)(greatest.a), b = (*this)(greatest.b);
          return z3::ite(a <= b, b, a);
        });
  }

  void assume(const Facts& facts, const std::set<Symbol>& symbols) {
    for (const auto& [symbol, about] : facts.symbols()) {
      if (!symbols.contains(symbol)) continue;
      const z3::expr value = (*this)(Expr(symbol));
      if (about.range.low) solver_.add(value >= number(*about.range.low));
      if (about.range.high) solver_.add(value <= number(*about.range.high));
      if (about.divisor > 1) solver_.add(value == number(about.divisor) * fresh());
      for (const Expr& extent : about.below) solver_.add(value < (*this)(extent));
    }
    for (const auto& [kept, replaced] : facts.equalities()) solver_.add((*this)(kept) == (*this)(replaced));
  }

 private:
  z3::expr number(std::int64_t value) { return context_.int_val(value); }
  z3::expr fresh() { return context_.int_const(cat("fresh ", count_++).c_str()); }

  std::pair<z3::expr, z3::expr> divided(const Expr& dividend, const Expr& divisor) {
    const z3::expr over = (*this)(dividend), under = (*this)(divisor);
    const z3::expr quotient = fresh(), remainder = fresh();
    solver_.add(under >= 1 && over == quotient * under + remainder && remainder >= 0 && remainder < under);
    return {quotient, remainder};
  }

  z3::context& context_;
  z3::solver& solver_;
  int count_ = 0;
};

// The symbols of an expression and those that bound or equal them: fewer facts are decided faster, and
// to leave one out can only make a proof fail.
std::set<Symbol> needed_symbols(const Expr& expr, const Facts& facts) {
  std::set<Symbol> needed = symbols_of(expr);
  for (const Symbol& symbol : symbols_of(expr)) {
    const auto found = facts.symbols().find(symbol);
    if (found == facts.symbols().end()) continue;
    for (const Expr& extent : found->second.below) needed.merge(symbols_of(extent));
  }
  for (const auto& [kept, replaced] : facts.equalities()) {
    needed.merge(symbols_of(kept));
    needed.merge(symbols_of(replaced));
  }
  return needed;
}

enum class Found : std::uint8_t {
  none,       // Z3 proved that there is none
  values,     // an assignment that the facts allow, with different values
  undecided,  // Z3 gave up, or named values that are no difference after all (4.8.12 does that)
};

Values values_in(const z3::model& model, z3::context& context, const std::set<Symbol>& symbols) {
  Values values;
  for (const Symbol& symbol : symbols) {
    const z3::expr constant = context.int_const(std::string(symbol.name()).c_str());
    values[symbol] = model.eval(constant, true).get_numeral_int64();
  }
  return values;
}

Found search_difference(z3::context& context, const Expr& a, const Expr& b, const Facts& facts) {
  z3::solver solver(context, z3::solver::simple());
  z3::params params(context);
  // Z3 counts steps: the same in every run, unlike time.
  params.set("rlimit", 60000u);
  solver.set(params);
  Translation translate(context, solver);
  const std::set<Symbol> symbols = needed_symbols(a, facts);
  translate.assume(facts, symbols);
  solver.add(translate(a) != translate(b));
  const z3::check_result answer = solver.check();
  if (answer != z3::sat) return answer == z3::unsat ? Found::none : Found::undecided;
  const Values values = values_in(solver.get_model(), context, symbols);
  return evaluate(a, values) != evaluate(b, values) ? Found::values : Found::undecided;
}

TEST(Proof, SimplifyChangesNoValue) {
  const char* given = std::getenv("TWINLOOM_SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device()();
  std::cout << "TWINLOOM_SEED=" << seed << std::endl;
  std::mt19937_64 random(seed);
  z3::context context;
  const std::clock_t start = std::clock();
  int proven = 0, undecided = 0;
  while (proven < 1000) {
    // Known sizes make linear questions, which Z3 decides; unknown ones it often does not.
    const Facts facts = testing::random_facts(random, random() % 2 == 0);
    const Expr expr = testing::random_expr(random, 2);
    const Expr shorter = simplify(expr, facts);
    if (shorter == expr) continue;
    const Found found = search_difference(context, expr, shorter, facts);
    ASSERT_TRUE(found != Found::values)
        << print(expr) << " became " << print(shorter) << " | " << testing::facts_text(facts);
    (found == Found::none ? proven : undecided) += 1;
    ASSERT_LT(undecided, 250) << "after " << proven << " proofs";
    ASSERT_LT((std::clock() - start) / CLOCKS_PER_SEC, 55)
        << proven << " proven, " << undecided << " undecided";
  }
  std::cout << proven << " proven, " << undecided << " undecided\n";
}

TEST(Proof, ADifferenceIsFound) {
  const auto example = testing::parse_example("floor_mod(i, 4) | i in 0..4");
  z3::context context;
  EXPECT_TRUE(search_difference(context, example.expr, parse("i"), example.facts) == Found::values);
}

}  // namespace
}  // namespace twinloom::index
