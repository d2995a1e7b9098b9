// The table of rules that need facts, and the walk that applies them from the leaves up until none
// fires. A rule is given an expression whose parts are simplified already, and returns nothing or an
// expression that is equal under the facts; the functions are in rules_*.cpp. What is true for all
// integers belongs to the makers (divide.cpp), unless it needs a search.
#include "core/index/simplify.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "core/index/prove.h"
#include "core/index/rules.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

constexpr Rule table[] = {
    {"one-value", replace_by_only_value, "2*n + i | n in 3..3", "i + 6"},
    {"equal", replace_by_equal, "i*k | k = m*n", "i*m*n"},
    {"div-below-divisor", divide_small, "floor_div(i, n) | n in 1.., i < n", "0"},
    {"div-by-sum", divide_by_sum, "floor_div(i*n + i + j, n + 1) | n in 0.., j < n + 1", "i"},
    {"div-common-factor", divide_common_factor, "floor_div(i*n, m*n) | n in 1.., m in 1..",
     "floor_div(i, m)"},
    {"div-drop-small-rest", divide_aligned, "floor_div(3*i + j, 8) | i % 4, j in 0..3", "floor_div(3*i, 8)"},
    {"div-of-negated-multiple", divide_negated, "floor_div(i - j, 8) | j % 8, i in 0..9",
     "floor_div(i, 8) - floor_div(j, 8)"},
    {"div-times-divisor", multiply_back, "8*floor_div(n, 4) + i | n % 4", "2*n + i"},
    {"div-of-mod", divide_of_remainder, "floor_div(floor_mod(i, m*n), n) | n in 1.., m in 1..",
     "floor_mod(floor_div(i, n), m)"},
    {"mod-below-divisor", remainder_small, "floor_mod(i, n) | n in 1.., i < n", "i"},
    {"mod-by-sum", remainder_by_sum, "floor_mod(i*n + i + j, n + 1) | n in 0.., j < n + 1", "j"},
    {"mod-common-factor", remainder_common_factor, "floor_mod(i*n, m*n) | n in 1.., m in 1..",
     "n*floor_mod(i, m)"},
    {"mod-of-multiple", remainder_of_multiple, "floor_mod(i + j, 4) | i % 4", "floor_mod(j, 4)"},
    {"mod-free-small-rest", remainder_aligned, "floor_mod(3*i + j, 8) | i % 4, j in 0..3",
     "floor_mod(3*i, 8) + j"},
    {"mod-of-mod", remainder_of_remainder, "floor_mod(floor_mod(i, m*n), n) | n in 1.., m in 1..",
     "floor_mod(i, n)"},
    {"div-and-mod-of-one", recombine_quotient, "n*floor_div(i, n) + floor_mod(i, n) | n in 1..", "i"},
    {"mod-and-mod-of-div", recombine_remainders,
     "4*floor_mod(floor_div(i, 4), 2) + floor_mod(i, 4) | i in 0..99", "floor_mod(i, 8)"},
    {"least-decided", decide_least, "least(i, n) | i < n", "i"},
    {"greatest-decided", decide_greatest, "greatest(i, n) | i < n", "n"},
};

// Each rule makes an expression shorter or closer to the canonical form; more firings than this in
// one call mean two rules that undo each other.
constexpr int firing_limit = 20000;

struct SameForm {
  bool operator()(const Expr& a, const Expr& b) const { return a == b; }
};
struct HashOfForm {
  std::size_t operator()(const Expr& expr) const { return static_cast<std::size_t>(expr.hash()); }
};

class Walk {
 public:
  explicit Walk(const Facts& facts) : facts_(facts) {}
  const Facts& facts() const { return facts_; }

  Expr run(const Expr& expr) {
    firings_ = 0;
    return simplified(expr);
  }

 private:
  Expr simplified(const Expr& expr) {
    if (constant_of(expr)) return expr;
    if (const auto known = done_.find(expr); known != done_.end()) return known->second;
    const Expr result = step(expr);
    done_.emplace(expr, result);
    return result;
  }

