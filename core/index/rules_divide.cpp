// Rules for floor_div and floor_mod that need facts. Most of them find a common factor g of divisor
// and dividend with a small rest: x = g*y + r with 0 <= r < g, where g divides the divisor d. Then
//   floor_div(x, d) = floor_div(g*y, d)        floor_mod(x, d) = floor_mod(g*y, d) + r
// because g*y and d are multiples of g, so r never carries into the next one.
#include <algorithm>
#include <numeric>

#include "core/base/integers.h"
#include "core/index/prove.h"
#include "core/index/rules.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

// dividend == aligned + rest, with aligned a multiple of some g that divides the divisor and
// 0 <= rest < g.
struct Aligned {
  Expr aligned, rest;
};

bool is_multiple(const Term& term, std::int64_t number, const Facts& facts) {
  const std::int64_t step = facts.divisor(term.factor);
  return std::gcd(term.scale % number, number) == number ||
         step % (number / std::gcd(number, term.scale % number)) == 0;
}

std::optional<Aligned> align_to(const Expr& dividend, std::int64_t number, const Facts& facts) {
  const TermsOf sum(dividend);
  std::vector<Term> aligned, rest;
  for (const Term& term : sum.terms()) (is_multiple(term, number, facts) ? aligned : rest).push_back(term);
  if (aligned.empty() || (rest.empty() && sum.offset() == 0)) return std::nullopt;
  const Expr small = make_sum(std::move(rest), sum.offset());
  const Range range = facts.range(small);
  if (!range.low || !range.high) return std::nullopt;
  const std::int64_t bucket = twinloom::floor_div(*range.low, number);
  if (bucket != twinloom::floor_div(*range.high, number)) return std::nullopt;
  const auto shift = checked_multiply(bucket, number);
  if (!shift) return std::nullopt;
  return Aligned{make_sum(std::move(aligned), 0) + Expr(*shift), small - Expr(*shift)};
}

