// Proves that an expression is positive by replacing its parts, one after the other, with what makes
// it smallest, until the range of what is left settles it:
//   n*m - i*m - k >= 1 | i < n, k < m:   i = n - 1 gives m - k, k = m - 1 gives 1
//   n - 8*floor_div(n, 8) + 1 >= 1:      8*floor_div(n, 8) <= n leaves 1
// Each replacement can only make the value smaller, so what is proven of the last holds of the first.
#include "core/index/prove.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

// Replacements in one proof, over all its branches. Proofs that succeed need a handful.
constexpr int step_limit = 32;

enum class Trend : std::uint8_t {
  none,   // does not depend on the symbol
  up,     // never falls while the symbol grows
  down,   // never grows while the symbol grows
  mixed,  // not known
};

Trend reversed(Trend trend) {
  return trend == Trend::up ? Trend::down : trend == Trend::down ? Trend::up : trend;
}

Trend joined(Trend a, Trend b) {
  if (a == Trend::none || a == b) return b;
  return b == Trend::none ? a : Trend::mixed;
}

class Proof {
 public:
  explicit Proof(const Facts& facts) : facts_(facts) {}

  bool positive(const Expr& expr) {
    const Range range = facts_.range(expr);
    if (range.low && *range.low >= 1) return true;
    if (constant_of(expr) || ++steps_ > step_limit) return false;
    if (const auto decided = by_operations(expr)) return *decided;
    return by_symbols(expr);
  }

 private:
  int sign_of(const Expr& expr) const {
    const Range range = facts_.range(expr);
    if (range.low && *range.low >= 0) return 1;
    return range.high && *range.high <= 0 ? -1 : 0;
  }

  Trend trend_of_product(std::span<const Expr> factors, Symbol symbol) const {
    std::vector<Expr> others;
    Trend trend = Trend::none;
    for (const Expr& factor : factors) {
      if (!mentions(factor, symbol)) {
        others.push_back(factor);
      } else if (trend == Trend::none) {
        trend = trend_in(factor, symbol);
      } else {
        return Trend::mixed;
      }
    }
    if (trend == Trend::none) return trend;
    const int sign = sign_of(make_product(std::move(others)));
    return sign > 0 ? trend : sign < 0 ? reversed(trend) : Trend::mixed;
  }

  Trend trend_in(const Expr& expr, Symbol symbol) const {
    const auto of_both = [&](const Expr& a, const Expr& b) {
      return joined(trend_in(a, symbol), trend_in(b, symbol));
    };
    return match(
        expr.form(), [&](const Symbol& other) { return other == symbol ? Trend::up : Trend::none; },
        [&](const Sum& sum) {
          Trend trend = Trend::none;
          for (const Term& term : sum.terms) {
            const Trend part = trend_in(term.factor, symbol);
            trend = joined(trend, term.scale > 0 ? part : reversed(part));
          }
          return trend == Trend::mixed ? trend_by_scale(expr, symbol) : trend;
        },
        [&](const Product& product) { return trend_of_product(product.factors, symbol); },
        [&](const FloorDiv& div) {
          return mentions(div.divisor, symbol) ? Trend::mixed : trend_in(div.dividend, symbol);
        },
        [&](const FloorMod& mod) {
          return mentions(mod.dividend, symbol) || mentions(mod.divisor, symbol) ? Trend::mixed : Trend::none;
        },
        [&](const Least& least) { return of_both(least.a, least.b); },
        [&](const Greatest& greatest) { return of_both(greatest.a, greatest.b); });
  }

  // m*i - i grows with i when m >= 1, though its two terms disagree.
  Trend trend_by_scale(const Expr& expr, Symbol symbol) const {
    const auto linear = linear_in(expr, symbol);
    const int sign = linear ? sign_of(linear->scale) : 0;
    return sign > 0 ? Trend::up : sign < 0 ? Trend::down : Trend::mixed;
  }

  // The parts floor_div, floor_mod, least and greatest of a term, replaced by a bound. Nothing when
  // no term has one that can be replaced. What must hold of both sides of an extreme comes first, since a
  // side that is chosen may only do for one of the cases: least(8, n) - least(4, n).
  std::optional<bool> by_operations(const Expr& expr) {
    for (const bool of_both : {true, false}) {
      for (const TermsOf sum(expr); const Term& term : sum.terms()) {
        for (const Expr& factor : factors_of(term.factor)) {
          if (as<Symbol>(factor) != nullptr) continue;
          const Expr wanted = factor;
          const auto others = without_factors(factors_of(term.factor), std::span(&wanted, 1));
          const Expr scale = make_product(*others) * Expr(term.scale);
          if (needs_both(factor, scale) != of_both) continue;
          if (const auto decided = by_operation(factor, scale, without_term(expr, term))) return decided;
        }
      }
    }
    return std::nullopt;
  }

  bool needs_both(const Expr& operation, const Expr& scale) const {
    if (as<Least>(operation) != nullptr) return sign_of(scale) > 0;
    return as<Greatest>(operation) != nullptr && sign_of(scale) < 0;
  }

  // scale*operation + rest >= 1
  std::optional<bool> by_operation(const Expr& operation, const Expr& scale, const Expr& rest) {
    const int sign = sign_of(scale);
    if (sign == 0) return std::nullopt;
    if (const FloorDiv* div = as<FloorDiv>(operation)) return by_division(*div, scale, rest, sign);
    if (const FloorMod* mod = as<FloorMod>(operation)) {
      if (sign > 0) return positive(rest);
      return positive(rest + scale * (mod->divisor - 1)) ||
             (sign_of(mod->dividend) > 0 && positive(rest + scale * mod->dividend));
    }
    if (const Least* least = as<Least>(operation))
      return by_extreme(least->a, least->b, scale, rest, sign > 0);
    if (const Greatest* greatest = as<Greatest>(operation)) {
      return by_extreme(greatest->a, greatest->b, scale, rest, sign < 0);
    }
    return std::nullopt;
  }

