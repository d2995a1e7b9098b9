// Softmax, activations and their gradients, by the formulas of composites.h.
#include "core/graph/composites.h"

#include <cmath>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// Computes with every operand in its compute type and rounds the result to the type of the first.
template <class Formula, class... Operands>
Tensor rounded_once(std::string name, Formula&& formula, const Tensor& first, const Operands&... others) {
  const CompositeScope scope(first.builder(), std::move(name));
  return cast(formula(widened(first), widened(others)...), first.dtype(), true);
}

struct Centred {
  Tensor d, e, s;  // x - max, its exponential and the sum of that
};

Centred centred(const Tensor& x, int axis) {
  const Tensor d = x - amax_or_lowest(x, {axis}, true);
  const Tensor e = exp(d);
  return {d, e, sum(e, {axis}, true)};
}

void needs_real(const Tensor& x, std::string_view what) {
  if (!ops::is_floating(x.dtype()))
    fail(x.builder(), what, "needs elements of a floating type, given ", ops::name(x.dtype()));
}

constexpr double SQRT_HALF = 0.70710678118654752440;
constexpr double INVERSE_SQRT_TWO_PI = 0.39894228040143267794;
constexpr double SQRT_TWO_OVER_PI = 0.79788456080286535588;
constexpr double GELU_CUBIC = 0.044715;

// d gelu / dx = Phi(x) + x * phi(x)
Tensor gelu_erf_slope(const Tensor& x) {
  const Tensor below = (erf(x * SQRT_HALF) + 1.0) * 0.5;
  const Tensor density = exp(x * x * -0.5) * INVERSE_SQRT_TWO_PI;
  return below + x * density;
}

// With u = sqrt(2/pi) * (x + c x^3) and t = tanh u: 0.5 (1 + t) + 0.5 x (1 - t^2) u'
Tensor gelu_tanh_slope(const Tensor& x) {
  const Tensor square = x * x;
  const Tensor t = tanh((x + square * x * GELU_CUBIC) * SQRT_TWO_OVER_PI);
  const Tensor inner_slope = (square * (3 * GELU_CUBIC) + 1.0) * SQRT_TWO_OVER_PI;
  return (t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * inner_slope;
}

}  // namespace

Tensor matrix_product(const Tensor& a, const Tensor& b) {
  return sum(unsqueeze(a, -1) * unsqueeze(b, -3), {-2});
}

Tensor matmul(Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0) fail(a.builder(), "matmul", "needs tensors with axes");
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  if (is_row) a = unsqueeze(a, 0);
  if (is_column) b = unsqueeze(b, 1);
  a.builder().graph().require_equal(
      a.size(-1), b.size(-2),
      cat("matrices of ", a.size(-1), " columns and ", b.size(-2), " rows do not fit together"));
  Tensor product = matrix_product(a, b);
  if (is_column) product = select(product, -1, 0);
  return is_row ? select(product, is_column ? -1 : -2, 0) : product;
}

Tensor softmax(const Tensor& x, int axis) {
  needs_real(x, "softmax");
  return rounded_once(
      "softmax",
      [&](const Tensor& wide) {
        const Centred parts = centred(wide, axis);
        return parts.e / parts.s;
      },
      x);
}

Tensor log_softmax(const Tensor& x, int axis) {
  needs_real(x, "log_softmax");
  return rounded_once(
      "log_softmax",
      [&](const Tensor& wide) {
        const Centred parts = centred(wide, axis);
        return parts.d - log(parts.s);
      },
      x);
}

Tensor softmax_backward(const Tensor& gradient, const Tensor& result, int axis) {
  return rounded_once(
      "softmax_backward",
      [&](const Tensor& g, const Tensor& y) {
        const Tensor gy = g * y;
        return gy - y * sum(gy, {axis}, true);
      },
      gradient, result);
}

Tensor log_softmax_backward(const Tensor& gradient, const Tensor& result, int axis) {
  return rounded_once(
      "log_softmax_backward",
      [&](const Tensor& g, const Tensor& y) { return g - exp(y) * sum(g, {axis}, true); }, gradient, result);
}

Tensor gelu(const Tensor& x, Gelu kind) {
  needs_real(x, "gelu");
  return kind == Gelu::erf ? gelu_erf(x) : gelu_tanh(x);
}

Tensor gelu_backward(const Tensor& gradient, const Tensor& x, Gelu kind) {
  return rounded_once(
      "gelu_backward",
      [&](const Tensor& g, const Tensor& wide) {
        return g * (kind == Gelu::erf ? gelu_erf_slope(wide) : gelu_tanh_slope(wide));
      },
      gradient, x);
}

Tensor silu_backward(const Tensor& gradient, const Tensor& x) {
  return rounded_once(
      "silu_backward",
      [](const Tensor& g, const Tensor& wide) {
        const Tensor s = sigmoid(wide);
        return g * s * (wide * (1.0 - s) + 1.0);
      },
      gradient, x);
}

Tensor sigmoid_backward(const Tensor& gradient, const Tensor& result) {
  return rounded_once(
      "sigmoid_backward", [](const Tensor& g, const Tensor& y) { return g * (1.0 - y) * y; }, gradient,
      result);
}