  Expr step(const Expr& expr) {
    const Expr rebuilt = with_simplified_parts(expr);
    // The makers may have taken it apart, so its parts are looked at again.
    if (rebuilt != expr) return simplified(rebuilt);
    for (const Rule& rule : table) {
      const Rewritten better = apply(rule, expr);
      if (!better || *better == expr) continue;
      CHECK(++firings_ < firing_limit, "simplify does not end: rule ", rule.name, " on ", expr);
      return simplified(*better);
    }
    return expr;
  }

  Rewritten apply(const Rule& rule, const Expr& expr) const {
    try {
      return rule.apply(expr, facts_);
    } catch (const Error&) {
      return std::nullopt;  // the other form would not fit 64 bits, so this one stays
    }
  }

  Expr with_simplified_parts(const Expr& expr) {
    return match(
        expr.form(), [&](const Symbol&) { return expr; }, [&](const Sum& sum) { return rebuilt(expr, sum); },
        [&](const Product& product) { return rebuilt(expr, product); },
        [&](const FloorDiv& x) { return rebuilt(expr, x.dividend, x.divisor, floor_div); },
        [&](const FloorMod& x) { return rebuilt(expr, x.dividend, x.divisor, floor_mod); },
        [&](const Least& x) { return rebuilt(expr, x.a, x.b, least); },
        [&](const Greatest& x) { return rebuilt(expr, x.a, x.b, greatest); });
  }

  Expr rebuilt(const Expr& expr, const Expr& a, const Expr& b, Expr (*make)(const Expr&, const Expr&)) {
    const Expr x = simplified(a), y = simplified(b);
    return x == a && y == b ? expr : make(x, y);
  }

  Expr rebuilt(const Expr& expr, const Sum& sum) {
    Expr result = expr;
    for (const Term& term : sum.terms) {
      const Expr factor = simplified(term.factor);
      if (factor == term.factor) continue;
      result = result - Expr(term.scale) * term.factor + Expr(term.scale) * factor;
    }
    return result;
  }

  Expr rebuilt(const Expr& expr, const Product& product_of) {
    std::vector<Expr> factors;
    bool same = true;
    for (const Expr& factor : product_of.factors) {
      factors.push_back(simplified(factor));
      same = same && factors.back() == factor;
    }
    return same ? expr : product(factors);
  }

  const Facts& facts_;
  std::unordered_map<Expr, Expr, HashOfForm, SameForm> done_;
  int firings_ = 0;
};

}  // namespace

std::span<const Rule> rules() { return table; }

Expr simplify(const Expr& expr, const Facts& facts) { return Walk(facts).run(expr); }

