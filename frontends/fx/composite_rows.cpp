// Softmax, normalisation and their backward.
#include "core/graph/composites.h"

#include <array>

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
Item softmax(const Arguments& arguments) {
  return {graph::softmax(softmax_input(arguments), arguments.integer(1, "dim"))};
}
Item log_softmax(const Arguments& arguments) {
  return {graph::log_softmax(softmax_input(arguments), arguments.integer(1, "dim"))};
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

Item three(const graph::Normalized& result) { return {Items{{result.value}, {result.mean}, {result.rstd}}}; }
Item layer_norm(const Arguments& arguments) {
  const int axes = static_cast<int>(arguments.sizes(1, "normalized_shape").size());
  return three(graph::layer_norm(arguments.tensor(0, "input"), axes, arguments.maybe_tensor(2, "weight"),
                                 arguments.maybe_tensor(3, "bias"), arguments.real(4, "eps", 1e-5)));
}
Item rms_norm(const Arguments& arguments) {
  const int axes = static_cast<int>(arguments.sizes(1, "normalized_shape").size());
  return {graph::rms_norm(arguments.tensor(0, "input"), axes, arguments.maybe_tensor(2, "weight"),
                          arguments.real(3, "eps", 1.1920928955078125e-07))};
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
Item batch_norm_inference(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input");
  const Tensor value = graph::batch_norm(
      x, arguments.tensor(3, "running_mean"), arguments.tensor(4, "running_var"),
      arguments.maybe_tensor(1, "weight"), arguments.maybe_tensor(2, "bias"), arguments.real(6, "eps"));
  const Tensor nothing = arguments.builder().constant(0, DType::f32, {0});
  return {Items{{value}, {nothing}, {nothing}}};
}

constexpr std::array rows = {
    Row{"_softmax", softmax},
    Row{"softmax.int", softmax},
    Row{"_log_softmax", log_softmax},
    Row{"log_softmax.int", log_softmax},
    Row{"_softmax_backward_data", softmax_backward},
    Row{"_log_softmax_backward_data", log_softmax_backward},
    Row{"native_layer_norm", layer_norm},
    Row{"native_layer_norm_backward", layer_norm_backward},
    Row{"rms_norm", rms_norm},
    Row{"native_group_norm", group_norm},
    Row{"native_group_norm_backward", group_norm_backward},
    Row{"_native_batch_norm_legit_no_training", batch_norm_inference},
};

}  // namespace

std::span<const Row> composite_rows() { return rows; }

}  // namespace twinloom::fx
