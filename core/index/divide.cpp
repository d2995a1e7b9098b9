// Makes floor_div and floor_mod, and applies what is true of them for all integers:
//   floor_div(5*i + j + 9, 4) = i + 2 + floor_div(i + j + 1, 4)      multiples leave the division
//   floor_div(6*i + 3, 4)     = floor_div(3*i + 1, 2)                a common factor is cancelled
//   floor_div(floor_div(x, n), m) = floor_div(x, n*m)                nested divisions are one
// What needs facts is in simplify.cpp.
#include <numeric>

#include "core/base/hash.h"
#include "core/base/integers.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

Expr make_div(const Expr& dividend, const Expr& divisor) {
  return Maker::make(FloorDiv{dividend, divisor},
                     mix_hash(mix_hash(seed_div, dividend.hash()), divisor.hash()));
}

Expr make_mod(const Expr& dividend, const Expr& divisor) {
  return Maker::make(FloorMod{dividend, divisor},
                     mix_hash(mix_hash(seed_mod, dividend.hash()), divisor.hash()));
}

void check_divisor(const Expr& divisor) {
  const auto constant = constant_of(divisor);
  if (constant && *constant < 1) throw Error(cat("index expression: a divisor is ", *constant));
}

// dividend == quotient*divisor + rest
struct Parts {
  Expr quotient, rest;
};

// A scale keeps its sign, so that 15 - i stays as it is under division by 16; an offset becomes
// 0 <= offset < divisor.
Parts part_by_constant(const Expr& dividend, std::int64_t divisor) {
  const TermsOf sum(dividend);
  std::vector<Term> quotient, rest;
  for (const Term& term : sum.terms()) {
    if (term.scale / divisor != 0) quotient.push_back(Term{term.factor, term.scale / divisor});
    if (term.scale % divisor != 0) rest.push_back(Term{term.factor, term.scale % divisor});
  }
  return {make_sum(std::move(quotient), twinloom::floor_div(sum.offset(), divisor)),
          make_sum(std::move(rest), twinloom::floor_mod(sum.offset(), divisor))};
}

// Takes out the terms that have all factors of a divisor c*n*m.
Parts part_by_term(const Expr& dividend, const Term& divisor) {
  const TermsOf sum(dividend);
  std::vector<Term> rest;
  Expr quotient;
  for (const Term& term : sum.terms()) {
    const auto left = without_factors(factors_of(term.factor), factors_of(divisor.factor));
    if (!left || term.scale / divisor.scale == 0) {
      rest.push_back(term);
      continue;
    }
    quotient = quotient + Expr(term.scale / divisor.scale) * make_product(*left);
    if (term.scale % divisor.scale != 0) rest.push_back(Term{term.factor, term.scale % divisor.scale});
  }
  return {quotient, make_sum(std::move(rest), sum.offset())};
}

Parts part(const Expr& dividend, const Expr& divisor) {
  if (dividend == divisor) return {Expr(1), Expr(0)};
  if (const auto constant = constant_of(divisor)) return part_by_constant(dividend, *constant);
  const TermsOf sum(divisor);
  if (sum.terms().size() == 1 && sum.offset() == 0 && sum.terms()[0].scale > 0) {
    return part_by_term(dividend, sum.terms()[0]);
  }
  return {Expr(0), dividend};
}

std::int64_t common_factor(const Expr& expr, std::int64_t number) {
  for (const TermsOf sum(expr); const Term& term : sum.terms()) number = std::gcd(number, term.scale);
  return number;
}

// expr without its offset, divided by a number that divides every scale.
Expr scales_divided(const Expr& expr, std::int64_t number) {
  const TermsOf sum(expr);
  std::vector<Term> terms(sum.terms().begin(), sum.terms().end());
  for (Term& term : terms) term.scale /= number;
  return make_sum(std::move(terms), 0);
}

// floor_div(floor_div(x, n) + k, m) = floor_div(x + k*n, n*m); nothing for other dividends.
std::optional<Expr> divide_nested(const Expr& dividend, const Expr& divisor) {
  const TermsOf sum(dividend);
  if (sum.terms().size() != 1 || sum.terms()[0].scale != 1) return std::nullopt;
  const FloorDiv* inner = as<FloorDiv>(sum.terms()[0].factor);
  if (!inner) return std::nullopt;
  if (sum.offset() == 0 && !(constant_of(inner->divisor) && constant_of(divisor))) {
    return floor_div(inner->dividend, inner->divisor * divisor);
  }
  const auto number = constant_of(inner->divisor), by = constant_of(divisor);
  if (!number || !by) return std::nullopt;
  const auto both = checked_multiply(*number, *by);
  const auto shifted = add_scaled(inner->dividend, Expr(*number), sum.offset());
  if (!both || !shifted) return std::nullopt;
  return floor_div(*shifted, Expr(*both));
}

