// See rounding.h.
#include "core/ops/rounding.h"

#include <bit>
#include <cmath>

#include "core/base/error.h"

namespace twinloom::ops {

namespace {

struct Format {
  int exponent_bits;
  int fraction_bits;
  bool has_infinity;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int lowest_exponent() const { return 1 - bias() - fraction_bits; }  // of the last fraction bit
  std::uint64_t one() const { return std::uint64_t{1} << fraction_bits; }
  std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits) - 1) << fraction_bits; }
  // Of f8e4m3 only the pattern of all ones is a NaN; the rest of that exponent are numbers.
  std::uint64_t nan() const { return has_infinity ? infinity() | (one() >> 1) : infinity() | (one() - 1); }
  std::uint64_t sign() const { return std::uint64_t{1} << (exponent_bits + fraction_bits); }
};

// By reference: what is written as three members and read back as a whole stalls the reader.
const Format& format_of(DType dtype) {
  static constexpr Format f64{11, 52, true}, f32{8, 23, true}, f16{5, 10, true}, bf16{8, 7, true};
  static constexpr Format f8e4m3{4, 3, false}, f8e5m2{5, 2, true};
  switch (dtype) {
    case DType::f64:
      return f64;
    case DType::f32:
      return f32;
    case DType::f16:
      return f16;
    case DType::bf16:
      return bf16;
    case DType::f8e4m3:
      return f8e4m3;
    case DType::f8e5m2:
      return f8e5m2;
    default:
      break;  // every other type is no float
  }
  CHECK(false, name(dtype), " is no floating type");
  return f64;
}

// significand / 2^shift, rounded to nearest even; shift >= 0.
std::uint64_t shifted_right(std::uint64_t significand, int shift) {
  if (shift == 0) return significand;
  if (shift > 64) return 0;  // below half of the last place, as the significand has 64 bits
  const std::uint64_t kept = shift == 64 ? 0 : significand >> shift;
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rest = significand & (half | (half - 1));
  if (rest > half || (rest == half && (kept & 1) != 0)) return kept + 1;
  return kept;
}

std::uint64_t encode_magnitude(const Format& format, std::uint64_t significand, int exponent) {
  if (significand == 0) return 0;
  const int top = 63 - std::countl_zero(significand) + exponent;  // of the leading one
  const int last = std::max(top - format.fraction_bits, format.lowest_exponent());
  const int shift = last - exponent;
  const std::uint64_t rounded =
      shift >= 0 ? shifted_right(significand, shift) : significand << static_cast<unsigned>(-shift);
  // The biased exponent is added, not put in: a carry out of the fraction moves it up by itself.
  if (last > format.bias()) return format.nan() + 1;
  const auto steps = static_cast<std::uint64_t>(last - format.lowest_exponent());
  return (steps << format.fraction_bits) + rounded;
}

}  // namespace

Exact exact(double value) {
  if (std::isnan(value)) return {.kind = Exact::Kind::nan};
  return decode(DType::f64, std::bit_cast<std::uint64_t>(value));
}

Exact exact(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return {.negative = value < 0, .significand = value < 0 ? 0 - bits : bits};
}

Exact exact(std::uint64_t value) { return {.significand = value}; }

std::uint64_t encode(DType to, const Exact& value) {
  const Format& format = format_of(to);
  const std::uint64_t sign = value.negative ? format.sign() : 0;
  const std::uint64_t beyond = format.has_infinity ? format.infinity() : format.nan();
  switch (value.kind) {
    case Exact::Kind::nan:
      return format.nan();
    case Exact::Kind::infinite:
      return sign | beyond;
    case Exact::Kind::finite:
      break;
  }
  const std::uint64_t magnitude = encode_magnitude(format, value.significand, value.exponent);
  return sign | (magnitude >= beyond ? beyond : magnitude);
}

Exact decode(DType from, std::uint64_t bits) {
  const Format& format = format_of(from);
  const bool negative = (bits & format.sign()) != 0;
  const std::uint64_t magnitude = bits & (format.sign() - 1);
  if (format.has_infinity ? magnitude > format.infinity() : magnitude == format.nan()) {
    return {.kind = Exact::Kind::nan};
  }
  if (format.has_infinity && magnitude == format.infinity()) {
    return {.kind = Exact::Kind::infinite, .negative = negative};
  }
  const std::uint64_t fraction = magnitude & (format.one() - 1);
  const auto steps = static_cast<int>(magnitude >> format.fraction_bits);
  if (steps == 0)
    return {.negative = negative, .significand = fraction, .exponent = format.lowest_exponent()};
  return {.negative = negative,
          .significand = fraction | format.one(),
          .exponent = format.lowest_exponent() + steps - 1};
}

std::int64_t to_integer(DType to, double value) {
  if (std::isnan(value)) return 0;
  const bool is_signed = kind(to) != TypeKind::unsigned_int;
  const int bits = bits_of(to);
  const double above = std::ldexp(1.0, is_signed ? bits - 1 : bits);  // the first power beyond the type
  const double below = is_signed ? -above : 0.0;
  const std::uint64_t largest = is_signed ? (std::uint64_t{1} << (bits - 1)) - 1
                                          : (bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1);
  if (value >= above) return static_cast<std::int64_t>(largest);
  if (value <= below) return is_signed ? static_cast<std::int64_t>(below) : 0;
  if (is_signed) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value));
}

std::int64_t wrap(DType to, std::int64_t value) {
  if (to == DType::b8) return value != 0 ? 1 : 0;
  const int unused = 64 - bits_of(to);
  const std::uint64_t high = static_cast<std::uint64_t>(value) << unused;
  if (kind(to) == TypeKind::unsigned_int) return static_cast<std::int64_t>(high >> unused);
  return static_cast<std::int64_t>(high) >> unused;
}

}  // namespace twinloom::ops
