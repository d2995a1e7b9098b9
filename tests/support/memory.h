// Arrays of elements for tests: guarded, poisoned or random, read and written as numbers, and compared
// bit for bit.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/ops/number.h"
#include "tests/support/guarded.h"

namespace twinloom::tests {

class Elements {
 public:
  Elements(ops::DType dtype, std::int64_t count, Against side = Against::end);
  Elements(ops::DType dtype, std::initializer_list<ops::Number> numbers);

  ops::DType dtype() const { return dtype_; }
  std::int64_t count() const { return count_; }
  std::byte* data() const { return memory_.data(); }
  ops::Number get(std::int64_t i) const;
  void set(std::int64_t i, const ops::Number& number);  // as cast() gives it
  void fill(const std::function<ops::Number(std::int64_t)>& number);
  void check() const { memory_.check(); }

 private:
  ops::DType dtype_;
  std::int64_t count_;
  Guarded memory_;
};

// Numbers of many magnitudes, now and then a zero of either sign; integers small.
ops::Number random_number(ops::DType dtype, std::mt19937_64& random);
void random_memory(Elements& elements, std::mt19937_64& random);

// The first element in which they differ, in words; nothing when all bits agree. A NaN equals a NaN.
std::optional<std::string> first_difference(const Elements& given, const Elements& expected);

}  // namespace twinloom::tests
