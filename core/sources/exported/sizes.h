// What the functions of this folder have in common: the arithmetic of sizes, and what they throw.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/emit/abi.h"

namespace twinloom::exported {

using emit::FailureRecord;
using emit::Integer;

// Rounding down; of a divisor that is not positive there is none.
inline Integer floor_div(Integer a, Integer b) {
  if (b <= 0) throw std::invalid_argument("a size is divided by " + std::to_string(b));
  return a / b - (a % b < 0 ? 1 : 0);
}
inline Integer floor_mod(Integer a, Integer b) { return a - floor_div(a, b) * b; }
inline Integer least(Integer a, Integer b) { return std::min(a, b); }
inline Integer greatest(Integer a, Integer b) { return std::max(a, b); }

// Memory between kernels begins at multiples of a line of the caches.
inline Integer whole_lines(Integer bytes) { return (bytes + 63) / 64 * 64; }

// Of what a kernel found: an index out of range, or an assertion that does not hold, in its own words.
[[noreturn]] inline void fail(const FailureRecord& failure, bool asserted, const std::string& words) {
  if (asserted) throw std::out_of_range(words);
  throw std::out_of_range(words + ": index " + std::to_string(failure.value) +
                          " is out of range; expected 0 <= index < " + std::to_string(failure.bound));
}

}  // namespace twinloom::exported
