// A number in a form: an integer of 64 bits, or a double. Integers survive exactly; u64 values above
// the range of int64 are held by their bits, so whoever reads one must know its type. Equality is of
// kind and bits, so -0.0 differs from 0.0; all NaNs are one value and equal each other.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/base/scanner.h"
#include "core/ops/dtype.h"

namespace twinloom::ops {

class Number {
 public:
  Number() = default;
  Number(std::int64_t integer) : value_(integer) {}
  Number(int integer) : value_(std::int64_t{integer}) {}
  Number(bool truth) : value_(std::int64_t{truth}) {}
  Number(double real) : value_(real) {}

  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  std::int64_t integer() const;  // a double is converted as cast() says
  double real() const;           // an integer is rounded once
  friend bool operator==(const Number& a, const Number& b);
  std::uint64_t hash() const;

 private:
  std::variant<std::int64_t, double> value_ = std::int64_t{0};
};

// The number as an element of the type has it: floats rounded once to f64, f32, f16, bf16 or an 8-bit
// float (held as a double), integers wrapped, a float to an integer saturated with NaN giving 0, b8
// to 0 or 1. An integer is read as an int64.
Number cast(const Number& number, DType dtype);
// The same for an element of type `from`: integers of u64 are read as such.
Number cast(const Number& number, DType from, DType to);
// An element of the type as a double; rounded once when it is a 64-bit integer.
double real_of(const Number& number, DType dtype);

// The element at the address, and back. `number` must be one that cast() to the type gives.
Number load_number(DType dtype, const void* element);
void store_number(DType dtype, const Number& number, void* element);

// Exact text: integers in decimal, doubles in hexadecimal (0x1.8p+1), inf, -inf, nan.
std::string print(const Number& number);
Number parse_number(Scanner& scanner);

}  // namespace twinloom::ops
