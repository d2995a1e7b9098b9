// Comparisons of sizes, truths, bits and choices.
#include "frontends/fx/size_ops.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace twinloom::fx {

namespace {

using index::Expr;
using ops::DType;
using ops::Pointwise;
using Kind = Number::Kind;

// a compared with b as Python spells it, and b with a.
struct Comparison {
  std::string_view op, mirrored;
  Pointwise row;
};
constexpr std::array comparisons = {
    Comparison{"<", ">", Pointwise::lt},   Comparison{"<=", ">=", Pointwise::le},
    Comparison{">", "<", Pointwise::gt},   Comparison{">=", "<=", Pointwise::ge},
    Comparison{"==", "==", Pointwise::eq}, Comparison{"!=", "!=", Pointwise::ne},
};

// 4 <= s is said as 3 < s, and s <= 4 as s < 5.
Item is_at_most(const Expr& a, const Expr& b) {
  return index::constant_of(a) ? is_less(a - 1, b) : is_less(a, b + 1);
}

Item compared(std::string_view op, const Expr& a, const Expr& b) {
  if (op == "<") return is_less(a, b);
  if (op == "<=") return is_at_most(a, b);
  if (op == ">") return is_less(b, a);
  if (op == ">=") return is_at_most(b, a);
  const Item equal = is_equal(a, b);
  return op == "==" ? equal : negated(equal);
}

bool compared(std::string_view op, double a, double b) {
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  return (op == "==") == (a == b);
}

// An integer beside a number that may have a fraction: a < 2.5 is a < 3.
Item compared(std::string_view op, const Expr& a, double b) {
  constexpr double beyond = 9223372036854775808.0;
  if (!(std::abs(b) < beyond)) return {compared(op, 0.0, b)};
  const auto below = static_cast<std::int64_t>(std::floor(b));
  if (static_cast<double>(below) == b) return compared(op, a, Expr(below));
  if (op == "==" || op == "!=") return {op == "!="};
  return compared(op == "<" || op == "<=" ? "<=" : ">", a, Expr(below));
}

Item compare(const Comparison& comparison, const Item& a, const Item& b) {
  const auto left = fraction_of(a), right = fraction_of(b);
  // Two quotients that differ are rounded to different numbers as long as the products fit 53 bits.
  if (left && right)
    return compared(comparison.op, left->numerator * right->denominator,
                    right->numerator * left->denominator);
  const auto x = known_value(a), y = known_value(b);
  if (x && y) return {compared(comparison.op, *x, *y)};
  if (y && left && left->denominator == Expr(1)) return compared(comparison.op, left->numerator, *y);
  if (x && right && right->denominator == Expr(1)) return compared(comparison.mirrored, right->numerator, *x);
  return computed(comparison.row, {a, b}, Kind::truth);
}
template <std::size_t row>
Item compare(const Items& operands, const SizeRules&) {
  return compare(comparisons[row], operands[0], operands[1]);
}

bool are_truths(const Items& operands) {
  return std::ranges::all_of(operands, [](const Item& item) { return kind_of(item) == Kind::truth; });
}

Item logical_not(const Items& operands, const SizeRules&) { return negated(*truth_of(operands[0])); }

Item joined(const Item& a, const Item& b, bool all) {
  for (const auto& [known, other] : {std::pair(a, b), std::pair(b, a)}) {
    if (const auto* truth = known.get<bool>()) return *truth == all ? other : known;
  }
  const auto left = fraction_of(a), right = fraction_of(b);
  if (!left || !right)
    return computed_item(Kind::truth, all ? Pointwise::logical_and : Pointwise::logical_or, {a, b},
                         DType::b8);
  if (all) {
    return truth_item(index::least(left->numerator, right->numerator),
                      std::get<Number>(a.value).holds && std::get<Number>(b.value).holds);
  }
  const Expr value = index::greatest(left->numerator, right->numerator);
  return truth_item(value, {{{0, value}}});
}
Item logical_and(const Items& operands, const SizeRules&) {
  Item result{true};
  for (const Item& operand : operands) result = joined(result, *truth_of(operand), true);
  return result;
}
Item logical_or(const Items& operands, const SizeRules&) {
  Item result{false};
  for (const Item& operand : operands) result = joined(result, *truth_of(operand), false);
  return result;
}

// & | ^ of truths are logical; of integers the bits.
Item bit_and(const Items& operands, const SizeRules& rules) {
  if (are_truths(operands)) return logical_and(operands, rules);
  const auto left = fraction_of(operands[0]), right = fraction_of(operands[1]);
  const auto mask = right ? index::constant_of(right->numerator) : std::nullopt;
  if (left && mask && *mask >= 0 && (*mask & (*mask + 1)) == 0)
    return {index::floor_mod(left->numerator, *mask + 1)};
  return computed(Pointwise::bitwise_and, operands);
}
Item bit_or(const Items& operands, const SizeRules& rules) {
  return are_truths(operands) ? logical_or(operands, rules) : computed(Pointwise::bitwise_or, operands);
}
Item bit_xor(const Items& operands, const SizeRules&) {
  if (are_truths(operands)) return compare(comparisons[5], operands[0], operands[1]);
  return computed(Pointwise::bitwise_xor, operands);
}
Item invert(const Items& operands, const SizeRules& rules) {
  if (are_truths(operands)) return logical_not(operands, rules);
  return sub({Item{Expr(-1)}, operands[0]}, rules);
}
// 2 to a known power, of a shift.
Item power_of_two(const Item& exponent) {
  const auto places = known_value(exponent);
  if (!places || *places < 0 || *places > 62) throw Error("a size is shifted by what is not in 0..62");
  return {Expr(std::int64_t{1} << static_cast<int>(*places))};
}
Item shift_left(const Items& operands, const SizeRules& rules) {
  return mul({operands[0], power_of_two(operands[1])}, rules);
}
Item shift_right(const Items& operands, const SizeRules& rules) {
  return floor_div({operands[0], power_of_two(operands[1])}, rules);
}

Item if_then_else(const Items& operands, const SizeRules& rules) {
  const Item condition = *truth_of(operands[0]);
  if (const auto* known = condition.get<bool>()) return operands[*known ? 1 : 2];
  const Item &yes = operands[1], &no = operands[2];
  const auto truth = fraction_of(condition);
  const bool sizes = truth && fraction_of(yes) && fraction_of(no) && !is_real(yes) && !is_real(no);
  const bool truths = are_truths({yes, no});
  if (!sizes) {
    const Kind kind = is_real(yes) || is_real(no) ? Kind::real : truths ? Kind::truth : Kind::integer;
    return computed_item(kind, Pointwise::where, {condition, yes, no},
                         kind == Kind::real ? DType::f64 : DType::i64);
  }
  const Item value = add({no, mul({Item{truth->numerator}, sub({yes, no}, rules)}, rules)}, rules);
  const auto* size = value.get<Expr>();
  return truths && size != nullptr ? truth_item(*size, {{{0, *size}}}) : value;
}

Item to_bool(const Items& operands, const SizeRules&) { return *truth_of(operands[0]); }

constexpr std::array rows = {
    SizeRow{"<", 2, 2, compare<0>},
    SizeRow{"<=", 2, 2, compare<1>},
    SizeRow{">", 2, 2, compare<2>},
    SizeRow{">=", 2, 2, compare<3>},
    SizeRow{"==", 2, 2, compare<4>},
    SizeRow{"!=", 2, 2, compare<5>},
    SizeRow{"&", 2, 2, bit_and},
    SizeRow{"|", 2, 2, bit_or},
    SizeRow{"^", 2, 2, bit_xor},
    SizeRow{"~", 1, 1, invert},
    SizeRow{"<<", 2, 2, shift_left},
    SizeRow{">>", 2, 2, shift_right},
    SizeRow{"not", 1, 1, logical_not},
    SizeRow{"and", 1, ANY_COUNT, logical_and},
    SizeRow{"or", 1, ANY_COUNT, logical_or},
    SizeRow{"if", 3, 3, if_then_else},
    SizeRow{"bool", 1, 1, to_bool},
};

}  // namespace

std::span<const SizeRow> truth_rows() { return rows; }

}  // namespace twinloom::fx
