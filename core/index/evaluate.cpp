// The value of an expression under an assignment, step by step as it is written.
#include <algorithm>

#include "core/base/integers.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

std::int64_t fitting(std::optional<std::int64_t> value, const Expr& expr) {
  if (!value) throw Error(cat("index expression ", expr, ": its value does not fit 64 bits"));
  return *value;
}

std::int64_t divisor_value(const Expr& divisor, const Values& values) {
  const std::int64_t value = evaluate(divisor, values);
  if (value < 1) throw Error(cat("index expression: the divisor ", divisor, " is ", value));
  return value;
}

}  // namespace

std::int64_t evaluate(const Expr& expr, const Values& values) {
  return match(
      expr.form(),
      [&](const Symbol& symbol) {
        const auto found = values.find(symbol);
        CHECK(found != values.end(), "no value for the symbol ", symbol);
        return found->second;
      },
      [&](const Sum& sum) {
        std::int64_t total = sum.offset;
        for (const Term& term : sum.terms) {
          const auto scaled = checked_multiply(evaluate(term.factor, values), term.scale);
          total = fitting(checked_add(total, fitting(scaled, expr)), expr);
        }
        return total;
      },
      [&](const Product& product) {
        std::int64_t total = 1;
        for (const Expr& factor : product.factors) {
          total = fitting(checked_multiply(total, evaluate(factor, values)), expr);
        }
        return total;
      },
      [&](const FloorDiv& div) {
        return twinloom::floor_div(evaluate(div.dividend, values), divisor_value(div.divisor, values));
      },
      [&](const FloorMod& mod) {
        return twinloom::floor_mod(evaluate(mod.dividend, values), divisor_value(mod.divisor, values));
      },
      [&](const Least& least) { return std::min(evaluate(least.a, values), evaluate(least.b, values)); },
      [&](const Greatest& greatest) {
        return std::max(evaluate(greatest.a, values), evaluate(greatest.b, values));
      });
}

std::vector<std::int64_t> evaluate(std::span<const Expr> exprs, const Values& values) {
  std::vector<std::int64_t> result;
  for (const Expr& expr : exprs) result.push_back(evaluate(expr, values));
  return result;
}

bool evaluate(const Condition& condition, const Values& values) {
  return std::ranges::all_of(
      condition.all, [&](const Less& less) { return evaluate(less.a, values) < evaluate(less.b, values); });
}

}  // namespace twinloom::index
