// Quotients of f32 that are hardest to round: a / b as near to the middle between two numbers as any quotient
// by that b is. With integers A and B of 24 bits, A * 2^s = M * B + r, so that M / 2^s, of 25 bits and odd,
// lies r units of 2^-s / B beside A / B; r is small, and M = -r / B modulo 2^s. And quotients of any numbers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>

namespace twinloom::cuda {

struct Quotient {
  float a, b;
};

constexpr std::int64_t QUOTIENTS_EACH = 64;  // of a divisor: r = 1, -1, 3, -3, ...
constexpr std::int64_t ALL_QUOTIENTS = (std::int64_t{1} << 23) * QUOTIENTS_EACH;

// 1 / odd modulo 2^32: each step doubles the bits that are right, of which there are 3.
inline std::uint32_t inverse_of_odd(std::uint32_t odd) {
  std::uint32_t inverse = odd;
  for (int step = 0; step < 4; ++step) inverse *= 2 - odd * inverse;
  return inverse;
}

// The 24 bits of a for one divisor; where no quotient lies so, those of r spread out.
inline std::int64_t hardest_dividend(std::int64_t b, std::int64_t r) {
  constexpr std::int64_t LEAST = 1 << 23, MOST = (1 << 24) - 1;
  const int even = std::countr_zero(static_cast<std::uint64_t>(b));
  const auto inverse = static_cast<std::int64_t>(inverse_of_odd(static_cast<std::uint32_t>(b >> even)));
  for (const int s : {24, 25}) {
    const std::int64_t modulus = std::int64_t{1} << (s - even);
    std::int64_t m = ((-r * inverse) % modulus + modulus) % modulus;
    for (m += (std::int64_t{1} << 24) / modulus * modulus; m < std::int64_t{1} << 25; m += modulus) {
      const std::int64_t a = (m * b + r * (std::int64_t{1} << even)) >> s;
      if ((m & 1) != 0 && a >= LEAST && a <= MOST && (a < b) == (s == 25)) return a;
    }
  }
  return LEAST + (r * 7919 * b & (LEAST - 1));
}

// Number i of all. Exponents go through those of common numbers, and a few that no quick form takes.
inline Quotient hardest_quotient(std::int64_t i) {
  const std::int64_t divisor = i / QUOTIENTS_EACH, pair = i % QUOTIENTS_EACH;
  const std::int64_t b = (std::int64_t{1} << 23) + divisor, odd = pair / 2 * 2 + 1;
  const std::int64_t a = hardest_dividend(b, pair % 2 == 0 ? odd : -odd);
  const int of_b = static_cast<int>(divisor * 37 % 84) - 42, of_a = static_cast<int>(i * 41 % 172) - 86;
  const auto sign = [](std::int64_t number) { return number % 3 == 0 ? -1.0f : 1.0f; };
  return {std::ldexp(sign(i) * static_cast<float>(a), of_a - 23),
          std::ldexp(sign(divisor) * static_cast<float>(b), of_b - 23)};
}

// Well mixed bits of a number (splitmix64's last steps: Steele, Lea, Flood 2014).
inline std::uint64_t mixed(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9u;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebu;
  return number ^ (number >> 31);
}
// Of any bits; one in eight is a zero, an infinity, a NaN or at an end of the normal or subnormal numbers.
inline float any_number(std::uint64_t seed) {
  constexpr std::uint32_t ENDS[] = {0,          0x7f800000, 0x7fc00000, 1,
                                    0x007fffff, 0x00800000, 0x7f7fffff, 0x3f800000};
  const std::uint64_t bits = mixed(seed);
  const auto low = static_cast<std::uint32_t>(bits);
  return std::bit_cast<float>(bits >> 61 == 0 ? (ENDS[bits >> 32 & 7] | (low & 0x80000000u)) : low);
}
inline Quotient any_quotient(std::int64_t i) {
  const auto number = static_cast<std::uint64_t>(i);
  return {any_number(2 * number), any_number(2 * (number / QUOTIENTS_EACH) + 1)};
}

}  // namespace twinloom::cuda
