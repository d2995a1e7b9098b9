// BitCast: the bits of elements read as another type of as many. The graph has no such operator; of integers
// it is a cast, and the bits of floats are computed from their values, so that every NaN has the bits of one.
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/indexing.h"
#include "frontends/onnx/constants.h"
#include "frontends/onnx/narrowing.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using ops::DType;

// How a float is made of bits: a sign, the exponent, and the fraction.
struct Layout {
  int fraction, exponent;

  int bits() const { return 1 + exponent + fraction; }
  int bias() const { return (1 << (exponent - 1)) - 1; }
  std::int64_t infinity() const { return ((std::int64_t{1} << exponent) - 1) << fraction; }
};
std::optional<Layout> layout_of(DType dtype) {
  if (dtype == DType::f16) return Layout{10, 5};
  if (dtype == DType::bf16) return Layout{7, 8};
  if (dtype == DType::f32) return Layout{23, 8};
  if (dtype == DType::f64) return Layout{52, 11};
  return std::nullopt;
}

// (i64) order_key of a number that is not negative is its bits, of 16-bit floats those of f32.
Tensor bits_of(const Tensor& x, const Layout& layout) {
  const Tensor wide = graph::widened(x), positive = graph::abs(wide), key = graph::order_key(positive);
  Tensor bits = key;
  if (x.dtype() == DType::bf16) bits = graph::shift_right(key, 16);
  if (x.dtype() == DType::f16) {
    constexpr int more = 13, other_bias = 127;  // bits of the fraction of f32, and its bias
    const std::int64_t moved = std::int64_t{other_bias - layout.bias()} << layout.fraction;
    const Tensor normal = graph::shift_right(key, more) - moved;
    const Tensor small = graph::cast(positive * 0x1p24, DType::i64);
    bits = graph::where(graph::lt(positive, 0x1p-14), small, normal);
    bits = graph::where(graph::isinf(wide), layout.infinity(), bits);
    bits =
        graph::where(graph::isnan(wide), layout.infinity() | std::int64_t{1} << (layout.fraction - 1), bits);
  }
  const std::int64_t sign = static_cast<std::int64_t>(std::uint64_t{1} << (layout.bits() - 1));
  return graph::where(graph::logical_and(graph::signbit(wide), graph::logical_not(graph::isnan(wide))),
                      graph::bitwise_or(bits, sign), bits);
}

// The significand times a power of two, both exact in f64.
Tensor float_of(const Call& call, const Tensor& given, const Layout& layout) {
  const Tensor bits = graph::cast(given, DType::i64);
  const std::int64_t exponents = std::int64_t{1} << layout.exponent,
                     hidden = std::int64_t{1} << layout.fraction;
  const Tensor exponent = graph::bitwise_and(graph::shift_right(bits, layout.fraction), exponents - 1);
  const Tensor fraction = graph::bitwise_and(bits, hidden - 1);
  std::vector<double> powers;
  for (std::int64_t e = 0; e + 1 < exponents; ++e)
    powers.push_back(
        std::ldexp(1.0, static_cast<int>(std::max<std::int64_t>(e, 1)) - layout.bias() - layout.fraction));
  powers.push_back(std::numeric_limits<double>::infinity());
  const Tensor normal = graph::where(graph::gt(exponent, 0), fraction + hidden, fraction);
  const Tensor power = graph::take(constant_of(call.builder(), powers, DType::f64), 0, exponent);
  const Tensor size = graph::cast(normal, DType::f64) * power;
  const Tensor is_nan = graph::logical_and(graph::eq(exponent, exponents - 1), graph::gt(fraction, 0));
  const Tensor value = graph::where(is_nan, std::numeric_limits<double>::quiet_NaN(), size);
  const Tensor sign = graph::bitwise_and(graph::shift_right(bits, layout.bits() - 1), 1);
  return graph::where(graph::eq(sign, 1), -value, value);
}

int bits_in(const ElementType& type) {
  return type.narrow == nullptr ? ops::bits_of(type.dtype) : type.narrow->bits;
}

AnyValues bit_cast(const Call& call) {
  if (!call.has_attribute("to")) call.fail("needs attribute 'to'");
  const Tensor x = call.tensor(0);
  const ElementType from = call.type(0), to = call.type("to", from);
  if (bits_in(from) != bits_in(to))
    call.fail("elements of ", from.name(), " have ", bits_in(from), " bits, those of ", to.name(), " ",
              bits_in(to));
  if (from.name() == to.name()) return {call.value(0)};
  const auto given = layout_of(from.dtype), wanted = layout_of(to.dtype);
  const auto is_known = [](const ElementType& type) {
    return type.narrow == nullptr ? !ops::holds_real(type.dtype) || ops::is_floating(type.dtype)
                                  : type.narrow->is_integer();
  };
  if (!is_known(from) || !is_known(to)) call.unsupported("the bits of ", from.name(), " as ", to.name());
  const Tensor bits = given ? bits_of(x, *given) : x;
  if (wanted) return {graph::cast(float_of(call, bits, *wanted), to.dtype)};
  return {narrowed(call, bits, to, {})};
}

constexpr std::array rows = {
    any_row("BitCast", bit_cast, Narrow::read),
};

}  // namespace

std::span<const Row> bit_cast_rows() { return rows; }

}  // namespace twinloom::onnx
