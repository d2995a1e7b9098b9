// Composite operators as functions over the builder, with the formulas that the numerics contract
// names. f16 and bf16 are computed in f32, and each output is rounded once.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// [..., n, k] by [..., k, m], whose other axes are broadcast: [..., n, m], a sum of products for each
// element.
Tensor matrix_product(const Tensor& a, const Tensor& b);
// The same as NumPy has it: one axis is a row on the left and a column on the right. Error for tensors that
// do not fit.
Tensor matmul(Tensor a, Tensor b);

// m = max x; d = x - m; e = exp d; s = sum e. e / s. A row with +inf, or of -inf alone, is NaN throughout.
Tensor softmax(const Tensor& x, int axis);
// d - log s
Tensor log_softmax(const Tensor& x, int axis);
// gradient g of the result y: g*y - y * sum(g*y)
Tensor softmax_backward(const Tensor& gradient, const Tensor& result, int axis);
// gradient g of the result y: g - exp(y) * sum(g)
Tensor log_softmax_backward(const Tensor& gradient, const Tensor& result, int axis);

// ((x - mean) * rstd) * weight + bias over the last `axes` axes; mean and rstd keep these axes with
// size 1 and, where x is f16 or bf16, are f32.
struct Normalized {
  Tensor value, mean, rstd;
};
Normalized layer_norm(const Tensor& x, int axes, const std::optional<Tensor>& weight,
                      const std::optional<Tensor>& bias, double epsilon);
Tensor rms_norm(const Tensor& x, int axes, const std::optional<Tensor>& weight, double epsilon);
// Gradients of x, weight and bias; those not wanted are not built.
struct NormGradients {
  std::optional<Tensor> x, weight, bias;
};
struct Wanted {
  bool x = true, weight = true, bias = true;
};
NormGradients layer_norm_backward(const Tensor& gradient, const Tensor& x, int axes, const Tensor& mean,
                                  const Tensor& rstd, const std::optional<Tensor>& weight,
                                  Wanted wanted = {});
// x: [batch, channels, ...]; mean and rstd are [batch, groups].
Normalized group_norm(const Tensor& x, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                      const index::Expr& groups, double epsilon);
NormGradients group_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& mean,
                                  const Tensor& rstd, const std::optional<Tensor>& weight,
                                  const index::Expr& groups, Wanted wanted = {});
// x: [batch, channels, ...]; statistics [channels]. With given mean and variance, and from x itself;
// `variance` of the latter is the one over all elements (correction 0).
Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double epsilon);
struct BatchNormalized {
  Tensor value, mean, rstd, variance;
};
BatchNormalized batch_norm_training(const Tensor& x, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias, double epsilon);

// `of_x`: mean and rstd are those of x, so that they change with it.
struct BatchStatistics {
  Tensor mean, rstd;
  bool of_x = true;
};
NormGradients batch_norm_backward(const Tensor& gradient, const Tensor& x, const BatchStatistics& statistics,
                                  const std::optional<Tensor>& weight, Wanted wanted = {});

enum class Gelu : std::uint8_t { erf, tanh };
Tensor gelu(const Tensor& x, Gelu kind = Gelu::erf);
Tensor gelu_backward(const Tensor& gradient, const Tensor& x, Gelu kind = Gelu::erf);
Tensor silu_backward(const Tensor& gradient, const Tensor& x);
Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result);
Tensor tanh_backward(const Tensor& gradient, const Tensor& result);
// gradient where x > threshold, else 0
Tensor threshold_backward(const Tensor& gradient, const Tensor& x, double threshold);
Tensor leaky_relu(const Tensor& x, double slope);
Tensor elu(const Tensor& x, double alpha = 1, double scale = 1, double input_scale = 1);
Tensor hardtanh(const Tensor& x, double low, double high);
Tensor hardsigmoid(const Tensor& x);
Tensor hardswish(const Tensor& x);
// log(1 + exp(beta x)) / beta, and x where beta x > threshold.
Tensor softplus(const Tensor& x, double beta, double threshold);
Tensor softplus_backward(const Tensor& gradient, const Tensor& x, double beta, double threshold);
// The next number of the type of x towards y, of 16-bit types too, for which the operator table has no row.
Tensor next_towards(const Tensor& x, const Tensor& y);
Tensor logit(const Tensor& x, std::optional<double> epsilon = {});
Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value = 1);
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight);
Tensor lerp(const Tensor& start, const Tensor& end, double weight);

}  // namespace twinloom::graph
