// See cases.h. The table at the end lists them.
#include "perf/cases.h"

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::perf {

namespace {

using graph::Builder;
using graph::Shape;
using graph::Tensor;
using index::Symbol;
using ops::DType;

Tensor f32(Builder& builder, const char* name, Shape shape) {
  return builder.input(name, DType::f32, std::move(shape));
}
Tensor bf16(Builder& builder, const char* name, Shape shape) {
  return builder.input(name, DType::bf16, std::move(shape));
}
Tensor i64(Builder& builder, const char* name, Shape shape) {
  return builder.input(name, DType::i64, std::move(shape));
}

void sine_of_cosine(Builder& builder) { builder.output(sin(cos(f32(builder, "x", {1000, 1003})))); }
void scaled_relu(Builder& builder) {
  const Tensor x = f32(builder, "x", {8, 56, 56, 96});
  builder.output(relu(x * f32(builder, "scale", {96}) + f32(builder, "bias", {96})));
}
void gelu_of_bf16(Builder& builder) { builder.output(gelu(bf16(builder, "x", {2048, 1024}))); }
void adam_step(Builder& builder) {
  const Tensor p = f32(builder, "p", {1 << 20}), g = f32(builder, "g", {1 << 20});
  const Tensor m = f32(builder, "m", {1 << 20}) * 0.9 + g * 0.1;
  const Tensor v = f32(builder, "v", {1 << 20}) * 0.999 + g * g * 0.001;
  builder.output(p * 0.9999 - m / (sqrt(v) + 1e-8) * 0.001);
  builder.output(m);
  builder.output(v);
}
void quantized(Builder& builder) {
  const Tensor x = f32(builder, "x", {512, 777});
  builder.output(cast(clamp(round(x * 12.5) + 3.0, -128.0, 127.0), DType::i8));
}
void integer_quotients(Builder& builder) {
  const Tensor a = i64(builder, "a", {300, 257}), b = i64(builder, "b", {257});
  builder.output(div_floor(a, b) + remainder(a, b));
}
void transposed_sum(Builder& builder) {
  builder.output(transpose(f32(builder, "x", {1024, 768}), 0, 1) + f32(builder, "y", {768, 1024}));
}
void padded_and_flipped(Builder& builder) {
  const Tensor x = f32(builder, "x", {64, 100});
  builder.output(graph::concat({pad(x, {{0, 0}, {3, 5}}, 0.0), flip(f32(builder, "y", {64, 40}), {1})}, 1));
}
void gathered_rows(Builder& builder) {
  builder.output(embedding(f32(builder, "table", {5000, 96}), i64(builder, "index", {700})) * 2.0);
}
void symbolic_broadcast(Builder& builder) {
  const Symbol n("n"), m("m");
  builder.output(tanh(f32(builder, "x", {n, m}) + f32(builder, "y", {m})));
}
void row_sum(Builder& builder) { builder.output(sum(f32(builder, "x", {4096, 1003}), {1})); }
void column_sum(Builder& builder) { builder.output(sum(f32(builder, "x", {4096, 1003}), {0})); }
void whole_mean(Builder& builder) { builder.output(mean(bf16(builder, "x", {512, 999}))); }
void row_extremes(Builder& builder) { builder.output(argmax(f32(builder, "x", {512, 1000}), 1)); }
void softmax_of_rows(Builder& builder) { builder.output(softmax(f32(builder, "x", {8192, 2049}), 1)); }
void softmax_of_columns(Builder& builder) { builder.output(softmax(f32(builder, "x", {50, 1000}), 0)); }
void symbolic_softmax(Builder& builder) {
  builder.output(softmax(f32(builder, "x", {Symbol("n"), Symbol("m")}), 1));
}
void cross_entropy(Builder& builder) {
  const Tensor picked =
      take_along(log_softmax(f32(builder, "x", {512, 32768}), 1), 1, i64(builder, "target", {512, 1}));
  builder.output(-squeeze(picked, {1}));
}
void normalized_layer(Builder& builder) {
  const Tensor x = f32(builder, "x", {512, 1000});
  builder.output(layer_norm(x, 1, f32(builder, "weight", {1000}), f32(builder, "bias", {1000}), 1e-5).value);
}
void normalized_layer_backward(Builder& builder) {
  const Tensor gradient = f32(builder, "gradient", {512, 768}), x = f32(builder, "x", {512, 768});
  const Tensor mean = f32(builder, "mean", {512, 1}), rstd = f32(builder, "rstd", {512, 1});
  builder.output(
      *layer_norm_backward(gradient, x, 1, mean, rstd, f32(builder, "weight", {768}), {true, false, false})
           .x);
}
void normalized_rms_of_bf16(Builder& builder) {
  builder.output(rms_norm(bf16(builder, "x", {256, 4096}), 1, bf16(builder, "weight", {4096}), 1e-6));
}
void variance(Builder& builder) { builder.output(var(f32(builder, "x", {512, 1000}), {1})); }
void running_sum(Builder& builder) { builder.output(cumsum(f32(builder, "x", {200, 3000}), 1)); }
void counted_places(Builder& builder) {
  const Tensor zeros = builder.constant(ops::Number(0), DType::i64, {1000});
  const Tensor ones = builder.constant(ops::Number(1), DType::i64, {5000});
  builder.output(scatter(zeros, 0, i64(builder, "index", {5000}), ones, graph::Mode::add));
}

}  // namespace

std::vector<Case> kernel_cases() {
  constexpr std::pair<const char*, void (*)(Builder&)> table[] = {
      {"sine_of_cosine", sine_of_cosine},
      {"scaled_relu", scaled_relu},
      {"gelu_of_bf16", gelu_of_bf16},
      {"adam_step", adam_step},
      {"quantized", quantized},
      {"integer_quotients", integer_quotients},
      {"transposed_sum", transposed_sum},
      {"padded_and_flipped", padded_and_flipped},
      {"gathered_rows", gathered_rows},
      {"symbolic_broadcast", symbolic_broadcast},
      {"row_sum", row_sum},
      {"column_sum", column_sum},
      {"whole_mean", whole_mean},
      {"row_extremes", row_extremes},
      {"softmax_of_rows", softmax_of_rows},
      {"softmax_of_columns", softmax_of_columns},
      {"symbolic_softmax", symbolic_softmax},
      {"cross_entropy", cross_entropy},
      {"normalized_layer", normalized_layer},
      {"normalized_layer_backward", normalized_layer_backward},
      {"normalized_rms_of_bf16", normalized_rms_of_bf16},
      {"variance", variance},
      {"running_sum", running_sum},
      {"counted_places", counted_places},
  };
  std::vector<Case> cases;
  for (const auto& [name, build] : table) {
    Builder builder(name);
    build(builder);
    cases.push_back({name, builder.take()});
  }
  return cases;
}

}  // namespace twinloom::perf
