// See elements.h.
#include "tests/ops/elements.h"

#include <cmath>
#include <cstring>

#include "core/base/text.h"

namespace twinloom::ops::testing {

std::uint64_t Elements::bits(std::int64_t i) const {
  std::uint64_t value = 0;
  std::memcpy(&value, at(i), static_cast<std::size_t>(size_of(dtype_)));
  return value;
}

void Elements::set_bits(std::int64_t i, std::uint64_t bits) {
  std::memcpy(bytes_.data() + i * size_of(dtype_), &bits, static_cast<std::size_t>(size_of(dtype_)));
}

std::vector<std::uint64_t> special_bits(DType dtype) {
  std::vector<std::uint64_t> all;
  if (dtype == DType::b8) return {0, 1, 2, 0x80, 0xff};
  if (is_integer(dtype)) {
    for (int power = 0; power < bits_of(dtype); ++power) {
      const std::uint64_t two = std::uint64_t{1} << power;
      for (const std::uint64_t value : {two, two - 1, two + 1, 0 - two, 0 - two - 1}) all.push_back(value);
    }
    return all;
  }
  for (const double value : {0.0,
                             1.0,
                             0.5,
                             1.5,
                             2.5,
                             3.0,
                             1e-3,
                             0.1,
                             7.0,
                             100.0,
                             255.0,
                             65504.0,
                             65520.0,
                             2147483648.0,
                             4294967296.0,
                             9223372036854775808.0,
                             1e30,
                             1e300,
                             1e-30,
                             1e-40,
                             1e-310,
                             static_cast<double>(INFINITY),
                             static_cast<double>(NAN),
                             5.960464477539063e-08,
                             6e-8,
                             33685505.0,
                             1.00390625,
                             448.0,
                             464.0,
                             465.0,
                             57344.0,
                             61440.0}) {
    for (const double with_sign : {value, -value}) {
      std::uint64_t element = 0;
      store_number(dtype, cast(with_sign, dtype), &element);
      all.push_back(element);
    }
  }
  all.push_back(1);  // the smallest subnormal
  return all;
}

namespace {

std::uint64_t random_bits(DType dtype, std::mt19937_64& random) {
  const std::uint64_t bits = random();
  if (!is_floating(dtype) || (bits & 1) == 0) return random();
  std::uint64_t element = 0;
  const double moderate = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random())),
                                     -57 - static_cast<int>(bits >> 60));
  store_number(dtype, cast(moderate, dtype), &element);
  return element;
}

}  // namespace

Elements mixed_elements(DType dtype, std::int64_t count, std::mt19937_64& random) {
  Elements all(dtype, count);
  const auto specials = special_bits(dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const bool special = i < static_cast<std::int64_t>(specials.size());
    all.set_bits(i, special ? specials[static_cast<std::size_t>(i)] : random_bits(dtype, random));
  }
  return all;
}

Elements every_value(DType dtype) {
  const std::int64_t count = std::int64_t{1} << bits_of(dtype);
  Elements all(dtype, count);
  for (std::int64_t i = 0; i < count; ++i) all.set_bits(i, static_cast<std::uint64_t>(i));
  return all;
}

std::vector<Elements> mixed_pairs(DType dtype, std::int64_t count, std::mt19937_64& random) {
  const auto specials = special_bits(dtype);
  const auto size = static_cast<std::int64_t>(specials.size());
  std::vector<Elements> pair(2, Elements(dtype, count));
  for (std::int64_t i = 0; i < count; ++i) {
    const bool special = i < size * size;
    pair[0].set_bits(i, special ? specials[static_cast<std::size_t>(i / size)] : random_bits(dtype, random));
    pair[1].set_bits(i, special ? specials[static_cast<std::size_t>(i % size)] : random_bits(dtype, random));
  }
  return pair;
}

std::string difference(const Elements& a, const Elements& b) {
  if (a.dtype() != b.dtype() || a.count() != b.count()) return "different types or counts";
  if (std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.count() * size_of(a.dtype()))) == 0)
    return "";
  for (std::int64_t i = 0; i < a.count(); ++i) {
    if (a.bits(i) == b.bits(i)) continue;
    const Number left = a.number(i);
    const Number right = b.number(i);
    if (!left.is_integer() && std::isnan(left.real()) && std::isnan(right.real())) continue;
    return cat("element ", i, ": ", print(left), " and ", print(right));
  }
  return "";
}

}  // namespace twinloom::ops::testing
