// What sizes must be where an expression of them is at least a number:
//   n - least(2, n) >= 1    ->    n >= 3
//   ceil_div(n*m, 4) >= 1   ->    n >= 1, m >= 1    where neither is negative
#pragma once

#include <cstdint>

#include "core/index/facts.h"

namespace twinloom::graph {

// Adds to the facts what `expr >= low` says of single symbols.
void assume_at_least(index::Facts& facts, const index::Expr& expr, std::int64_t low);

// a < b without the one division that the two have on top:
//   1 <= floor_div(x, d) + r    ->    (1 - r)*d - 1 < x
//   1 <= r - floor_div(x, d)    ->    x < r*d
index::Less without_division(const index::Less& less);

}  // namespace twinloom::graph
