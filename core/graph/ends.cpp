// See ends.h.
#include "core/graph/ends.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/match.h"

namespace twinloom::graph {

namespace {

using index::Expr;

class Finder {
 public:
  Finder(const PartEnds& parts, const index::Facts& facts) : parts_(parts), facts_(facts) {}

  Ends of(const Expr& expr) const {
    if (const auto known = parts_.find(expr); known != parts_.end()) return known->second;
    if (!mentions_any(expr, parts_)) return {expr, expr};
    return match(
        expr.form(),
        [&](const index::Symbol&) {
          return Ends{expr, expr};
        },
        [&](const index::Sum& sum) {
          Ends total{sum.offset, sum.offset};
          for (const index::Term& term : sum.terms) {
            const Ends part = times(of(term.factor), {term.scale, term.scale});
            total = {total.low + part.low, total.high + part.high};
          }
          return total;
        },
        [&](const index::Product& product) {
          Ends result{1, 1};
          for (const Expr& factor : product.factors) result = times(of(factor), result);
          return result;
        },
        [&](const index::FloorDiv& div) {
          const Ends dividend = of(div.dividend);
          return Ends{index::floor_div(dividend.low, div.divisor),
                      index::floor_div(dividend.high, div.divisor)};
        },
        [&](const index::FloorMod& mod) { return remainder(of(mod.dividend), mod.divisor); },
        [&](const index::Least& least) {
          const Ends a = of(least.a), b = of(least.b);
          return Ends{index::least(a.low, b.low), index::least(a.high, b.high)};
        },
        [&](const index::Greatest& greatest) {
          const Ends a = of(greatest.a), b = of(greatest.b);
          return Ends{index::greatest(a.low, b.low), index::greatest(a.high, b.high)};
        });
  }

 private:
  int sign_of(const Expr& expr) const {
    const index::Range range = facts_.range(expr);
    if (range.low && *range.low >= 0) return 1;
    return range.high && *range.high <= 0 ? -1 : 0;
  }

  Ends times(const Ends& a, const Ends& b) const {
    if (b.low == b.high || sign_of(b.low) > 0) {
      const int sign = sign_of(b.low);
      if (b.low == b.high && sign > 0) return {a.low * b.low, a.high * b.low};
      if (b.low == b.high && sign < 0) return {a.high * b.low, a.low * b.low};
      if (sign > 0 && sign_of(a.low) > 0) return {a.low * b.low, a.high * b.high};
    }
    const Expr corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    Ends result{corners[0], corners[0]};
    for (const Expr& corner : corners)
      result = {index::least(result.low, corner), index::greatest(result.high, corner)};
    return result;
  }

  Ends remainder(const Ends& dividend, const Expr& divisor) const {
    if (sign_of(dividend.low) <= 0) return {0, divisor - 1};
    if (facts_.proves_less(dividend.high, divisor)) return dividend;
    return {0, index::least(dividend.high, divisor - 1)};
  }

  const PartEnds& parts_;
  const index::Facts& facts_;
};

// 1 <= scale*part + rest
void narrow(Ends& part, const Expr& scale, const Ends& rest, const index::Facts& facts) {
  const index::Range sign = facts.range(scale);
  if (sign.low && *sign.low >= 1) {
    part.low = index::greatest(part.low, index::ceil_div(1 - rest.high, scale));
  } else if (sign.high && *sign.high <= -1) {
    part.high = index::least(part.high, index::floor_div(rest.high - 1, -scale));
  }
}

// The quotients and remainders of axes in 1 <= gap.
void narrow_parts(PartEnds& parts, const Expr& gap, const PartEnds& axes, const index::Facts& facts) {
  const auto* sum = std::get_if<index::Sum>(&gap.form().node);
  if (sum == nullptr) return;
  for (const index::Term& term : sum->terms) {
    const index::Form& form = term.factor.form();
    const bool is_part = std::holds_alternative<index::FloorDiv>(form.node) ||
                         std::holds_alternative<index::FloorMod>(form.node);
    if (!is_part || !mentions_any(term.factor, axes)) continue;
    const auto [part, added] = parts.try_emplace(term.factor, ends_of(term.factor, parts, facts));
    narrow(part->second, term.scale, ends_of(gap - term.factor * Expr(term.scale), axes, facts), facts);
  }
}

}  // namespace

Ends ends_of(const Expr& expr, const PartEnds& parts, const index::Facts& facts) {
  return Finder(parts, facts).of(expr);
}

PartEnds narrowed(const PartEnds& axes, const index::Condition& condition, const index::Facts& facts) {
  PartEnds result = axes;
  for (const index::Less& less : condition.all) {
    const Expr gap = less.b - less.a;  // 1 <= gap
    for (auto& [axis, ends] : result) {
      const auto linear = index::linear_in(gap, *index::symbol_of(axis));
      if (linear && !mentions_any(linear->scale, axes))
        narrow(ends, linear->scale, ends_of(linear->rest, axes, facts), facts);
    }
  }
  for (const index::Less& less : condition.all) narrow_parts(result, less.b - less.a, axes, facts);
  return result;
}

bool mentions_any(const Expr& expr, const PartEnds& axes) {
  return std::ranges::any_of(axes, [&](const auto& axis) {
    const auto symbol = index::symbol_of(axis.first);
    return symbol && index::mentions(expr, *symbol);
  });
}

}  // namespace twinloom::graph
