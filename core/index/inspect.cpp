// Asks an expression for its parts and rebuilds it with others: symbols, substitution, linear form.
#include <algorithm>

#include "core/index/terms.h"

namespace twinloom::index {

namespace {

// Calls visit(symbol) for each symbol, with repetition, until it returns true.
template <class Visit>
bool any_symbol(const Expr& expr, const Visit& visit) {
  const auto both = [&](const Expr& a, const Expr& b) {
    return any_symbol(a, visit) || any_symbol(b, visit);
  };
  return match(
      expr.form(), [&](const Symbol& symbol) { return visit(symbol); },
      [&](const Sum& sum) {
        return std::ranges::any_of(sum.terms,
                                   [&](const Term& term) { return any_symbol(term.factor, visit); });
      },
      [&](const Product& product) {
        return std::ranges::any_of(product.factors,
                                   [&](const Expr& factor) { return any_symbol(factor, visit); });
      },
      [&](const FloorDiv& div) { return both(div.dividend, div.divisor); },
      [&](const FloorMod& mod) { return both(mod.dividend, mod.divisor); },
      [&](const Least& extreme) { return both(extreme.a, extreme.b); },
      [&](const Greatest& extreme) { return both(extreme.a, extreme.b); });
}

void collect_symbols(const Expr& expr, std::set<Symbol>& symbols) {
  any_symbol(expr, [&](Symbol symbol) {
    symbols.insert(symbol);
    return false;
  });
}

Expr rebuild(const Expr& expr, const Substitution& substitution) {
  const auto inner = [&](const Expr& part) { return substitute(part, substitution); };
  return match(
      expr.form(),
      [&](const Symbol& symbol) {
        const auto found = substitution.find(symbol);
        return found == substitution.end() ? expr : found->second;
      },
      [&](const Sum& sum) {
        Expr result = sum.offset;
        for (const Term& term : sum.terms) result = result + inner(term.factor) * Expr(term.scale);
        return result;
      },
      [&](const Product& product_of) {
        Expr result = 1;
        for (const Expr& factor : product_of.factors) result = result * inner(factor);
        return result;
      },
      [&](const FloorDiv& div) { return floor_div(inner(div.dividend), inner(div.divisor)); },
      [&](const FloorMod& mod) { return floor_mod(inner(mod.dividend), inner(mod.divisor)); },
      [&](const Least& extreme) { return least(inner(extreme.a), inner(extreme.b)); },
      [&](const Greatest& extreme) { return greatest(inner(extreme.a), inner(extreme.b)); });
}

// The scale of the symbol in one term's factor, which mentions it: the other factors where it is one of
// them, nothing where it is used in another way.
std::optional<Expr> scale_in_factor(const Expr& factor, Symbol symbol) {
  const Expr wanted(symbol);
  const auto others = without_factors(factors_of(factor), std::span(&wanted, 1));
  if (!others) return std::nullopt;
  const bool again = std::ranges::any_of(*others, [&](const Expr& other) { return mentions(other, symbol); });
  return again ? std::nullopt : std::optional(make_product(*others));
}

std::optional<Expr> scale_in(const Expr& expr, Symbol symbol) {
  Expr sum = 0;
  for (const TermsOf terms(expr); const Term& term : terms.terms()) {
    if (!mentions(term.factor, symbol)) continue;
    const auto scale = scale_in_factor(term.factor, symbol);
    if (!scale) return std::nullopt;
    sum = sum + *scale * Expr(term.scale);
  }
  return sum;
}

}  // namespace

std::optional<std::int64_t> constant_of(const Expr& expr) {
  const Sum* sum = as<Sum>(expr);
  return sum && sum->terms.empty() ? std::optional(sum->offset) : std::nullopt;
}

std::optional<Symbol> symbol_of(const Expr& expr) {
  const Symbol* symbol = as<Symbol>(expr);
  return symbol ? std::optional(*symbol) : std::nullopt;
}

std::set<Symbol> symbols_of(const Expr& expr) {
  std::set<Symbol> symbols;
  collect_symbols(expr, symbols);
  return symbols;
}

std::set<Symbol> symbols_of(const Condition& condition) {
  std::set<Symbol> symbols;
  for (const Less& less : condition.all) {
    collect_symbols(less.a, symbols);
    collect_symbols(less.b, symbols);
  }
  return symbols;
}

bool any_symbol(const Expr& expr, const std::function<bool(Symbol symbol)>& is_enough) {
  return any_symbol<std::function<bool(Symbol symbol)>>(expr, is_enough);
}

bool mentions(const Expr& expr, Symbol symbol) {
  return any_symbol(expr, [&](Symbol other) { return other == symbol; });
}

Expr product(std::span<const Expr> factors) {
  Expr result = 1;
  for (const Expr& factor : factors) result = result * factor;
  return result;
}

std::vector<Expr> contiguous_strides(std::span<const Expr> sizes) {
  std::vector<Expr> strides(sizes.size(), Expr(1));
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return strides;
}

Expr substitute(const Expr& expr, const Substitution& substitution) {
  const auto replaced = [&](Symbol symbol) { return substitution.contains(symbol); };
  return any_symbol(expr, replaced) ? rebuild(expr, substitution) : expr;
}

Condition substitute(const Condition& condition, const Substitution& substitution) {
  Condition result;
  for (const Less& less : condition.all) {
    result.all.push_back({substitute(less.a, substitution), substitute(less.b, substitution)});
  }
  return result && Condition{};
}

std::optional<Linear> linear_in(const Expr& expr, Symbol symbol) {
  if (!mentions(expr, symbol)) return Linear{Expr(0), expr};
  auto scale = scale_in(expr, symbol);
  if (!scale) return std::nullopt;
  const TermsOf sum(expr);
  std::vector<Term> rest;
  for (const Term& term : sum.terms())
    if (!mentions(term.factor, symbol)) rest.push_back(term);
  return Linear{std::move(*scale), make_sum(std::move(rest), sum.offset())};
}

// Scales of products mention what they are products of.
std::optional<std::int64_t> constant_scale_in(const Expr& expr, Symbol symbol) {
  std::int64_t scale = 0;
  for (const TermsOf terms(expr); const Term& term : terms.terms()) {
    if (symbol_of(term.factor) == symbol)
      scale = term.scale;
    else if (mentions(term.factor, symbol))
      return std::nullopt;
  }
  return scale;
}

Condition operator&&(const Condition& a, const Condition& b) {
  Condition result;
  for (const Condition* condition : {&a, &b}) {
    for (const Less& less : condition->all) {
      if (std::ranges::find(result.all, less) == result.all.end()) result.all.push_back(less);
    }
  }
  return result;
}

// Each gap b - a of a < b is at least 1, so one below 1, or two that are together below 2, cannot be.
bool never_holds(const Condition& condition) {
  std::vector<Expr> gaps;
  for (const Less& less : condition.all) gaps.push_back(less.b - less.a);
  for (std::size_t k = 0; k < gaps.size(); ++k) {
    if (constant_of(gaps[k]).value_or(1) < 1) return true;
    for (std::size_t other = 0; other < k; ++other)
      if (constant_of(gaps[k] + gaps[other]).value_or(2) < 2) return true;
  }
  return false;
}

}  // namespace twinloom::index
