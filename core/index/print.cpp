// Text of expressions and conditions, and back:
//   -4*i*n + floor_div(n, 8) - 1        i < n && 0 < m
#include <limits>

#include "core/index/terms.h"

namespace twinloom::index {

namespace {

std::string call(std::string_view function, const Expr& a, const Expr& b) {
  return cat(function, "(", print(a), ", ", print(b), ")");
}

std::string print_term(const Term& term, bool first) {
  const bool smallest = term.scale == std::numeric_limits<std::int64_t>::min();
  const bool negative = term.scale < 0 && !smallest;  // its magnitude is no 64-bit number
  std::string text = first ? (negative ? "-" : "") : (negative ? " - " : " + ");
  const std::int64_t magnitude = negative ? -term.scale : term.scale;
  if (magnitude != 1) text += cat(magnitude, "*");
  return text + print(term.factor);
}

std::string print_sum(const Sum& sum) {
  if (sum.terms.empty()) return cat(sum.offset);
  std::string text;
  for (const Term& term : sum.terms) text += print_term(term, text.empty());
  if (sum.offset == 0) return text;
  const bool negative = sum.offset < 0 && sum.offset != std::numeric_limits<std::int64_t>::min();
  return text + (negative ? cat(" - ", -sum.offset) : cat(" + ", sum.offset));
}

Expr parse_call(Scanner& scanner, Expr (*function)(const Expr&, const Expr&)) {
  scanner.expect("(");
  const Expr a = parse(scanner);
  scanner.expect(",");
  const Expr b = parse(scanner);
  scanner.expect(")");
  return function(a, b);
}

// A divisor that a text gives must not reach the maker's CHECK: a text is a user's.
Expr parse_division(Scanner& scanner, Expr (*function)(const Expr&, const Expr&)) {
  scanner.expect("(");
  const Expr dividend = parse(scanner);
  scanner.expect(",");
  const Expr divisor = parse(scanner);
  if (const auto constant = constant_of(divisor); constant && *constant < 1) {
    scanner.fail(cat("a positive divisor before this place instead of ", *constant));
  }
  scanner.expect(")");
  return function(dividend, divisor);
}

Expr parse_factor(Scanner& scanner) {
  if (scanner.peek_number()) return Expr(scanner.integer());
  if (scanner.accept("-")) return -parse_factor(scanner);
  if (scanner.accept("(")) {
    const Expr inner = parse(scanner);
    scanner.expect(")");
    return inner;
  }
  if (scanner.accept("floor_div")) return parse_division(scanner, floor_div);
  if (scanner.accept("floor_mod")) return parse_division(scanner, floor_mod);
  if (scanner.accept("ceil_div")) return parse_division(scanner, ceil_div);
  if (scanner.accept("least")) return parse_call(scanner, least);
  if (scanner.accept("greatest")) return parse_call(scanner, greatest);
  if (!scanner.peek_word()) scanner.fail("an index expression");
  return Expr(Symbol(scanner.word()));
}

Expr parse_term(Scanner& scanner) {
  Expr result = parse_factor(scanner);
  while (scanner.accept("*")) result = result * parse_factor(scanner);
  return result;
}

}  // namespace

std::string print(const Expr& expr) {
  return match(
      expr.form(), [](const Sum& sum) { return print_sum(sum); },
      [](const Symbol& symbol) { return std::string(symbol.name()); },
      [](const Product& product) {
        return join(product.factors, "*", [](const Expr& factor) { return print(factor); });
      },
      [](const FloorDiv& div) { return call("floor_div", div.dividend, div.divisor); },
      [](const FloorMod& mod) { return call("floor_mod", mod.dividend, mod.divisor); },
      [](const Least& least) { return call("least", least.a, least.b); },
      [](const Greatest& greatest) { return call("greatest", greatest.a, greatest.b); });
}

std::string print(const Condition& condition) {
  if (condition.all.empty()) return "true";
  return join(condition.all, " && ",
              [](const Less& less) { return cat(print(less.a), " < ", print(less.b)); });
}

Expr parse(Scanner& scanner) {
  Expr result = parse_term(scanner);
  while (true) {
    if (scanner.accept("+")) {
      result = result + parse_term(scanner);
    } else if (scanner.accept("-")) {
      result = result - parse_term(scanner);
    } else {
      return result;
    }
  }
}

Condition parse_condition(Scanner& scanner) {
  Condition condition;
  if (scanner.accept("true")) return condition;
  do {
    const Expr a = parse(scanner);
    scanner.expect("<");
    condition.all.push_back({a, parse(scanner)});
  } while (scanner.accept("&&"));
  return condition;
}

Expr parse(std::string_view text) {
  Scanner scanner(text, "index expression");
  const Expr expr = parse(scanner);
  if (!scanner.at_end()) scanner.fail("the end of the text");
  return expr;
}

Condition parse_condition(std::string_view text) {
  Scanner scanner(text, "condition");
  const Condition condition = parse_condition(scanner);
  if (!scanner.at_end()) scanner.fail("the end of the text");
  return condition;
}

}  // namespace twinloom::index
