// What is divided by what; and divisions by sizes that may be 0: positions of a tensor without elements are
// quotients and remainders of such a size. Nobody asks for them, but where something is put beside the
// nothing, one expression is of both.
#pragma once

#include <optional>
#include <vector>

#include "core/index/facts.h"

namespace twinloom::index {

// Whether it divides by what is 0 with these values, as far as they tell.
bool divides_by_zero(const Expr& expr, const Values& values);
bool divides_by_zero(const Condition& condition, const Values& values);

// The first divisor that is not positive with these values, which must be of all symbols; evaluate() would be
// a Bug.
std::optional<Expr> bad_divisor(const Expr& expr, const Values& values);
std::optional<Expr> bad_divisor(const Condition& condition, const Values& values);

// Appends the divisors of the quotients and remainders of exactly this symbol.
void add_divisors(const Expr& expr, Symbol symbol, std::vector<Expr>& divisors);

// whole / part where it is known to divide, and neither is 1.
std::optional<Expr> exact_quotient(const Expr& whole, const Expr& part, const Facts& facts);

}  // namespace twinloom::index