  // x - d + 1 <= d*floor_div(x, d) <= x, for a scale that is a multiple of d. Where d divides x, the whole
  // times d is as positive as the whole.
  std::optional<bool> by_division(const FloorDiv& div, const Expr& scale, const Expr& rest, int sign) {
    const auto divisor = constant_of(div.divisor);
    if (divisor && facts_.divisor(div.dividend) % *divisor == 0)
      return positive(rest * *divisor + scale * div.dividend);
    if (constant_of(floor_mod(scale, div.divisor)) != 0) return std::nullopt;
    const Expr times = floor_div(scale, div.divisor);
    const Expr bound = sign > 0 ? div.dividend - div.divisor + 1 : div.dividend;
    return positive(rest + times * bound);
  }

  bool by_extreme(const Expr& a, const Expr& b, const Expr& scale, const Expr& rest, bool both_needed) {
    const bool first = positive(rest + scale * a);
    if (first != both_needed) return first;
    return positive(rest + scale * b);
  }

  // A symbol that bounds another one must wait for it: 0 <= n - 1 - i needs i = n - 1 first. Sizes come
  // last, because their lowest value says little while a counter below them is left.
  int turn_of(Symbol symbol, const std::set<Symbol>& present) const {
    if (extents_of(symbol).empty()) return 2;
    const bool bounds_another = std::ranges::any_of(present, [&](Symbol other) {
      return other != symbol && std::ranges::any_of(extents_of(other), [&](const Expr& extent) {
               return mentions(with_kept_symbols(extent), symbol);
             });
    });
    return bounds_another ? 1 : 0;
  }

  std::span<const Expr> extents_of(Symbol symbol) const {
    const auto found = facts_.symbols().find(symbol);
    return found == facts_.symbols().end() ? std::span<const Expr>() : std::span(found->second.below);
  }

  bool by_symbols(const Expr& expr) {
    const std::set<Symbol> present = symbols_of(expr);
    for (const int turn : {0, 1, 2}) {
      for (const Symbol& symbol : present) {
        if (turn_of(symbol, present) != turn) continue;
        if (const auto decided = by_symbol(expr, symbol)) return *decided;
      }
    }
    return false;
  }

  std::optional<bool> by_symbol(const Expr& expr, Symbol symbol) {
    const auto found = facts_.symbols().find(symbol);
    if (found == facts_.symbols().end()) return std::nullopt;
    const Trend trend = trend_in(expr, symbol);
    const Facts::About& about = found->second;
    if (trend == Trend::up && about.range.low)
      return positive(substitute(expr, {{symbol, Expr(*about.range.low)}}));
    if (trend != Trend::down || (about.below.empty() && !about.range.high)) return std::nullopt;
    const auto replaced_by = [&](const Expr& highest) {
      return positive(substitute(expr, {{symbol, highest}}));
    };
    const auto below = [&](const Expr& extent) { return replaced_by(with_kept_symbols(extent) - 1); };
    return std::ranges::any_of(about.below, below) ||
           (about.range.high && replaced_by(Expr(*about.range.high)));
  }

  // An extent speaks of the symbols it was given, an expression to prove of those that were kept.
  Expr with_kept_symbols(const Expr& extent) const {
    if (facts_.equalities().empty()) return extent;
    Expr result = extent;
    for (const auto& [kept, replaced] : facts_.equalities()) {
      if (const auto symbol = symbol_of(replaced)) result = substitute(result, {{*symbol, kept}});
      if (result == replaced) result = kept;
    }
    return result;
  }

  const Facts& facts_;
  int steps_ = 0;
};

}  // namespace

std::optional<Expr> difference(const Expr& a, const Expr& b) { return add_scaled(a, b, -1); }

bool proves_positive(const Expr& expr, const Facts& facts) {
  const Range range = facts.range(expr);
  if (range.low && *range.low >= 1) return true;
  // A value that is known to be at most 0 needs no proof that it is not.
  if (constant_of(expr) || (range.high && *range.high <= 0)) return false;
  try {
    return Proof(facts).positive(expr);
  } catch (const Error&) {
    return false;  // a step of the proof left 64 bits, so nothing is proven
  }
}

bool proves_within(const Expr& expr, const Expr& bound, const Facts& facts) {
  const Range range = facts.range(expr);
  const bool natural = range.low && *range.low >= 0;
  const auto above = natural ? std::optional(Expr(1)) : add_scaled(Expr(1), expr, 1);
  const auto below = difference(bound, expr);
  return above && below && proves_positive(*above, facts) && proves_positive(*below, facts);
}

bool Facts::proves_less(const Expr& a, const Expr& b) const {
  const auto distance = difference(b, a);
  if (!distance) return false;
  if (proves_positive(*distance, *this)) return true;
  const Expr shorter = simplify(*distance, *this);
  return shorter != *distance && proves_positive(shorter, *this);
}

bool Facts::proves_equal(const Expr& a, const Expr& b) const {
  if (a == b) return true;
  const auto distance = difference(a, b);
  return distance && constant_of(simplify(*distance, *this)) == 0;
}

}  // namespace twinloom::index
