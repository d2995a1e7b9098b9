// From a real to an integer.
#include "frontends/fx/size_ops.h"

#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/index/simplify.h"

namespace twinloom::fx {

namespace {

using index::Expr;
using ops::Pointwise;
using Kind = Number::Kind;

struct Rounding {
  Pointwise row;
  double (*reals)(double x);
  Expr (*quotient)(const Expr& a, const Expr& b);
};
Expr rounded_half_even(const Expr& a, const Expr& b) {
  const Expr nearest = index::floor_div(2 * a + b, 2 * b);
  const Expr remainder = index::floor_mod(2 * a + b, 2 * b);
  const Expr is_half = 1 - index::least(remainder, 1);
  return nearest - is_half * index::floor_mod(nearest, 2);
}
Expr truncated(const Expr& a, const Expr& b) {
  return index::greatest(index::floor_div(a, b), 0) + index::least(index::ceil_div(a, b), 0);
}
Item rounded(const Rounding& rounding, const Items& operands, const SizeRules& rules) {
  const Item& item = operands[0];
  if (kind_of(item) == Kind::truth && fraction_of(item)) return {fraction_of(item)->numerator};
  if (!is_real(item)) return item;
  if (const auto value = known_value(item)) {
    constexpr double beyond = 9223372036854775808.0;
    if (!(std::abs(*value) < beyond)) throw Error(cat("the number ", *value, " is no integer of 64 bits"));
    return {Expr(static_cast<std::int64_t>(rounding.reals(*value)))};
  }
  const auto fraction = fraction_of(item);
  if (!fraction) return computed(rounding.row, {item}, Kind::integer);
  return {index::simplify(rounding.quotient(fraction->numerator, fraction->denominator), rules.facts)};
}
Item trunc(const Items& operands, const SizeRules& rules) {
  return rounded({Pointwise::trunc, [](double x) { return std::trunc(x); }, truncated}, operands, rules);
}
Item floor(const Items& operands, const SizeRules& rules) {
  return rounded({Pointwise::floor, [](double x) { return std::floor(x); },
                  [](const Expr& a, const Expr& b) { return index::floor_div(a, b); }},
                 operands, rules);
}
Item ceil(const Items& operands, const SizeRules& rules) {
  return rounded({Pointwise::ceil, [](double x) { return std::ceil(x); },
                  [](const Expr& a, const Expr& b) { return index::ceil_div(a, b); }},
                 operands, rules);
}
Item round(const Items& operands, const SizeRules& rules) {
  if (operands.size() > 1 && is_real(operands[0]))
    throw Error("the decimals of a number are rounded: only rounding to an integer is known");
  return rounded({Pointwise::round, [](double x) { return std::nearbyint(x); }, rounded_half_even}, operands,
                 rules);
}

constexpr std::array rows = {
    SizeRow{"int", 1, 1, trunc},
    SizeRow{"floor", 1, 1, floor},
    SizeRow{"ceil", 1, 1, ceil},
    SizeRow{"round", 1, 2, round},
};

}  // namespace

std::span<const SizeRow> rounding_rows() { return rows; }

}  // namespace twinloom::fx
