// See number.h; the roundings are those of rounding.h.
#include "core/ops/number.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/ops/rounding.h"

namespace twinloom::ops {

namespace {

double real_from(const Exact& value) { return std::bit_cast<double>(encode(DType::f64, value)); }

Number rounded(DType to, const Exact& value) { return real_from(decode(to, encode(to, value))); }

Number rounded(DType to, double value) {
  if (to == DType::f64) return value;
  if (to == DType::f32) return static_cast<double>(static_cast<float>(value));
  return rounded(to, exact(value));
}

}  // namespace

std::int64_t Number::integer() const {
  if (const auto* integer = std::get_if<std::int64_t>(&value_)) return *integer;
  return to_integer(DType::i64, std::get<double>(value_));
}

double Number::real() const {
  if (const auto* real = std::get_if<double>(&value_)) return *real;
  return static_cast<double>(std::get<std::int64_t>(value_));
}

bool operator==(const Number& a, const Number& b) {
  if (a.is_integer() != b.is_integer()) return false;
  if (a.is_integer()) return a.integer() == b.integer();
  if (std::isnan(a.real()) || std::isnan(b.real())) return std::isnan(a.real()) && std::isnan(b.real());
  return std::bit_cast<std::uint64_t>(a.real()) == std::bit_cast<std::uint64_t>(b.real());
}

std::uint64_t Number::hash() const {
  if (is_integer()) return mix_hash(1, static_cast<std::uint64_t>(integer()));
  const double value = std::isnan(real()) ? std::numeric_limits<double>::quiet_NaN() : real();
  return mix_hash(2, std::bit_cast<std::uint64_t>(value));
}

Number cast(const Number& number, DType dtype) { return cast(number, DType::i64, dtype); }

Number cast(const Number& number, DType from, DType to) {
  if (holds_real(to)) {
    if (!number.is_integer()) return rounded(to, number.real());
    if (from == DType::u64) return rounded(to, exact(static_cast<std::uint64_t>(number.integer())));
    return rounded(to, exact(number.integer()));
  }
  if (number.is_integer()) return wrap(to, number.integer());
  if (to == DType::b8) return Number(number.real() != 0);
  return to_integer(to, number.real());
}

double real_of(const Number& number, DType dtype) { return cast(number, dtype, DType::f64).real(); }

Number load_number(DType dtype, const void* element) {
  std::uint64_t bits = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&bits, element, static_cast<std::size_t>(size_of(dtype)));
  if (holds_real(dtype)) return real_from(decode(dtype, bits));
  return wrap(dtype, static_cast<std::int64_t>(bits));
}

void store_number(DType dtype, const Number& number, void* element) {
  const std::uint64_t bits =
      holds_real(dtype) ? encode(dtype, exact(number.real())) : static_cast<std::uint64_t>(number.integer());
  std::memcpy(element, &bits, static_cast<std::size_t>(size_of(dtype)));
}

std::string print(const Number& number) {
  if (number.is_integer()) return cat(number.integer());
  if (std::isnan(number.real())) return "nan";
  return fmt::format("{:a}", number.real());
}

Number parse_number(Scanner& scanner) {
  if (scanner.peek_real()) return scanner.real();
  return scanner.integer();
}

}  // namespace twinloom::ops
