// See at_least.h. Each term of a sum is at least what the others, at their greatest, leave for it.
#include "core/graph/at_least.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <variant>

#include "core/base/integers.h"
#include "core/base/match.h"

namespace twinloom::graph {

namespace {

using index::Expr;
using index::Less;

// The only term s*floor_div(x, d) of a sum, where s is 1 or -1; null where there is none or there are more.
const index::Term* lone_division(const index::Sum& sum) {
  const index::Term* only = nullptr;
  for (const index::Term& term : sum.terms) {
    if (!std::holds_alternative<index::FloorDiv>(term.factor.form().node)) continue;
    if (only != nullptr || (term.scale != 1 && term.scale != -1)) return nullptr;
    only = &term;
  }
  return only;
}

// One of the two is at least `low`.
void assume_either(index::Facts& facts, const Expr& a, const Expr& b, std::int64_t low) {
  if (facts.proves_less(a, low)) assume_at_least(facts, b, low);
  if (facts.proves_less(b, low)) assume_at_least(facts, a, low);
}

// scale*factor >= low
void assume_term(index::Facts& facts, const index::Term& term, std::int64_t low) {
  const auto* div = std::get_if<index::FloorDiv>(&term.factor.form().node);
  if (term.scale > 0) {
    assume_at_least(facts, term.factor, twinloom::ceil_div(low, term.scale));
  } else if (div != nullptr && low >= 1) {
    assume_at_least(facts, -div->dividend, 1);  // ceil(x/d) >= 1
  }
}

void assume_sum(index::Facts& facts, const index::Sum& sum, const Expr& whole, std::int64_t low) {
  for (const index::Term& term : sum.terms) {
    const Expr rest = whole - term.factor * Expr(term.scale);
    const auto either = [&](const Expr& a, const Expr& b) {
      assume_either(facts, rest + a * Expr(term.scale), rest + b * Expr(term.scale), low);
    };
    const auto* least = std::get_if<index::Least>(&term.factor.form().node);
    const auto* greatest = std::get_if<index::Greatest>(&term.factor.form().node);
    if (least != nullptr && term.scale < 0) either(least->a, least->b);
    if (greatest != nullptr && term.scale > 0) either(greatest->a, greatest->b);
    const std::optional<std::int64_t> most = facts.range(rest).high;
    if (!most || *most == std::numeric_limits<std::int64_t>::min()) continue;
    if (const auto left = checked_add(low, -*most)) assume_term(facts, term, *left);
  }
}

}  // namespace

Less without_division(const Less& less) {
  const Expr gap = less.b - less.a;
  if (const auto* div = std::get_if<index::FloorDiv>(&gap.form().node))
    return without_division({div->divisor - 1, div->dividend});
  const auto* sum = std::get_if<index::Sum>(&gap.form().node);
  const index::Term* term = sum == nullptr ? nullptr : lone_division(*sum);
  if (term == nullptr) return less;
  const auto& div = std::get<index::FloorDiv>(term->factor.form().node);
  const Expr rest = gap - Expr(term->scale) * term->factor;
  if (term->scale == 1) return without_division({(1 - rest) * div.divisor - 1, div.dividend});
  return without_division({div.dividend, rest * div.divisor});
}

void assume_at_least(index::Facts& facts, const Expr& expr, std::int64_t low) {
  if (low < 1) return;
  match(
      expr.form(),
      [&](const index::Symbol& symbol) {
        facts.assume(symbol, {low, {}});
      },
      [&](const index::Product& product) {
        const auto is_natural = [&](const Expr& factor) { return facts.proves_less(-1, factor); };
        if (!std::ranges::all_of(product.factors, is_natural)) return;
        for (const Expr& factor : product.factors) assume_at_least(facts, factor, 1);
      },
      [&](const index::Sum& sum) {
        assume_sum(facts, sum, expr, low);
        const Less undivided = without_division({low - 1, expr});
        if (undivided.b != expr) assume_at_least(facts, undivided.b - undivided.a, 1);
      },
      [&](const index::FloorDiv& div) { assume_at_least(facts, div.dividend, low); },
      [&](const index::FloorMod& mod) { assume_at_least(facts, mod.divisor, low); },
      [&](const index::Least& least) {
        assume_at_least(facts, least.a, low);
        assume_at_least(facts, least.b, low);
      },
      [&](const index::Greatest& greatest) { assume_either(facts, greatest.a, greatest.b, low); });
}

}  // namespace twinloom::graph