std::optional<Aligned> align_by_constant(const Expr& dividend, std::int64_t divisor, const Facts& facts) {
  std::vector<std::int64_t> numbers;
  for (const TermsOf sum(dividend); const Term& term : sum.terms()) {
    // gcd(scale * step, divisor), without the product.
    const std::int64_t common = std::gcd(term.scale % divisor, divisor);
    const std::int64_t number = common * std::gcd(facts.divisor(term.factor), divisor / common);
    if (number > 1 && std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
  }
  std::ranges::sort(numbers, std::greater());
  for (const std::int64_t number : numbers) {
    if (const auto found = align_to(dividend, number, facts)) return found;
  }
  return std::nullopt;
}

// The factors that both have, with repetition.
std::vector<Expr> common_factors(std::span<const Expr> a, std::span<const Expr> b) {
  std::vector<Expr> common;
  std::ranges::set_intersection(a, b, std::back_inserter(common), comes_before);
  return common;
}

// The divisor as scale*factor, where it is one term.
std::optional<Term> single_term(const Expr& expr) {
  const TermsOf sum(expr);
  if (sum.terms().size() != 1 || sum.offset() != 0 || sum.terms()[0].scale < 1) return std::nullopt;
  return sum.terms()[0];
}

std::optional<Aligned> align_by_term(const Expr& dividend, const Term& divisor, const Facts& facts) {
  const TermsOf sum(dividend);
  std::vector<std::vector<Expr>> tried;
  for (const Term& candidate : sum.terms()) {
    const auto common = common_factors(factors_of(candidate.factor), factors_of(divisor.factor));
    if (common.empty() || std::ranges::find(tried, common) != tried.end()) continue;
    tried.push_back(common);
    std::vector<Term> aligned, rest;
    for (const Term& term : sum.terms()) {
      (without_factors(factors_of(term.factor), common) ? aligned : rest).push_back(term);
    }
    const Expr small = make_sum(std::move(rest), sum.offset());
    if (constant_of(small) == 0 || !proves_within(small, make_product(common), facts)) continue;
    return Aligned{make_sum(std::move(aligned), 0), small};
  }
  return std::nullopt;
}

std::optional<Aligned> align(const Expr& dividend, const Expr& divisor, const Facts& facts) {
  if (const auto constant = constant_of(divisor)) return align_by_constant(dividend, *constant, facts);
  const auto term = single_term(divisor);
  return term ? align_by_term(dividend, *term, facts) : std::nullopt;
}

// dividend and divisor by a product g >= 1 of symbols that divides both.
struct Cancelled {
  Expr dividend, divisor, factor;
};

std::optional<Cancelled> cancel(const Expr& dividend, const Expr& divisor, const Facts& facts) {
  if (constant_of(divisor)) return std::nullopt;
  const TermsOf over(dividend), under(divisor);
  if (over.offset() != 0 || under.offset() != 0) return std::nullopt;
  std::vector<Expr> common(factors_of(under.terms()[0].factor).begin(),
                           factors_of(under.terms()[0].factor).end());
  const auto narrow = [&](const TermsOf& sum) {
    for (const Term& term : sum.terms()) common = common_factors(common, factors_of(term.factor));
  };
  narrow(under);
  narrow(over);
  std::erase_if(common, [&](const Expr& factor) { return !proves_positive(factor, facts); });
  if (common.empty()) return std::nullopt;
  const auto divided = [&](const TermsOf& sum) {
    std::vector<Term> terms;
    for (const Term& term : sum.terms()) {
      const Expr left = make_product(*without_factors(factors_of(term.factor), common));
      if (const auto constant = constant_of(left)) return std::pair(terms, *constant * term.scale);
      terms.push_back({left, term.scale});
    }
    return std::pair(terms, std::int64_t{0});
  };
  auto [top, top_offset] = divided(over);
  auto [bottom, bottom_offset] = divided(under);
  return Cancelled{make_sum(std::move(top), top_offset), make_sum(std::move(bottom), bottom_offset),
                   make_product(std::move(common))};
}

// Long division by a divisor of several terms, as for polynomials: i*n + i + j = i*(n + 1) + j.
struct Divided {
  Expr quotient, rest;
};

// The term of a divisor that is taken out first: the one with most factors.
const Term& leading_term(const TermsOf& divisor) {
  return *std::ranges::max_element(divisor.terms(), {},
                                   [](const Term& term) { return factors_of(term.factor).size(); });
}

std::optional<Divided> divide_polynomial(const Expr& dividend, const Expr& divisor, const Facts& facts) {
  const TermsOf under(divisor);
  if (under.terms().empty() || (under.terms().size() == 1 && under.offset() == 0)) return std::nullopt;
  const Term& lead = leading_term(under);
  if (lead.scale < 1) return std::nullopt;  // 4 - n: sizes do not look like that
  Divided result{Expr(0), dividend};
  // Each round lowers the degree in the leading term; four are more than any index map needs.
  for (int round = 0; round < 4; ++round) {
    Expr quotient;
    for (const TermsOf sum(result.rest); const Term& term : sum.terms()) {
      const auto others = without_factors(factors_of(term.factor), factors_of(lead.factor));
      if (others && term.scale % lead.scale == 0) {
        quotient = quotient + make_product(*others) * Expr(term.scale / lead.scale);
      }
    }
    if (constant_of(quotient) == 0) break;
    result = {result.quotient + quotient, result.rest - quotient * divisor};
  }
  if (constant_of(result.quotient) == 0) return std::nullopt;
  if (constant_of(result.rest) == 0 || proves_within(result.rest, divisor, facts)) return result;
  return std::nullopt;
}

// The k with k*divisor <= dividend < (k + 1)*divisor, where there is one for all values. Under a symbolic
// divisor only 0 and -1 are tried: the makers take every other multiple out.
std::optional<std::int64_t> bucket_of(const Expr& dividend, const Expr& divisor, const Facts& facts) {
  const Range range = facts.range(dividend);
  if (const auto constant = constant_of(divisor); constant && range.low && range.high) {
    const std::int64_t bucket = twinloom::floor_div(*range.low, *constant);
    return bucket == twinloom::floor_div(*range.high, *constant) ? std::optional(bucket) : std::nullopt;
  }
  if (!(range.high && *range.high < 0) && proves_within(dividend, divisor, facts)) return 0;
  if (range.low && *range.low >= 0) return std::nullopt;
  const auto shifted = add_scaled(dividend, divisor, 1);
  return shifted && proves_within(*shifted, divisor, facts) ? std::optional(-1) : std::nullopt;
}

// s*floor_mod(x, D) in a dividend, where d divides s*D.
const FloorMod* foldable_mod(const Term& term, const Expr& divisor, Expr& scale) {
  for (const Expr& factor : factors_of(term.factor)) {
    const FloorMod* mod = as<FloorMod>(factor);
    if (!mod) continue;
    scale = make_product(*without_factors(factors_of(term.factor), std::span(&factor, 1))) * Expr(term.scale);
    if (constant_of(floor_mod(scale * mod->divisor, divisor)) == 0) return mod;
  }
  return nullptr;
}

}  // namespace

Rewritten divide_small(const Expr& expr, const Facts& facts) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const auto bucket = div ? bucket_of(div->dividend, div->divisor, facts) : std::nullopt;
  return bucket ? Rewritten(Expr(*bucket)) : std::nullopt;
}

Rewritten divide_aligned(const Expr& expr, const Facts& facts) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const auto parts = div ? align(div->dividend, div->divisor, facts) : std::nullopt;
  return parts ? Rewritten(floor_div(parts->aligned, div->divisor)) : std::nullopt;
}

