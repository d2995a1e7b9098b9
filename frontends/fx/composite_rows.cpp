// Softmax, normalisation and their backward.
#include "core/graph/composites.h"

#include <array>

#include "core/graph/attention.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using graph::Tensor;
using ops::DType;

// half_to_float: a 16-bit input gives an f32 result.
Tensor softmax_input(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return arguments.boolean(2, "half_to_float", false) ? graph::cast(x, DType::f32, true) : x;
}
using Softmax = Tensor (*)(const Tensor&, int);
template <Softmax formula>
Item softmax(const Arguments& arguments) {
  return {formula(softmax_input(arguments), arguments.integer(1, "dim"))};
}
template <Softmax formula>
Item softmax_as(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  return {
      formula(graph::cast(x, arguments.dtype(2, "dtype").value_or(x.dtype())), arguments.integer(1, "dim"))};
}
Tensor to_input_type(const Arguments& arguments, const Tensor& x) {
  return graph::cast(x, arguments.dtype(3, "input_dtype").value_or(x.dtype()), true);
}
Item softmax_backward(const Arguments& arguments) {
  return {to_input_type(
      arguments, graph::softmax_backward(arguments.tensor(0, "grad_output"), arguments.tensor(1, "output"),
                                         arguments.integer(2, "dim")))};
}
Item log_softmax_backward(const Arguments& arguments) {
  return {to_input_type(
      arguments, graph::log_softmax_backward(arguments.tensor(0, "grad_output"),
                                             arguments.tensor(1, "output"), arguments.integer(2, "dim")))};
}

// Of 16-bit inputs PyTorch's CPU gives statistics in their type, CUDA in f32.
Item statistic(const Tensor& tensor) {
  Item item{tensor};
  item.typed_by_text = true;
  return item;
}
Item three(const graph::Normalized& result) {
  return {Items{{result.value}, statistic(result.mean), statistic(result.rstd)}};
}
// How many of the last axes 'normalized_shape' speaks of; they must have its sizes.
int normalised_axes(const Arguments& arguments, const Tensor& x) {
  const std::vector<index::Expr> sizes = arguments.sizes(1, "normalized_shape");
  const int count = static_cast<int>(sizes.size());
  for (int axis = 1; axis <= std::min(count, x.rank()); ++axis) {
    const index::Expr& wanted = sizes[static_cast<std::size_t>(count - axis)];
    x.builder().graph().require_equal(
        x.size(-axis), wanted,
        cat("axis ", -axis, " has size ", x.size(-axis), ", 'normalized_shape' says ", wanted));
  }
  return count;
}
graph::Normalized layer_normalised(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input");
  return graph::layer_norm(x, normalised_axes(arguments, x), arguments.maybe_tensor(2, "weight"),
                           arguments.maybe_tensor(3, "bias"), arguments.real(4, "eps", 1e-5));
}
Item native_layer_norm(const Arguments& arguments) { return three(layer_normalised(arguments)); }
Item layer_norm(const Arguments& arguments) { return {layer_normalised(arguments).value}; }
Item rms_norm(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input");
  const double epsilon = x.dtype() == DType::f64 ? 0x1p-52 : 0x1p-23;  // of the compute type
  return {graph::rms_norm(x, normalised_axes(arguments, x), arguments.maybe_tensor(2, "weight"),
                          arguments.real(3, "eps", epsilon))};
}
Item group_norm(const Arguments& arguments) {
  return three(graph::group_norm(arguments.tensor(0, "input"), arguments.maybe_tensor(1, "weight"),
                                 arguments.maybe_tensor(2, "bias"), arguments.size(6, "group"),
                                 arguments.real(7, "eps")));
}

graph::Wanted wanted_of(const Arguments& arguments, std::size_t position) {
  const std::vector<bool> mask = arguments.booleans(position, "output_mask");
  if (mask.size() != 3) arguments.fail(cat("'output_mask' must hold 3, it holds ", mask.size()));
  return {mask[0], mask[1], mask[2]};
}
Item three(const graph::NormGradients& gradients) {
  Items items;
  for (const auto& gradient : {gradients.x, gradients.weight, gradients.bias}) {
    items.push_back(gradient ? Item{*gradient} : Item{});
  }
  return {std::move(items)};
}
Item layer_norm_backward(const Arguments& arguments) {
  const int axes = static_cast<int>(arguments.sizes(2, "normalized_shape").size());
  return three(graph::layer_norm_backward(arguments.tensor(0, "grad_out"), arguments.tensor(1, "input"), axes,
                                          arguments.tensor(3, "mean"), arguments.tensor(4, "rstd"),
                                          arguments.maybe_tensor(5, "weight"), wanted_of(arguments, 7)));
}
Item group_norm_backward(const Arguments& arguments) {
  return three(graph::group_norm_backward(arguments.tensor(0, "grad_out"), arguments.tensor(1, "input"),
                                          arguments.tensor(2, "mean"), arguments.tensor(3, "rstd"),
                                          arguments.maybe_tensor(4, "weight"), arguments.size(8, "group"),
                                          wanted_of(arguments, 9)));
}