// floor_div(floor_mod(x, n*m), m) = floor_mod(floor_div(x, m), n), and 0 when n*m <= m.
std::optional<Expr> divide_remainder(const Expr& dividend, std::int64_t divisor) {
  const FloorMod* inner = as<FloorMod>(dividend);
  const auto number = inner ? constant_of(inner->divisor) : std::nullopt;
  if (!number) return std::nullopt;
  if (*number <= divisor) return Expr(0);
  if (*number % divisor != 0) return std::nullopt;
  return floor_mod(floor_div(inner->dividend, Expr(divisor)), Expr(*number / divisor));
}

// floor_mod(s*floor_mod(x, n) + y, m) = floor_mod(s*x + y, m) where m divides s*n.
std::optional<Expr> without_inner_mods(const Expr& dividend, std::int64_t divisor) {
  for (const TermsOf sum(dividend); const Term& term : sum.terms()) {
    const FloorMod* inner = as<FloorMod>(term.factor);
    const auto number = inner ? constant_of(inner->divisor) : std::nullopt;
    const auto period = number ? checked_multiply(*number, term.scale) : std::nullopt;
    if (!period || *period % divisor != 0) continue;
    // The term is s*x - s*n*floor_div(x, n).
    const auto more = add_scaled(without_term(dividend, term), inner->dividend, term.scale);
    if (more) return more;
  }
  return std::nullopt;
}

bool stays_below(const Expr& expr, std::int64_t divisor) {
  const FloorMod* mod = as<FloorMod>(expr);
  const auto number = mod ? constant_of(mod->divisor) : std::nullopt;
  return number && *number <= divisor;
}

Expr divide_by_constant(const Expr& rest, std::int64_t divisor) {
  if (constant_of(rest)) return Expr(0);  // 0 <= rest < divisor
  const std::int64_t factor = common_factor(rest, divisor);
  if (factor > 1) {
    // floor_div(f*x + r, f*d) = floor_div(x + floor_div(r, f), d)
    const Expr cancelled = scales_divided(rest, factor) + twinloom::floor_div(TermsOf(rest).offset(), factor);
    return floor_div(cancelled, Expr(divisor / factor));
  }
  if (const auto divided = divide_remainder(rest, divisor)) return *divided;
  if (const auto divided = divide_nested(rest, Expr(divisor))) return *divided;
  return make_div(rest, Expr(divisor));
}

Expr remainder_by_constant(const Expr& rest, std::int64_t divisor) {
  if (constant_of(rest) || stays_below(rest, divisor)) return rest;
  const std::int64_t factor = common_factor(rest, divisor);
  if (factor > 1) {
    // f*x + r and f*d: r modulo f is what stays of the offset.
    const std::int64_t offset = TermsOf(rest).offset();
    const Expr cancelled = scales_divided(rest, factor) + twinloom::floor_div(offset, factor);
    return Expr(factor) * floor_mod(cancelled, Expr(divisor / factor)) + twinloom::floor_mod(offset, factor);
  }
  if (const auto unfolded = without_inner_mods(rest, divisor)) return floor_mod(*unfolded, Expr(divisor));
  return make_mod(rest, Expr(divisor));
}

}  // namespace

Expr floor_div(const Expr& a, const Expr& b) {
  check_divisor(b);
  if (constant_of(b) == 1 || constant_of(a) == 0) return a;
  const auto [quotient, rest] = part(a, b);
  if (constant_of(rest) == 0) return quotient;
  if (const auto divisor = constant_of(b)) return quotient + divide_by_constant(rest, *divisor);
  if (const auto divided = divide_nested(rest, b)) return quotient + *divided;
  return quotient + make_div(rest, b);
}

Expr floor_mod(const Expr& a, const Expr& b) {
  check_divisor(b);
  if (constant_of(b) == 1) return Expr(0);
  const Expr rest = part(a, b).rest;
  if (constant_of(rest) == 0) return rest;
  if (const auto divisor = constant_of(b)) return remainder_by_constant(rest, *divisor);
  return make_mod(rest, b);
}

Expr ceil_div(const Expr& a, const Expr& b) { return -floor_div(-a, b); }

}  // namespace twinloom::index
