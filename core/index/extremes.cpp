// Makes least and greatest: flat, in order, without repetition, and of several arguments that differ
// by a constant only the one that counts:
//   least(n + 3, least(m, n)) = least(m, n)
#include <algorithm>

#include "core/base/hash.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

// +1, 0 or -1 as a is greater than b, equal or less for all values; nothing when that depends.
std::optional<int> compare_by_constant(const Expr& a, const Expr& b) {
  const TermsOf left(a), right(b);
  const auto same = [](const Term& x, const Term& y) { return x.scale == y.scale && x.factor == y.factor; };
  if (!std::ranges::equal(left.terms(), right.terms(), same)) return std::nullopt;
  return (left.offset() > right.offset()) - (left.offset() < right.offset());
}

template <class Kind>
void collect(const Expr& expr, std::vector<Expr>& arguments) {
  if (const Kind* kind = as<Kind>(expr)) {
    collect<Kind>(kind->a, arguments);
    collect<Kind>(kind->b, arguments);
  } else {
    arguments.push_back(expr);
  }
}

// wanted: -1 keeps the lesser of two, +1 the greater.
template <class Kind>
Expr make_extreme(const Expr& a, const Expr& b, int wanted, std::uint64_t seed) {
  std::vector<Expr> given, kept;
  collect<Kind>(a, given);
  collect<Kind>(b, given);
  for (const Expr& expr : given) {
    const auto rival = std::ranges::find_if(
        kept, [&](const Expr& other) { return compare_by_constant(expr, other).has_value(); });
    if (rival == kept.end()) {
      kept.push_back(expr);
    } else if (compare_by_constant(expr, *rival) == wanted) {
      *rival = expr;
    }
  }
  std::ranges::sort(kept, comes_before);
  Expr result = kept.back();
  for (std::size_t i = kept.size() - 1; i-- > 0;) {
    const std::uint64_t hash = mix_hash(mix_hash(seed, kept[i].hash()), result.hash());
    result = Maker::make(Kind{kept[i], result}, hash);
  }
  return result;
}

}  // namespace

Expr least(const Expr& a, const Expr& b) { return make_extreme<Least>(a, b, -1, seed_least); }
Expr greatest(const Expr& a, const Expr& b) { return make_extreme<Greatest>(a, b, +1, seed_greatest); }

}  // namespace twinloom::index
