// See sizes.h. Each row of the table takes operands that are numbers. What stands as a quotient of sizes
// stays one as long as f64 rounds it at most once; everything else is computed by the graph.
#include "frontends/fx/sizes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/index/simplify.h"
#include "frontends/fx/numbers.h"

namespace twinloom::fx {

namespace {

using index::Expr;
using ops::DType;
using ops::Pointwise;
using Kind = Number::Kind;

bool is_real(const Item& item) { return kind_of(item) == Kind::real; }

// The row of the graph for operands of which at least one is known to the run only.
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
  return real_item(reduced(op.sizes(left->numerator * right->denominator, right->numerator * left->denominator), both));
}
Item add(const Items& operands, const SizeRules&) {
  return exact({Pointwise::add, [](const Expr& a, const Expr& b) { return a + b; }, [](double a, double b) { return a + b; }},
               operands[0], operands[1]);
}
Item sub(const Items& operands, const SizeRules&) {
  return exact({Pointwise::sub, [](const Expr& a, const Expr& b) { return a - b; }, [](double a, double b) { return a - b; }},
               operands[0], operands[1]);
}
Item mul(const Items& operands, const SizeRules&) {
  return exact({Pointwise::mul, [](const Expr& a, const Expr& b) { return a * b; }, [](double a, double b) { return a * b; }},
               operands[0], operands[1]);
}
Item neg(const Items& operands, const SizeRules& rules) { return sub({Item{Expr(0)}, operands[0]}, rules); }

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
  if (!rules.facts.proves_less(0, divisor)) rules.require({{{0, divisor}}}, divided_by(divisor, "be positive"));
  return {dividend, divisor};
}

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

Item floor_div(const Items& operands, const SizeRules& rules) {
  const auto left = fraction_of(operands[0]), right = fraction_of(operands[1]);
  if (is_real(operands[0]) || is_real(operands[1]) || !left || !right)
    return computed(Pointwise::div_floor, operands);
  const Division sizes = positive(left->numerator, right->numerator, rules);
  return {index::floor_div(sizes.dividend, sizes.divisor)};
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
  return computed_item(real ? Kind::real : Kind::integer, Pointwise::pow, operands, real ? DType::f64 : DType::i64);
}

// a compared with b as Python spells it, and b with a.
struct Comparison {
  std::string_view op, mirrored;
  Pointwise row;
};
constexpr std::array comparisons = {
    Comparison{"<", ">", Pointwise::lt},   Comparison{"<=", ">=", Pointwise::le}, Comparison{">", "<", Pointwise::gt},
    Comparison{">=", "<=", Pointwise::ge}, Comparison{"==", "==", Pointwise::eq}, Comparison{"!=", "!=", Pointwise::ne},
};

Item compared(std::string_view op, const Expr& a, const Expr& b) {
  if (op == "<") return is_less(a, b);
  if (op == "<=") return is_less(a, b + 1);
  if (op == ">") return is_less(b, a);
  if (op == ">=") return is_less(b, a + 1);
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
    return compared(comparison.op, left->numerator * right->denominator, right->numerator * left->denominator);
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
    return computed_item(Kind::truth, all ? Pointwise::logical_and : Pointwise::logical_or, {a, b}, DType::b8);
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
  if (left && mask && *mask >= 0 && (*mask & (*mask + 1)) == 0) return {index::floor_mod(left->numerator, *mask + 1)};
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
Item shift_left(const Items& operands, const SizeRules& rules) { return mul({operands[0], power_of_two(operands[1])}, rules); }
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
    return computed_item(kind, Pointwise::where, {condition, yes, no}, kind == Kind::real ? DType::f64 : DType::i64);
  }
  const Item value = add({no, mul({Item{truth->numerator}, sub({yes, no}, rules)}, rules)}, rules);
  const auto* size = value.get<Expr>();
  return truths && size != nullptr ? truth_item(*size, {{{0, *size}}}) : value;
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

// From a real to an integer.
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
                  [](const Expr& a, const Expr& b) { return index::floor_div(a, b); }}, operands, rules);
}
Item ceil(const Items& operands, const SizeRules& rules) {
  return rounded({Pointwise::ceil, [](double x) { return std::ceil(x); },
                  [](const Expr& a, const Expr& b) { return index::ceil_div(a, b); }}, operands, rules);
}
Item round(const Items& operands, const SizeRules& rules) {
  if (operands.size() > 1 && is_real(operands[0]))
    throw Error("the decimals of a number are rounded: only rounding to an integer is known");
  return rounded({Pointwise::round, [](double x) { return std::nearbyint(x); }, rounded_half_even}, operands, rules);
}

Item same(const Items& operands, const SizeRules&) { return operands[0]; }
Item to_bool(const Items& operands, const SizeRules&) { return *truth_of(operands[0]); }
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

