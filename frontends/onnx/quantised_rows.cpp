// Operators of domain com.microsoft on quantised numbers, as ONNX Runtime's tools write them beside those of
// ONNX. A tensor is three inputs: numbers, scale and zero point, which may be left out.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/convolutions.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/quantisation.h"

namespace twinloom::onnx {

namespace {

using ops::DType;

Tensor real(const Call& call, std::size_t first) {
  return graph::cast(centred(call.tensor(first), call.optional(first + 2)), DType::f32) *
         call.tensor(first + 1);
}

// By the scale at an input and the zero point behind it, which is 0 of the type of `like` where it is
// missing.
Tensor as_numbers(const Call& call, const Tensor& x, std::size_t scale, const Tensor& like) {
  const auto zero = call.optional(scale + 1);
  return saturated(call, x / call.tensor(scale), zero ? *zero : call.builder().constant(0, like.dtype()));
}

template <Tensor (*combine)(const Tensor& a, const Tensor& b)>
Values of_two(const Call& call) {
  return {as_numbers(call, combine(real(call, 0), real(call, 3)), 6, call.tensor(0))};
}
Tensor sum(const Tensor& a, const Tensor& b) { return a + b; }
Tensor product(const Tensor& a, const Tensor& b) { return a * b; }

template <Tensor (*function)(const Call& call, const Tensor& x)>
Values of_one(const Call& call) {
  return {as_numbers(call, function(call, real(call, 0)), 3, call.tensor(0))};
}
Tensor sigmoid(const Call&, const Tensor& x) { return graph::sigmoid(x); }
Tensor leaky_relu(const Call& call, const Tensor& x) {
  return graph::where(graph::lt(x, 0), x * call.real("alpha", 0.01), x);
}
// Up to opset 12 of ONNX all axes from the one that is said are one.
Tensor softmax(const Call& call, const Tensor& x) {
  const std::int64_t opset = call.integer("opset", 0);
  const int axis = call.axis(call.integer("axis", -1), x.rank());
  if (opset < 13 && axis + 1 != x.rank()) call.unsupported("attribute 'opset' ", opset, " with axis ", axis);
  return graph::softmax(x, axis);
}
// Over the axes between the batch and the channels, which are the second or the last.
Tensor global_average_pool(const Call& call, const Tensor& x) {
  if (x.rank() < 3) call.fail("needs a tensor of 3 axes or more, given one of ", x.rank());
  const int first = call.truth("channels_last", false) ? 1 : 2;
  graph::Axes axes;
  for (int axis = first; axis < x.rank() + first - 2; ++axis) axes.push_back(axis);
  return graph::mean(x, axes, true);
}

// Scale and zero point of the result, then the tensors.
Values concat(const Call& call) {
  if (call.count() < 5 || call.count() % 3 != 2)
    call.fail("needs a scale, a zero point and three inputs for each tensor, given ", call.count());
  std::vector<Tensor> parts;
  for (std::size_t first = 2; first < call.count(); first += 3) parts.push_back(real(call, first));
  if (!call.has_attribute("axis")) call.fail("attribute 'axis' is missing");
  const Tensor all = graph::concat(parts, call.axis(call.integer("axis", 0), parts[0].rank()));
  return {as_numbers(call, all, 0, call.tensor(2))};
}

Values where(const Call& call) {
  const Tensor chosen = graph::where(call.tensor(0), real(call, 1), real(call, 4));
  return {as_numbers(call, chosen, 7, call.tensor(1))};
}

// The sums begin with C, of which a unit is alpha and the two scales. Without a scale the result is real.
Values gemm(const Call& call) {
  Tensor a = centred(call.tensor(0), call.optional(2)), b = call.tensor(3);
  const bool is_turned = call.truth("transB", false);
  const auto zero = call.optional(5);
  b = is_turned ? centred(b, of_rows(zero)) : centred(b, zero);
  if (call.truth("transA", false)) a = graph::transpose(a, 0, 1);
  if (is_turned) b = graph::transpose(b, 0, 1);
  Tensor sums = graph::matmul(a, b);
  if (const auto c = call.optional(6)) {
    if (c->dtype() != DType::i32) call.fail("input 6 must be of i32, it is of ", ops::name(c->dtype()));
    sums = sums + *c;
  }
  const Tensor factor = call.tensor(1) * call.tensor(4) * call.real("alpha", 1);
  if (!call.has(7)) return {graph::cast(sums, DType::f32) * factor};
  return {rescaled(call, sums, factor, call.tensor(7), call.tensor(8))};
}

// Of rows by columns, each with a zero point or one of its own; real, with a bias.
Tensor real_product(const Tensor& a, const Tensor& b, const Tensor& factor,
                    const std::optional<Tensor>& bias) {
  const Tensor result = graph::cast(graph::matmul(a, b), DType::f32) * factor;
  return bias ? result + *bias : result;
}
Values matmul_integer_to_float(const Call& call) {
  return {real_product(centred(call.tensor(0), of_rows(call.optional(4))),
                       centred(call.tensor(1), call.optional(5)), *of_rows(call.tensor(2)) * call.tensor(3),
                       call.optional(6))};
}
Values dynamic_quantize_matmul(const Call& call) {
  const Quantised a = quantised(call, call.tensor(0));
  return {real_product(centred(a.numbers, a.zero), centred(call.tensor(1), call.optional(3)),
                       a.scale * call.tensor(2), call.optional(4))};
}

constexpr std::array rows = {
    Row{"com.microsoft.DynamicQuantizeMatMul", dynamic_quantize_matmul},
    Row{"com.microsoft.MatMulIntegerToFloat", matmul_integer_to_float},
    Row{"com.microsoft.QGemm", gemm},
    Row{"com.microsoft.QLinearAdd", of_two<sum>},
    Row{"com.microsoft.QLinearConcat", concat},
    Row{"com.microsoft.QLinearGlobalAveragePool", of_one<global_average_pool>},
    Row{"com.microsoft.QLinearLeakyRelu", of_one<leaky_relu>},
    Row{"com.microsoft.QLinearMul", of_two<product>},
    Row{"com.microsoft.QLinearSigmoid", of_one<sigmoid>},
    Row{"com.microsoft.QLinearSoftmax", of_one<softmax>},
    Row{"com.microsoft.QLinearWhere", where},
};

}  // namespace

std::span<const Row> quantised_rows() { return rows; }

}  // namespace twinloom::onnx
