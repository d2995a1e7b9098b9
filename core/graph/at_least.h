// What sizes must be where an expression of them is at least a number:
//   n - least(2, n) >= 1    ->    n >= 3
//   ceil_div(n*m, 4) >= 1   ->    n >= 1, m >= 1    where neither is negative
#pragma once

#include <cstdint>

#include "core/index/facts.h"

namespace twinloom::graph {

// Adds to the facts what `expr >= low` says of single symbols.
void assume_at_least(index::Facts& facts, const index::Expr& expr, std::int64_t low);

}  // namespace twinloom::graph
