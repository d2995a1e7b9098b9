// Quantised numbers, and products of them.
#include <array>
#include <limits>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/narrowing.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/products.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using ops::DType;

// Rounded to even, moved by the zero point and kept inside of the type.
Tensor saturated(const Tensor& x, const Tensor& zero, const ElementType& type) {
  const int bits = type.narrow == nullptr ? ops::bits_of(type.dtype) : type.narrow->bits;
  const bool is_signed = ops::kind(type.dtype) == ops::TypeKind::signed_int;
  const double low = is_signed ? -static_cast<double>(std::int64_t{1} << (bits - 1)) : 0;
  const double high = static_cast<double>(std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  const Tensor moved = graph::round(x) + graph::cast(zero, x.dtype());
  return graph::cast(graph::clamp(moved, ops::Number(low), ops::Number(high)), type.dtype);
}
Tensor saturated(const Call& call, const Tensor& x, const Tensor& zero) {
  const DType dtype = zero.dtype();
  if (!ops::is_integer(dtype) || ops::size_of(dtype) > 2)
    call.unsupported("quantisation to ", ops::name(dtype));
  return saturated(x, zero, {dtype});
}

// Each number for a block of elements along the axis, of which the last may be smaller.
Tensor of_blocks(const Call& call, const Tensor& numbers, const Tensor& x, std::int64_t block) {
  const int axis = call.axis(call.integer("axis", 1), x.rank());
  if (block < 0) call.fail("attribute 'block_size' must not be negative, it is ", block);
  if (numbers.rank() != x.rank())
    call.fail("needs scales and zero points of ", x.rank(), " axes for blocks, given ", numbers.rank());
  return graph::slice_exact(graph::repeat_interleave(numbers, axis, block), axis, 0, x.size(axis));
}

// A list of numbers along one axis of a tensor, or one for each of its blocks; a single number stands for
// all.
Tensor along(const Call& call, const Tensor& numbers, const Tensor& x) {
  if (numbers.rank() == 0) return numbers;
  if (const std::int64_t block = call.integer("block_size", 0); block != 0)
    return of_blocks(call, numbers, x, block);
  if (numbers.rank() > 1) call.unsupported("a scale or zero point of ", numbers.rank(), " axes");
  if (numbers.size(0) == index::Expr(1)) return graph::reshape(numbers, {});
  Shape shape(static_cast<std::size_t>(x.rank() - call.axis(call.integer("axis", 1), x.rank())), 1);
  shape[0] = numbers.size(0);
  return graph::reshape(numbers, shape);
}

// A type of an attribute, where 0 stands for none.
ElementType type_or(const Call& call, std::string_view attribute, ElementType otherwise) {
  return call.integer(attribute, 0) == 0 ? otherwise : call.type(attribute, otherwise);
}

// What numbers are quantised to: the type of the zero point, or that of the attribute.
ElementType quantised_type(const Call& call) {
  const ElementType type = call.has(2) ? call.type(2) : type_or(call, "output_dtype", {DType::u8}),
                    wanted = type_or(call, "output_dtype", type);
  if (type.name() != wanted.name())
    call.fail("attribute 'output_dtype' says ", wanted.name(), ", the zero point is of ", type.name());
  const bool is_small = ops::size_of(type.dtype) <= 2;
  const bool is_good = is_small && (type.narrow != nullptr || !ops::is_floating(type.dtype));
  if (!is_good || type.dtype == DType::b8) call.unsupported("quantisation to ", type.name());
  return type;
}

// x / scale, in the precision that the attribute says, or that of the scale.
Tensor quotient(const Call& call, const Tensor& x, const Tensor& scale) {
  const DType own = ops::is_floating(scale.dtype()) ? scale.dtype() : DType::f32;
  const DType precision = type_or(call, "precision", {own}).dtype;
  return widened(graph::cast(x, precision) / graph::cast(scale, precision));
}

AnyValues quantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  const ElementType type = quantised_type(call);
  const Tensor scaled = quotient(call, x, along(call, call.tensor(1), x));
  const Tensor zero = call.has(2) ? along(call, call.tensor(2), x) : call.builder().constant(0, type.dtype);
  const bool saturates = call.truth("saturate", true);
  call.ignore({"axis", "block_size"});
  if (ops::is_integer(type.dtype)) return {{saturated(scaled, zero, type), type.narrow}};
  return {narrowed(call, scaled + graph::cast(zero, scaled.dtype()), type, {saturates, "up"})};
}

