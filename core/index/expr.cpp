// Makes canonical expressions: symbols, constants, sums and products, and their order and equality.
// Division is in divide.cpp, least and greatest in extremes.cpp.
#include "core/index/expr.h"

#include <algorithm>
#include <compare>

#include "core/base/hash.h"
#include "core/base/integers.h"
#include "core/index/terms.h"

namespace twinloom::index {

namespace {

constexpr std::int64_t smallest_shared = -64;
constexpr std::int64_t largest_shared = 1024;
// Of products; a graph has as many as it has axes. More would take long.
constexpr std::size_t most_factors = 256;
constexpr std::size_t most_terms = 4096;

std::uint64_t hash_of_sum(std::span<const Term> terms, std::int64_t offset) {
  std::uint64_t hash = mix_hash(seed_sum, static_cast<std::uint64_t>(offset));
  for (const Term& term : terms) {
    hash = mix_hash(mix_hash(hash, term.factor.hash()), static_cast<std::uint64_t>(term.scale));
  }
  return hash;
}

std::shared_ptr<const Form> constant_form(std::int64_t constant) {
  return std::make_shared<const Form>(Form{Sum{{}, constant}, hash_of_sum({}, constant)});
}

// Small constants are in nearly every expression, so they are made once.
std::shared_ptr<const Form> shared_constant(std::int64_t constant) {
  static const std::vector<std::shared_ptr<const Form>> forms = [] {
    std::vector<std::shared_ptr<const Form>> made;
    for (std::int64_t i = smallest_shared; i <= largest_shared; ++i) made.push_back(constant_form(i));
    return made;
  }();
  return forms[static_cast<std::size_t>(constant - smallest_shared)];
}

[[noreturn]] void fail_to_fit(std::string_view operation) {
  throw Error(cat("index expression: a constant in the ", operation, " does not fit 64 bits"));
}

bool is_name(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto later = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !name.empty() && name.size() <= 23 && letter(name[0]) && std::ranges::all_of(name, later);
}

bool is_function(std::string_view name) {
  return name == "floor_div" || name == "floor_mod" || name == "least" || name == "greatest";
}

// Sums first, so that an equality n == m + 1 is read as "n is m + 1"; then as a sum is best read:
// i*n + j + floor_div(n, 8).
int rank(const Form& form) {
  static constexpr int of_kind[] = {0, 2, 1, 3, 4, 5, 6};
  static_assert(std::size(of_kind) == std::variant_size_v<Node>);
  return of_kind[form.node.index()];
}

std::strong_ordering order(const Expr& a, const Expr& b);

std::strong_ordering order(const Expr& a, const Expr& b, const Expr& c, const Expr& d) {
  const auto first = order(a, c);
  return first != 0 ? first : order(b, d);
}

std::strong_ordering order(const Sum& a, const Sum& b) {
  // Constants come before other sums.
  if (a.terms.empty() != b.terms.empty()) return b.terms.empty() <=> a.terms.empty();
  for (std::size_t i = 0; i < std::min(a.terms.size(), b.terms.size()); ++i) {
    if (const auto factors = order(a.terms[i].factor, b.terms[i].factor); factors != 0) return factors;
    if (const auto scales = a.terms[i].scale <=> b.terms[i].scale; scales != 0) return scales;
  }
  if (const auto sizes = a.terms.size() <=> b.terms.size(); sizes != 0) return sizes;
  return a.offset <=> b.offset;
}

std::strong_ordering order(const Product& a, const Product& b) {
  for (std::size_t i = 0; i < std::min(a.factors.size(), b.factors.size()); ++i) {
    if (const auto factors = order(a.factors[i], b.factors[i]); factors != 0) return factors;
  }
  return a.factors.size() <=> b.factors.size();
}

std::strong_ordering order(const Expr& a, const Expr& b) {
  if (&a.form() == &b.form()) return std::strong_ordering::equal;
  if (const auto ranks = rank(a.form()) <=> rank(b.form()); ranks != 0) return ranks;
  return match(
      a.form(), [&](const Sum& sum) { return order(sum, *as<Sum>(b)); },
      [&](const Symbol& symbol) { return symbol <=> *as<Symbol>(b); },
      [&](const Product& product) { return order(product, *as<Product>(b)); },
      [&](const FloorDiv& x) {
        return order(x.dividend, x.divisor, as<FloorDiv>(b)->dividend, as<FloorDiv>(b)->divisor);
      },
      [&](const FloorMod& x) {
        return order(x.dividend, x.divisor, as<FloorMod>(b)->dividend, as<FloorMod>(b)->divisor);
      },
      [&](const Least& x) { return order(x.a, x.b, as<Least>(b)->a, as<Least>(b)->b); },
      [&](const Greatest& x) { return order(x.a, x.b, as<Greatest>(b)->a, as<Greatest>(b)->b); });
}

// Terms that are sorted, have different factors and no zero scale.
Expr make_sorted_sum(std::vector<Term> terms, std::int64_t offset) {
  if (terms.empty()) return Expr(offset);
  if (terms.size() == 1 && terms[0].scale == 1 && offset == 0) return std::move(terms[0].factor);
  const std::uint64_t hash = hash_of_sum(terms, offset);
  return Maker::make(Sum{std::move(terms), offset}, hash);
}

std::optional<Expr> scaled(const Expr& expr, std::int64_t scale) {
  if (scale == 1) return expr;
  if (scale == 0) return Expr(0);
  return add_scaled(Expr(0), expr, scale);
}

}  // namespace

Symbol::Symbol(std::string_view name) {
  if (!is_name(name) || is_function(name)) {
    throw Error(cat("symbol '", escaped(name),
                    "': expected 1 to 23 characters [A-Za-z_][A-Za-z0-9_.]* that are not ",
                    "the name of a function of index expressions"));
  }
  std::ranges::copy(name, name_.begin());
}

Expr::Expr(std::int64_t constant)
    : form_(constant >= smallest_shared && constant <= largest_shared ? shared_constant(constant)
                                                                      : constant_form(constant)) {}

Expr::Expr(Symbol symbol)
    : form_(std::make_shared<const Form>(Form{symbol, mix_hash(seed_symbol, stable_hash(symbol.name()))})) {}

std::uint64_t Expr::hash() const { return form_->hash; }

bool operator==(const Expr& a, const Expr& b) {
  if (a.form_ == b.form_) return true;
  return a.hash() == b.hash() && order(a, b) == 0;
}

bool comes_before(const Expr& a, const Expr& b) { return order(a, b) < 0; }

Expr Maker::make(Node node, std::uint64_t hash) {
  return Expr(std::make_shared<const Form>(Form{std::move(node), hash}));
}

TermsOf::TermsOf(const Expr& expr) {
  if (const Sum* sum = as<Sum>(expr)) {
    terms_ = sum->terms;
    offset_ = sum->offset;
  } else {
    single_ = Term{expr, 1};
    terms_ = std::span(&*single_, 1);
  }
}

std::span<const Expr> factors_of(const Expr& factor) {
  if (const Product* product = as<Product>(factor)) return product->factors;
  return std::span(&factor, 1);
}

Expr make_product(std::vector<Expr> factors) {
  if (factors.empty()) return Expr(1);
  if (factors.size() == 1) return std::move(factors[0]);
  std::ranges::sort(factors, comes_before);
  std::uint64_t hash = seed_product;
  for (const Expr& factor : factors) hash = mix_hash(hash, factor.hash());
  return Maker::make(Product{std::move(factors)}, hash);
}

Expr make_sum(std::vector<Term> terms, std::int64_t offset) {
  std::ranges::sort(terms, [](const Term& a, const Term& b) { return comes_before(a.factor, b.factor); });
  std::vector<Term> merged;
  merged.reserve(terms.size());
  for (Term& term : terms) {
    if (!merged.empty() && merged.back().factor == term.factor) {
      const auto scale = checked_add(merged.back().scale, term.scale);
      if (!scale) fail_to_fit("sum");
      merged.back().scale = *scale;
    } else {
      if (!merged.empty() && merged.back().scale == 0) merged.pop_back();
      merged.push_back(std::move(term));
    }
  }
  if (!merged.empty() && merged.back().scale == 0) merged.pop_back();
  return make_sorted_sum(std::move(merged), offset);
}

std::optional<Expr> add_scaled(const Expr& a, const Expr& b, std::int64_t scale) {
  const TermsOf left(a), right(b);
  const auto more = checked_multiply(right.offset(), scale);
  const auto offset = more ? checked_add(left.offset(), *more) : std::nullopt;
  if (!offset) return std::nullopt;
  std::vector<Term> terms;
  terms.reserve(left.terms().size() + right.terms().size());
  auto x = left.terms().begin();
  auto y = right.terms().begin();
  while (x != left.terms().end() || y != right.terms().end()) {
    const bool only_left = y == right.terms().end();
    const auto which = only_left                 ? std::strong_ordering::less
                       : x == left.terms().end() ? std::strong_ordering::greater
                                                 : order(x->factor, y->factor);
    if (which < 0) {
      terms.push_back(*x++);
      continue;
    }
    const auto added = checked_multiply(y->scale, scale);
    const auto sum = added ? checked_add(which == 0 ? x->scale : 0, *added) : std::nullopt;
    if (!sum) return std::nullopt;
    if (*sum != 0) terms.push_back(Term{y->factor, *sum});
    if (which == 0) ++x;
    ++y;
  }
  return make_sorted_sum(std::move(terms), *offset);
}

Expr without_term(const Expr& sum, const Term& term) {
  const TermsOf all(sum);
  std::vector<Term> left;
  for (const Term& other : all.terms()) {
    if (other.factor != term.factor) left.push_back(other);
  }
  return make_sorted_sum(std::move(left), all.offset());
}

std::optional<std::vector<Expr>> without_factors(std::span<const Expr> whole, std::span<const Expr> part) {
  std::vector<Expr> left;
  std::size_t next = 0;
  for (const Expr& factor : whole) {
    if (next < part.size() && part[next] == factor) {
      ++next;
    } else {
      left.push_back(factor);
    }
  }
  if (next < part.size()) return std::nullopt;
  return left;
}

Expr operator+(const Expr& a, const Expr& b) {
  if (constant_of(b) == 0) return a;
  if (constant_of(a) == 0) return b;
  const auto sum = add_scaled(a, b, 1);
  if (!sum) fail_to_fit("sum");
  return *sum;
}

Expr operator-(const Expr& a, const Expr& b) {
  if (constant_of(b) == 0) return a;
  const auto difference = add_scaled(a, b, -1);
  if (!difference) fail_to_fit("difference");
  return *difference;
}

Expr operator-(const Expr& a) { return Expr(0) - a; }

Expr operator*(const Expr& a, const Expr& b) {
  if (const auto scale = constant_of(a) ? constant_of(a) : constant_of(b)) {
    const auto result = scaled(constant_of(a) ? b : a, *scale);
    if (!result) fail_to_fit("product");
    return *result;
  }
  const TermsOf left(a), right(b);
  if (left.terms().size() * right.terms().size() > most_terms)
    throw Error(cat("index expression: a product has more than ", most_terms, " terms"));
  std::vector<Term> terms;
  const auto multiply_terms = [&](const Term& x, const Term& y) {
    const auto scale = checked_multiply(x.scale, y.scale);
    if (!scale) fail_to_fit("product");
    std::vector<Expr> factors(factors_of(x.factor).begin(), factors_of(x.factor).end());
    factors.insert(factors.end(), factors_of(y.factor).begin(), factors_of(y.factor).end());
    if (factors.size() > most_factors)
      throw Error(cat("index expression: a product has more than ", most_factors, " factors"));
    terms.push_back(Term{make_product(std::move(factors)), *scale});
  };
  for (const Term& x : left.terms()) {
    for (const Term& y : right.terms()) multiply_terms(x, y);
  }
  Expr result = make_sum(std::move(terms), 0);
  // (x + p)*(y + q) = x*y + q*x + p*y + p*q, with x and y the parts without an offset.
  if (right.offset() != 0) result = result + (a - left.offset()) * Expr(right.offset());
  if (left.offset() != 0) result = result + b * Expr(left.offset());
  return result;
}

}  // namespace twinloom::index