// floor_div(x - y, d) = floor_div(x, d) - floor_div(y, d) where d divides y: what ceil_div() makes of a
// multiple becomes the quotient that floor_div() makes of it.
Rewritten divide_negated(const Expr& expr, const Facts& facts) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const auto divisor = div ? constant_of(div->divisor) : std::nullopt;
  if (!divisor) return std::nullopt;
  for (const TermsOf sum(div->dividend); const Term& term : sum.terms()) {
    if (term.scale >= 0 || !is_multiple(term, *divisor, facts)) continue;
    const auto positive = add_scaled(Expr(0), term.factor, -term.scale);
    if (!positive) continue;
    return floor_div(without_term(div->dividend, term), div->divisor) - floor_div(*positive, div->divisor);
  }
  return std::nullopt;
}

// c*d*floor_div(x, d) = c*x where d divides x.
Rewritten multiply_back(const Expr& expr, const Facts& facts) {
  for (const TermsOf sum(expr); const Term& term : sum.terms()) {
    const FloorDiv* div = as<FloorDiv>(term.factor);
    const auto divisor = div ? constant_of(div->divisor) : std::nullopt;
    if (!divisor || term.scale % *divisor != 0 || facts.divisor(div->dividend) % *divisor != 0) continue;
    return add_scaled(without_term(expr, term), div->dividend, term.scale / *divisor);
  }
  return std::nullopt;
}

Rewritten divide_by_sum(const Expr& expr, const Facts& facts) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const auto divided = div ? divide_polynomial(div->dividend, div->divisor, facts) : std::nullopt;
  return divided ? Rewritten(divided->quotient) : std::nullopt;
}

Rewritten divide_common_factor(const Expr& expr, const Facts& facts) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const auto cancelled = div ? cancel(div->dividend, div->divisor, facts) : std::nullopt;
  return cancelled ? Rewritten(floor_div(cancelled->dividend, cancelled->divisor)) : std::nullopt;
}

// floor_div(floor_mod(x, n*d), d) = floor_mod(floor_div(x, d), n)
Rewritten divide_of_remainder(const Expr& expr, const Facts&) {
  const FloorDiv* div = as<FloorDiv>(expr);
  const FloorMod* mod = div ? as<FloorMod>(div->dividend) : nullptr;
  if (!mod || constant_of(floor_mod(mod->divisor, div->divisor)) != 0) return std::nullopt;
  return floor_mod(floor_div(mod->dividend, div->divisor), floor_div(mod->divisor, div->divisor));
}

Rewritten remainder_small(const Expr& expr, const Facts& facts) {
  const FloorMod* mod = as<FloorMod>(expr);
  if (!mod) return std::nullopt;
  const auto bucket = bucket_of(mod->dividend, mod->divisor, facts);
  return bucket ? add_scaled(mod->dividend, mod->divisor, -*bucket) : std::nullopt;
}

Rewritten remainder_of_multiple(const Expr& expr, const Facts& facts) {
  const FloorMod* mod = as<FloorMod>(expr);
  const auto divisor = mod ? constant_of(mod->divisor) : std::nullopt;
  if (!divisor) return std::nullopt;
  const TermsOf sum(mod->dividend);
  std::vector<Term> rest;
  for (const Term& term : sum.terms()) {
    if (!is_multiple(term, *divisor, facts)) rest.push_back(term);
  }
  if (rest.size() == sum.terms().size()) return std::nullopt;
  return floor_mod(make_sum(std::move(rest), sum.offset()), mod->divisor);
}

Rewritten remainder_aligned(const Expr& expr, const Facts& facts) {
  const FloorMod* mod = as<FloorMod>(expr);
  const auto parts = mod ? align(mod->dividend, mod->divisor, facts) : std::nullopt;
  return parts ? Rewritten(floor_mod(parts->aligned, mod->divisor) + parts->rest) : std::nullopt;
}

Rewritten remainder_by_sum(const Expr& expr, const Facts& facts) {
  const FloorMod* mod = as<FloorMod>(expr);
  const auto divided = mod ? divide_polynomial(mod->dividend, mod->divisor, facts) : std::nullopt;
  return divided ? Rewritten(divided->rest) : std::nullopt;
}

Rewritten remainder_common_factor(const Expr& expr, const Facts& facts) {
  const FloorMod* mod = as<FloorMod>(expr);
  const auto cancelled = mod ? cancel(mod->dividend, mod->divisor, facts) : std::nullopt;
  if (!cancelled) return std::nullopt;
  return cancelled->factor * floor_mod(cancelled->dividend, cancelled->divisor);
}

// floor_mod(s*floor_mod(x, D) + y, d) = floor_mod(s*x + y, d) where d divides s*D
Rewritten remainder_of_remainder(const Expr& expr, const Facts&) {
  const FloorMod* mod = as<FloorMod>(expr);
  if (!mod) return std::nullopt;
  for (const TermsOf sum(mod->dividend); const Term& term : sum.terms()) {
    Expr scale;
    const FloorMod* inner = foldable_mod(term, mod->divisor, scale);
    if (inner) return floor_mod(without_term(mod->dividend, term) + scale * inner->dividend, mod->divisor);
  }
  return std::nullopt;
}

}  // namespace twinloom::index
