// Quantised numbers, and products of them.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/convolutions.h"
#include "frontends/onnx/narrowing.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/quantisation.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::widened;
using ops::DType;

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
  const Quantised of = quantised(call, call.tensor(0));
  return {of.numbers, of.scale, of.zero};
}

Values matmul_integer(const Call& call) {
  return {graph::matmul(centred(call.tensor(0), of_rows(call.optional(2))),
                        centred(call.tensor(1), call.optional(3)))};
}

// Inputs: a, its scale, its zero point, b and its two, those of the result.
Tensor rescaled(const Call& call, const Tensor& sums, const Tensor& factor) {
  return rescaled(call, sums, factor, call.tensor(6), call.tensor(7));
}
Values qlinear_matmul(const Call& call) {
  const Tensor sums = graph::matmul(centred(call.tensor(0), of_rows(call.tensor(2))),
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
