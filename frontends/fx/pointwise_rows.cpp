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

// Of truths, the sign is the truth itself and none is negative. Of NaN it is 0.
Item sign(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (x.dtype() == DType::b8) return {x};
  const Tensor found = graph::sign(x);
  return {ops::is_floating(x.dtype()) ? graph::where(graph::isnan(x), ops::Number(0), found) : found};
}
Item signbit(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {x.dtype() == DType::b8 ? graph::full_like(x, false) : graph::signbit(x)};
}

// ATen's ops on integers that keep them: ceil of an integer is itself.
template <Pointwise op>
Item rounding(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {ops::is_floating(x.dtype()) ? graph::pointwise(op, {x}) : x};
}

// `alpha` must be of the category that the result has, and fit integers; where it is subtracted, what is
// added.
void check_alpha(const Arguments& arguments, const Item& alpha, DType type, bool subtracts) {
  if (alpha.get<bool>() != nullptr && type != DType::b8)
    arguments.fail("a truth as 'alpha' needs a result of truths");
  if (alpha.get<double>() != nullptr && !ops::is_floating(type))
    arguments.fail(cat("'alpha' has a fraction and the result is ", ops::name(type)));
  const auto* size = alpha.get<index::Expr>();
  const auto integer = size == nullptr ? std::nullopt : index::constant_of(*size);
  if (integer && ops::is_integer(type) && type != DType::i64)
    fitting(arguments, ops::Number(subtracts ? -*integer : *integer), type);
}

// left + alpha * right, or -, rounded once.
Item add_scaled(const Arguments& arguments, Pointwise op, const Item& left, const Item& right) {
  const std::array operands{&left, &right};
  const DType type = result_type(arguments, operands);
  const bool subtracts = op == Pointwise::sub;
  for (const Item* operand : operands) {
    const auto* tensor = operand->get<Tensor>();
    if (subtracts && (operand->get<bool>() != nullptr || (tensor != nullptr && tensor->dtype() == DType::b8)))
      arguments.fail("truths cannot be subtracted; logical_xor says whether they differ");
  }
  const Item* alpha = arguments.find(2, "alpha");
  if (alpha == nullptr) return {promoted(arguments, op, operands)};
  check_alpha(arguments, *alpha, type, subtracts);
  const DType compute = ops::compute_type(type);
  const Item base{operand(arguments, op, left, type)};
  const Item scale{as_tensor(arguments, *alpha, compute)};
  const Item other{operand(arguments, op, right, type)};
  const Item scaled{promoted(arguments, Pointwise::mul, std::array{&other, &scale})};
  return {graph::cast(promoted(arguments, op, std::array{&base, &scaled}), type, true)};
}
Item add(const Arguments& arguments) {
  return add_scaled(arguments, Pointwise::add, arguments.item(0, "self"), arguments.item(1, "other"));
}
Item sub(const Arguments& arguments) {
  return add_scaled(arguments, Pointwise::sub, arguments.item(0, "self"), arguments.item(1, "other"));
}
Item rsub(const Arguments& arguments) {
  return add_scaled(arguments, Pointwise::sub, arguments.item(1, "other"), arguments.item(0, "self"));
}

Item div(const Arguments& arguments) {
  const std::string rounding = arguments.text(2, "rounding_mode", "none");
  const std::array operands{&arguments.item(0, "self"), &arguments.item(1, "other")};
  if (rounding == "none") return {promoted(arguments, Pointwise::div, operands)};
  if (rounding == "floor") return {promoted(arguments, Pointwise::div_floor, operands)};
  if (rounding == "trunc") return {promoted(arguments, Pointwise::div_trunc, operands)};
  arguments.fail(cat("rounding_mode must be None, 'floor' or 'trunc', it is '", escaped(rounding), "'"));
}

Item nextafter(const Arguments& arguments) {
  const Item& x = arguments.item(0, "self");
  const Item& y = arguments.item(1, "other");
  const DType type = result_type(arguments, std::array{&x, &y});
  return {graph::next_towards(as_tensor(arguments, x, type), as_tensor(arguments, y, type))};
}

Item logical_not(const Arguments& arguments) { return {graph::logical_not(arguments.tensor(0, "self"))}; }

