// Arrays of elements for the tests of this room: values worth testing and random ones, from a fixed seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/ops/dtype.h"
#include "core/ops/number.h"

namespace twinloom::ops::testing {

// One element's bits at a time, whatever the type.
class Elements {
 public:
  Elements(DType dtype, std::int64_t count)
      : dtype_(dtype), count_(count), bytes_(static_cast<std::size_t>(count * size_of(dtype))) {}

  DType dtype() const { return dtype_; }
  std::int64_t count() const { return count_; }
  void* data() { return bytes_.data(); }
  const void* data() const { return bytes_.data(); }
  const void* at(std::int64_t i) const { return bytes_.data() + i * size_of(dtype_); }
  Number number(std::int64_t i) const { return load_number(dtype_, at(i)); }
  std::uint64_t bits(std::int64_t i) const;
  void set_bits(std::int64_t i, std::uint64_t bits);

 private:
  DType dtype_;
  std::int64_t count_;
  std::vector<std::uint8_t> bytes_;
};

// Bits of zero, one, the extremes, the neighbours of powers of two, infinities, NaN and subnormals.
std::vector<std::uint64_t> special_bits(DType dtype);
// Specials first, then random bits; of reals, half of them of moderate size.
Elements mixed_elements(DType dtype, std::int64_t count, std::mt19937_64& random);
// Every value of an 8-bit or 16-bit type.
Elements every_value(DType dtype);
// Every pair of specials of two inputs, then random pairs.
std::vector<Elements> mixed_pairs(DType dtype, std::int64_t count, std::mt19937_64& random);

// Equal bits, where all NaNs are one value; else the first difference in words.
std::string difference(const Elements& a, const Elements& b);

}  // namespace twinloom::ops::testing
