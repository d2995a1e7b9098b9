// See speed_cases.h. Sizes are constants shared with plain_loops.cpp through plain_loops.h.
#include "perf/speed_cases.h"

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "perf/plain_loops.h"

namespace twinloom::perf {

namespace {

using graph::Builder;
using graph::Gelu;
using graph::Shape;
using graph::Tensor;
using ops::DType;

Tensor input(Builder& builder, const char* name, Shape shape, DType dtype = DType::f32) {
  return builder.input(name, dtype, std::move(shape));
}

void sine_of_cosine(Builder& builder) { builder.output(sin(cos(input(builder, "x", {LONG})))); }
void exp_of_sum(Builder& builder) {
  const Tensor x = input(builder, "x", {LONG});
  builder.output(exp(x + input(builder, "y", {LONG})));
}

template <Gelu kind, DType dtype>
void bias_gelu(Builder& builder) {
  const Tensor x = input(builder, "x", {GELU_ROWS, GELU_COLUMNS}, dtype);
  builder.output(gelu(x + input(builder, "bias", {GELU_COLUMNS}, dtype), kind));
}

void layer_norm_of_rows(Builder& builder) {
  const Tensor x = input(builder, "x", {NORM_ROWS, NORM_COLUMNS});
  const Tensor weight = input(builder, "weight", {NORM_COLUMNS});
  builder.output(layer_norm(x, 1, weight, input(builder, "bias", {NORM_COLUMNS}), NORM_EPSILON).value);
}
void rms_norm_with_residual(Builder& builder) {
  const Tensor x = input(builder, "x", {NORM_ROWS, NORM_COLUMNS});
  const Tensor both = x + input(builder, "residual", {NORM_ROWS, NORM_COLUMNS});
  builder.output(both);
  builder.output(rms_norm(both, 1, input(builder, "weight", {NORM_COLUMNS}), NORM_EPSILON));
}
void softmax_of_rows(Builder& builder) {
  builder.output(softmax(input(builder, "x", {SOFTMAX_ROWS, SOFTMAX_COLUMNS}), 1));
}
void column_sum(Builder& builder) { builder.output(sum(input(builder, "x", {SUM_ROWS, SUM_COLUMNS}), {0})); }
void full_sum(Builder& builder) { builder.output(sum(input(builder, "x", {SUM_ROWS * SUM_COLUMNS}), {0})); }
void transposed_sum(Builder& builder) {
  const Tensor a = input(builder, "a", {SQUARE, SQUARE});
  builder.output(a + transpose(input(builder, "b", {SQUARE, SQUARE}), 0, 1));
}
void running_sum(Builder& builder) { builder.output(cumsum(input(builder, "x", {SQUARE, SQUARE}), 1)); }
void scale_bias_relu(Builder& builder) {
  const Tensor x = input(builder, "x", {PIXELS, CHANNELS}), scale = input(builder, "scale", {CHANNELS});
  builder.output(relu(x * scale + input(builder, "bias", {CHANNELS})));
}
void cross_entropy(Builder& builder) {
  const Tensor target = input(builder, "target", {LOSS_ROWS, 1}, DType::i64);
  const Tensor scores = log_softmax(input(builder, "x", {LOSS_ROWS, LOSS_COLUMNS}), 1);
  builder.output(mean(-squeeze(take_along(scores, 1, target), {1})));
}

}  // namespace

const std::vector<SpeedCase>& speed_cases() {
  static const std::vector<SpeedCase> cases = {
      {"sin_cos", sine_of_cosine, plain_sine_of_cosine},
      {"exp_add", exp_of_sum, plain_exp_of_sum},
      {"bias_gelu_tanh_f32", bias_gelu<Gelu::tanh, DType::f32>, plain_gelu_tanh_f32},
      {"bias_gelu_erf_f32", bias_gelu<Gelu::erf, DType::f32>, plain_gelu_erf_f32},
      {"bias_gelu_tanh_bf16", bias_gelu<Gelu::tanh, DType::bf16>, plain_gelu_tanh_bf16},
      {"bias_gelu_erf_bf16", bias_gelu<Gelu::erf, DType::bf16>, plain_gelu_erf_bf16},
      {"layer_norm", layer_norm_of_rows, plain_layer_norm},
      {"rms_norm_residual", rms_norm_with_residual, plain_rms_norm},
      {"softmax", softmax_of_rows, plain_softmax},
      {"column_sum", column_sum, plain_column_sum},
      {"full_sum", full_sum, plain_full_sum},
      {"add_transposed", transposed_sum, plain_transposed_sum},
      {"cumsum", running_sum, plain_running_sum},
      {"nhwc_scale_bias_relu", scale_bias_relu, plain_scale_bias_relu},
      {"cross_entropy", cross_entropy, plain_cross_entropy, LOSS_COLUMNS},
  };
  return cases;
}

}  // namespace twinloom::perf
