// See divisors.h.
#include "core/index/divisors.h"

#include <algorithm>

#include "core/base/match.h"
#include "core/index/simplify.h"

namespace twinloom::index {

bool divides_by_zero(const Expr& expr, const Values& values) {
  const auto of = [&](const Expr& part) { return divides_by_zero(part, values); };
  const auto divided = [&](const Expr& dividend, const Expr& divisor) {
    if (of(dividend) || of(divisor)) return true;
    Substitution substitution;
    for (const auto& [symbol, value] : values) substitution.emplace(symbol, Expr(value));
    return substitute(divisor, substitution) == Expr(0);
  };
  return match(
      expr.form(), [](const Symbol&) { return false; },
      [&](const Sum& sum) {
        return std::ranges::any_of(sum.terms, [&](const Term& term) { return of(term.factor); });
      },
      [&](const Product& product) { return std::ranges::any_of(product.factors, of); },
      [&](const FloorDiv& node) { return divided(node.dividend, node.divisor); },
      [&](const FloorMod& node) { return divided(node.dividend, node.divisor); },
      [&](const Least& node) { return of(node.a) || of(node.b); },
      [&](const Greatest& node) { return of(node.a) || of(node.b); });
}

bool divides_by_zero(const Condition& condition, const Values& values) {
  return std::ranges::any_of(condition.all, [&](const Less& less) {
    return divides_by_zero(less.a, values) || divides_by_zero(less.b, values);
  });
}

std::optional<Expr> bad_divisor(const Expr& expr, const Values& values) {
  const auto first_of = [&](std::initializer_list<Expr> parts) {
    std::optional<Expr> bad;
    for (const Expr& part : parts)
      if (!bad) bad = bad_divisor(part, values);
    return bad;
  };
  const auto divided = [&](const Expr& dividend, const Expr& divisor) {
    if (auto bad = first_of({dividend, divisor})) return bad;
    return evaluate(divisor, values) < 1 ? std::optional(divisor) : std::nullopt;
  };
  return match(
      expr.form(), [](const Symbol&) { return std::optional<Expr>(); },
      [&](const Sum& sum) {
        std::optional<Expr> bad;
        for (const Term& term : sum.terms)
          if (!bad) bad = bad_divisor(term.factor, values);
        return bad;
      },
      [&](const Product& product) {
        std::optional<Expr> bad;
        for (const Expr& factor : product.factors)
          if (!bad) bad = bad_divisor(factor, values);
        return bad;
      },
      [&](const FloorDiv& node) { return divided(node.dividend, node.divisor); },
      [&](const FloorMod& node) { return divided(node.dividend, node.divisor); },
      [&](const Least& node) {
        return first_of({node.a, node.b});
      },
      [&](const Greatest& node) {
        return first_of({node.a, node.b});
      });
}

std::optional<Expr> bad_divisor(const Condition& condition, const Values& values) {
  for (const Less& less : condition.all) {
    if (auto bad = bad_divisor(less.a, values)) return bad;
    if (auto bad = bad_divisor(less.b, values)) return bad;
  }
  return std::nullopt;
}

void add_divisors(const Expr& expr, Symbol symbol, std::vector<Expr>& divisors) {
  const auto both = [&](const Expr& dividend, const Expr& divisor) {
    if (symbol_of(dividend) == symbol) divisors.push_back(divisor);
    add_divisors(dividend, symbol, divisors);
    add_divisors(divisor, symbol, divisors);
  };
  match(
      expr.form(), [](const Symbol&) {},
      [&](const Sum& sum) {
        for (const Term& term : sum.terms) add_divisors(term.factor, symbol, divisors);
      },
      [&](const Product& product) {
        for (const Expr& factor : product.factors) add_divisors(factor, symbol, divisors);
      },
      [&](const FloorDiv& node) { both(node.dividend, node.divisor); },
      [&](const FloorMod& node) { both(node.dividend, node.divisor); },
      [&](const Least& node) {
        add_divisors(node.a, symbol, divisors);
        add_divisors(node.b, symbol, divisors);
      },
      [&](const Greatest& node) {
        add_divisors(node.a, symbol, divisors);
        add_divisors(node.b, symbol, divisors);
      });
}

std::optional<Expr> exact_quotient(const Expr& whole, const Expr& part, const Facts& facts) {
  const auto range = facts.range(part);
  if (!range.low || *range.low < 1) {
    // A symbolic size is a divisor where the whole is a product with it: for a size of 0 both are empty.
    if (constant_of(part)) return std::nullopt;
  }
  if (part == Expr(1)) return std::nullopt;
  const Expr quotient = simplify(floor_div(whole, part), facts);
  if (simplify(quotient * part, facts) != simplify(whole, facts)) return std::nullopt;
  return quotient == Expr(1) ? std::nullopt : std::optional(quotient);
}

}  // namespace twinloom::index
