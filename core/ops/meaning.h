// What the operators mean. A Value is an element with the arithmetic it is done in; the formulas of
// pointwise.def are written over Values and find the functions here by their argument, so that a row's
// name cannot hide what its formula calls.
//   strict  in the type itself: every step rounds once, an elementary function is the device header's
//   wide    in double, elementary functions by the C library; integers are exact in both
// Everything but the elementary functions is written a second time in the device header; a test compares
// the two over all values of the 8-bit and 16-bit types.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/ops/device/kernel.h"
#include "core/ops/wide.h"

namespace twinloom::ops::meaning {

enum class Arithmetic : std::uint8_t { strict, wide };

template <class Element, Arithmetic kind>
struct Value {
  Element value;
};
template <Arithmetic kind>
using Truth = Value<bool, kind>;

template <class Element>
constexpr bool is_truth = std::same_as<Element, bool>;
template <class Element>
constexpr bool is_real = std::floating_point<Element>;

// A number of the type of x.
template <class Element, Arithmetic kind>
Value<Element, kind> same(Value<Element, kind>, int number) {
  return {static_cast<Element>(number)};
}
template <class Element, Arithmetic kind>
Value<Element, kind> infinity(Value<Element, kind>) {
  return {std::numeric_limits<Element>::infinity()};
}

// Integers are computed modulo 2^64 and cut to their type, so that nothing overflows.
#define WRAPPED(sign)                                                                  \
  template <class Element, Arithmetic kind>                                            \
  Value<Element, kind> operator sign(Value<Element, kind> x, Value<Element, kind> y) { \
    if constexpr (is_real<Element>) {                                                  \
      return {x.value sign y.value};                                                   \
    } else {                                                                           \
      return {static_cast<Element>(static_cast<std::uint64_t>(x.value)                 \
                                       sign static_cast<std::uint64_t>(y.value))};     \
    }                                                                                  \
  }
WRAPPED(+)
WRAPPED(-)
WRAPPED(*)
#undef WRAPPED

template <class Element, Arithmetic kind>
Value<Element, kind> operator/(Value<Element, kind> x, Value<Element, kind> y) {
  return {x.value / y.value};
}
template <class Element, Arithmetic kind>
Value<Element, kind> operator-(Value<Element, kind> x) {
  if constexpr (is_real<Element>)
    return {-x.value};
  else
    return same(x, 0) - x;
}

#define BITWISE(sign)                                                                  \
  template <class Element, Arithmetic kind>                                            \
  Value<Element, kind> operator sign(Value<Element, kind> x, Value<Element, kind> y) { \
    return {static_cast<Element>(x.value sign y.value)};                               \
  }
BITWISE(&)
BITWISE(|)
BITWISE(^)
#undef BITWISE

#define COMPARISON(sign)                                                      \
  template <class Element, Arithmetic kind>                                   \
  Truth<kind> operator sign(Value<Element, kind> x, Value<Element, kind> y) { \
    return {x.value sign y.value};                                            \
  }
COMPARISON(==)
COMPARISON(!=)
COMPARISON(<)
COMPARISON(<=)
COMPARISON(>)
COMPARISON(>=)
#undef COMPARISON

template <class Element, Arithmetic kind>
Truth<kind> truth(Value<Element, kind> x) {
  return {x.value != Element{}};
}
template <Arithmetic kind>
Truth<kind> operator!(Truth<kind> x) {
  return {!x.value};
}
template <class Element, Arithmetic kind>
Value<Element, kind> operator~(Value<Element, kind> x) {
  if constexpr (is_truth<Element>)
    return !x;
  else
    return {static_cast<Element>(~x.value)};
}

template <class Element, Arithmetic kind>
Truth<kind> signbit(Value<Element, kind> x) {
  if constexpr (is_real<Element>)
    return {std::signbit(x.value)};
  else if constexpr (std::is_signed_v<Element>)
    return {x.value < 0};
  else
    return {false};
}
template <class Element, Arithmetic kind>
Value<Element, kind> abs(Value<Element, kind> x) {
  if constexpr (is_real<Element>)
    return {std::fabs(x.value)};
  else
    return signbit(x).value ? -x : x;
}
// A zero and a NaN are their own sign.
template <class Element, Arithmetic kind>
Value<Element, kind> sign(Value<Element, kind> x) {
  if (!(x.value != Element{}) || x.value != x.value) return x;
  return signbit(x).value ? -same(x, 1) : same(x, 1);
}

// Of a real the bits of its magnitude, with its sign; of an integer without sign its distance from the
// middle.
template <class Element, Arithmetic kind>
Value<std::int64_t, kind> order_key(Value<Element, kind> x) {
  if constexpr (is_real<Element>) {
    using Bits = std::conditional_t<sizeof(Element) == 4, std::int32_t, std::int64_t>;
    constexpr Element not_a_number = std::numeric_limits<Element>::quiet_NaN();
    if (x.value != x.value) return {std::bit_cast<Bits>(not_a_number)};
    const std::int64_t magnitude = std::bit_cast<Bits>(std::fabs(x.value));
    return {signbit(x).value ? -magnitude : magnitude};
  } else if constexpr (std::is_unsigned_v<Element> && !is_truth<Element>) {
    return {static_cast<std::int64_t>(static_cast<std::uint64_t>(x.value) -
                                      (std::uint64_t{1} << (8 * sizeof(Element) - 1)))};
  } else {
    return {static_cast<std::int64_t>(x.value)};
  }
}

// IEEE 754-2019 maximum and minimum.
template <class Element, Arithmetic kind>
Value<Element, kind> maximum(Value<Element, kind> x, Value<Element, kind> y) {
  if (x.value != x.value) return x;
  if (y.value != y.value) return y;
  if (x.value == y.value) return signbit(x).value ? y : x;
  return x.value > y.value ? x : y;
}
template <class Element, Arithmetic kind>
Value<Element, kind> minimum(Value<Element, kind> x, Value<Element, kind> y) {
  if (x.value != x.value) return x;
  if (y.value != y.value) return y;
  if (x.value == y.value) return signbit(x).value ? x : y;
  return x.value < y.value ? x : y;
}

// The one quotient of integers that does not fit: MIN / -1.
template <class Element>
bool overflows(Element x, Element y) {
  if constexpr (std::is_signed_v<Element>) {
    return x == std::numeric_limits<Element>::min() && y == static_cast<Element>(-1);
  }
  return false;
}
template <class Element, Arithmetic kind>
Value<Element, kind> fmod(Value<Element, kind> x, Value<Element, kind> y) {
  if constexpr (is_real<Element>) {
    return {std::fmod(x.value, y.value)};
  } else {
    if (y.value == 0 || overflows(x.value, y.value)) return same(x, 0);
    return {static_cast<Element>(x.value % y.value)};
  }
}
// Whether a remainder's sign is not that of the divisor.
template <class Element, Arithmetic kind>
bool on_other_side(Value<Element, kind> rest, Value<Element, kind> y) {
  const Element zero{};
  return rest.value != zero && std::isless(static_cast<double>(rest.value), 0.0) != (y.value < zero);
}
template <class Element, Arithmetic kind>
Value<Element, kind> remainder(Value<Element, kind> x, Value<Element, kind> y) {
  const auto rest = fmod(x, y);
  return on_other_side(rest, y) ? rest + y : rest;
}
template <class Element, Arithmetic kind>
Value<Element, kind> div_trunc(Value<Element, kind> x, Value<Element, kind> y) {
  if constexpr (is_real<Element>) {
    return {std::trunc(x.value / y.value)};
  } else {
    if (y.value == 0) return same(x, 0);
    if (overflows(x.value, y.value)) return x;
    return {static_cast<Element>(x.value / y.value)};
  }
}
// Reals by the exact remainder: the quotient of what it leaves, moved to the nearest whole number.
template <class Element, Arithmetic kind>
Value<Element, kind> div_floor(Value<Element, kind> x, Value<Element, kind> y) {
  const auto rest = fmod(x, y);
  if constexpr (is_real<Element>) {
    if (y.value == 0) return x / y;
    auto quotient = (x - rest) / y;
    if (on_other_side(rest, y)) quotient = quotient - same(x, 1);
    if (quotient.value == 0) return {std::copysign(Element{}, x.value / y.value)};
    const Value<Element, kind> below = {std::floor(quotient.value)};
    return (quotient - below).value > Element{0.5} ? below + same(x, 1) : below;
  } else {
    const auto quotient = div_trunc(x, y);
    return on_other_side(rest, y) ? quotient - same(x, 1) : quotient;
  }
}

// An amount below zero or not below the width shifts everything out.
template <class Element>
bool shifts_out(Element amount) {
  return std::cmp_less(amount, 0) || std::cmp_greater_equal(amount, sizeof(Element) * 8);
}
template <class Element, Arithmetic kind>
Value<Element, kind> shift_left(Value<Element, kind> x, Value<Element, kind> amount) {
  if (shifts_out(amount.value)) return same(x, 0);
  return {static_cast<Element>(static_cast<std::uint64_t>(x.value) << amount.value)};
}
template <class Element, Arithmetic kind>
Value<Element, kind> shift_right(Value<Element, kind> x, Value<Element, kind> amount) {
  if (shifts_out(amount.value)) return signbit(x).value ? ~same(x, 0) : same(x, 0);
  return {static_cast<Element>(x.value >> amount.value)};
}

template <class Element, Arithmetic kind>
Value<Element, kind> pow(Value<Element, kind> x, Value<Element, kind> y) {
  if constexpr (is_real<Element>) {
    if constexpr (kind == Arithmetic::wide)
      return {std::pow(x.value, y.value)};
    else
      return {device::pow(x.value, y.value)};
  } else {
    const auto one = same(x, 1);
    if (signbit(y).value) {
      if (x.value == one.value) return one;
      if (std::cmp_equal(x.value, -1)) return (y.value & 1) != 0 ? x : one;
      return same(x, 0);
    }
    auto result = one;
    for (auto left = static_cast<std::uint64_t>(y.value); left != 0; left >>= 1) {
      if ((left & 1) != 0) result = result * x;
      x = x * x;
    }
    return result;
  }
}

// Functions of reals that the C library gives exactly in every arithmetic.
#define EXACT_1(name, function)                       \
  template <class Element, Arithmetic kind>           \
  Value<Element, kind> name(Value<Element, kind> x) { \
    return {function(x.value)};                       \
  }
#define EXACT_2(name, function)                                               \
  template <class Element, Arithmetic kind>                                   \
  Value<Element, kind> name(Value<Element, kind> x, Value<Element, kind> y) { \
    return {function(x.value, y.value)};                                      \
  }
EXACT_1(ceil, std::ceil)
EXACT_1(floor, std::floor)
EXACT_1(trunc, std::trunc)
EXACT_1(round, std::nearbyint)
EXACT_1(sqrt, std::sqrt)
EXACT_2(copysign, std::copysign)
EXACT_2(nextafter, std::nextafter)
#undef EXACT_1
#undef EXACT_2
// x * y + z, rounded once.
template <class Element, Arithmetic kind>
Value<Element, kind> fma(Value<Element, kind> x, Value<Element, kind> y, Value<Element, kind> z) {
  return {std::fma(x.value, y.value, z.value)};
}

#define ELEMENTARY(name, wide_function)               \
  template <class Element, Arithmetic kind>           \
  Value<Element, kind> name(Value<Element, kind> x) { \
    if constexpr (kind == Arithmetic::wide)           \
      return {wide_function(x.value)};                \
    else                                              \
      return {device::name(x.value)};                 \
  }
ELEMENTARY(exp, std::exp)
ELEMENTARY(exp2, std::exp2)
ELEMENTARY(expm1, std::expm1)
ELEMENTARY(log, std::log)
ELEMENTARY(log2, std::log2)
ELEMENTARY(log10, std::log10)
ELEMENTARY(log1p, std::log1p)
ELEMENTARY(sin, std::sin)
ELEMENTARY(cos, std::cos)
ELEMENTARY(tan, std::tan)
ELEMENTARY(sinh, std::sinh)
ELEMENTARY(cosh, std::cosh)
ELEMENTARY(tanh, std::tanh)
ELEMENTARY(asin, std::asin)
ELEMENTARY(acos, std::acos)
ELEMENTARY(atan, std::atan)
ELEMENTARY(asinh, std::asinh)
ELEMENTARY(acosh, std::acosh)
ELEMENTARY(atanh, std::atanh)
ELEMENTARY(erf, std::erf)
ELEMENTARY(erfc, std::erfc)
ELEMENTARY(erfinv, wide::erfinv)
ELEMENTARY(lgamma, wide::lgamma)
ELEMENTARY(digamma, wide::digamma)
ELEMENTARY(i0, wide::i0)
ELEMENTARY(rsqrt, wide::rsqrt)
ELEMENTARY(sigmoid, wide::sigmoid)
ELEMENTARY(silu, wide::silu)
ELEMENTARY(gelu_erf, wide::gelu_erf)
ELEMENTARY(gelu_tanh, wide::gelu_tanh)
ELEMENTARY(gelu_erf_brief, wide::gelu_erf)
ELEMENTARY(gelu_tanh_brief, wide::gelu_tanh)
ELEMENTARY(gelu_erf_slope_brief, wide::gelu_erf_slope)
ELEMENTARY(gelu_tanh_slope_brief, wide::gelu_tanh_slope)
ELEMENTARY(softplus, wide::softplus)
ELEMENTARY(sin_short, std::sin)
ELEMENTARY(cos_short, std::cos)
ELEMENTARY(sigmoid_short, wide::sigmoid)
ELEMENTARY(silu_short, wide::silu)
ELEMENTARY(gelu_tanh_short, wide::gelu_tanh)
ELEMENTARY(log_short, std::log)
ELEMENTARY(log2_short, std::log2)
ELEMENTARY(log10_short, std::log10)
ELEMENTARY(log1p_short, std::log1p)
ELEMENTARY(expm1_short, std::expm1)
ELEMENTARY(softplus_short, wide::softplus)
ELEMENTARY(tanh_short, std::tanh)
ELEMENTARY(erf_short, std::erf)
ELEMENTARY(rsqrt_short, wide::rsqrt)
ELEMENTARY(asin_short, std::asin)
ELEMENTARY(acos_short, std::acos)
ELEMENTARY(atan_short, std::atan)
ELEMENTARY(exp_approximate, std::exp)
ELEMENTARY(sigmoid_approximate, wide::sigmoid)
ELEMENTARY(silu_approximate, wide::silu)
ELEMENTARY(gelu_erf_approximate, wide::gelu_erf)
ELEMENTARY(gelu_tanh_approximate, wide::gelu_tanh)
ELEMENTARY(exp_brief_approximate, std::exp)
ELEMENTARY(sigmoid_brief_approximate, wide::sigmoid)
ELEMENTARY(silu_brief_approximate, wide::silu)
ELEMENTARY(tanh_brief_approximate, std::tanh)
#undef ELEMENTARY

#define ELEMENTARY_2(name, full)                                              \
  template <class Element, Arithmetic kind>                                   \
  Value<Element, kind> name(Value<Element, kind> x, Value<Element, kind> y) { \
    if constexpr (kind == Arithmetic::wide)                                   \
      return {std::full(x.value, y.value)};                                   \
    else                                                                      \
      return {device::name(x.value, y.value)};                                \
  }
ELEMENTARY_2(atan2, atan2)
ELEMENTARY_2(hypot, hypot)
ELEMENTARY_2(pow_short, pow)
#undef ELEMENTARY_2

// Random numbers are defined by their bits: one generator serves all.
template <Arithmetic kind, class... More>
Value<float, kind> uniform(Value<std::int64_t, kind> n, More... more) {
  return {device::random_uniform(n.value, more.value...)};
}
template <Arithmetic kind, class... More>
Value<double, kind> uniform_f64(Value<std::int64_t, kind> n, More... more) {
  return {device::random_uniform_f64(n.value, more.value...)};
}
template <Arithmetic kind, class... More>
Value<float, kind> normal(Value<std::int64_t, kind> n, More... more) {
  return {device::random_normal(n.value, more.value...)};
}
template <Arithmetic kind, class... More>
Value<std::int64_t, kind> integers(Value<std::int64_t, kind> n, More... more) {
  return {device::random_integers(n.value, more.value...)};
}

}  // namespace twinloom::ops::meaning
