// See host_symbols.h.
#include "jit/host_symbols.h"

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

// From the compiler's own run-time library.
extern "C" {
__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UnsignedWide;
Wide __divti3(Wide, Wide);                           // NOLINT(bugprone-reserved-identifier)
Wide __modti3(Wide, Wide);                           // NOLINT(bugprone-reserved-identifier)
UnsignedWide __udivti3(UnsignedWide, UnsignedWide);  // NOLINT(bugprone-reserved-identifier)
UnsignedWide __umodti3(UnsignedWide, UnsignedWide);  // NOLINT(bugprone-reserved-identifier)
float __extendhfsf2(_Float16);                       // NOLINT(bugprone-reserved-identifier)
_Float16 __truncsfhf2(float);                        // NOLINT(bugprone-reserved-identifier)
_Float16 __truncdfhf2(double);                       // NOLINT(bugprone-reserved-identifier)
}

namespace twinloom::jit {

namespace {

// A bfloat16 is returned in the low 16 bits of the first vector register, and GCC 12 has no name for the
// type. What is not a number stays one: its top mantissa bit is set.
__m128i round_float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t halfway = 0x7fffu + ((bits >> 16) & 1u);
  const std::uint32_t rounded = std::isnan(value) ? (bits >> 16) | 0x40u : (bits + halfway) >> 16;
  return _mm_cvtsi32_si128(static_cast<int>(rounded));
}

// Rounding to float first must not decide what the second rounding decides: the first one rounds to odd.
__m128i round_double_to_bfloat16(double value) {
  const auto nearest = static_cast<float>(value);
  auto bits = std::bit_cast<std::uint32_t>(nearest);
  const bool exact = static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest);
  if (!exact && (bits & 1u) == 0)
    bits += std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? 0xffffffffu : 1u;
  return round_float_to_bfloat16(std::bit_cast<float>(bits));
}

template <class Function>
HostSymbol symbol(const char* name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

}  // namespace

std::vector<HostSymbol> default_host_symbols() {
  using FloatToFloat = float(float);
  using DoubleToDouble = double(double);
  using TwoFloats = float(float, float);
  using TwoDoubles = double(double, double);
  return {
      symbol("memcpy", &std::memcpy),
      symbol("memmove", &std::memmove),
      symbol("memset", &std::memset),
      symbol("memcmp", &std::memcmp),
      symbol<TwoFloats>("fmodf", &::fmodf),
      symbol<TwoDoubles>("fmod", &::fmod),
      symbol<FloatToFloat>("roundf", &::roundf),
      symbol<DoubleToDouble>("round", &::round),
      symbol("__divti3", &__divti3),
      symbol("__modti3", &__modti3),
      symbol("__udivti3", &__udivti3),
      symbol("__umodti3", &__umodti3),
      symbol("__extendhfsf2", &__extendhfsf2),
      symbol("__truncsfhf2", &__truncsfhf2),
      symbol("__truncdfhf2", &__truncdfhf2),
      symbol("__truncsfbf2", &round_float_to_bfloat16),
      symbol("__truncdfbf2", &round_double_to_bfloat16),
  };
}

}  // namespace twinloom::jit
