// Normalisations and their gradients. See composites.h.
//   normal = (x - mean) * rstd,  value = normal * weight + bias,  rstd = rsqrt(variance + epsilon)
// Gradient of x over the normalised axes of N elements, with gw = gradient * weight:
//   rstd / N * (N * gw - sum(gw) - normal * sum(gw * normal))
#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/composites.h"
#include "core/graph/infer.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

Axes last_axes(const Tensor& x, int count, std::string_view what) {
  if (count < 1 || count > x.rank())
    fail(x.builder(), what, "normalises the last ", count, " axes of rank ", x.rank());
  Axes axes;
  for (int axis = x.rank() - count; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

Axes first_axes(int count) {
  Axes axes;
  for (int axis = 0; axis < count; ++axis) axes.push_back(axis);
  return axes;
}

Tensor scaled_and_shifted(const Tensor& normal, const std::optional<Tensor>& weight,
                          const std::optional<Tensor>& bias) {
  Tensor value = normal;
  if (weight) value = value * widened(*weight);
  if (bias) value = value + widened(*bias);
  return value;
}

Tensor reciprocal_deviation(const Tensor& variance, double epsilon) { return rsqrt(variance + epsilon); }

// sum over the axes; no axes leave it as it is.
Tensor sum_over(const Tensor& x, const Axes& axes) { return axes.empty() ? x : sum(x, axes); }

// The gradient of x from that of the normalised values, all in the compute type.
Tensor normalised_backward(const Tensor& gw, const Tensor& normal, const Tensor& rstd, const Axes& axes) {
  index::Expr count = 1;
  for (const int axis : axes) count = count * normal.size(axis);
  const Tensor n = normal.builder().size(count, normal.dtype());
  const Tensor inner = gw * n - sum(gw, axes, true) - normal * sum(gw * normal, axes, true);
  return rstd / n * inner;
}

// One number a channel of `of` as [channels, 1, ...], which broadcasts beside it.
Tensor along_channels(const Tensor& x, const Tensor& of) {
  x.builder().graph().require_equal(
      x.count(), of.size(1),
      cat("one number a channel of ", print_shape(of.shape()), " is needed, given ", print_shape(x.shape())));
  Tensor wide = widened(x.rank() == 1 ? x : reshape(x, {x.count()}));
  for (int axis = 2; axis < of.rank(); ++axis) wide = unsqueeze(wide, wide.rank());
  return wide;
}

std::optional<Tensor> along_channels(const std::optional<Tensor>& x, const Tensor& of) {
  return x ? std::optional(along_channels(*x, of)) : std::nullopt;
}

Axes all_but_channels(const Tensor& x) {
  Axes axes{0};
  for (int axis = 2; axis < x.rank(); ++axis) axes.push_back(axis);
  return axes;
}

void needs_channels(const Tensor& x, std::string_view what) {
  if (x.rank() < 2) fail(x.builder(), what, "needs [batch, channels, ...], given ", print_shape(x.shape()));
}

// [batch, channels, rest...] as [batch, groups, channels / groups * rest].
Tensor in_groups(const Tensor& x, const index::Expr& groups) { return reshape(x, {x.size(0), groups, -1}); }

}  // namespace

Normalized layer_norm(const Tensor& x, int axes, const std::optional<Tensor>& weight,
                      const std::optional<Tensor>& bias, double epsilon) {
  const CompositeScope scope(x.builder(), "layer_norm");
  const Axes over = last_axes(x, axes, "layer_norm");
  const Tensor wide = widened(x);
  const auto [variance, average] = var_mean(wide, over, 0, true);
  const Tensor rstd = reciprocal_deviation(variance, epsilon);
  const Tensor value = scaled_and_shifted((wide - average) * rstd, weight, bias);
  return {cast(value, x.dtype(), true), average, rstd};
}

Tensor rms_norm(const Tensor& x, int axes, const std::optional<Tensor>& weight, double epsilon) {
  const CompositeScope scope(x.builder(), "rms_norm");
  const Axes over = last_axes(x, axes, "rms_norm");
  const Tensor wide = widened(x);
  const Tensor normal = wide * rsqrt(mean(wide * wide, over, true) + epsilon);
  return cast(scaled_and_shifted(normal, weight, std::nullopt), x.dtype(), true);
}

NormGradients layer_norm_backward(const Tensor& gradient, const Tensor& x, int axes, const Tensor& mean,
                                  const Tensor& rstd, const std::optional<Tensor>& weight, Wanted wanted) {
  const CompositeScope scope(x.builder(), "layer_norm_backward");
  const Axes over = last_axes(x, axes, "layer_norm_backward");
  const Tensor g = widened(gradient);
  const Tensor wide_rstd = widened(rstd);
  const Tensor normal = (widened(x) - widened(mean)) * wide_rstd;
  const Axes rows = first_axes(x.rank() - axes);
  const ops::DType weight_type = weight ? weight->dtype() : x.dtype();
  NormGradients gradients;
  if (wanted.x) {
    const Tensor gw = weight ? g * widened(*weight) : g;
    gradients.x = cast(normalised_backward(gw, normal, wide_rstd, over), x.dtype(), true);
  }
  if (wanted.weight) gradients.weight = cast(sum_over(g * normal, rows), weight_type, true);
  if (wanted.bias) gradients.bias = cast(sum_over(g, rows), weight_type, true);
  return gradients;
}

Normalized group_norm(const Tensor& x, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                      const index::Expr& groups, double epsilon) {
  needs_channels(x, "group_norm");
  const CompositeScope scope(x.builder(), "group_norm");
  const Tensor grouped = in_groups(widened(x), groups);
  const auto [variance, average] = var_mean(grouped, {2}, 0, true);
  const Tensor rstd = reciprocal_deviation(variance, epsilon);
  const Tensor normal = reshape((grouped - average) * rstd, x.shape());
  const Tensor value = scaled_and_shifted(normal, along_channels(weight, x), along_channels(bias, x));
  return {cast(value, x.dtype(), true), squeeze(average, {2}), squeeze(rstd, {2})};
}

NormGradients group_norm_backward(const Tensor& gradient, const Tensor& x, const Tensor& mean,
                                  const Tensor& rstd, const std::optional<Tensor>& weight,
                                  const index::Expr& groups, Wanted wanted) {
  needs_channels(x, "group_norm_backward");
  const CompositeScope scope(x.builder(), "group_norm_backward");
  const Tensor g = widened(gradient);
  const Tensor wide_rstd = unsqueeze(widened(rstd), 2);
  const Tensor normal = (in_groups(widened(x), groups) - unsqueeze(widened(mean), 2)) * wide_rstd;
  const ops::DType weight_type = weight ? weight->dtype() : x.dtype();
  NormGradients gradients;
  if (wanted.x) {
    const Tensor gw = weight ? g * along_channels(*weight, x) : g;
    const Tensor grouped = normalised_backward(in_groups(gw, groups), normal, wide_rstd, {2});
    gradients.x = cast(reshape(grouped, x.shape()), x.dtype(), true);
  }
  const Axes over = all_but_channels(x);
  if (wanted.weight) gradients.weight = cast(sum(g * reshape(normal, x.shape()), over), weight_type, true);
  if (wanted.bias) gradients.bias = cast(sum(g, over), weight_type, true);
  return gradients;
}

Tensor batch_norm(const Tensor& x, const Tensor& mean, const Tensor& variance,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias, double epsilon) {
  needs_channels(x, "batch_norm");
  const CompositeScope scope(x.builder(), "batch_norm");
  const Tensor rstd = reciprocal_deviation(along_channels(variance, x), epsilon);
  const Tensor normal = (widened(x) - along_channels(mean, x)) * rstd;
  const Tensor value = scaled_and_shifted(normal, along_channels(weight, x), along_channels(bias, x));
  return cast(value, x.dtype(), true);
}

BatchNormalized batch_norm_training(const Tensor& x, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias, double epsilon) {
  needs_channels(x, "batch_norm");
  const CompositeScope scope(x.builder(), "batch_norm");
  const Axes over = all_but_channels(x);
  const Tensor wide = widened(x);
  const auto [variance, average] = var_mean(wide, over, 0, true);
  const Tensor rstd = reciprocal_deviation(variance, epsilon);
  const Tensor value =
      scaled_and_shifted((wide - average) * rstd, along_channels(weight, x), along_channels(bias, x));
  return {cast(value, x.dtype(), true), squeeze(average, over), squeeze(rstd, over), squeeze(variance, over)};
}

NormGradients batch_norm_backward(const Tensor& gradient, const Tensor& x, const BatchStatistics& statistics,
                                  const std::optional<Tensor>& weight, Wanted wanted) {
  needs_channels(x, "batch_norm_backward");
  const CompositeScope scope(x.builder(), "batch_norm_backward");
  const Axes over = all_but_channels(x);
  const Tensor g = widened(gradient);
  const Tensor rstd = along_channels(statistics.rstd, x);
  const Tensor normal = (widened(x) - along_channels(statistics.mean, x)) * rstd;
  const ops::DType weight_type = weight ? weight->dtype() : statistics.rstd.dtype();
  NormGradients gradients;
  if (wanted.x) {
    const Tensor gw = weight ? g * along_channels(*weight, x) : g;
    const Tensor whole = statistics.of_x ? normalised_backward(gw, normal, rstd, over) : gw * rstd;
    gradients.x = cast(whole, x.dtype(), true);
  }
  if (wanted.weight) gradients.weight = cast(sum(g * normal, over), weight_type, true);
  if (wanted.bias) gradients.bias = cast(sum(g, over), weight_type, true);
  return gradients;
}

}  // namespace twinloom::graph
