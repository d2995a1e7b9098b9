// Rules over values: known ones, equal ones, decided least and greatest, and quotients that meet
// their remainders again.
#include <algorithm>

#include "core/index/prove.h"
#include "core/index/rules.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

template <class Kind>
std::vector<Expr> arguments_of(const Kind& kind) {
  std::vector<Expr> arguments{kind.a};
  const Kind* rest = as<Kind>(kind.b);
  while (rest) {
    arguments.push_back(rest->a);
    if (!as<Kind>(rest->b)) break;
    rest = as<Kind>(rest->b);
  }
  arguments.push_back(rest ? rest->b : kind.b);
  return arguments;
}

// a <= b
bool proves_at_most(const Expr& a, const Expr& b, const Facts& facts) {
  const auto distance = difference(b, a);
  const auto above = distance ? add_scaled(*distance, Expr(1), 1) : std::nullopt;
  return above && proves_positive(*above, facts);
}

// Leaves out what another argument beats. beats(a, b): b is never needed beside a.
template <class Beats>
Rewritten without_beaten(std::vector<Expr> arguments, const Beats& beats,
                         Expr (*make)(const Expr&, const Expr&)) {
  const std::size_t before = arguments.size();
  for (std::size_t i = 0; i < arguments.size();) {
    const auto beaten = [&](const Expr& other) {
      return &other != &arguments[i] && beats(other, arguments[i]);
    };
    if (std::ranges::any_of(arguments, beaten)) {
      arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (arguments.size() == before) return std::nullopt;
  Expr result = arguments[0];
  for (const Expr& argument : arguments) result = make(result, argument);
  return result;
}

// A term scale*others*operation of a sum.
struct Part {
  const Term* term;
  const FloorMod* mod;
  Expr scale;  // scale*others
};

std::vector<Part> remainders_in(const Sum& sum) {
  std::vector<Part> parts;
  for (const Term& term : sum.terms) {
    for (const Expr& factor : factors_of(term.factor)) {
      const FloorMod* mod = as<FloorMod>(factor);
      if (!mod) continue;
      const auto others = without_factors(factors_of(term.factor), std::span(&factor, 1));
      parts.push_back({&term, mod, make_product(*others) * Expr(term.scale)});
    }
  }
  return parts;
}

bool has_term(std::span<const Term> terms, const Term& wanted) {
  return std::ranges::any_of(
      terms, [&](const Term& term) { return term.scale == wanted.scale && term.factor == wanted.factor; });
}

// Every term of `part` stands in `sum` with the same scale.
bool contains(const Sum& sum, const Expr& part) {
  const TermsOf wanted(part);
  return std::ranges::all_of(wanted.terms(), [&](const Term& term) { return has_term(sum.terms, term); });
}

}  // namespace

Rewritten replace_by_only_value(const Expr& expr, const Facts& facts) {
  const Range range = facts.range(expr);
  if (!range.low || range.low != range.high) return std::nullopt;
  return Expr(*range.low);
}

Rewritten replace_by_equal(const Expr& expr, const Facts& facts) {
  for (const auto& [kept, replaced] : facts.equalities()) {
    if (expr == replaced) return kept;
    // Part of a product: m*n*i with m*n = k.
    if (!as<Product>(expr) || !as<Product>(replaced)) continue;
    if (const auto others = without_factors(factors_of(expr), factors_of(replaced))) {
      return kept * make_product(*others);
    }
  }
  return std::nullopt;
}

Rewritten decide_least(const Expr& expr, const Facts& facts) {
  const Least* extreme = as<Least>(expr);
  if (!extreme) return std::nullopt;
  const auto beats = [&](const Expr& a, const Expr& b) { return proves_at_most(a, b, facts); };
  return without_beaten(arguments_of(*extreme), beats, least);
}

Rewritten decide_greatest(const Expr& expr, const Facts& facts) {
  const Greatest* extreme = as<Greatest>(expr);
  if (!extreme) return std::nullopt;
  const auto beats = [&](const Expr& a, const Expr& b) { return proves_at_most(b, a, facts); };
  return without_beaten(arguments_of(*extreme), beats, greatest);
}

// s*d*floor_div(x, d) + s*floor_mod(x, d) = s*x
Rewritten recombine_quotient(const Expr& expr, const Facts&) {
  const Sum* sum = as<Sum>(expr);
  if (!sum || sum->terms.size() < 2) return std::nullopt;
  for (const Part& part : remainders_in(*sum)) {
    const Expr quotient = floor_div(part.mod->dividend, part.mod->divisor);
    const Expr whole = part.scale * part.mod->divisor * quotient;
    if (constant_of(whole) || !contains(*sum, whole)) continue;
    return without_term(expr, *part.term) - whole + part.scale * part.mod->dividend;
  }
  return std::nullopt;
}

// s*b*floor_mod(q + floor_div(x, b), a) + s*floor_mod(x, b) = s*floor_mod(b*q + x, a*b):
// b*q + x has the quotient q + floor_div(x, b) and the remainder floor_mod(x, b).
Rewritten recombine_remainders(const Expr& expr, const Facts&) {
  const Sum* sum = as<Sum>(expr);
  if (!sum || sum->terms.size() < 2) return std::nullopt;
  const std::vector<Part> parts = remainders_in(*sum);
  for (const Part& low : parts) {
    const Expr quotient = floor_div(low.mod->dividend, low.mod->divisor);
    const TermsOf searched(quotient);
    if (searched.terms().empty()) continue;
    for (const Part& high : parts) {
      if (high.term == low.term || high.scale != low.scale * low.mod->divisor) continue;
      const TermsOf dividend(high.mod->dividend);
      const bool found = std::ranges::all_of(
          searched.terms(), [&](const Term& term) { return has_term(dividend.terms(), term); });
      if (!found) continue;
      const Expr before = high.mod->dividend - quotient;
      const Expr both =
          floor_mod(low.mod->divisor * before + low.mod->dividend, high.mod->divisor * low.mod->divisor);
      return without_term(without_term(expr, *low.term), *high.term) + low.scale * both;
    }
  }
  return std::nullopt;
}

}  // namespace twinloom::index
