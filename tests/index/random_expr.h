// Random expressions with facts for their symbols, for the tests that compare values and proofs.
#pragma once

#include <random>

#include "core/index/facts.h"

namespace twinloom::index::testing {

// Symbols i, j, k, x, y (counters, some below a size, some negative) and n, m, s (sizes, at least 1;
// each has one value when they are known).
Facts random_facts(std::mt19937_64& random, bool known_sizes = false);

// A tree of about this depth, biased to what index maps contain: i*n + j, divisions by sizes and by
// small numbers, quotients and remainders of one dividend side by side.
Expr random_expr(std::mt19937_64& random, int depth);

}  // namespace twinloom::index::testing
