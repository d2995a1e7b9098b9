// Pointwise operators of ATen. Most are a row of the operator table under PyTorch's promotion.
#include <array>
#include <cmath>

#include "core/graph/composites.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;
using ops::Pointwise;

// One argument, or two, of one row of the operator table.
template <Pointwise op>
Item unary(const Arguments& arguments) {
  const Item* x = &arguments.item(0, "self");
  return {promoted(arguments, op, std::array{x})};
}

template <Pointwise op>
Item binary(const Arguments& arguments) {
  return {promoted(arguments, op, std::array{&arguments.item(0, "self"), &arguments.item(1, "other")})};
}

// ATen's ops on integers that keep them: ceil of an integer is itself.
template <Pointwise op>
Item rounding(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {ops::is_floating(x.dtype()) ? graph::pointwise(op, {x}) : x};
}

Item add_or_sub(const Arguments& arguments, Pointwise op) {
  const Item* other = &arguments.item(1, "other");
  const Item* alpha = arguments.find(2, "alpha");
  Item scaled;
  if (alpha != nullptr) {
    scaled = {promoted(arguments, Pointwise::mul, std::array{other, alpha})};
    other = &scaled;
  }
  return {promoted(arguments, op, std::array{&arguments.item(0, "self"), other})};
}
Item add(const Arguments& arguments) { return add_or_sub(arguments, Pointwise::add); }
Item sub(const Arguments& arguments) { return add_or_sub(arguments, Pointwise::sub); }
Item rsub(const Arguments& arguments) {
  return {promoted(arguments, Pointwise::sub,
                   std::array{&arguments.item(1, "other"), &arguments.item(0, "self")})};
}

Item div(const Arguments& arguments) {
  const std::string rounding = arguments.text(2, "rounding_mode", "none");
  const std::array operands{&arguments.item(0, "self"), &arguments.item(1, "other")};
  if (rounding == "none") return {promoted(arguments, Pointwise::div, operands)};
  if (rounding == "floor") return {promoted(arguments, Pointwise::div_floor, operands)};
  if (rounding == "trunc") return {promoted(arguments, Pointwise::div_trunc, operands)};
  arguments.fail(cat("rounding_mode must be None, 'floor' or 'trunc', it is '", escaped(rounding), "'"));
}

Item logical_not(const Arguments& arguments) { return {graph::logical_not(arguments.tensor(0, "self"))}; }

Item isnan(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (ops::is_floating(x.dtype())) return {graph::isnan(x)};
  return {graph::expand(arguments.builder().constant(false, DType::b8), x.shape())};
}
Item isinf(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (ops::is_floating(x.dtype())) return {graph::isinf(x)};
  return {graph::expand(arguments.builder().constant(false, DType::b8), x.shape())};
}

// Bits of b8 are the logical operators.
template <Pointwise op, Pointwise logical>
Item bits(const Arguments& arguments) {
  const std::array operands{&arguments.item(0, "self"), &arguments.item(1, "other")};
  const bool truth = result_type(arguments, operands) == DType::b8;
  return {promoted(arguments, truth ? logical : op, operands)};
}
Item bitwise_not(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {x.dtype() == DType::b8 ? graph::logical_not(x) : graph::bitwise_not(x)};
}

Item where(const Arguments& arguments) {
  const Tensor condition = graph::cast(arguments.tensor(0, "condition"), DType::b8, true);
  const Item& yes = arguments.item(1, "self");
  const Item& no = arguments.item(2, "other");
  const DType type = result_type(arguments, std::array{&yes, &no});
  return {graph::where(condition, as_tensor(arguments, yes, type), as_tensor(arguments, no, type))};
}

Item masked_fill(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {graph::where(arguments.tensor(1, "mask"),
                       as_tensor(arguments, arguments.item(2, "value"), x.dtype()), x)};
}

Item clamp(const Arguments& arguments) {
  Item result{arguments.tensor(0, "self")};
  const Item* low = arguments.find(1, "min");
  const Item* high = arguments.find(2, "max");
  if (low == nullptr && high == nullptr) arguments.fail("needs 'min' or 'max'");
  if (low != nullptr)
    result = {promoted(arguments, Pointwise::maximum, std::array<const Item*, 2>{&result, low})};
  if (high != nullptr)
    result = {promoted(arguments, Pointwise::minimum, std::array<const Item*, 2>{&result, high})};
  return result;
}

