// Inside of the room: how the makers of expressions look at a sum and build one.
// Every expression is read as scale_1*factor_1 + ... + offset; what is not a Sum is its own only term.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/match.h"
#include "core/index/expr.h"

namespace twinloom::index {

using Node = decltype(Form::node);

// What the hash of each kind starts from.
enum Seed : std::uint64_t {
  seed_sum = 1,
  seed_symbol,
  seed_product,
  seed_div = 11,
  seed_mod,
  seed_least = 21,
  seed_greatest,
};

struct Maker {
  // Trusts that the node is canonical.
  static Expr make(Node node, std::uint64_t hash);
};

// The terms and the offset of an expression, without copying those of a Sum. The expression must
// outlive the view.
class TermsOf {
 public:
  explicit TermsOf(const Expr& expr);
  TermsOf(const TermsOf&) = delete;
  TermsOf& operator=(const TermsOf&) = delete;
  std::span<const Term> terms() const& { return terms_; }
  std::span<const Term> terms() && = delete;  // it would view what dies at the end of the line
  std::int64_t offset() const { return offset_; }

 private:
  std::optional<Term> single_;
  std::span<const Term> terms_;
  std::int64_t offset_ = 0;
};

// The factors of a term's factor: those of a Product, or itself.
std::span<const Expr> factors_of(const Expr& factor);

// The product of factors that are neither sums nor products; 1 for none.
Expr make_product(std::vector<Expr> factors);

// The sum of terms in any order, with equal factors and zero scales allowed.
Expr make_sum(std::vector<Term> terms, std::int64_t offset);

// a + scale*b; nothing where a number leaves 64 bits.
std::optional<Expr> add_scaled(const Expr& a, const Expr& b, std::int64_t scale);

// The sum without one of its terms.
Expr without_term(const Expr& sum, const Term& term);

// `whole` without the factors in `part` (both sorted); nothing when one of them is missing.
std::optional<std::vector<Expr>> without_factors(std::span<const Expr> whole, std::span<const Expr> part);

// The node as T, or null: what std::get_if gives.
template <class T>
const T* as(const Expr& expr) {
  return std::get_if<T>(&expr.form().node);
}

}  // namespace twinloom::index
