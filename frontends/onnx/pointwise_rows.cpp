// Operators that compute each element of their result from one element of each input.
#include <algorithm>
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/narrowing.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using ops::DType;

template <Tensor (*function)(const Tensor&)>
Values one(const Call& call) {
  return {function(call.tensor(0))};
}

// The inputs in the order of NumPy's broadcasting. Up to opset 6 shapes are equal, or with `broadcast` the
// second one lies inside of the first from `axis` on.
struct Operands {
  Tensor a, b;
};
Operands operands(const Call& call) {
  const Tensor a = call.tensor(0), b = call.tensor(1);
  if (call.version() < 7) call.ignore({"broadcast"});
  if (call.version() >= 7 || !call.has_attribute("axis")) return {a, b};
  const int axis = call.axis(call.integer("axis", 0), a.rank());
  graph::Shape shape = b.shape();
  if (axis + b.rank() > a.rank())
    call.fail("axis ", axis, " leaves too few axes for a second input of ", b.rank());
  shape.resize(static_cast<std::size_t>(a.rank() - axis), 1);
  return {a, graph::reshape(b, shape)};
}

template <Tensor (*function)(const Tensor&, const Tensor&)>
Values two(const Call& call) {
  const auto [a, b] = operands(call);
  return {function(a, b)};
}

Values div(const Call& call) {
  const auto [a, b] = operands(call);
  return {ops::is_floating(a.dtype()) ? graph::div(a, b) : graph::div_trunc(a, b)};
}

// fmod 0 is the remainder with the sign of the divisor, that of a zero too; of reals from opset 28 on.
Values mod(const Call& call) {
  const auto [a, b] = operands(call);
  if (call.truth("fmod", false)) return {graph::fmod(a, b)};
  const Tensor rest = graph::remainder(a, b);
  if (ops::is_integer(a.dtype())) return {rest};
  if (call.version() < 28)
    call.fail("needs attribute fmod for elements of ", ops::name(a.dtype()), " before opset 28");
  const Tensor zero = graph::copysign(graph::full_like(rest, 0.0), b);
  return {graph::where(graph::eq(rest, 0), zero, rest)};
}

// One number for all elements of a tensor of so many axes.
std::optional<ops::Number> number_in(const Tensor& x, int rank) {
  const graph::Node& node = x.builder().graph()[x.id()];
  const auto* constant = std::get_if<graph::Constant>(&node.node);
  const auto* number = constant == nullptr ? nullptr : std::get_if<ops::Number>(&constant->value);
  const bool is_one = std::ranges::all_of(node.shape, [](const index::Expr& size) { return size == 1; });
  return number != nullptr && is_one && x.rank() <= rank ? std::optional(*number) : std::nullopt;
}

// Powers by 2, 3, 0.5 and others that are known are products and roots.
Tensor power(const Tensor& a, const Tensor& b) {
  const auto exponent = number_in(b, a.rank());
  return exponent ? graph::pow(a, *exponent) : graph::pow(a, b);
}

// The result has the type of the first input, whatever that of the second.
Values pow(const Call& call) {
  const auto [a, b] = operands(call);
  if (a.dtype() == b.dtype()) return {power(a, b)};
  // A power that is cut to an integer must not lie below it by the rounding of f32.
  const bool in_double =
      ops::is_integer(a.dtype()) || ops::size_of(a.dtype()) == 8 || ops::size_of(b.dtype()) == 8;
  const bool is_real = ops::is_floating(a.dtype()) || ops::is_floating(b.dtype());
  const DType compute = !is_real ? DType::i64 : in_double ? DType::f64 : DType::f32;
  return {graph::cast(power(graph::cast(a, compute), graph::cast(b, compute)), a.dtype())};
}