Tensor tanh_backward(const Tensor& gradient, const Tensor& result) {
  return rounded_once(
      "tanh_backward", [](const Tensor& g, const Tensor& y) { return g * (1.0 - y * y); }, gradient, result);
}

Tensor threshold_backward(const Tensor& gradient, const Tensor& x, double threshold) {
  // A NaN in x passes the gradient on.
  return where(le(x, threshold), 0.0, gradient);
}

Tensor leaky_relu(const Tensor& x, double slope) {
  return rounded_once(
      "leaky_relu", [&](const Tensor& wide) { return where(gt(wide, 0.0), wide, wide * slope); }, x);
}

Tensor elu(const Tensor& x, double alpha, double scale, double input_scale) {
  return rounded_once(
      "elu",
      [&](const Tensor& wide) {
        return where(lt(wide, 0.0), expm1(wide * input_scale) * (alpha * scale), wide * scale);
      },
      x);
}

Tensor hardtanh(const Tensor& x, double low, double high) {
  return clamp(x, ops::Number(low), ops::Number(high));
}

Tensor hardsigmoid(const Tensor& x) {
  return rounded_once(
      "hardsigmoid", [](const Tensor& wide) { return minimum(maximum(wide + 3.0, 0.0), 6.0) / 6.0; }, x);
}

Tensor hardswish(const Tensor& x) {
  return rounded_once(
      "hardswish", [](const Tensor& wide) { return wide * minimum(maximum(wide + 3.0, 0.0), 6.0) / 6.0; }, x);
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
  return rounded_once(
      "softplus",
      [&](const Tensor& wide) {
        const Tensor scaled = beta == 1 ? wide : wide * beta;
        const Tensor smooth = softplus(scaled);
        return where(gt(scaled, threshold), wide, beta == 1 ? smooth : smooth / beta);
      },
      x);
}

Tensor softplus_backward(const Tensor& gradient, const Tensor& x, double beta, double threshold) {
  return rounded_once(
      "softplus_backward",
      [&](const Tensor& g, const Tensor& wide) {
        const Tensor scaled = beta == 1 ? wide : wide * beta;
        return where(gt(scaled, threshold), g, g * sigmoid(scaled));
      },
      gradient, x);
}

// With p bits of a significand, 1.25 * 2^-p of |x| is 5/8 to 5/4 of a step away from 0 and, where x is a
// power of two, 5/4 of a step towards 0: rounding to the nearest makes one step of each. The least step is
// that of subnormal numbers. From infinity the largest number is next.
Tensor next_towards(const Tensor& x, const Tensor& y) {
  if (!ops::is_16_bit_float(x.dtype())) return nextafter(x, y);
  const CompositeScope scope(x.builder(), "nextafter");
  const bool half = x.dtype() == ops::DType::f16;
  const double largest = half ? 65504.0 : 0x1.FEp127;
  const Tensor from = widened(x);
  const Tensor to = widened(y);
  const Tensor step =
      maximum(abs(from) * (1.25 * (half ? 0x1p-11 : 0x1p-8)), 0.625 * (half ? 0x1p-24 : 0x1p-133));
  const Tensor up = where(eq(from, -HUGE_VAL), -largest, from + step);
  const Tensor down = where(eq(from, HUGE_VAL), largest, from - step);
  const Tensor moved = where(lt(from, to), up, where(gt(from, to), down, from + (to - to)));
  return cast(where(eq(from, to), to, moved), x.dtype());
}

Tensor logit(const Tensor& x, std::optional<double> epsilon) {
  return rounded_once(
      "logit",
      [&](const Tensor& wide) {
        const Tensor p = epsilon ? minimum(maximum(wide, *epsilon), 1 - *epsilon) : wide;
        return log(p / (1.0 - p));
      },
      x);
}

Tensor addcmul(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return rounded_once(
      "addcmul",
      [&](const Tensor& wide, const Tensor& left, const Tensor& right) {
        return wide + (value == 1 ? left : left * value) * right;
      },
      x, a, b);
}

Tensor addcdiv(const Tensor& x, const Tensor& a, const Tensor& b, double value) {
  return rounded_once(
      "addcdiv",
      [&](const Tensor& wide, const Tensor& left, const Tensor& right) {
        return wide + (value == 1 ? left : left * value) / right;
      },
      x, a, b);
}

// From the nearer end, so that a weight of 1 gives `end` exactly.
Tensor lerp(const Tensor& start, const Tensor& end, const Tensor& weight) {
  return rounded_once(
      "lerp",
      [](const Tensor& a, const Tensor& b, const Tensor& w) {
        const Tensor distance = b - a;
        return where(lt(abs(w), 0.5), a + w * distance, b - distance * (1.0 - w));
      },
      start, end, weight);
}

Tensor lerp(const Tensor& start, const Tensor& end, double weight) {
  return rounded_once(
      "lerp",
      [&](const Tensor& a, const Tensor& b) {
        const Tensor distance = b - a;
        return std::abs(weight) < 0.5 ? a + distance * weight : b - distance * (1 - weight);
      },
      start, end);
}

}  // namespace twinloom::graph
