// Ranges and divisors of expressions. A bound that leaves 64 bits is unknown.
// What is proven from several facts together is in prove.cpp; equalities are kept in equalities.cpp.
#include "core/index/facts.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/base/integers.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

using Bound = std::optional<std::int64_t>;

Bound plus(Bound a, Bound b) { return a && b ? checked_add(*a, *b) : std::nullopt; }

// 0 times an unknown bound is 0.
Bound times(Bound a, Bound b) {
  if (a == 0 || b == 0) return 0;
  return a && b ? checked_multiply(*a, *b) : std::nullopt;
}

Bound lesser_known(Bound a, Bound b) { return a && b ? std::min(a, b) : (a ? a : b); }
Bound greater_known(Bound a, Bound b) { return a && b ? std::max(a, b) : (a ? a : b); }

Range negated(Range range) { return {times(range.high, -1), times(range.low, -1)}; }

Range times(Range a, Range b);

// a is never negative.
Range times_of_natural(Range a, Range b) {
  const bool never_negative = b.low && *b.low >= 0;
  const bool never_positive = b.high && *b.high <= 0;
  return {b.low ? times(never_negative ? a.low : a.high, b.low) : (a.high == 0 ? Bound(0) : std::nullopt),
          b.high ? times(never_positive ? a.low : a.high, b.high) : (a.high == 0 ? Bound(0) : std::nullopt)};
}

Range times(Range a, Range b) {
  if (a.low && *a.low >= 0) return times_of_natural(a, b);
  if (b.low && *b.low >= 0) return times_of_natural(b, a);
  if (a.high && *a.high <= 0) return negated(times(negated(a), b));
  if (b.high && *b.high <= 0) return negated(times(a, negated(b)));
  const Bound corners[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                           times(a.high, b.high)};
  if (!std::ranges::all_of(corners, [](Bound corner) { return corner.has_value(); })) return {};
  return {std::ranges::min(corners), std::ranges::max(corners)};
}

// A divisor is at least 1 by the maker's promise. Where it cannot be, nothing is divided.
Range as_divisor(Range range) {
  const std::int64_t low = std::max<std::int64_t>(range.low.value_or(1), 1);
  return {low, range.high && *range.high >= low ? range.high : std::nullopt};
}

Range quotient(Range dividend, Range divisor) {
  const std::int64_t least_divisor = *divisor.low;
  Range result;
  if (dividend.low && *dividend.low < 0) {
    result.low = twinloom::floor_div(*dividend.low, least_divisor);
  } else if (dividend.low) {
    result.low = divisor.high ? twinloom::floor_div(*dividend.low, *divisor.high) : 0;
  }
  if (dividend.high && *dividend.high >= 0) {
    result.high = twinloom::floor_div(*dividend.high, least_divisor);
  } else if (dividend.high) {
    result.high = divisor.high ? twinloom::floor_div(*dividend.high, *divisor.high) : -1;
  }
  return result;
}

// step divides both numbers.
Range remainder(Range dividend, Range divisor, std::int64_t step) {
  const bool constant = divisor.low == divisor.high;
  const bool one_bucket =
      constant && dividend.low && dividend.high &&
      twinloom::floor_div(*dividend.low, *divisor.low) == twinloom::floor_div(*dividend.high, *divisor.low);
  if (one_bucket) {
    return {twinloom::floor_mod(*dividend.low, *divisor.low),
            twinloom::floor_mod(*dividend.high, *divisor.low)};
  }
  Range result{0, divisor.high ? Bound(*divisor.high - std::max<std::int64_t>(step, 1)) : std::nullopt};
  if (dividend.low && *dividend.low >= 0) {
    result.high = lesser_known(result.high, dividend.high);
    if (dividend.high && *dividend.high < *divisor.low) result.low = dividend.low;
  }
  return result;
}

// |value|, or 1 (which divides everything) where that is no 64-bit number.
std::int64_t magnitude(std::int64_t value) {
  return value == std::numeric_limits<std::int64_t>::min() ? 1 : std::abs(value);
}

std::int64_t product_of_divisors(std::int64_t a, std::int64_t b) {
  return checked_multiply(a, b).value_or(std::max(a, b));
}

// 0 divides only 0.
std::int64_t common_multiple(std::int64_t a, std::int64_t b) {
  return a == 0 || b == 0 ? 0 : product_of_divisors(a / std::gcd(a, b), b);
}

std::int64_t own_divisor(const std::map<Symbol, Facts::About>& symbols, Symbol symbol) {
  const auto found = symbols.find(symbol);
  if (found == symbols.end()) return 1;
  const Range& range = found->second.range;
  return range.low && range.low == range.high ? magnitude(*range.low) : found->second.divisor;
}

// How deep extents that are themselves bounded by extents are followed.
constexpr int chain_limit = 6;

class Bounding {
 public:
  explicit Bounding(const Facts& facts) : facts_(facts) {}

