// Sums, products, quotients, powers and extremes of sizes.
#include "frontends/fx/size_ops.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/index/simplify.h"

namespace twinloom::fx {

namespace {

using index::Expr;
using ops::DType;
using ops::Pointwise;
using Kind = Number::Kind;

// Sums and products of numbers that f64 holds.
struct Exact {
  Pointwise row;
  Expr (*sizes)(const Expr& a, const Expr& b);
  double (*reals)(double a, double b);
};
Item exact(const Exact& op, const Item& a, const Item& b) {
  const auto left = fraction_of(a), right = fraction_of(b);
  if (!is_real(a) && !is_real(b) && left && right) return {op.sizes(left->numerator, right->numerator)};
  const auto x = known_value(a), y = known_value(b);
  if (x && y) return {op.reals(*x, *y)};
  if (!left || !right || !is_exact(*left) || !is_exact(*right)) return computed(op.row, {a, b});
  const Expr both = left->denominator * right->denominator;
  if (op.row == Pointwise::mul) return real_item(reduced(left->numerator * right->numerator, both));
  return real_item(
      reduced(op.sizes(left->numerator * right->denominator, right->numerator * left->denominator), both));
}

std::string divided_by(const Expr& divisor, std::string_view must) {
  return cat("a size is divided by ", divisor, ", which must ", must);
}

// The divisor of sizes, which must be positive; the sign of a constant goes to the dividend.
struct Division {
  Expr dividend, divisor;
};
Division positive(const Expr& dividend, const Expr& divisor, const SizeRules& rules) {
  const auto constant = index::constant_of(divisor);
  if (constant == 0) throw Error("a size is divided by 0");
  if (constant && *constant < 0) return {-dividend, -divisor};
  if (!rules.facts.proves_less(0, divisor))
    rules.require({{{0, divisor}}}, divided_by(divisor, "be positive"));
  return {dividend, divisor};
}

}  // namespace

Item computed(Pointwise row, Items operands, Kind kind) {
  const bool real = std::ranges::any_of(operands, is_real);
  return computed_item(kind, row, std::move(operands), real ? DType::f64 : DType::i64);
}
Item computed(Pointwise row, Items operands) {
  const bool real = std::ranges::any_of(operands, is_real);
  return computed(row, std::move(operands), real ? Kind::real : Kind::integer);
}

Fraction reduced(const Expr& numerator, const Expr& denominator) {
  const auto divisor = index::constant_of(denominator);
  if (divisor && index::floor_mod(numerator, *divisor) == Expr(0))
    return {index::floor_div(numerator, *divisor), 1};
  return {numerator, denominator};
}

Item add(const Items& operands, const SizeRules&) {
  return exact({Pointwise::add, [](const Expr& a, const Expr& b) { return a + b; },
                [](double a, double b) { return a + b; }},
               operands[0], operands[1]);
}
Item sub(const Items& operands, const SizeRules&) {
  return exact({Pointwise::sub, [](const Expr& a, const Expr& b) { return a - b; },
                [](double a, double b) { return a - b; }},
               operands[0], operands[1]);
}
Item mul(const Items& operands, const SizeRules&) {
  return exact({Pointwise::mul, [](const Expr& a, const Expr& b) { return a * b; },
                [](double a, double b) { return a * b; }},
               operands[0], operands[1]);
}

Item floor_div(const Items& operands, const SizeRules& rules) {
  const auto left = fraction_of(operands[0]), right = fraction_of(operands[1]);
  if (is_real(operands[0]) || is_real(operands[1]) || !left || !right)
    return computed(Pointwise::div_floor, operands);
  const Division sizes = positive(left->numerator, right->numerator, rules);
  return {index::floor_div(sizes.dividend, sizes.divisor)};
}

namespace {

Item neg(const Items& operands, const SizeRules& rules) { return sub({Item{Expr(0)}, operands[0]}, rules); }

Item true_div(const Items& operands, const SizeRules& rules) {
  const auto x = known_value(operands[0]), y = known_value(operands[1]);
  if (y && *y == 0) throw Error("a number is divided by 0");
  if (x && y) return {*x / *y};
  const auto left = fraction_of(operands[0]), right = fraction_of(operands[1]);
  const Item quotient = computed_item(Kind::real, Pointwise::div, operands, DType::f64);
  if (!right) return quotient;
  const index::Range range = rules.facts.range(right->numerator);
  const bool has_sign = index::constant_of(right->numerator) || (range.low && *range.low >= 0);
  if (!has_sign) {
    const Expr distance = index::greatest(right->numerator, -right->numerator);
    rules.require({{{0, distance}}}, divided_by(right->numerator, "not be 0"));
    return quotient;
  }
  const Division sizes = positive(left ? left->numerator : Expr(0), right->numerator, rules);
  if (!left || !is_exact(*left) || !is_exact(*right)) return quotient;
  return real_item(reduced(sizes.dividend * right->denominator, left->denominator * sizes.divisor));
}

Item mod(const Items& operands, const SizeRules& rules) {
  const auto left = fraction_of(operands[0]), right = fraction_of(operands[1]);
  if (is_real(operands[0]) || is_real(operands[1]) || !left || !right)
    return computed(Pointwise::remainder, operands);
  const Division sizes = positive(left->numerator, right->numerator, rules);
  const Expr rest = index::floor_mod(sizes.dividend, sizes.divisor);
  return {sizes.divisor == right->numerator ? rest : -rest};
}

Item ceil_div(const Items& operands, const SizeRules& rules) {
  return neg({floor_div({neg({operands[0]}, rules), operands[1]}, rules)}, rules);
}
Item modular_indexing(const Items& operands, const SizeRules& rules) {
  return mod({floor_div({operands[0], operands[1]}, rules), operands[2]}, rules);
}

Item power(const Items& operands, const SizeRules& rules) {
  const auto exponent = known_value(operands[1]);
  constexpr double most = 16;
  if (kind_of(operands[1]) != Kind::real && exponent && *exponent >= 0 && *exponent <= most) {
    Item result{Expr(1)};
    for (double k = 0; k < *exponent; ++k) result = mul({result, operands[0]}, rules);
    if (!is_real(result) && !is_real(operands[0])) return result;
  }
  const auto base = known_value(operands[0]);
  if (base && exponent) return {std::pow(*base, *exponent)};
  const bool real = is_real(operands[0]) || is_real(operands[1]) || (exponent && *exponent < 0);
  return computed_item(real ? Kind::real : Kind::integer, Pointwise::pow, operands,
                       real ? DType::f64 : DType::i64);
}

Item extreme(const Items& operands, bool largest) {
  Item result = operands[0];
  for (std::size_t k = 1; k < operands.size(); ++k) {
    const auto left = fraction_of(result), right = fraction_of(operands[k]);
    const bool real = is_real(result) || is_real(operands[k]);
    const auto x = known_value(result), y = known_value(operands[k]);
    if (real && x && y) {
      result = {largest ? std::max(*x, *y) : std::min(*x, *y)};
    } else if (left && right && left->denominator == right->denominator) {
      const Expr size = largest ? index::greatest(left->numerator, right->numerator)
                                : index::least(left->numerator, right->numerator);
      result = real ? real_item(reduced(size, left->denominator)) : Item{size};
    } else {
      result = computed(largest ? Pointwise::maximum : Pointwise::minimum, {result, operands[k]});
    }
  }
  return result;
}
Item largest(const Items& operands, const SizeRules&) { return extreme(operands, true); }
Item smallest(const Items& operands, const SizeRules&) { return extreme(operands, false); }
Item absolute(const Items& operands, const SizeRules& rules) {
  return extreme({operands[0], neg(operands, rules)}, true);
}
Item sum(const Items& operands, const SizeRules& rules) {
  Item result{Expr(0)};
  for (const Item& operand : operands) result = add({result, operand}, rules);
  return result;
}

Item same(const Items& operands, const SizeRules&) { return operands[0]; }
Item to_float(const Items& operands, const SizeRules&) {
  if (is_real(operands[0])) return operands[0];
  if (const auto known = known_value(operands[0])) return {*known};
  if (const auto fraction = fraction_of(operands[0])) return real_item(*fraction);
  return computed_item(Kind::real, Pointwise::add, {operands[0], Item{0.0}}, DType::f64);
}

template <Pointwise row, double (*function)(double)>
Item real_function(const Items& operands, const SizeRules&) {
  if (const auto known = known_value(operands[0])) return {function(*known)};
  return computed_item(Kind::real, row, operands, DType::f64);
}

constexpr std::array rows = {
    SizeRow{"+", 2, 2, add},
    SizeRow{"-", 2, 2, sub},
    SizeRow{"*", 2, 2, mul},
    SizeRow{"/", 2, 2, true_div},
    SizeRow{"//", 2, 2, floor_div},
    SizeRow{"%", 2, 2, mod},
    SizeRow{"**", 2, 2, power},
    SizeRow{"neg", 1, 1, neg},
    SizeRow{"max", 1, ANY_COUNT, largest},
    SizeRow{"min", 1, ANY_COUNT, smallest},
    SizeRow{"abs", 1, 1, absolute},
    SizeRow{"sum", 0, ANY_COUNT, sum},
    SizeRow{"float", 1, 1, to_float},
    SizeRow{"same", 1, 1, same},
    SizeRow{"ceil_div", 2, 2, ceil_div},
    SizeRow{"modular_indexing", 3, 3, modular_indexing},
    SizeRow{"sqrt", 1, 1, real_function<Pointwise::sqrt, std::sqrt>},
    SizeRow{"exp", 1, 1, real_function<Pointwise::exp, std::exp>},
    SizeRow{"log", 1, 1, real_function<Pointwise::log, std::log>},
    SizeRow{"log2", 1, 1, real_function<Pointwise::log2, std::log2>},
    SizeRow{"sin", 1, 1, real_function<Pointwise::sin, std::sin>},
    SizeRow{"cos", 1, 1, real_function<Pointwise::cos, std::cos>},
    SizeRow{"tan", 1, 1, real_function<Pointwise::tan, std::tan>},
    SizeRow{"sinh", 1, 1, real_function<Pointwise::sinh, std::sinh>},
    SizeRow{"cosh", 1, 1, real_function<Pointwise::cosh, std::cosh>},
    SizeRow{"tanh", 1, 1, real_function<Pointwise::tanh, std::tanh>},
    SizeRow{"asin", 1, 1, real_function<Pointwise::asin, std::asin>},
    SizeRow{"acos", 1, 1, real_function<Pointwise::acos, std::acos>},
    SizeRow{"atan", 1, 1, real_function<Pointwise::atan, std::atan>},
};

}  // namespace

std::span<const SizeRow> arithmetic_rows() { return rows; }

}  // namespace twinloom::fx
