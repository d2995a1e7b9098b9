// See memory.h.
#include "tests/support/memory.h"

#include <cmath>

#include "core/base/error.h"

namespace twinloom::tests {

Elements::Elements(ops::DType dtype, std::int64_t count, Against side)
    : dtype_(dtype), count_(count), memory_(static_cast<std::size_t>(count * ops::size_of(dtype)), side) {}

Elements::Elements(ops::DType dtype, std::initializer_list<ops::Number> numbers)
    : Elements(dtype, static_cast<std::int64_t>(numbers.size())) {
  std::int64_t i = 0;
  for (const ops::Number& number : numbers) set(i++, number);
}

ops::Number Elements::get(std::int64_t i) const {
  CHECK(i >= 0 && i < count_, "element ", i, " of ", count_);
  return ops::load_number(dtype_, data() + i * ops::size_of(dtype_));
}

void Elements::set(std::int64_t i, const ops::Number& number) {
  CHECK(i >= 0 && i < count_, "element ", i, " of ", count_);
  ops::store_number(dtype_, ops::cast(number, dtype_), data() + i * ops::size_of(dtype_));
}

void Elements::fill(const std::function<ops::Number(std::int64_t)>& number) {
  for (std::int64_t i = 0; i < count_; ++i) set(i, number(i));
}

ops::Number random_number(ops::DType dtype, std::mt19937_64& random) {
  const auto draw = random();
  if (ops::is_integer(dtype) || dtype == ops::DType::b8) return static_cast<std::int64_t>(draw % 100);
  if (draw % 97 == 0) return draw % 2 == 0 ? 0.0 : -0.0;
  const double fraction = std::uniform_real_distribution<double>(-1, 1)(random);
  return std::ldexp(fraction, static_cast<int>(draw % 12) - 4);
}

void random_memory(Elements& elements, std::mt19937_64& random) {
  elements.fill([&](std::int64_t) { return random_number(elements.dtype(), random); });
}

std::optional<std::string> first_difference(const Elements& given, const Elements& expected) {
  CHECK(given.dtype() == expected.dtype() && given.count() == expected.count(), "arrays of two sorts");
  std::int64_t differing = 0;
  std::optional<std::string> first;
  for (std::int64_t i = 0; i < given.count(); ++i) {
    if (given.get(i) == expected.get(i)) continue;
    ++differing;
    if (!first)
      first =
          cat("element ", i, " is ", ops::print(given.get(i)), ", expected ", ops::print(expected.get(i)));
  }
  if (first) *first += cat("; ", differing, " of ", given.count(), " differ");
  return first;
}

}  // namespace twinloom::tests
