// Integer arithmetic on sizes, offsets and counts (std::int64_t), with the rounding that the whole
// project uses: division rounds towards minus infinity, divisors are positive.
#pragma once

#include <cstdint>
#include <optional>

#include "core/base/error.h"

namespace twinloom {

// a / b rounded towards minus infinity; b > 0.
constexpr std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}

// a - b * floor_div(a, b), so 0 <= result < b; b > 0.
constexpr std::int64_t floor_mod(std::int64_t a, std::int64_t b) {
  const std::int64_t remainder = a % b;
  return remainder < 0 ? remainder + b : remainder;
}

// a / b rounded towards plus infinity; b > 0.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// Nothing where the exact result does not fit.
inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The smallest power of two that is at least `value`; value >= 1.
constexpr std::int64_t next_power_of_two(std::int64_t value) {
  std::int64_t power = 1;
  while (power < value) power *= 2;
  return power;
}

constexpr bool is_power_of_two(std::int64_t value) { return value > 0 && (value & (value - 1)) == 0; }

}  // namespace twinloom