struct Row {
  std::string_view op;
  std::size_t fewest, most;  // operands
  Item (*apply)(const Items& operands, const SizeRules& rules);
};
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();
constexpr std::array rows = {
    Row{"+", 2, 2, add},
    Row{"-", 2, 2, sub},
    Row{"*", 2, 2, mul},
    Row{"/", 2, 2, true_div},
    Row{"//", 2, 2, floor_div},
    Row{"%", 2, 2, mod},
    Row{"**", 2, 2, power},
    Row{"neg", 1, 1, neg},
    Row{"<", 2, 2, compare<0>},
    Row{"<=", 2, 2, compare<1>},
    Row{">", 2, 2, compare<2>},
    Row{">=", 2, 2, compare<3>},
    Row{"==", 2, 2, compare<4>},
    Row{"!=", 2, 2, compare<5>},
    Row{"&", 2, 2, bit_and},
    Row{"|", 2, 2, bit_or},
    Row{"^", 2, 2, bit_xor},
    Row{"~", 1, 1, invert},
    Row{"<<", 2, 2, shift_left},
    Row{">>", 2, 2, shift_right},
    Row{"not", 1, 1, logical_not},
    Row{"and", 1, any, logical_and},
    Row{"or", 1, any, logical_or},
    Row{"if", 3, 3, if_then_else},
    Row{"max", 1, any, largest},
    Row{"min", 1, any, smallest},
    Row{"abs", 1, 1, absolute},
    Row{"sum", 0, any, sum},
    Row{"int", 1, 1, trunc},
    Row{"floor", 1, 1, floor},
    Row{"ceil", 1, 1, ceil},
    Row{"round", 1, 2, round},
    Row{"float", 1, 1, to_float},
    Row{"bool", 1, 1, to_bool},
    Row{"same", 1, 1, same},
    Row{"ceil_div", 2, 2, ceil_div},
    Row{"modular_indexing", 3, 3, modular_indexing},
#define REAL(name) Row{#name, 1, 1, real_function<Pointwise::name, std::name>}
    REAL(sqrt), REAL(exp), REAL(log), REAL(log2), REAL(sin), REAL(cos), REAL(tan), REAL(sinh), REAL(cosh),
    REAL(tanh), REAL(asin), REAL(acos), REAL(atan),
#undef REAL
};

struct Spelling {
  std::string_view function, op;
};
constexpr std::array spellings = {
    Spelling{"add", "+"}, Spelling{"sub", "-"}, Spelling{"mul", "*"}, Spelling{"truediv", "/"},
    Spelling{"floordiv", "//"}, Spelling{"mod", "%"}, Spelling{"pow", "**"}, Spelling{"lt", "<"},
    Spelling{"le", "<="}, Spelling{"gt", ">"}, Spelling{"ge", ">="}, Spelling{"eq", "=="}, Spelling{"ne", "!="},
    Spelling{"and_", "&"}, Spelling{"or_", "|"}, Spelling{"xor", "^"}, Spelling{"invert", "~"}, Spelling{"inv", "~"},
    Spelling{"lshift", "<<"}, Spelling{"rshift", ">>"}, Spelling{"not_", "not"}, Spelling{"ite", "if"}, Spelling{"trunc", "int"},
    // What the text of sizes calls them.
    Spelling{"FloorDiv", "//"}, Spelling{"CleanDiv", "//"}, Spelling{"CeilDiv", "ceil_div"}, Spelling{"Mod", "%"},
    Spelling{"PythonMod", "%"}, Spelling{"ModularIndexing", "modular_indexing"}, Spelling{"IntTrueDiv", "/"},
    Spelling{"FloatTrueDiv", "/"}, Spelling{"FloatPow", "**"}, Spelling{"PowByNatural", "**"}, Spelling{"Pow", "**"},
    Spelling{"Max", "max"}, Spelling{"Min", "min"}, Spelling{"Abs", "abs"}, Spelling{"TruncToInt", "int"},
    Spelling{"FloorToInt", "floor"}, Spelling{"CeilToInt", "ceil"}, Spelling{"ceiling", "ceil"},
    Spelling{"RoundToInt", "round"}, Spelling{"RoundDecimal", "round"}, Spelling{"ToFloat", "float"}, Spelling{"Eq", "=="},
    Spelling{"Ne", "!="}, Spelling{"Lt", "<"}, Spelling{"Le", "<="}, Spelling{"Gt", ">"}, Spelling{"Ge", ">="},
    Spelling{"And", "and"}, Spelling{"Or", "or"}, Spelling{"Not", "not"}, Spelling{"Xor", "^"}, Spelling{"Where", "if"},
    Spelling{"ITE", "if"}, Spelling{"Identity", "same"}, Spelling{"Sym", "same"}, Spelling{"LShift", "<<"},
    Spelling{"RShift", ">>"}, Spelling{"bitwise_and", "&"}, Spelling{"bitwise_or", "|"}, Spelling{"bitwise_xor", "^"},
};
constexpr std::array<std::string_view, 9> prefixes = {
    "operator.", "_operator.", "torch.sym_", "torch._sym_", "math.", "math_", "builtins.", "OpaqueUnaryFn_", "BitwiseFn_"};

const Row* row_of(std::string_view op) {
  const auto* found = std::ranges::find(rows, op, &Row::op);
  return found == rows.end() ? nullptr : found;
}

}  // namespace

std::optional<std::string_view> operator_called(std::string_view target) {
  for (const std::string_view prefix : prefixes) {
    if (target.starts_with(prefix)) {
      target.remove_prefix(prefix.size());
      break;
    }
  }
  const auto* found = std::ranges::find(spellings, target, &Spelling::function);
  if (found != spellings.end()) return found->op;
  const Row* row = row_of(target);
  return row == nullptr ? std::nullopt : std::optional(row->op);
}

std::optional<Item> arithmetic(std::string_view op, const Items& given, const SizeRules& rules) {
  const Row* row = row_of(op);
  if (row == nullptr) return std::nullopt;
  // sum((a, b)); round(x, None).
  const Items* list = given.size() == 1 ? given[0].get<Items>() : nullptr;
  Items operands = list != nullptr ? *list : given;
  while (!operands.empty() && operands.back().is_none()) operands.pop_back();
  if (!std::ranges::all_of(operands, [](const Item& item) { return kind_of(item).has_value(); }))
    return std::nullopt;
  if (operands.size() < row->fewest || operands.size() > row->most)
    throw Error(cat("'", op, "' of ", operands.size(), " sizes"));
  return row->apply(operands, rules);
}

}  // namespace twinloom::fx
