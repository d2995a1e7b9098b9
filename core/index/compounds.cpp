// See compounds.h.
#include "core/index/compounds.h"

#include <algorithm>

#include "core/base/match.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

// What stands for a part, or the part itself.
using Name = std::function<Expr(const Expr& part)>;
using IsSettled = std::function<bool(const Expr& expr)>;

// Rebuilds an expression from the inside out, with names for the smallest products, divisions and extremes
// that mention a symbol that nothing tells.
class Renaming {
 public:
  Renaming(IsSettled is_settled, Name name) : is_settled_(std::move(is_settled)), name_(std::move(name)) {}

  Expr of(const Expr& expr) const {
    if (is_settled_(expr)) return expr;
    return match(
        expr.form(), [&](const Symbol&) { return expr; },
        [&](const Sum& sum) {
          Expr result = sum.offset;
          for (const Term& term : sum.terms) result = result + of(term.factor) * Expr(term.scale);
          return result;
        },
        [&](const Product& node) { return product_of(node); },
        [&](const FloorDiv& node) { return named(floor_div(of(node.dividend), of(node.divisor))); },
        [&](const FloorMod& node) { return named(floor_mod(of(node.dividend), of(node.divisor))); },
        [&](const Least& node) { return named(least(of(node.a), of(node.b))); },
        [&](const Greatest& node) { return named(greatest(of(node.a), of(node.b))); });
  }

 private:
  Expr named(const Expr& part) const { return is_settled_(part) || symbol_of(part) ? part : name_(part); }
  // What is settled stays outside: n*a*b is n times the part a*b.
  Expr product_of(const Product& node) const {
    Expr settled = 1;
    Expr open = 1;
    for (const Expr& factor : node.factors) {
      const Expr made = of(factor);
      Expr& side = is_settled_(made) ? settled : open;
      side = side * made;
    }
    return settled * named(open);
  }

  IsSettled is_settled_;
  Name name_;
};

// scale and offset for which expr == scale*whole + offset.
std::optional<std::pair<std::int64_t, std::int64_t>> multiple_of(const Expr& expr, const Expr& whole) {
  const TermsOf sum(expr), base(whole);
  if (base.terms().empty()) return std::nullopt;
  const Term& first = base.terms().front();
  const auto same = std::ranges::find(sum.terms(), first.factor, &Term::factor);
  if (same == sum.terms().end() || same->scale % first.scale != 0) return std::nullopt;
  const std::int64_t scale = same->scale / first.scale;
  const auto rest = add_scaled(expr, whole, -scale);
  const auto offset = rest ? constant_of(*rest) : std::nullopt;
  return offset ? std::optional(std::pair(scale, *offset)) : std::nullopt;
}

bool all_within(const Expr& expr, const std::set<Symbol>& symbols) {
  return std::ranges::includes(symbols, symbols_of(expr));
}

}  // namespace

std::set<Symbol> solvable(std::span<const Expr> told) {
  std::set<Symbol> known;
  bool found = true;
  while (found) {
    found = false;
    for (const Expr& expr : told) {
      std::vector<Symbol> unknown;
      for (const Symbol symbol : symbols_of(expr))
        if (!known.contains(symbol)) unknown.push_back(symbol);
      if (unknown.size() != 1) continue;
      const auto linear = linear_in(expr, unknown[0]);
      if (!linear || constant_of(linear->scale) == 0) continue;
      known.insert(unknown[0]);
      found = true;
    }
  }
  return known;
}

Compounds::Compounds(std::vector<Expr> told, const std::function<Symbol()>& make_symbol)
    : solvable_(solvable(told)) {
  std::set<Symbol> settled = solvable_;
  const Renaming renaming([&](const Expr& expr) { return all_within(expr, settled); },
                          [&](const Expr& part) {
                            const auto found = std::ranges::find(parts_, part, &Named::first);
                            if (found != parts_.end()) return Expr(found->second);
                            parts_.emplace_back(part, make_symbol());
                            settled.insert(parts_.back().second);
                            return Expr(parts_.back().second);
                          });
  for (Expr& expr : told) expr = renaming.of(expr);
  solvable_ = solvable(told);
  for (const Expr& expr : told) {
    if (is_solvable(expr) || from_wholes(expr)) continue;
    wholes_.emplace_back(expr, make_symbol());
  }
}

bool Compounds::is_solvable(const Expr& expr) const { return all_within(expr, solvable_); }

std::optional<Expr> Compounds::from_wholes(const Expr& expr) const {
  for (const auto& [whole, symbol] : wholes_) {
    if (const auto found = multiple_of(expr, whole))
      return Expr(found->first) * Expr(symbol) + Expr(found->second);
  }
  return std::nullopt;
}

std::optional<Expr> Compounds::resolved(const Expr& expr) const {
  if (is_solvable(expr)) return expr;
  // A part that nothing told must not hide what is known inside it, so it stays as it is.
  const Renaming renaming([&](const Expr& part) { return is_solvable(part); },
                          [&](const Expr& part) {
                            const auto found = std::ranges::find(parts_, part, &Named::first);
                            return found == parts_.end() ? part : Expr(found->second);
                          });
  const Expr parts = renaming.of(expr);
  return is_solvable(parts) ? std::optional(parts) : from_wholes(parts);
}

}  // namespace twinloom::index