Item power(const Arguments& arguments, const Item& exponent) {
  const std::array operands{&arguments.item(0, "self"), &exponent};
  const auto* whole = exponent.get<index::Expr>();
  const auto number = whole != nullptr ? index::constant_of(*whole) : std::nullopt;
  if (number && *number < 0 && !ops::is_floating(result_type(arguments, operands)))
    arguments.fail(cat("integers have no powers by negative integers, 'exponent' is ", *number));
  return {promoted(arguments, Pointwise::pow, operands), true};
}
Item pow(const Arguments& arguments) { return power(arguments, arguments.item(1, "exponent")); }

Item gelu(const Arguments& arguments) {
  const bool tanh = arguments.text(1, "approximate", "none") == "tanh";
  return {graph::gelu(arguments.tensor(0, "self"), tanh ? graph::Gelu::tanh : graph::Gelu::erf)};
}
Item gelu_backward(const Arguments& arguments) {
  const bool tanh = arguments.text(2, "approximate", "none") == "tanh";
  return {graph::gelu_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "self"),
                               tanh ? graph::Gelu::tanh : graph::Gelu::erf)};
}
Item silu_backward(const Arguments& arguments) {
  return {graph::silu_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "self"))};
}
Item sigmoid_backward(const Arguments& arguments) {
  return {graph::sigmoid_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "output"))};
}
Item tanh_backward(const Arguments& arguments) {
  return {graph::tanh_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "output"))};
}
Item threshold_backward(const Arguments& arguments) {
  return {graph::threshold_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "self"),
                                    arguments.real(2, "threshold"))};
}
Item leaky_relu(const Arguments& arguments) {
  return {graph::leaky_relu(arguments.tensor(0, "self"), arguments.real(1, "negative_slope", 0.01))};
}
Item elu(const Arguments& arguments) {
  return {graph::elu(arguments.tensor(0, "self"), arguments.real(1, "alpha", 1),
                     arguments.real(2, "scale", 1), arguments.real(3, "input_scale", 1))};
}
Item hardtanh(const Arguments& arguments) {
  return {graph::hardtanh(arguments.tensor(0, "self"), arguments.real(1, "min_val", -1),
                          arguments.real(2, "max_val", 1))};
}
Item hardsigmoid(const Arguments& arguments) { return {graph::hardsigmoid(arguments.tensor(0, "self"))}; }
Item hardswish(const Arguments& arguments) { return {graph::hardswish(arguments.tensor(0, "self"))}; }
Item addcmul(const Arguments& arguments) {
  return {graph::addcmul(arguments.tensor(0, "self"), arguments.tensor(1, "tensor1"),
                         arguments.tensor(2, "tensor2"), arguments.real(3, "value", 1))};
}
Item addcdiv(const Arguments& arguments) {
  return {graph::addcdiv(arguments.tensor(0, "self"), arguments.tensor(1, "tensor1"),
                         arguments.tensor(2, "tensor2"), arguments.real(3, "value", 1))};
}
Item lerp(const Arguments& arguments) {
  const Tensor start = arguments.tensor(0, "self");
  const Tensor end = arguments.tensor(1, "end");
  const Item& weight = arguments.item(2, "weight");
  if (const auto* tensor = weight.get<Tensor>()) return {graph::lerp(start, end, *tensor)};
  return {graph::lerp(start, end, arguments.real(2, "weight"))};
}
Item square(const Arguments& arguments) { return power(arguments, Item{index::Expr(2)}); }
Item frac(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {x - graph::trunc(x)};
}

Item to_type(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const DType to = arguments.dtype(1, "dtype").value_or(x.dtype());
  return {graph::cast(x, to), to == x.dtype()};
}
Item to_copy(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const DType to = arguments.dtype(99, "dtype").value_or(x.dtype());
  return {graph::cast(x, to)};
}