// The product is in the precision of the result.
Values dequantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor given = along(call, call.tensor(1), x);
  call.ignore({"axis", "block_size"});
  const DType dtype = type_or(call, "output_dtype", {given.dtype()}).dtype;
  const Tensor scale = widened(graph::cast(given, dtype));
  // The difference of two integers is exact in a wider type.
  const DType wider = ops::size_of(x.dtype()) < 4 ? DType::i32 : DType::i64;
  Tensor value = graph::cast(x, ops::is_integer(x.dtype()) ? wider : scale.dtype());
  if (call.has(2)) value = value - graph::cast(along(call, call.tensor(2), x), value.dtype());
  return {graph::cast(graph::cast(value, scale.dtype()) * scale, dtype, true)};
}

Values dynamic_quantize_linear(const Call& call) {
  const Tensor x = call.tensor(0);
  const Tensor low = graph::minimum(graph::amin(x), 0), high = graph::maximum(graph::amax(x), 0);
  const Tensor scale = (high - low) / 255.0;
  const Tensor zero =
      graph::cast(graph::round(graph::clamp(-low / scale, ops::Number(0.0), ops::Number(255.0))), DType::u8);
  return {saturated(call, x / scale, zero), scale, zero};
}

// Integers of 32 bits, without their zero point.
Tensor centred(const Tensor& x, const std::optional<Tensor>& zero) {
  const Tensor wide = graph::cast(x, DType::i32);
  return zero ? wide - graph::cast(*zero, DType::i32) : wide;
}
// Numbers of the rows of the left matrix, beside matrices of two axes or more.
std::optional<Tensor> of_rows(const std::optional<Tensor>& numbers) {
  if (!numbers || numbers->rank() != 1) return numbers;
  return graph::unsqueeze(*numbers, 1);
}

Values matmul_integer(const Call& call) {
  return {matrix_product(call, centred(call.tensor(0), of_rows(call.optional(2))),
                         centred(call.tensor(1), call.optional(3)))};
}

// Inputs: a, its scale, its zero point, b and its two, those of the result.
Tensor rescaled(const Call& call, const Tensor& sums, const Tensor& factor) {
  const Tensor zero = call.tensor(7);
  const Tensor scale = graph::cast(factor, DType::f32) / graph::cast(call.tensor(6), DType::f32);
  return saturated(call, graph::cast(sums, DType::f32) * scale, zero);
}
Values qlinear_matmul(const Call& call) {
  const Tensor sums = matrix_product(call, centred(call.tensor(0), of_rows(call.tensor(2))),
                                     centred(call.tensor(3), call.tensor(5)));
  return {rescaled(call, sums, *of_rows(call.tensor(1)) * call.tensor(4))};
}

// Filters have a zero point and a scale each.
Tensor of_filters(const Tensor& numbers, int rank) {
  if (numbers.rank() != 1) return numbers;
  Shape shape(static_cast<std::size_t>(rank), 1);
  shape[0] = numbers.size(0);
  return graph::reshape(numbers, shape);
}
Values conv_integer(const Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  const auto zero = call.optional(3);
  return {convolution(call, centred(x, call.optional(2)),
                      centred(weights, zero ? std::optional(of_filters(*zero, weights.rank())) : zero))};
}
Values qlinear_conv(const Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(3);
  Tensor sums = convolution(call, centred(x, call.tensor(2)),
                            centred(weights, of_filters(call.tensor(5), weights.rank())));
  if (call.has(8)) sums = sums + graph::beside_channels(call.tensor(8), x.rank());
  Tensor scale = call.tensor(4);
  if (scale.rank() == 1) scale = graph::beside_channels(scale, x.rank());
  return {rescaled(call, sums, call.tensor(1) * scale)};
}

constexpr std::array rows = {
    Row{"ConvInteger", conv_integer},
    Row{"DequantizeLinear", dequantize_linear, 1, nullptr, Narrow::read},
    Row{"DynamicQuantizeLinear", dynamic_quantize_linear},
    Row{"MatMulInteger", matmul_integer},
    Row{"QLinearConv", qlinear_conv},
    Row{"QLinearMatMul", qlinear_matmul},
    any_row("QuantizeLinear", quantize_linear, Narrow::read),
};

}  // namespace

std::span<const Row> quantisation_rows() { return rows; }

}  // namespace twinloom::onnx