// The arguments of the batch norms of ATen, which agree up to where their numbers are.
struct BatchNorm {
  Tensor x;
  std::optional<Tensor> weight, bias, running_mean, running_var;
  double momentum = 0, epsilon = 0;
};
BatchNorm batch_norm_of(const Arguments& arguments, std::size_t momentum) {
  return {arguments.tensor(0, "input"),
          arguments.maybe_tensor(1, "weight"),
          arguments.maybe_tensor(2, "bias"),
          arguments.maybe_tensor(3, "running_mean"),
          arguments.maybe_tensor(4, "running_var"),
          arguments.real(momentum, "momentum"),
          arguments.real(momentum + 1, "eps")};
}

// Part of a result that PyTorch leaves empty.
Item nothing_of(const Arguments& arguments, DType dtype) {
  return statistic(arguments.builder().constant(0, dtype, {0}));
}

Items by_running_statistics(const Arguments& arguments, const BatchNorm& norm) {
  if (!norm.running_mean || !norm.running_var)
    arguments.fail("needs 'running_mean' and 'running_var' where it does not train");
  const Tensor value =
      graph::batch_norm(norm.x, *norm.running_mean, *norm.running_var, norm.weight, norm.bias, norm.epsilon);
  const Item nothing = nothing_of(arguments, DType::f32);
  return {{value}, nothing, nothing};
}
Items by_own_statistics(const BatchNorm& norm) {
  const auto result = graph::batch_norm_training(norm.x, norm.weight, norm.bias, norm.epsilon);
  return {{result.value}, statistic(result.mean), statistic(result.rstd)};
}

// running + momentum * (found - running), in the compute type.
Item moved_average(const Tensor& running, const Tensor& found, double momentum) {
  const Tensor beside = graph::reshape(found, running.shape());
  const Tensor moved = graph::widened(running) * (1 - momentum) +
                       graph::cast(beside, ops::compute_type(running.dtype()), true) * momentum;
  return {graph::cast(moved, running.dtype(), true)};
}
// The running statistics after a run: of the variance, with N - 1 in the divisor.
void add_moved_statistics(const BatchNorm& norm, Items& results) {
  const auto result = graph::batch_norm_training(norm.x, norm.weight, norm.bias, norm.epsilon);
  const index::Expr channels = norm.x.size(1);
  graph::Axes over{0};
  for (int axis = 2; axis < norm.x.rank(); ++axis) over.push_back(axis);
  if (norm.running_mean) results.push_back(moved_average(*norm.running_mean, result.mean, norm.momentum));
  if (norm.running_var)
    results.push_back(
        moved_average(*norm.running_var, graph::var(graph::widened(norm.x), over, 1), norm.momentum));
}