constexpr std::array rows = {
#define UNARY(name) Row{#name, unary<Pointwise::name>},
    UNARY(exp) UNARY(exp2) UNARY(expm1) UNARY(log) UNARY(log2) UNARY(log10) UNARY(log1p) UNARY(sin) UNARY(cos)
    UNARY(tan) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asin) UNARY(acos) UNARY(atan) UNARY(asinh) UNARY(acosh)
    UNARY(atanh) UNARY(erf) UNARY(erfc) UNARY(erfinv) UNARY(lgamma) UNARY(digamma) UNARY(i0) UNARY(sqrt)
    UNARY(rsqrt) UNARY(reciprocal) UNARY(sigmoid) UNARY(silu) UNARY(neg) UNARY(abs) UNARY(sign) UNARY(relu)
    UNARY(signbit)
#undef UNARY
#define ROUNDING(name) Row{#name, rounding<Pointwise::name>},
    ROUNDING(ceil) ROUNDING(floor) ROUNDING(trunc) Row{"round.default", rounding<Pointwise::round>},
#undef ROUNDING
#define BINARY(name) Row{#name, binary<Pointwise::name>},
    BINARY(mul) BINARY(remainder) BINARY(fmod) BINARY(atan2) BINARY(hypot) BINARY(copysign) BINARY(nextafter)
    BINARY(maximum) BINARY(minimum) BINARY(logical_and) BINARY(logical_or) BINARY(logical_xor) BINARY(eq)
    BINARY(ne) BINARY(lt) BINARY(le) BINARY(gt) BINARY(ge)
#undef BINARY
    Row{"add", add},
    Row{"sub", sub},
    Row{"rsub", rsub},
    Row{"div", div},
    Row{"true_divide", binary<Pointwise::div>},
    Row{"floor_divide", binary<Pointwise::div_floor>},
    Row{"bitwise_and", bits<Pointwise::bitwise_and, Pointwise::logical_and>},
    Row{"bitwise_or", bits<Pointwise::bitwise_or, Pointwise::logical_or>},
    Row{"bitwise_xor", bits<Pointwise::bitwise_xor, Pointwise::logical_xor>},
    Row{"__and__", bits<Pointwise::bitwise_and, Pointwise::logical_and>},
    Row{"__or__", bits<Pointwise::bitwise_or, Pointwise::logical_or>},
    Row{"__xor__", bits<Pointwise::bitwise_xor, Pointwise::logical_xor>},
    Row{"bitwise_not", bitwise_not},
    Row{"logical_not", logical_not},
    Row{"__lshift__", binary<Pointwise::shift_left>},
    Row{"__rshift__", binary<Pointwise::shift_right>},
    Row{"bitwise_left_shift", binary<Pointwise::shift_left>},
    Row{"bitwise_right_shift", binary<Pointwise::shift_right>},
    Row{"isnan", isnan},
    Row{"isinf", isinf},
    Row{"where", where},
    Row{"masked_fill", masked_fill},
    Row{"clamp", clamp},
    Row{"clamp_min", [](const Arguments& arguments) -> Item {
          return {promoted(arguments, Pointwise::maximum, std::array{&arguments.item(0, "self"), &arguments.item(1, "min")})};
        }},
    Row{"clamp_max", [](const Arguments& arguments) -> Item {
          return {promoted(arguments, Pointwise::minimum, std::array{&arguments.item(0, "self"), &arguments.item(1, "max")})};
        }},
    Row{"pow", pow},
    Row{"square", square},
    Row{"frac", frac},
    Row{"gelu", gelu},
    Row{"gelu_backward", gelu_backward},
    Row{"silu_backward", silu_backward},
    Row{"sigmoid_backward", sigmoid_backward},
    Row{"tanh_backward", tanh_backward},
    Row{"threshold_backward", threshold_backward},
    Row{"leaky_relu", leaky_relu},
    Row{"elu", elu},
    Row{"hardtanh", hardtanh},
    Row{"hardsigmoid", hardsigmoid},
    Row{"hardswish", hardswish},
    Row{"addcmul", addcmul},
    Row{"addcdiv", addcdiv},
    Row{"lerp", lerp},
    Row{"_to_copy", to_copy},
    Row{"convert_element_type", to_type},
};

}  // namespace

std::span<const Row> pointwise_rows() { return rows; }

}  // namespace twinloom::fx
