// How programs of nests with sums of floats are compared.
#pragma once

#include <string_view>
#include <vector>

#include "core/index/expr.h"
#include "core/steps/steps.h"
#include "tests/support/nests_of_sums.h"

namespace twinloom::tests {

// With so many elements in place of `n`.
loops::Program with_length(std::string_view text, std::int64_t n);
index::Values sizes_of(std::int64_t m, std::int64_t n);

// What the steps make of the nest leaves the bits that the nest does, with threads and blocks in two orders.
void expect_same_bits(const loops::Program& nest, const std::vector<steps::Step>& list,
                      const index::Values& sizes);

}  // namespace twinloom::tests
