// See draw.h. The distributions are written out, so that a seed does not depend on the standard library.
#include "tools/twinloom/draw.h"

#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <random>

#include "core/base/error.h"
#include "core/ops/convert.h"

namespace twinloom::tool {

namespace {

using ops::DType;

constexpr double most_integer = 0x1p53;  // up to here doubles hold every integer

std::optional<double> parse_number(std::string_view text) {
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

// Box and Muller's.
double normal(std::mt19937_64& random) {
  const double u = unit(random) + 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * unit(random));
}

bool is_whole(double x) { return x == std::floor(x) && std::abs(x) <= most_integer; }

void check_fits(DType dtype, const Specification& specification) {
  if (ops::is_floating(dtype)) return;
  if (specification.law == Law::normal || specification.open) {
    throw Error(
        cat("'normal' and 'uniform' are for floating types; for ", ops::name(dtype), " give LOW..HIGH"));
  }
  for (const double end : {specification.low, specification.high}) {
    if (!is_whole(end))
      throw Error(cat(end, " is not an integer that ", ops::name(dtype), " can be drawn from"));
    std::array<std::byte, 8> element{};
    double back = 0;
    ops::convert(DType::f64, dtype, &end, element.data(), 1);
    ops::convert(dtype, DType::f64, element.data(), &back, 1);
    if (back != end) throw Error(cat(end, " does not fit ", ops::name(dtype)));
  }
}

double draw_one(const Specification& specification, bool whole, std::mt19937_64& random) {
  if (specification.law == Law::normal) return normal(random);
  if (!whole) return specification.low + unit(random) * (specification.high - specification.low);
  const auto span = static_cast<std::uint64_t>(specification.high - specification.low) + 1;
  return specification.low + static_cast<double>(random() % span);
}

}  // namespace

std::optional<Specification> parse_specification(const std::string& text) {
  if (text == "normal") return Specification{};
  if (text == "uniform") return Specification{Law::even, 0, 1, true};
  if (text == "zeros") return Specification{Law::even, 0, 0, false};
  if (text == "ones") return Specification{Law::even, 1, 1, false};
  const std::size_t dots = text.find("..");
  const auto low = parse_number(text.substr(0, dots));
  const auto high = dots == std::string::npos ? low : parse_number(text.substr(dots + 2));
  if (!low || !high) return std::nullopt;
  if (*low > *high) throw Error(cat("the range ", escaped(text), " has its ends the wrong way round"));
  return Specification{Law::even, *low, *high, false};
}

runtime::Tensor draw(DType dtype, std::vector<std::int64_t> sizes, const Specification& specification,
                     std::uint64_t seed) {
  check_fits(dtype, specification);
  runtime::Tensor tensor = runtime::allocate(dtype, std::move(sizes));
  const std::int64_t count = runtime::element_count(tensor);
  const bool whole = !ops::is_floating(dtype);
  std::mt19937_64 random(seed);
  // In pieces, so that a large tensor does not need a second one of doubles.
  std::array<double, 1024> piece{};
  for (std::int64_t first = 0; first < count; first += static_cast<std::int64_t>(piece.size())) {
    const std::int64_t many = std::min(count - first, static_cast<std::int64_t>(piece.size()));
    for (std::int64_t e = 0; e < many; ++e)
      piece[static_cast<std::size_t>(e)] = draw_one(specification, whole, random);
    ops::convert(DType::f64, dtype, piece.data(),
                 static_cast<std::byte*>(tensor.data) + first * ops::size_of(dtype), many);
  }
  return tensor;
}

}  // namespace twinloom::tool