Values bit_shift(const Call& call) {
  const std::string direction = call.text("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    call.fail("attribute 'direction' must be LEFT or RIGHT, it is '", escaped(direction), "'");
  const Tensor a = call.tensor(0), b = call.tensor(1);
  return {direction == "LEFT" ? graph::shift_left(a, b) : graph::shift_right(a, b)};
}

Values is_inf(const Call& call) {
  const Tensor x = call.tensor(0);
  Tensor found = graph::isinf(x);
  if (!call.truth("detect_negative", true)) found = graph::logical_and(found, graph::gt(x, 0));
  if (!call.truth("detect_positive", true)) found = graph::logical_and(found, graph::lt(x, 0));
  return {found};
}

template <Tensor (*function)(const Tensor&, const Tensor&)>
Values many(const Call& call) {
  const Values inputs = call.tensors();
  Tensor result = inputs[0];
  for (std::size_t i = 1; i < inputs.size(); ++i) result = function(result, inputs[i]);
  return {result};
}

Values mean(const Call& call) {
  const Values inputs = call.tensors();
  Tensor result = graph::widened(inputs[0]);
  for (std::size_t i = 1; i < inputs.size(); ++i) result = graph::add(result, graph::widened(inputs[i]));
  return {graph::cast(graph::div(result, static_cast<double>(inputs.size())), inputs[0].dtype(), true)};
}

Values where(const Call& call) { return {graph::where(call.tensor(0), call.tensor(1), call.tensor(2))}; }

AnyValues cast(const Call& call) {
  if (!call.has_attribute("to")) call.fail("needs attribute 'to'");
  return {narrowed(call, call.tensor(0), call.type("to", {DType::f32}), narrowing_of(call))};
}
AnyValues cast_like(const Call& call) {
  return {narrowed(call, call.tensor(0), call.type(1), narrowing_of(call))};
}

// Bounds are attributes up to opset 10, then inputs.
Values clip(const Call& call) {
  const Tensor x = call.tensor(0);
  if (call.version() < 11) {
    std::optional<ops::Number> low, high;
    if (call.has_attribute("min")) low = call.real("min", 0);
    if (call.has_attribute("max")) high = call.real("max", 0);
    return {low || high ? graph::clamp(x, low, high) : x};
  }
  const auto low = call.optional(1), high = call.optional(2);
  return {low || high ? graph::clamp(x, low, high) : x};
}

constexpr std::array rows = {
    Row{"Abs", one<graph::abs>},
    Row{"Acos", one<graph::acos>},
    Row{"Acosh", one<graph::acosh>},
    Row{"Add", two<graph::add>},
    Row{"And", two<graph::logical_and>},
    Row{"Asin", one<graph::asin>},
    Row{"Asinh", one<graph::asinh>},
    Row{"Atan", one<graph::atan>},
    Row{"Atanh", one<graph::atanh>},
    Row{"BitShift", bit_shift},
    Row{"BitwiseAnd", two<graph::bitwise_and>},
    Row{"BitwiseNot", one<graph::bitwise_not>},
    Row{"BitwiseOr", two<graph::bitwise_or>},
    Row{"BitwiseXor", two<graph::bitwise_xor>},
    Row{"Cast", nullptr, 6, cast, Narrow::read},
    any_row("CastLike", cast_like, Narrow::read),
    Row{"Ceil", one<graph::ceil>},
    Row{"Clip", clip, 6},
    Row{"Cos", one<graph::cos>},
    Row{"Cosh", one<graph::cosh>},
    Row{"Div", div},
    Row{"Equal", two<graph::eq>},
    Row{"Erf", one<graph::erf>},
    Row{"Exp", one<graph::exp>},
    Row{"Floor", one<graph::floor>},
    Row{"Greater", two<graph::gt>},
    Row{"GreaterOrEqual", two<graph::ge>},
    Row{"IsInf", is_inf},
    Row{"IsNaN", one<graph::isnan>},
    Row{"Less", two<graph::lt>},
    Row{"LessOrEqual", two<graph::le>},
    Row{"Log", one<graph::log>},
    Row{"Max", many<graph::maximum>},
    Row{"Mean", mean},
    Row{"Min", many<graph::minimum>},
    Row{"Mod", mod},
    Row{"Mul", two<graph::mul>},
    Row{"Neg", one<graph::neg>},
    Row{"Not", one<graph::logical_not>},
    Row{"Or", two<graph::logical_or>},
    Row{"Pow", pow},
    Row{"Reciprocal", one<graph::reciprocal>},
    Row{"Round", one<graph::round>},
    Row{"Sign", one<graph::sign>},
    Row{"Sin", one<graph::sin>},
    Row{"Sinh", one<graph::sinh>},
    Row{"Sqrt", one<graph::sqrt>},
    Row{"Sub", two<graph::sub>},
    Row{"Sum", many<graph::add>},
    Row{"Tan", one<graph::tan>},
    Row{"Tanh", one<graph::tanh>},
    Row{"Where", where},
    Row{"Xor", two<graph::logical_xor>},
};

}  // namespace

std::span<const Row> pointwise_rows() { return rows; }

}  // namespace twinloom::onnx
