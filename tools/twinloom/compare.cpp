// See compare.h.
#include "tools/twinloom/compare.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/base/error.h"
#include "core/ops/convert.h"

namespace twinloom::tool {

namespace {

std::vector<double> reals_of(const runtime::Tensor& tensor) {
  std::vector<double> numbers(static_cast<std::size_t>(runtime::element_count(tensor)));
  ops::convert(tensor.dtype, ops::DType::f64, tensor.data, numbers.data(),
               static_cast<std::int64_t>(numbers.size()));
  return numbers;
}

std::int64_t bits_at(const runtime::Tensor& tensor, std::size_t element) {
  const auto bytes = static_cast<std::size_t>(ops::size_of(tensor.dtype));
  std::int64_t bits = 0;
  std::memcpy(&bits, static_cast<const std::byte*>(tensor.data) + element * bytes, bytes);
  return bits;
}

struct Distance {
  bool within;
  double absolute, relative, ulp;
};

Distance distance(double given, double expected, ops::DType dtype, const Tolerance& tolerance) {
  if (std::isnan(given) && std::isnan(expected)) return {true, 0, 0, 0};
  if (given == expected) return {true, 0, 0, 0};
  constexpr double infinite = std::numeric_limits<double>::infinity();
  if (!std::isfinite(given) || !std::isfinite(expected)) return {false, infinite, infinite, infinite};
  const double absolute = std::abs(given - expected);
  const double step = step_of(dtype, expected);
  double allowed = tolerance.absolute + tolerance.relative * std::abs(expected) + tolerance.extra;
  if (ops::is_16_bit_float(dtype)) allowed += step;
  const double ulp = absolute / step;
  const bool within = absolute <= allowed || ulp <= static_cast<double>(tolerance.ulp);
  return {within, absolute, expected == 0 ? infinite : absolute / std::abs(expected), ulp};
}

}  // namespace

double step_of(ops::DType dtype, double x) {
  int digits = 53, lowest = -1022;
  if (dtype == ops::DType::f32) digits = 24, lowest = -126;
  if (dtype == ops::DType::f16) digits = 11, lowest = -14;
  if (dtype == ops::DType::bf16) digits = 8, lowest = -126;
  const int exponent = x == 0 || !std::isfinite(x) ? lowest : std::max(std::ilogb(x), lowest);
  return std::ldexp(1.0, exponent - digits + 1);
}

Difference compare(const runtime::Tensor& given_tensor, const runtime::Tensor& expected_tensor,
                   const Tolerance& tolerance) {
  Difference difference;
  difference.same_shape =
      given_tensor.dtype == expected_tensor.dtype && given_tensor.sizes == expected_tensor.sizes;
  if (!difference.same_shape) return difference;
  const runtime::Tensor given = runtime::contiguous(given_tensor);
  const runtime::Tensor expected = runtime::contiguous(expected_tensor);
  const std::vector<double> a = reals_of(given);
  const std::vector<double> b = reals_of(expected);
  const bool floating = ops::is_floating(given.dtype);
  double worst = -1;
  for (std::size_t e = 0; e < a.size(); ++e) {
    const bool both_nan = std::isnan(a[e]) && std::isnan(b[e]);
    const bool same_bits = both_nan || bits_at(given, e) == bits_at(expected, e);
    if (same_bits) continue;
    const Distance apart = distance(a[e], b[e], given.dtype, tolerance);
    if (!apart.within || !floating || tolerance.exact) ++difference.different;
    difference.largest_absolute = std::max(difference.largest_absolute, apart.absolute);
    difference.largest_relative = std::max(difference.largest_relative, apart.relative);
    difference.largest_ulp = std::max(difference.largest_ulp, apart.ulp);
    if (apart.absolute > worst) {
      worst = apart.absolute;
      difference.where = static_cast<std::int64_t>(e);
      difference.given = cat(a[e]);
      difference.expected = cat(b[e]);
    }
  }
  return difference;
}

}  // namespace twinloom::tool
