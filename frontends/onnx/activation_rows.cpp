// Activations, by the formulas of ONNX.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::widened;

// Computed in f32 where x is of 16 bits, and rounded once.
template <Tensor (*function)(const Call&, const Tensor&)>
Values in_float(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::cast(function(call, widened(x)), x.dtype(), true)};
}

Tensor elu(const Call& call, const Tensor& x) { return graph::elu(x, call.real("alpha", 1)); }
Tensor celu(const Call& call, const Tensor& x) {
  const double alpha = call.real("alpha", 1);
  return graph::maximum(x, 0.0) + graph::minimum(graph::expm1(x / alpha) * alpha, 0.0);
}
Tensor selu(const Call& call, const Tensor& x) {
  return graph::elu(x, call.real("alpha", 1.67326319217681884765625),
                    call.real("gamma", 1.05070102214813232421875));
}
Tensor leaky_relu(const Call& call, const Tensor& x) {
  return graph::leaky_relu(x, call.real("alpha", 0.01));
}
Tensor thresholded_relu(const Call& call, const Tensor& x) {
  return graph::where(graph::gt(x, call.real("alpha", 1)), x, 0.0);
}
Tensor hard_sigmoid(const Call& call, const Tensor& x) {
  return graph::clamp(x * call.real("alpha", static_cast<double>(0.2f)) + call.real("beta", 0.5),
                      ops::Number(0.0), ops::Number(1.0));
}
Tensor hard_swish(const Call&, const Tensor& x) {
  return x * graph::clamp(x * (1.0 / 6) + 0.5, ops::Number(0.0), ops::Number(1.0));
}
Tensor mish(const Call&, const Tensor& x) { return x * graph::tanh(graph::softplus(x)); }
Tensor softsign(const Call&, const Tensor& x) { return x / (graph::abs(x) + 1.0); }
Tensor softplus(const Call&, const Tensor& x) { return graph::softplus(x); }
Tensor sigmoid(const Call&, const Tensor& x) { return graph::sigmoid(x); }
Tensor gelu(const Call& call, const Tensor& x) {
  const std::string kind = call.text("approximate", "none");
  if (kind != "none" && kind != "tanh")
    call.fail("attribute 'approximate' must be none or tanh, it is '", escaped(kind), "'");
  return graph::gelu(x, kind == "tanh" ? graph::Gelu::tanh : graph::Gelu::erf);
}

Tensor swish(const Call& call, const Tensor& x) {
  const double alpha = call.real("alpha", 1);
  return alpha == 1 ? graph::silu(x) : x * graph::sigmoid(x * alpha);
}
Tensor swiglu(const Call& call, const Tensor& x) {
  const Tensor factor = call.tensor(1);
  if (factor.rank() != x.rank())
    call.fail("needs tensors of one shape, given ", x.rank(), " and ", factor.rank(), " axes");
  for (int axis = 0; axis < x.rank(); ++axis)
    call.builder().graph().require_equal(x.size(axis), factor.size(axis),
                                         cat("axis ", axis, " of both tensors must have one size"));
  return swish(call, x) * widened(factor);
}

Values relu(const Call& call) { return {graph::relu(call.tensor(0))}; }

Values shrink(const Call& call) {
  const Tensor x = call.tensor(0);
  const double lambda = call.real("lambd", 0.5), bias = call.real("bias", 0);
  const Tensor wide = ops::is_integer(x.dtype()) ? graph::cast(x, ops::DType::f32) : widened(x);
  const Tensor above = graph::where(graph::gt(wide, lambda), wide - bias, 0.0);
  return {graph::cast(graph::where(graph::lt(wide, -lambda), wide + bias, above), x.dtype(), true)};
}

// A slope of one axis and fewer elements than the last one belongs to the channels, up to opset 6.
Values prelu(const Call& call) {
  const Tensor x = call.tensor(0);
  Tensor slope = call.tensor(1);
  if (call.version() < 7 && slope.rank() == 1 && x.rank() > 2) {
    graph::Shape shape(static_cast<std::size_t>(x.rank() - 1), 1);
    shape[0] = slope.size(0);
    slope = graph::reshape(slope, shape);
  }
  return {graph::where(graph::lt(x, 0), x * slope, x)};
}

constexpr std::array rows = {
    Row{"Celu", in_float<celu>},
    Row{"Elu", in_float<elu>},
    Row{"Gelu", in_float<gelu>},
    Row{"HardSigmoid", in_float<hard_sigmoid>},
    Row{"HardSwish", in_float<hard_swish>},
    Row{"LeakyRelu", in_float<leaky_relu>},
    Row{"Mish", in_float<mish>},
    Row{"PRelu", prelu},
    Row{"Relu", relu},
    Row{"Selu", in_float<selu>},
    Row{"Shrink", shrink},
    Row{"Sigmoid", in_float<sigmoid>},
    Row{"Softplus", in_float<softplus>},
    Row{"Softsign", in_float<softsign>},
    Row{"SwiGLU", in_float<swiglu>},
    Row{"Swish", in_float<swish>},
    Row{"ThresholdedRelu", in_float<thresholded_relu>},
};

}  // namespace

std::span<const Row> activation_rows() { return rows; }

}  // namespace twinloom::onnx