// A question that has one answer for what is not floating.
template <Pointwise op, bool otherwise>
Item of_floats(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (ops::is_floating(x.dtype())) return {graph::pointwise(op, {x})};
  return {arguments.builder().constant(otherwise, DType::b8, x.shape())};
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

// A number beside integers must fit them; beside floats it may be infinity.
Tensor chosen(const Arguments& arguments, const Item& item, DType type) {
  return ops::is_integer(type) ? filling(arguments, item, type) : as_tensor(arguments, item, type);
}
Item where(const Arguments& arguments) {
  const Tensor condition = graph::cast(arguments.tensor(0, "condition"), DType::b8, true);
  const Item& yes = arguments.item(1, "self");
  const Item& no = arguments.item(2, "other");
  const DType type = result_type(arguments, std::array{&yes, &no});
  return {graph::where(condition, chosen(arguments, yes, type), chosen(arguments, no, type))};
}

Item masked_fill(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const Item& value = arguments.item(2, "value");
  if (const auto* tensor = value.get<Tensor>(); tensor != nullptr && tensor->rank() > 0)
    arguments.fail(cat("'value' must have no axes, it has rank ", tensor->rank()));
  return {graph::where(arguments.tensor(1, "mask"), filling(arguments, value, x.dtype()), x)};
}

// The bounds count for the type; a number beside integers must fit it.
Item clamped(const Arguments& arguments, const Item* low, const Item* high) {
  const Item& x = arguments.item(0, "self");
  std::vector<const Item*> items{&x};
  for (const Item* bound : {low, high})
    if (bound != nullptr) items.push_back(bound);
  if (items.size() == 1) arguments.fail("needs 'min' or 'max'");
  const DType type = result_type(arguments, items);
  Tensor result = as_tensor(arguments, x, type);
  if (low != nullptr) result = graph::maximum(result, filling(arguments, *low, type));
  if (high != nullptr) result = graph::minimum(result, filling(arguments, *high, type));
  return {result};
}
Item clamp(const Arguments& arguments) {
  return clamped(arguments, arguments.find(1, "min"), arguments.find(2, "max"));
}
Item clamp_min(const Arguments& arguments) { return clamped(arguments, &arguments.item(1, "min"), nullptr); }
Item clamp_max(const Arguments& arguments) { return clamped(arguments, nullptr, &arguments.item(1, "max")); }

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
// A gradient and what the operator gave or was given, in one type.
using Gradient = Tensor (*)(const Tensor&, const Tensor&);
Item backward(const Arguments& arguments, std::string_view beside, Gradient formula) {
  const std::array names{std::string_view("grad_output"), beside};
  const auto tensors = promoted_tensors(arguments, names);
  return {formula(tensors[0], tensors[1])};
}
Item gelu_backward(const Arguments& arguments) {
  if (arguments.text(2, "approximate", "none") == "tanh") {
    return backward(arguments, "self", [](const Tensor& g, const Tensor& x) {
      return graph::gelu_backward(g, x, graph::Gelu::tanh);
    });
  }
  return backward(arguments, "self",
                  [](const Tensor& g, const Tensor& x) { return graph::gelu_backward(g, x); });
}
Item silu_backward(const Arguments& arguments) { return backward(arguments, "self", graph::silu_backward); }
Item sigmoid_backward(const Arguments& arguments) {
  return backward(arguments, "output", graph::sigmoid_backward);
}
Item tanh_backward(const Arguments& arguments) { return backward(arguments, "output", graph::tanh_backward); }
Item threshold_backward(const Arguments& arguments) {
  constexpr std::array<std::string_view, 2> names{"grad_output", "self"};
  const auto tensors = promoted_tensors(arguments, names);
  const DType type = tensors[0].dtype();
  fitting(arguments, arguments.number(2, "threshold"), type);
  const Tensor threshold = as_tensor(arguments, arguments.item(2, "threshold"), type);
  const Tensor zero = arguments.builder().constant(0, type);
  return {graph::where(graph::le(tensors[1], threshold), zero, tensors[0])};
}
Item leaky_relu(const Arguments& arguments) {
  return {graph::leaky_relu(arguments.tensor(0, "self"), arguments.real(1, "negative_slope", 0.01))};
}
Item elu(const Arguments& arguments) {
  return {graph::elu(arguments.tensor(0, "self"), arguments.real(1, "alpha", 1),
                     arguments.real(2, "scale", 1), arguments.real(3, "input_scale", 1))};
}
Item hardtanh(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  if (ops::is_integer(x.dtype())) {  // the bounds lose their fractions
    const ops::Number low = fitting(arguments, arguments.real(1, "min_val", -1), DType::i64);
    const ops::Number high = fitting(arguments, arguments.real(2, "max_val", 1), DType::i64);
    return {graph::clamp(x, low, high)};
  }
  return {graph::hardtanh(x, arguments.real(1, "min_val", -1), arguments.real(2, "max_val", 1))};
}
Item hardsigmoid(const Arguments& arguments) { return {graph::hardsigmoid(arguments.tensor(0, "self"))}; }
Item hardswish(const Arguments& arguments) { return {graph::hardswish(arguments.tensor(0, "self"))}; }
// self + value * tensor1 * tensor2, or /; of integers the value loses its fraction.
using Combination = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, double);
template <Combination formula>
Item combined(const Arguments& arguments) {
  constexpr std::array<std::string_view, 3> names{"self", "tensor1", "tensor2"};
  const auto tensors = promoted_tensors(arguments, names);
  const DType type = tensors[0].dtype();
  ops::Number value = arguments.find(3, "value") == nullptr ? ops::Number(1) : arguments.number(3, "value");
  if (!ops::is_floating(type)) value = fitting(arguments, value, type);
  return {formula(tensors[0], tensors[1], tensors[2], value.real())};
}
Item addcdiv(const Arguments& arguments) {
  if (!ops::is_floating(arguments.tensor(1, "tensor1").dtype()) &&
      !ops::is_floating(arguments.tensor(2, "tensor2").dtype()))
    arguments.fail("one of 'tensor1' and 'tensor2' must be of a floating type");
  return combined<graph::addcdiv>(arguments);
}
Item lerp(const Arguments& arguments) {
  const Tensor start = arguments.tensor(0, "self");
  const Tensor end = arguments.tensor(1, "end");
  const auto* weight = arguments.item(2, "weight").get<Tensor>();
  for (const auto& other : {std::optional(end), weight == nullptr ? std::nullopt : std::optional(*weight)}) {
    if (other && other->dtype() != start.dtype())
      arguments.fail(cat("takes tensors of one type, given ", ops::name(start.dtype()), " and ",
                         ops::name(other->dtype())));
  }
  if (weight != nullptr) return {graph::lerp(start, end, *weight)};
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
        UNARY(tan) UNARY(sinh) UNARY(cosh) UNARY(tanh) UNARY(asin) UNARY(acos) UNARY(atan) UNARY(asinh)
            UNARY(acosh) UNARY(atanh) UNARY(erf) UNARY(erfc) UNARY(erfinv) UNARY(lgamma) UNARY(digamma)
                UNARY(i0) UNARY(sqrt) UNARY(rsqrt) UNARY(reciprocal) UNARY(sigmoid) UNARY(silu) UNARY(neg)
                    UNARY(abs) UNARY(relu)
#undef UNARY
#define ROUNDING(name) Row{#name, rounding<Pointwise::name>},
                        ROUNDING(ceil) ROUNDING(floor) ROUNDING(trunc)
                            Row{"round.default", rounding<Pointwise::round>},
#undef ROUNDING
#define BINARY(name) Row{#name, binary<Pointwise::name>},
    BINARY(mul) BINARY(remainder) BINARY(fmod) BINARY(atan2) BINARY(hypot) BINARY(copysign) BINARY(maximum)
        BINARY(minimum) BINARY(logical_and) BINARY(logical_or) BINARY(logical_xor) BINARY(eq) BINARY(ne)
            BINARY(lt) BINARY(le) BINARY(gt) BINARY(ge)
#undef BINARY
                Row{"sign", sign},
    Row{"sgn", sign},
    Row{"signbit", signbit},
    Row{"nextafter", nextafter},
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
    Row{"isnan", of_floats<Pointwise::isnan, false>},
    Row{"isinf", of_floats<Pointwise::isinf, false>},
    Row{"isfinite", of_floats<Pointwise::isfinite, true>},
    Row{"max.other", binary<Pointwise::maximum>},
    Row{"min.other", binary<Pointwise::minimum>},
    Row{"where", where},
    Row{"masked_fill", masked_fill},
    Row{"clamp", clamp},
    Row{"clamp_min", clamp_min},
    Row{"clamp_max", clamp_max},
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
    Row{"addcmul", combined<graph::addcmul>},
    Row{"addcdiv", addcdiv},
    Row{"lerp", lerp},
    Row{"_to_copy", to_copy},
    Row{"convert_element_type", to_type},
};

}  // namespace

std::span<const Row> pointwise_rows() { return rows; }

}  // namespace twinloom::fx
