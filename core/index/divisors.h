// Divisions by sizes that may be 0: positions of a tensor without elements are quotients and remainders of
// such a size. Nobody asks for them, but where something is put beside the nothing, one expression is of
// both.
#pragma once

#include <optional>

#include "core/index/expr.h"

namespace twinloom::index {

// Whether it divides by what is 0 with these values, as far as they tell.
bool divides_by_zero(const Expr& expr, const Values& values);
bool divides_by_zero(const Condition& condition, const Values& values);

// The first divisor that is not positive with these values, which must be of all symbols; evaluate() would be
// a Bug.
std::optional<Expr> bad_divisor(const Expr& expr, const Values& values);
std::optional<Expr> bad_divisor(const Condition& condition, const Values& values);

}  // namespace twinloom::index
