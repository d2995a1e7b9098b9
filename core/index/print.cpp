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

// Texts come from users: deeper nesting than this is refused before it can use up the stack.
constexpr int depth_limit = 200;

class Parser {
 public:
  explicit Parser(Scanner& scanner) : scanner_(scanner) {}

  Expr sum() {
    if (++depth_ > depth_limit) scanner_.fail(cat("an expression of at most ", depth_limit, " levels"));
    Expr result = term();
    while (true) {
      if (scanner_.accept("+")) {
        result = result + term();
      } else if (scanner_.accept("-")) {
        result = result - term();
      } else {
        --depth_;
        return result;
      }
    }
  }

 private:
  using Function = Expr (*)(const Expr&, const Expr&);

  Expr term() {
    Expr result = factor();
    while (scanner_.accept("*")) result = result * factor();
    return result;
  }

  Expr factor() {
    if (scanner_.peek_number()) return Expr(scanner_.integer());
    bool negative = false;
    while (!scanner_.peek_number() && scanner_.accept("-")) negative = !negative;
    return negative ? -primary() : primary();
  }

  Expr primary() {
    if (scanner_.peek_number()) return Expr(scanner_.integer());
    if (scanner_.accept("(")) {
      const Expr inner = sum();
      scanner_.expect(")");
      return inner;
    }
    if (!scanner_.peek_word()) scanner_.fail("an index expression");
    const std::string word = scanner_.word();
    if (word == "floor_div") return call(floor_div, true);
    if (word == "floor_mod") return call(floor_mod, true);
    if (word == "ceil_div") return call(ceil_div, true);
    if (word == "least") return call(least, false);
    if (word == "greatest") return call(greatest, false);
    return Expr(Symbol(word));
  }

  // A divisor that a text gives must not reach the maker's CHECK: a text is a user's.
  Expr call(Function function, bool divides) {
    scanner_.expect("(");
    const Expr a = sum();
    scanner_.expect(",");
    const Expr b = sum();
    if (const auto constant = constant_of(b); divides && constant && *constant < 1) {
      scanner_.fail(cat("a positive divisor before this place instead of ", *constant));
    }
    scanner_.expect(")");
    return function(a, b);
  }

  Scanner& scanner_;
  int depth_ = 0;
};

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

Expr parse(Scanner& scanner) { return Parser(scanner).sum(); }

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
