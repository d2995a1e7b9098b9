// Finds a symbol from the value of an expression: how a size such as n is bound from a dimension
// that is printed as 3*n + 2.
#pragma once

#include <cstdint>
#include <optional>

#include "core/index/expr.h"

namespace twinloom::index {

// The value of `symbol` for which expr == value, where expr is linear in it and mentions no
// other symbol that `known` lacks. Nothing when it is not of that form, when its coefficient is 0, and
// when no integer solves it.
std::optional<std::int64_t> solve(const Expr& expr, std::int64_t value, Symbol symbol, const Values& known);

}  // namespace twinloom::index
