// Normalisations.
#include <array>
#include <numeric>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

// [channels] beside [batch, channels, ...]
Tensor along_channels(const Tensor& channels, int rank) {
  Shape shape(static_cast<std::size_t>(rank) - 1, 1);
  shape[0] = channels.size(0);
  return graph::reshape(channels, shape);
}

Tensor moving(const Tensor& running, const Tensor& of_batch, double momentum) {
  const Tensor before = widened(running);
  return graph::cast(before * momentum + graph::cast(of_batch, before.dtype()) * (1 - momentum),
                     running.dtype(), true);
}

Values batch_normalization(const Call& call) {
  const Tensor x = call.tensor(0), scale = call.tensor(1), bias = call.tensor(2), mean = call.tensor(3),
               variance = call.tensor(4);
  const double epsilon = call.real("epsilon", 1e-5);
  call.ignore({"momentum"});
  if (call.version() < 9 && !call.truth("spatial", true)) call.unsupported("attribute 'spatial' of 0");
  const bool training = call.version() >= 14 ? call.truth("training_mode", false)
                                             : call.version() < 7 && !call.truth("is_test", false);
  if (call.version() < 14 && call.outputs() > 1 && call.wants(1))
    call.unsupported("training before opset 14");
  if (training && call.version() < 14) call.unsupported("training before opset 14");
  if (!training) return {graph::batch_norm(x, mean, variance, scale, bias, epsilon)};
  const auto normalized = graph::batch_norm_training(x, scale, bias, epsilon);
  const double momentum = call.real("momentum", 0.9);
  return {normalized.value, moving(mean, normalized.mean, momentum),
          moving(variance, normalized.variance, momentum)};
}

// (x - mean) / sqrt(variance + epsilon) over the axes, in f32 at least.
struct Standardized {
  Tensor value, mean, rstd;
};
Standardized standardized(const Tensor& x, const Axes& axes, double epsilon) {
  const auto [variance, mean] = graph::var_mean(x, axes, 0, true);
  const Tensor rstd = graph::rsqrt(variance + epsilon);
  return {(x - mean) * rstd, mean, rstd};
}

Axes axes_from(int first, int rank) {
  Axes axes(static_cast<std::size_t>(rank - first));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

Values instance_normalization(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 3) call.fail("needs a tensor of 3 axes or more, given one of ", x.rank());
  const Tensor value = standardized(widened(x), axes_from(2, x.rank()), call.real("epsilon", 1e-5)).value;
  const Tensor scale = along_channels(widened(call.tensor(1)), x.rank()),
               bias = along_channels(widened(call.tensor(2)), x.rank());
  return {graph::cast(value * scale + bias, x.dtype(), true)};
}

Values layer_normalization(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer("axis", -1), x.rank());
  const auto [normal, mean, rstd] =
      standardized(widened(x), axes_from(axis, x.rank()), call.real("epsilon", 1e-5));
  Tensor value = normal * widened(call.tensor(1));
  if (call.has(2)) value = value + widened(call.tensor(2));
  const DType statistics = call.dtype("stash_type", DType::f32);
  return {graph::cast(value, x.dtype(), true), graph::cast(mean, statistics), graph::cast(rstd, statistics)};
}

// In the type that is asked for, or a wider one; the product with the scale is in the type of that.
Values rms_normalization(const Call& call) {
  const Tensor x = call.tensor(0), scale = call.tensor(1);
  const int axis = call.axis(call.integer("axis", -1), x.rank());
  const DType stashed = call.dtype("stash_type", DType::f32);
  const Tensor wide = stashed == DType::f64 ? graph::cast(x, stashed) : widened(x);
  const Tensor normal = graph::rms_norm(wide, x.rank() - axis, std::nullopt, call.real("epsilon", 1e-5));
  return {graph::cast(normal * graph::cast(scale, wide.dtype()), scale.dtype(), true)};
}

Values group_normalization(const Call& call) {
  const Tensor x = call.tensor(0);
  if (call.version() < 21) call.unsupported("scale and bias of groups, before opset 21,");
  call.ignore({"stash_type"});
  if (call.integer("num_groups", 0) < 1) call.fail("attribute 'num_groups' must be at least 1");
  return {graph::group_norm(x, call.tensor(1), call.tensor(2), call.integer("num_groups", 0),
                            call.real("epsilon", 1e-5))
              .value};
}

Values mean_variance_normalization(const Call& call) {
  const Tensor x = call.tensor(0);
  Axes axes;
  for (const std::int64_t axis : call.integers("axes").value_or(Integers{0, 2, 3}))
    axes.push_back(call.axis(axis, x.rank()));
  const auto [variance, mean] = graph::var_mean(widened(x), axes, 0, true);
  return {graph::cast((widened(x) - mean) / (graph::sqrt(variance) + 1e-9), x.dtype(), true)};
}

// x / (bias + alpha/size * sum of squares of `size` channels around it)^beta
Values lrn(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t size = call.integer("size", 0);
  if (size < 1 || x.rank() < 2) call.fail("needs attribute 'size' above 0 and a tensor of 2 axes or more");
  const Tensor wide = widened(x);
  std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()), graph::Padding{0, 0});
  padding[1] = {(size - 1) / 2, size / 2};
  const Tensor windows = graph::unfold(graph::pad(wide * wide, padding, 0.0), 1, size, 1);
  const Tensor squares = graph::sum(windows, {-1});
  const double alpha = call.real("alpha", 1e-4), beta = call.real("beta", 0.75), bias = call.real("bias", 1);
  const Tensor base = squares * (alpha / static_cast<double>(size)) + bias;
  return {graph::cast(wide / graph::pow(base, beta), x.dtype(), true)};
}

Values lp_normalization(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t p = call.integer("p", 2);
  if (p != 1 && p != 2) call.fail("attribute 'p' must be 1 or 2, it is ", p);
  const Tensor norm = graph::vector_norm(widened(x), static_cast<double>(p),
                                         {call.axis(call.integer("axis", -1), x.rank())}, true);
  return {graph::cast(graph::where(graph::eq(norm, 0), graph::full_like(widened(x), 0), widened(x) / norm),
                      x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"BatchNormalization", batch_normalization},
    Row{"GroupNormalization", group_normalization},
    Row{"InstanceNormalization", instance_normalization},
    Row{"LRN", lrn},
    Row{"LayerNormalization", layer_normalization},
    Row{"LpNormalization", lp_normalization},
    Row{"MeanVarianceNormalization", mean_variance_normalization},
    Row{"RMSNormalization", rms_normalization},
};

}  // namespace

std::span<const Row> norm_rows() { return rows; }

}  // namespace twinloom::onnx
