// Results of the evaluator beside each other: integers equal, reals nearly.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "core/evaluate/evaluate.h"
#include "core/ops/number.h"

namespace twinloom::tests {

inline bool is_near(const ops::Number& given, const ops::Number& expected, double tolerance) {
  if (given.is_integer() && expected.is_integer()) return given == expected;
  const double a = given.real(), b = expected.real();
  return a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

// Nothing where results, but for those that are None, have the same types and shapes and elements that are
// near.
inline std::string first_difference(std::vector<std::optional<evaluate::Value>> given,
                                    std::vector<std::optional<evaluate::Value>> expected, double tolerance) {
  for (auto* results : {&given, &expected}) std::erase(*results, std::nullopt);
  if (given.size() != expected.size()) return cat(given.size(), " results, expected ", expected.size());
  const auto type = [](const evaluate::Value& value) {
    return cat(ops::name(value.dtype), " [",
               join(value.sizes, ", ", [](std::int64_t size) { return cat(size); }), "]");
  };
  for (std::size_t r = 0; r < given.size(); ++r) {
    const evaluate::Value &a = *given[r], &b = *expected[r];
    if (type(a) != type(b)) return cat("result ", r, " is ", type(a), ", expected ", type(b));
    const auto size = static_cast<std::size_t>(ops::size_of(a.dtype));
    for (std::size_t at = 0; at < a.bytes.size(); at += size) {
      const ops::Number x = ops::load_number(a.dtype, &a.bytes[at]),
                        y = ops::load_number(b.dtype, &b.bytes[at]);
      if (!is_near(x, y, tolerance))
        return cat("result ", r, ", element ", at / size, " is ", ops::print(x), ", expected ",
                   ops::print(y));
    }
  }
  return {};
}

}  // namespace twinloom::tests
