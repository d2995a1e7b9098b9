// Keeps what is known to be equal as replacements "replaced -> kept" that cannot run in circles: each
// equality is solved for its last part, like one row of a linear system, and no kept side has a part
// that another row replaces.
//   n = m + 1, m = k + 1    ->    n -> k + 2, m -> k + 1
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/index/simplify.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

using Equality = std::pair<Expr, Expr>;  // kept, replaced

// Whether `part` can be found in `expr`, also as some of the factors of a product.
bool has_part(const Expr& expr, const Expr& part) {
  if (expr == part) return true;
  const auto either = [&](const Expr& a, const Expr& b) { return has_part(a, part) || has_part(b, part); };
  return match(
      expr.form(), [](const Symbol&) { return false; },
      [&](const Sum& sum) {
        return std::ranges::any_of(sum.terms, [&](const Term& term) { return has_part(term.factor, part); });
      },
      [&](const Product& product) {
        return without_factors(product.factors, factors_of(part)).has_value() ||
               std::ranges::any_of(product.factors,
                                   [&](const Expr& factor) { return has_part(factor, part); });
      },
      [&](const FloorDiv& div) { return either(div.dividend, div.divisor); },
      [&](const FloorMod& mod) { return either(mod.dividend, mod.divisor); },
      [&](const Least& least) { return either(least.a, least.b); },
      [&](const Greatest& greatest) { return either(greatest.a, greatest.b); });
}

// What is 0, without a factor that all its terms have: 4*m - 4 = 0 says m - 1 = 0.
Expr without_common_factor(const Expr& zero) {
  const TermsOf sum(zero);
  if (sum.offset() == std::numeric_limits<std::int64_t>::min()) return zero;
  std::int64_t common = sum.offset();
  for (const Term& term : sum.terms()) {
    if (term.scale == std::numeric_limits<std::int64_t>::min()) return zero;
    common = std::gcd(common, term.scale);
  }
  return common > 1 ? floor_div(zero, common) : zero;
}

// a = b solved for its last term that stands alone with scale 1 or -1.
std::optional<Equality> solved(const Expr& a, const Expr& b) {
  const auto distance = add_scaled(a, b, -1);
  if (!distance) return std::nullopt;
  const Expr zero = without_common_factor(*distance);
  const TermsOf sum(zero);
  for (std::size_t i = sum.terms().size(); i-- > 0;) {
    const Term& term = sum.terms()[i];
    if (term.scale != 1 && term.scale != -1) continue;
    const auto kept = add_scaled(Expr(0), without_term(zero, term), -term.scale);
    if (kept && !has_part(*kept, term.factor)) return Equality(*kept, term.factor);
  }
  // 4*n = 3*m: a whole side is replaced.
  if (!has_part(a, b) && !has_part(b, a)) return comes_before(a, b) ? Equality(a, b) : Equality(b, a);
  return std::nullopt;
}

// More rounds than this mean equalities that no set of replacements holds; the last ones are left out,
// which loses knowledge and nothing else.
constexpr int round_limit = 64;

}  // namespace

void Facts::assume_equal(const Expr& a, const Expr& b) {
  std::vector<Equality> waiting{{a, b}};
  for (int round = 0; !waiting.empty() && round < round_limit; ++round) {
    const auto [left, right] = waiting.back();
    waiting.pop_back();
    Facts known;
    known.equalities_ = equalities_;
    const auto equality = solved(simplify(left, known), simplify(right, known));
    if (!equality) continue;
    const auto touched = [&](const Equality& other) {
      return has_part(other.first, equality->second) || has_part(other.second, equality->second);
    };
    std::ranges::copy_if(equalities_, std::back_inserter(waiting), touched);
    std::erase_if(equalities_, touched);
    equalities_.push_back(*equality);
  }
}

}  // namespace twinloom::index