namespace {

// What divides all terms but those of the part, and is seen without making the rest; 0 of none.
std::int64_t divisor_without(const Expr& part, const Expr& expr, const Facts& facts) {
  const std::optional<Symbol> symbol = symbol_of(part);
  std::int64_t divisor = 0;
  for (const TermsOf sum(expr); const Term& term : sum.terms())
    if (divisor != 1 && !(symbol ? mentions(term.factor, *symbol) : term.factor == part))
      divisor = std::gcd(divisor, facts.divisor(term.factor * Expr(term.scale)));
  return divisor;
}

// expr == scale * part + rest: of a symbol, or of a quotient or remainder that is a term of its own.
std::optional<Linear> linear_in_part(const Expr& expr, const Expr& part) {
  if (const auto symbol = symbol_of(part)) return linear_in(expr, *symbol);
  for (const TermsOf sum(expr); const Term& term : sum.terms())
    if (term.factor == part) return Linear{Expr(term.scale), expr - term.scale * part};
  return Linear{Expr(0), expr};
}

// a < b without a part that cannot decide it: 8*i + j < 512 with 0 <= j < 8 is 8*i < 512. With b - a = base
// + k + small, d dividing base, it is base > -(k + small), which is base > d*q for q = floor(-(k + small) /
// d).
std::optional<Less> without(const Expr& part, const Less& less, const Facts& facts) {
  if (const auto gap = difference(less.b, less.a); gap && divisor_without(part, *gap, facts) < 2)
    return std::nullopt;
  const auto a = linear_in_part(less.a, part), b = linear_in_part(less.b, part);
  if (!a || !b) return std::nullopt;
  const Less rest{a->rest, b->rest};
  const Expr far = rest.b - rest.a;
  const std::int64_t k = TermsOf(far).offset();
  const Range small = facts.range((b->scale - a->scale) * part);
  const std::int64_t divisor = facts.divisor(far - k);
  if (divisor < 2 || !small.low || !small.high) return std::nullopt;
  const auto quotient = [&](std::int64_t number) { return floor_div(-(Expr(k) + number), divisor); };
  if (quotient(*small.low) != quotient(*small.high)) return std::nullopt;
  const Expr more = -Expr(k) - quotient(*small.low) * divisor;
  return constant_of(rest.a) ? Less{rest.a - more, rest.b} : Less{rest.a, rest.b + more};
}

// Symbols, and the quotients and remainders that are terms.
std::vector<Expr> parts_of(const Less& less) {
  std::vector<Expr> parts;
  for (const Symbol& symbol : symbols_of(Condition{{less}})) parts.emplace_back(symbol);
  for (const Expr& side : {less.a, less.b}) {
    for (const TermsOf sum(side); const Term& term : sum.terms()) {
      const Node& node = term.factor.form().node;
      if (std::holds_alternative<FloorDiv>(node) || std::holds_alternative<FloorMod>(node))
        parts.push_back(term.factor);
    }
  }
  return parts;
}

Less without_idle_parts(Less less, const Facts& facts) {
  for (const Expr& part : parts_of(less)) {
    try {
      if (auto shorter = without(part, less, facts)) less = std::move(*shorter);
    } catch (const Error&) {
      continue;  // the other form would not fit 64 bits
    }
  }
  return less;
}

// Until nothing changes: what a part left behind may be shorter, or decide for another. Each round but the
// last takes a part away.
Less simplified(const Less& less, Walk& walk) {
  Less shorter{walk.run(less.a), walk.run(less.b)};
  for (Less next = without_idle_parts(shorter, walk.facts()); next != shorter;
       next = without_idle_parts(shorter, walk.facts()))
    shorter = {walk.run(next.a), walk.run(next.b)};
  return shorter;
}

Condition simplified(const Condition& condition, Walk& walk) {
  const Facts& facts = walk.facts();
  Condition left;
  for (const Less& less : condition.all) {
    const Less shorter = simplified(less, walk);
    if (facts.proves_less(shorter.a, shorter.b)) continue;
    const auto excess = difference(shorter.a, shorter.b);
    const auto above = excess ? add_scaled(*excess, Expr(1), 1) : std::nullopt;
    if (above && proves_positive(*above, facts)) return Condition{{Less{Expr(0), Expr(0)}}};
    left.all.push_back(shorter);
  }
  return left && Condition{};
}

}  // namespace

Condition simplify(const Condition& condition, const Facts& facts) {
  if (condition.all.empty()) return condition;
  Walk walk(facts);
  return simplified(condition, walk);
}

class Simplifier::Memo {
 public:
  explicit Memo(const Facts& facts) : walk_(facts) {}
  Expr simplified(const Expr& expr) { return walk_.run(expr); }
  Condition simplified(const Condition& condition) {
    if (condition.all.empty()) return condition;
    const auto same = [&](const Known& known) { return known.first == condition; };
    const auto known = std::ranges::find_if(conditions_, same);
    if (known != conditions_.end()) return known->second;
    Condition shorter = index::simplified(condition, walk_);
    conditions_.emplace_back(condition, shorter);
    return shorter;
  }

 private:
  using Known = std::pair<Condition, Condition>;
  Walk walk_;
  std::vector<Known> conditions_;
};

Simplifier::Simplifier(const Facts& facts) : memo_(std::make_unique<Memo>(facts)) {}
Simplifier::~Simplifier() = default;
Expr Simplifier::operator()(const Expr& expr) const { return memo_->simplified(expr); }
Condition Simplifier::operator()(const Condition& condition) const { return memo_->simplified(condition); }

}  // namespace twinloom::index
