// See narrowing.h. An exponent is read off the bits of an element: order_key of a positive number is its
// bits.
#include "frontends/onnx/narrowing.h"

#include <cmath>
#include <limits>

#include "core/graph/indexing.h"
#include "frontends/onnx/constants.h"

namespace twinloom::onnx {

namespace {

using ops::DType;
using ops::Number;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Tensor kept_within(const Tensor& x, double greatest) {
  return graph::clamp(x, Number(-greatest), Number(greatest));
}

// The lowest bits of an integer, held in a wider one.
Tensor wrapped(const Tensor& x, const NarrowType& to) {
  const int left_out = ops::bits_of(to.held) - to.bits;
  const Tensor held = graph::cast(ops::holds_real(x.dtype()) ? graph::cast(x, DType::i32) : x, to.held);
  return graph::shift_right(graph::shift_left(held, left_out), left_out);
}

// The bits of positive numbers, f32 or f64, and how many of them are the fraction.
struct Bits {
  Tensor key;
  int fraction, bias;
};
Bits bits_of(const Tensor& x) {
  const Tensor key = graph::order_key(graph::abs(x));
  return x.dtype() == DType::f64 ? Bits{key, 52, 1023} : Bits{key, 23, 127};
}

// A multiple of the step between the numbers around x that have so many digits. What exceeds the greatest
// number twice is cut, so that no step is too large to be made by a shift. Both factors are powers of two, so
// that nothing but round() rounds.
Tensor to_digits(const Tensor& x, const NarrowType& to) {
  const Tensor cut = kept_within(x, 2 * to.greatest());
  const auto [key, fraction, bias] = bits_of(cut);
  const Tensor exponent = graph::shift_right(key, fraction) - (bias + to.lowest);
  constexpr int most = 40;  // NaN has a high exponent
  const Tensor above = graph::clamp(exponent, Number(0), Number(most));
  const int least = to.lowest - (to.digits - 1);
  const auto power = [&](const Tensor& of, int more) {
    const Tensor two = graph::shift_left(graph::full_like(of, 1), of);
    return graph::cast(two, x.dtype()) * std::ldexp(1.0, more);
  };
  return graph::round(cut * power(most - above, -most - least)) * power(above, least);
}

Tensor to_float(const Tensor& x, const NarrowType& to, bool saturates) {
  const bool has_nan = to.kind == NarrowType::Kind::unsigned_zero;
  Tensor rounded = to_digits(x, to);
  if (has_nan && !saturates) {
    const Tensor is_large = graph::gt(graph::abs(rounded), to.greatest());
    rounded = graph::where(is_large, not_a_number, rounded);
  } else {
    rounded = kept_within(rounded, to.greatest());
  }
  if (has_nan) return graph::where(graph::eq(rounded, 0), 0.0, rounded);
  return graph::where(graph::isnan(rounded), 0.0, rounded);
}

// A power of two from 2^-127 to 2^127; the sign says nothing.
Tensor to_power(const Call& call, const Tensor& x, const Narrowing& narrowing) {
  const Tensor wide = graph::cast(x, DType::f64);
  const auto [key, fraction, bias] = bits_of(wide);
  const std::int64_t whole = std::int64_t{1} << fraction;
  std::int64_t added = 0;
  if (narrowing.powers == "up") added = whole - 1;
  if (narrowing.powers == "nearest") added = whole / 2;
  if (added == 0 && narrowing.powers != "down")
    call.fail("attribute 'round_mode' must be up, down or nearest, it is '", escaped(narrowing.powers), "'");
  // A fraction that is too large goes over into the exponent.
  const Tensor exponent = graph::shift_right(key + added, fraction) - bias;
  constexpr int highest = 127;
  std::vector<double> powers;
  for (int power = -highest; power <= highest; ++power) powers.push_back(std::ldexp(1.0, power));
  const Tensor kept = graph::clamp(exponent, Number(-highest), Number(highest));
  const Tensor power = graph::take(constant_of(call.builder(), powers, DType::f32), 0, kept + highest);
  Tensor is_nan = graph::isnan(wide);
  if (!narrowing.saturates) is_nan = graph::logical_or(is_nan, graph::ne(kept, exponent));
  return graph::where(is_nan, not_a_number, power);
}

// Of types that the graph has, where what is too large stays finite.
Tensor saturated(const Tensor& x, DType to) {
  return graph::cast(kept_within(x, to == DType::f8e4m3 ? 448 : 57344), to);
}

}  // namespace

Narrowing narrowing_of(const Call& call) {
  return {call.truth("saturate", true), call.text("round_mode", "up")};
}

Value narrowed(const Call& call, const Tensor& x, const ElementType& to, const Narrowing& narrowing) {
  const bool is_float = ops::kind(to.dtype) == ops::TypeKind::narrow_float;
  if (to.narrow == nullptr && !(is_float && narrowing.saturates)) return {graph::cast(x, to.dtype)};
  if (to.narrow != nullptr && to.narrow->is_integer()) return {wrapped(x, *to.narrow), to.narrow};
  const bool is_single = x.dtype() != DType::f64 && ops::holds_real(x.dtype());
  const Tensor wide = graph::cast(x, is_single ? DType::f32 : DType::f64);
  if (to.narrow == nullptr) return {saturated(wide, to.dtype)};
  const Tensor result = to.narrow->kind == NarrowType::Kind::exponent
                            ? to_power(call, wide, narrowing)
                            : to_float(wide, *to.narrow, narrowing.saturates);
  return {graph::cast(result, to.dtype), to.narrow};
}

}  // namespace twinloom::onnx