  Range range(const Expr& expr) {
    return match(
        expr.form(), [&](const Symbol& symbol) { return range_of(symbol); },
        [&](const Sum& sum) { return range_of(sum); },
        [&](const Product& product) {
          Range result{1, 1};
          for (const Expr& factor : product.factors) result = times(result, range(factor));
          return result;
        },
        [&](const FloorDiv& div) { return quotient(range(div.dividend), as_divisor(range(div.divisor))); },
        [&](const FloorMod& mod) {
          const std::int64_t step = std::gcd(facts_.divisor(mod.dividend), facts_.divisor(mod.divisor));
          return remainder(range(mod.dividend), as_divisor(range(mod.divisor)), step);
        },
        [&](const Least& least) {
          const Range a = range(least.a), b = range(least.b);
          return Range{a.low && b.low ? std::min(a.low, b.low) : std::nullopt, lesser_known(a.high, b.high)};
        },
        [&](const Greatest& greatest) {
          const Range a = range(greatest.a), b = range(greatest.b);
          return Range{greater_known(a.low, b.low),
                       a.high && b.high ? std::max(a.high, b.high) : std::nullopt};
        });
  }

 private:
  Range range_of(const Sum& sum) {
    Range total{sum.offset, sum.offset};
    for (const Term& term : sum.terms) {
      if (!total.low && !total.high) return total;
      const Range scaled = times(range(term.factor), Range{term.scale, term.scale});
      total = {plus(total.low, scaled.low), plus(total.high, scaled.high)};
    }
    return total;
  }

  Range range_of(Symbol symbol) {
    Range result = own_range_of(symbol);
    if (in_equality_) return result;
    in_equality_ = true;
    for (const auto& [kept, replaced] : facts_.equalities()) {
      if (symbol_of(kept) != symbol && symbol_of(replaced) != symbol) continue;
      const Range other = range(symbol_of(kept) == symbol ? replaced : kept);
      result = {greater_known(result.low, other.low), lesser_known(result.high, other.high)};
    }
    in_equality_ = false;
    return result;
  }

  Range own_range_of(Symbol symbol) {
    const auto found = facts_.symbols().find(symbol);
    if (found == facts_.symbols().end()) return {};
    Range result = found->second.range;
    if (depth_ == chain_limit) return result;
    ++depth_;
    for (const Expr& extent : found->second.below) {
      result.high = lesser_known(result.high, plus(range(extent).high, -1));
    }
    --depth_;
    return result;
  }

  const Facts& facts_;
  int depth_ = 0;
  bool in_equality_ = false;
};

}  // namespace

Facts::Facts() = default;
Facts::Facts(const Facts&) = default;
Facts::Facts(Facts&&) noexcept = default;
Facts& Facts::operator=(const Facts&) = default;
Facts& Facts::operator=(Facts&&) noexcept = default;
Facts::~Facts() = default;

void Facts::assume(Symbol symbol, Range range, std::int64_t divisor) {
  CHECK(divisor >= 1, "a symbol is a multiple of a positive number; given ", divisor, " for ", symbol);
  About& about = symbols_[symbol];
  about.range = {greater_known(about.range.low, range.low), lesser_known(about.range.high, range.high)};
  about.divisor = common_multiple(about.divisor, divisor);
}

void Facts::assume_below(Symbol axis, const Expr& extent) {
  assume(axis, {0, std::nullopt});
  if (const auto constant = constant_of(extent)) {
    assume(axis, {std::nullopt, plus(constant, -1)});
    return;
  }
  std::vector<Expr>& below = symbols_[axis].below;
  if (std::ranges::find(below, extent) == below.end()) below.push_back(extent);
}

Range Facts::range(const Expr& expr) const { return Bounding(*this).range(expr); }

std::int64_t Facts::divisor(const Expr& expr) const {
  return match(
      expr.form(),
      [&](const Symbol& symbol) {
        std::int64_t result = own_divisor(symbols_, symbol);
        for (const auto& [kept, replaced] : equalities_) {
          const auto a = symbol_of(kept), b = symbol_of(replaced);
          if (a && b && (a == symbol || b == symbol)) {
            result = common_multiple(result, own_divisor(symbols_, a == symbol ? *b : *a));
          }
        }
        return result;
      },
      [&](const Sum& sum) {
        std::int64_t result = magnitude(sum.offset);
        for (const Term& term : sum.terms) {
          if (result == 1) break;
          result = std::gcd(result, product_of_divisors(magnitude(term.scale), divisor(term.factor)));
        }
        return result;
      },
      [&](const Product& product) {
        std::int64_t result = 1;
        for (const Expr& factor : product.factors) result = product_of_divisors(result, divisor(factor));
        return result;
      },
      [&](const FloorDiv& div) {
        const auto number = constant_of(div.divisor);
        const std::int64_t dividend = divisor(div.dividend);
        return number && dividend % *number == 0 ? dividend / *number : 1;
      },
      [&](const FloorMod& mod) { return std::gcd(divisor(mod.dividend), divisor(mod.divisor)); },
      [&](const Least& least) { return std::gcd(divisor(least.a), divisor(least.b)); },
      [&](const Greatest& greatest) { return std::gcd(divisor(greatest.a), divisor(greatest.b)); });
}

bool Facts::proves(const Condition& condition) const {
  return std::ranges::all_of(condition.all, [&](const Less& less) { return proves_less(less.a, less.b); });
}

}  // namespace twinloom::index
