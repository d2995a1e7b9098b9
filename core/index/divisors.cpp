// See divisors.h.
#include "core/index/divisors.h"

#include <algorithm>

#include "core/base/match.h"

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

}  // namespace twinloom::index
