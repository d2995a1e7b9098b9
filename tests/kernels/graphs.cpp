// See graphs.h. The table at the end lists them.
#include "tests/kernels/graphs.h"

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::tests {

namespace {

using graph::Builder;
using graph::Tensor;
using ops::DType;

Tensor f32(Builder& builder, const char* name, graph::Shape shape) {
  return builder.input(name, DType::f32, std::move(shape));
}

void sine_of_cosine(Builder& builder) { builder.output(sin(cos(f32(builder, "x", {96, 1003})))); }
void adam_step(Builder& builder) {
  const Tensor p = f32(builder, "p", {777}), g = f32(builder, "g", {777});
  const Tensor m = f32(builder, "m", {777}) * 0.9 + g * 0.1;
  const Tensor v = f32(builder, "v", {777}) * 0.999 + g * g * 0.001;
  builder.output(p * 0.9999 - m / (sqrt(v) + 1e-8) * 0.001);
  builder.output(m);
  builder.output(v);
}
void padded_and_flipped(Builder& builder) {
  const Tensor x = f32(builder, "x", {64, 100});
  builder.output(graph::concat({pad(x, {{0, 0}, {3, 5}}, 0.0), flip(f32(builder, "y", {64, 40}), {1})}, 1));
}
void transposed_sum(Builder& builder) {
  builder.output(transpose(f32(builder, "x", {129, 70}), 0, 1) + f32(builder, "y", {70, 129}));
}
void special_functions(Builder& builder) {
  const Tensor x = f32(builder, "x", {40, 33});
  builder.output(erf(x) + tanh(x) * sigmoid(x));
  builder.output(log1p(abs(x)) - expm1(x));
}
void gelu_of_bf16(Builder& builder) { builder.output(gelu(builder.input("x", DType::bf16, {31, 257}))); }

void softmax_of_rows(Builder& builder) { builder.output(softmax(f32(builder, "x", {96, 1003}), 1)); }
void softmax_of_columns(Builder& builder) { builder.output(softmax(f32(builder, "x", {50, 333}), 0)); }
void cross_entropy(Builder& builder) {
  const Tensor target = builder.input("target", DType::i64, {64, 1});
  const Tensor picked = take_along(log_softmax(f32(builder, "x", {64, 5003}), 1), 1, target);
  builder.output(mean(-squeeze(picked, {1})));
}
void gradients_of_normalized_rows(Builder& builder) {
  const Tensor gradient = f32(builder, "gradient", {515, 768}), x = f32(builder, "x", {515, 768});
  const Tensor mean = f32(builder, "mean", {515, 1}), rstd = f32(builder, "rstd", {515, 1});
  const auto all = layer_norm_backward(gradient, x, 1, mean, rstd, f32(builder, "weight", {768}));
  builder.output(*all.x);
  builder.output(*all.weight);
  builder.output(*all.bias);
}
void quantized_rows(Builder& builder) {
  const Tensor x = f32(builder, "x", {33, 128});
  const Tensor scale = clamp(amax(abs(x), {1}, true), 1e-6, {}) / 127.0;
  builder.output(cast(clamp(round(x / scale), -128.0, 127.0), DType::i8));
  builder.output(scale);
}
void variances(Builder& builder) { builder.output(var(f32(builder, "x", {33, 700}), {1})); }
void running_sums(Builder& builder) { builder.output(cumsum(f32(builder, "x", {7, 1500}), 1)); }
void running_maxima(Builder& builder) {
  const graph::Extreme found = cummax(f32(builder, "x", {7, 100}), 1);
  builder.output(found.value);
  builder.output(found.place);
}
void running_sum_of_one_row(Builder& builder) { builder.output(cumsum(f32(builder, "x", {70001}) * 2.0, 0)); }
void running_sums_of_short_rows(Builder& builder) {
  builder.output(cumsum(builder.input("x", DType::bf16, {300, 72}), 1));
}
void running_products_of_columns(Builder& builder) {
  builder.output(graph::cumprod(f32(builder, "x", {2100, 40}), 0) + 1.0);
}
void column_sums(Builder& builder) { builder.output(sum(f32(builder, "x", {3000, 70}), {0})); }
void places_of_maxima(Builder& builder) { builder.output(argmax(f32(builder, "x", {33, 700}), 1)); }
void gathered_rows(Builder& builder) {
  builder.output(embedding(f32(builder, "table", {50, 96}), builder.input("index", DType::i64, {70})) * 2.0);
}

Tensor zeros(Builder& builder, graph::Shape shape) {
  return builder.constant(0.0, DType::f32, std::move(shape));
}
void one_hot_by_scatter(Builder& builder) {
  const Tensor at = builder.input("at", DType::i64, {64, 1});
  builder.output(scatter(zeros(builder, {64, 1003}), 1, at, 1.0));
}
void one_hot_by_index_put(Builder& builder) {
  const Tensor at = builder.input("at", DType::i64, {64}), one = builder.constant(1.0, DType::f32);
  builder.output(index_put(zeros(builder, {64, 1003}), {builder.iota({64}, 0), at}, one));
}
void scattered_along_columns(Builder& builder) {
  const Tensor at = builder.input("at", DType::i64, {1, 1003}), source = f32(builder, "source", {1, 1003});
  builder.output(scatter(zeros(builder, {64, 1003}), 0, at, source));
}
void two_of_a_row(Builder& builder) {
  const Tensor at = builder.input("at", DType::i64, {48, 2}), source = f32(builder, "source", {48, 2});
  builder.output(scatter(zeros(builder, {64, 1003}), 1, at, source, graph::Mode::add));
}

}  // namespace

const std::vector<OwnGraph>& own_graphs() {
  static const std::vector<OwnGraph> graphs = {
      {"sine_of_cosine", Sort::pointwise, 1, sine_of_cosine},
      {"adam_step", Sort::pointwise, 1, adam_step},
      {"padded_and_flipped", Sort::pointwise, 1, padded_and_flipped},
      {"transposed_sum", Sort::pointwise, 1, transposed_sum},
      {"special_functions", Sort::pointwise, 1, special_functions},
      {"gelu_of_bf16", Sort::pointwise, 1, gelu_of_bf16},
      {"softmax_of_rows", Sort::rows, 1, softmax_of_rows},
      {"softmax_of_columns", Sort::rows, 1, softmax_of_columns},
      {"cross_entropy", Sort::rows, 2, cross_entropy},
      {"gradients_of_normalized_rows", Sort::rows_and_columns, 2, gradients_of_normalized_rows},
      {"quantized_rows", Sort::rows, 2, quantized_rows},
      {"variances", Sort::rows, 1, variances},
      {"running_sums", Sort::rows, 1, running_sums},
      {"running_maxima", Sort::rows, 2, running_maxima},
      {"running_sum_of_one_row", Sort::rows, 1, running_sum_of_one_row},
      {"running_sums_of_short_rows", Sort::rows, 1, running_sums_of_short_rows},
      {"running_products_of_columns", Sort::rows, 2, running_products_of_columns},
      {"column_sums", Sort::rows, 1, column_sums},
      {"places_of_maxima", Sort::rows, 1, places_of_maxima},
      {"gathered_rows", Sort::other, 1, gathered_rows},
      {"one_hot_by_scatter", Sort::pointwise, 1, one_hot_by_scatter},
      {"one_hot_by_index_put", Sort::pointwise, 1, one_hot_by_index_put},
      {"scattered_along_columns", Sort::rows, 1, scattered_along_columns},
      {"two_of_a_row", Sort::pointwise, 1, two_of_a_row},
  };
  return graphs;
}

}  // namespace twinloom::tests