Item batch_norm_inference(const Arguments& arguments) {
  return {by_running_statistics(arguments, batch_norm_of(arguments, 5))};
}
// Running statistics that an operator would change in place stay as they are: the functional forms give them.
Item batch_norm(const Arguments& arguments) {
  const BatchNorm norm = batch_norm_of(arguments, 6);
  const bool training = arguments.boolean(5, "training", false);
  return {training ? by_own_statistics(norm) : by_running_statistics(arguments, norm)};
}
Item batch_norm_functional(const Arguments& arguments) {
  const BatchNorm norm = batch_norm_of(arguments, 6);
  if (!arguments.boolean(5, "training", false)) {
    Items results = by_running_statistics(arguments, norm);
    results.push_back({*norm.running_mean});
    results.push_back({*norm.running_var});
    return {std::move(results)};
  }
  Items results = by_own_statistics(norm);
  add_moved_statistics(norm, results);
  return {std::move(results)};
}
Item batch_norm_without_running(const Arguments& arguments) {
  return {by_own_statistics({arguments.tensor(0, "input"), arguments.maybe_tensor(1, "weight"),
                             arguments.maybe_tensor(2, "bias"), std::nullopt, std::nullopt,
                             arguments.real(4, "momentum"), arguments.real(5, "eps")})};
}
// What a backend keeps for its own backward pass: nothing.
Item reserve(const Arguments& arguments) { return nothing_of(arguments, DType::u8); }
Item batch_norm_with_update(const Arguments& arguments) {
  const BatchNorm norm = batch_norm_of(arguments, 5);
  Items results = by_own_statistics(norm);
  results.push_back(reserve(arguments));
  return {std::move(results)};
}
Item batch_norm_with_update_functional(const Arguments& arguments) {
  const BatchNorm norm = batch_norm_of(arguments, 5);
  Items results = by_own_statistics(norm);
  results.push_back(reserve(arguments));
  add_moved_statistics(norm, results);
  return {std::move(results)};
}
Item batch_norm_no_update(const Arguments& arguments) {
  Items results = by_running_statistics(arguments, batch_norm_of(arguments, 5));
  results.push_back(reserve(arguments));
  return {std::move(results)};
}
Item batch_norm_backward(const Arguments& arguments) {
  const bool train = arguments.boolean(7, "train", true);
  graph::BatchStatistics statistics;
  statistics.of_x = train;
  if (train) {
    statistics.mean = arguments.tensor(5, "save_mean");
    statistics.rstd = arguments.tensor(6, "save_invstd");
  } else {
    statistics.mean = arguments.tensor(3, "running_mean");
    statistics.rstd =
        graph::rsqrt(graph::widened(arguments.tensor(4, "running_var")) + arguments.real(8, "eps"));
  }
  return three(graph::batch_norm_backward(arguments.tensor(0, "grad_out"), arguments.tensor(1, "input"),
                                          statistics, arguments.maybe_tensor(2, "weight"),
                                          wanted_of(arguments, 9)));
}

Item softplus(const Arguments& arguments) {
  return {graph::softplus(arguments.tensor(0, "self"), arguments.real(1, "beta", 1),
                          arguments.real(2, "threshold", 20))};
}
Item softplus_backward(const Arguments& arguments) {
  constexpr std::array<std::string_view, 2> names{"grad_output", "self"};
  const auto tensors = promoted_tensors(arguments, names);
  return {graph::softplus_backward(tensors[0], tensors[1], arguments.real(2, "beta"),
                                   arguments.real(3, "threshold"))};
}
// The bounds are numbers of the type of self.
Item logit(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "self");
  const DType type = floating(x.dtype());
  const Tensor real = graph::cast(x, type, true);
  if (arguments.find(1, "eps") == nullptr) return {graph::logit(real)};
  const double low = ops::cast(arguments.real(1, "eps"), type).real();
  const double high = ops::cast(1 - low, type).real();
  return {graph::logit(graph::clamp(real, ops::Number(low), ops::Number(high)))};
}

constexpr std::array rows = {
    Row{"_softmax", softmax<graph::softmax>},
    Row{"softmax.int", softmax_as<graph::softmax>},
    Row{"_safe_softmax", softmax_as<graph::safe_softmax>},
    Row{"_log_softmax", softmax<graph::log_softmax>},
    Row{"log_softmax.int", softmax_as<graph::log_softmax>},
    Row{"_softmax_backward_data", softmax_backward},
    Row{"_log_softmax_backward_data", log_softmax_backward},
    Row{"layer_norm", layer_norm},
    Row{"native_layer_norm", native_layer_norm},
    Row{"native_layer_norm_backward", layer_norm_backward},
    Row{"rms_norm", rms_norm},
    Row{"native_group_norm", group_norm},
    Row{"native_group_norm_backward", group_norm_backward},
    Row{"_native_batch_norm_legit_no_training", batch_norm_inference},
    Row{"_native_batch_norm_legit", batch_norm},
    Row{"_native_batch_norm_legit.no_stats", batch_norm_without_running},
    Row{"_native_batch_norm_legit_functional", batch_norm_functional},
    Row{"native_batch_norm", batch_norm},
    Row{"_batch_norm_with_update", batch_norm_with_update},
    Row{"_batch_norm_with_update_functional", batch_norm_with_update_functional},
    Row{"_batch_norm_no_update", batch_norm_no_update},
    Row{"native_batch_norm_backward", batch_norm_backward},
    Row{"batch_norm_backward", batch_norm_backward},
    Row{"softplus", softplus},
    Row{"softplus_backward", softplus_backward},
    Row{"logit", logit},
};

}  // namespace

std::span<const Row> composite_rows() { return rows; }

}  // namespace twinloom::fx
