// See support.h.
#include "tests/index/support.h"

#include <algorithm>

#include "core/base/integers.h"

namespace twinloom::index::testing {

namespace {

Range parse_range(Scanner& scanner) {
  Range range;
  if (scanner.peek_number()) range.low = scanner.integer();
  scanner.expect("..");
  if (scanner.peek_number()) range.high = scanner.integer();
  return range;
}

void parse_fact(Scanner& scanner, Facts& facts) {
  const Expr left = parse(scanner);
  if (scanner.accept("=")) return facts.assume_equal(left, parse(scanner));
  const auto symbol = symbol_of(left);
  if (!symbol) scanner.fail("a symbol before in, % or <");
  if (scanner.accept("in")) return facts.assume(*symbol, parse_range(scanner));
  if (scanner.accept("%")) return facts.assume(*symbol, {}, scanner.integer());
  scanner.expect("<");
  facts.assume_below(*symbol, parse(scanner));
}

bool allowed(const Facts::About& about, std::int64_t value, const Values& values) {
  if (about.range.low && value < *about.range.low) return false;
  if (about.range.high && value > *about.range.high) return false;
  if (value % about.divisor != 0) return false;
  return std::ranges::all_of(about.below,
                             [&](const Expr& extent) { return value < evaluate(extent, values); });
}

std::set<Symbol> symbols_with_bounds(const Facts& facts, std::set<Symbol> symbols) {
  for (const auto& [symbol, about] : facts.symbols()) {
    symbols.insert(symbol);
    for (const Expr& extent : about.below) symbols.merge(symbols_of(extent));
  }
  for (const auto& [a, b] : facts.equalities()) {
    symbols.merge(symbols_of(a));
    symbols.merge(symbols_of(b));
  }
  return symbols;
}

// `values` has those of the symbols in the extents.
std::int64_t draw_value(const Facts::About& about, const Values& values, std::mt19937_64& random) {
  const std::int64_t low =
      about.range.low.value_or(std::min<std::int64_t>(-20, about.range.high.value_or(0) - 20));
  std::int64_t high = std::min(about.range.high.value_or(low + 40), low + 1000);
  for (const Expr& extent : about.below) high = std::min(high, evaluate(extent, values) - 1);
  const std::int64_t value = std::uniform_int_distribution<std::int64_t>(low, std::max(low, high))(random);
  return twinloom::floor_div(value, about.divisor) * about.divisor;
}

}  // namespace

Example parse_example(std::string_view text) {
  Scanner scanner(text, "example");
  Example example{parse(scanner), {}};
  if (scanner.accept("|")) {
    do {
      parse_fact(scanner, example.facts);
    } while (scanner.accept(","));
  }
  if (!scanner.at_end()) scanner.fail("the end of the example");
  return example;
}

std::string facts_text(const Facts& facts) {
  std::string text;
  for (const auto& [symbol, about] : facts.symbols()) {
    text += cat(symbol, " in ", about.range.low ? cat(*about.range.low) : "", "..",
                about.range.high ? cat(*about.range.high) : "", ", ", symbol, " % ", about.divisor, ", ");
    for (const Expr& extent : about.below) text += cat(symbol, " < ", extent, ", ");
  }
  for (const auto& [kept, replaced] : facts.equalities()) text += cat(replaced, " = ", kept, ", ");
  return text;
}

bool allowed(const Facts& facts, const Values& values) {
  for (const auto& [symbol, about] : facts.symbols()) {
    if (!allowed(about, values.at(symbol), values)) return false;
  }
  return std::ranges::all_of(facts.equalities(), [&](const auto& equality) {
    return evaluate(equality.first, values) == evaluate(equality.second, values);
  });
}

std::optional<Values> draw(const Facts& facts, const std::set<Symbol>& symbols, std::mt19937_64& random) {
  const std::set<Symbol> all = symbols_with_bounds(facts, symbols);
  for (int attempt = 0; attempt < 20; ++attempt) {
    Values values;
    // Sizes first, then what lies below them. An equality such as k = m*n is met by choice, not by luck.
    for (const bool bounded : {false, true}) {
      for (const Symbol& symbol : all) {
        const auto found = facts.symbols().find(symbol);
        const Facts::About about = found == facts.symbols().end() ? Facts::About{} : found->second;
        if (about.below.empty() != bounded) values[symbol] = draw_value(about, values, random);
      }
      for (const auto& [kept, replaced] : facts.equalities()) {
        if (const auto symbol = symbol_of(replaced); symbol && !bounded)
          values[*symbol] = evaluate(kept, values);
      }
    }
    if (allowed(facts, values)) return values;
  }
  return std::nullopt;
}

}  // namespace twinloom::index::testing
