// See gpu_cases.h. perf/gpu_peers.py has the same cases and sizes. Bytes count each large input that is read
// and each output that is written once; a training step counts what separate graphs forwards and backwards
// move. Vectors beside matrices are left out where they are less than a thousandth.
#include "perf/gpu_cases.h"

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::perf {

namespace {

using graph::Builder;
using graph::Shape;
using graph::Tensor;
using ops::DType;

constexpr std::int64_t MEBI = 1 << 20;
constexpr std::int64_t LONG = 128 * MEBI, TOTAL = 256 * MEBI;
constexpr std::int64_t GELU_ROWS = 16384, GELU_COLUMNS = 12288;
constexpr std::int64_t VOCABULARY_ROWS = 16384, VOCABULARY = 50257;
constexpr std::int64_t SOFTMAX_ROWS = 65536, SOFTMAX_COLUMNS = 2048;
constexpr std::int64_t NORM_ROWS = 32768, NORM_COLUMNS = 4096;
constexpr std::int64_t SUM_ROWS = 65536, SUM_COLUMNS = 4096;
constexpr std::int64_t SQUARE = 16384;
constexpr std::int64_t SCAN_ROWS = 8192, SCAN_COLUMNS = 16384;
constexpr std::int64_t IMAGES = 32, CHANNELS = 1024, SIDE = 25;
constexpr std::int64_t LOSS_ROWS = 8192, LOSS_COLUMNS = 32768;
constexpr double EPSILON = 1e-5;
constexpr std::int64_t F32 = 4, HALF = 2;  // bytes

void sine_of_cosine(Builder& builder) { builder.output(sin(cos(builder.input("x", DType::f32, {LONG})))); }
void exp_of_sum(Builder& builder) {
  const Tensor x = builder.input("x", DType::bf16, {LONG});
  builder.output(exp(x + builder.input("y", DType::bf16, {LONG})));
}
void bias_gelu(Builder& builder) {
  const Tensor x = builder.input("x", DType::bf16, {GELU_ROWS, GELU_COLUMNS});
  builder.output(gelu(x + builder.input("bias", DType::bf16, {GELU_COLUMNS}), graph::Gelu::tanh));
}
void softmax_of_vocabulary(Builder& builder) {
  builder.output(softmax(builder.input("x", DType::bf16, {VOCABULARY_ROWS, VOCABULARY}), 1));
}
void softmax_of_rows(Builder& builder) {
  builder.output(softmax(builder.input("x", DType::f32, {SOFTMAX_ROWS, SOFTMAX_COLUMNS}), 1));
}

struct NormInputs {
  explicit NormInputs(Builder& builder)
      : x(builder.input("x", DType::bf16, {NORM_ROWS, NORM_COLUMNS})),
        weight(builder.input("weight", DType::bf16, {NORM_COLUMNS})),
        bias(builder.input("bias", DType::bf16, {NORM_COLUMNS})) {}
  Tensor x, weight, bias;
};
void layer_norm_forwards(Builder& builder) {
  const NormInputs in(builder);
  builder.output(layer_norm(in.x, 1, in.weight, in.bias, EPSILON).value);
}
void layer_norm_training(Builder& builder) {
  const NormInputs in(builder);
  const Tensor gradient = builder.input("gradient", DType::bf16, {NORM_ROWS, NORM_COLUMNS});
  const graph::Normalized norm = layer_norm(in.x, 1, in.weight, in.bias, EPSILON);
  builder.output(norm.value);
  const graph::NormGradients gradients =
      layer_norm_backward(gradient, in.x, 1, norm.mean, norm.rstd, in.weight);
  builder.output(*gradients.x);
  builder.output(*gradients.weight);
  builder.output(*gradients.bias);
}
void rms_norm_with_residual(Builder& builder) {
  const Tensor x = builder.input("x", DType::bf16, {NORM_ROWS, NORM_COLUMNS});
  const Tensor both = x + builder.input("residual", DType::bf16, {NORM_ROWS, NORM_COLUMNS});
  builder.output(both);
  builder.output(rms_norm(both, 1, builder.input("weight", DType::bf16, {NORM_COLUMNS}), EPSILON));
}
void column_sum(Builder& builder) {
  builder.output(sum(builder.input("x", DType::f32, {SUM_ROWS, SUM_COLUMNS}), {0}));
}
void full_sum(Builder& builder) { builder.output(sum(builder.input("x", DType::f32, {TOTAL}), {0})); }
void transposed_sum(Builder& builder) {
  const Tensor a = builder.input("a", DType::f32, {SQUARE, SQUARE});
  builder.output(a + transpose(builder.input("b", DType::f32, {SQUARE, SQUARE}), 0, 1));
}
void running_sum(Builder& builder) {
  builder.output(cumsum(builder.input("x", DType::f32, {SCAN_ROWS, SCAN_COLUMNS}), 1));
}
void scale_bias_relu(Builder& builder) {
  const Tensor x = builder.input("x", DType::f16, {IMAGES, CHANNELS, SIDE, SIDE});
  const Tensor scale = builder.input("scale", DType::f16, {CHANNELS});
  const Tensor bias = builder.input("bias", DType::f16, {CHANNELS});
  const Shape a_channel = {CHANNELS, 1, 1};
  const Tensor before = x * reshape(scale, a_channel) + reshape(bias, a_channel);
  builder.output(relu(before));
  builder.output(before);
}
// The loss and its gradient, (softmax - one hot) / rows.
void cross_entropy_training(Builder& builder) {
  const Tensor x = builder.input("x", DType::f32, {LOSS_ROWS, LOSS_COLUMNS});
  const Tensor target = builder.input("target", DType::i64, {LOSS_ROWS});
  const Tensor scores = log_softmax(x, 1);
  builder.output(mean(-squeeze(take_along(scores, 1, unsqueeze(target, 1)), {1})));
  const Tensor wrong = exp(scores) - one_hot(target, LOSS_COLUMNS, DType::f32);
  builder.output(wrong * (1.0 / static_cast<double>(LOSS_ROWS)));
}

}  // namespace

const std::vector<GpuCase>& gpu_cases() {
  constexpr std::int64_t NORM = HALF * NORM_ROWS * NORM_COLUMNS;
  constexpr std::int64_t LOSS = F32 * LOSS_ROWS * LOSS_COLUMNS;
  static const std::vector<GpuCase> cases = {
      {"sin_cos", sine_of_cosine, 2 * F32 * LONG},
      {"exp_add", exp_of_sum, 3 * HALF * LONG},
      {"bias_gelu_tanh", bias_gelu, 2 * HALF * GELU_ROWS * GELU_COLUMNS},
      {"softmax_bf16", softmax_of_vocabulary, 2 * HALF * VOCABULARY_ROWS * VOCABULARY},
      {"softmax_f32", softmax_of_rows, 2 * F32 * SOFTMAX_ROWS * SOFTMAX_COLUMNS},
      {"layer_norm", layer_norm_forwards, 2 * NORM},
      // A graph forwards reads x and writes y; one backwards reads x and the gradient and writes that of x.
      // Peers read x once more for the gradients of weight and bias, and the gradient too: 5 + 3 matrices
      // that every program is counted with.
      {"layer_norm_training", layer_norm_training, 8 * NORM},
      {"rms_norm_residual", rms_norm_with_residual, 4 * NORM},
      {"column_sum", column_sum, F32 * SUM_ROWS * SUM_COLUMNS},
      {"full_sum", full_sum, F32 * TOTAL},
      {"add_transposed", transposed_sum, 3 * F32 * SQUARE * SQUARE},
      {"cumsum", running_sum, 2 * F32 * SCAN_ROWS * SCAN_COLUMNS},
      {"nhwc_scale_bias_relu", scale_bias_relu, 3 * HALF * IMAGES * CHANNELS * SIDE * SIDE, 0, true},
      // Forwards reads x; backwards reads it again and writes its gradient.
      {"cross_entropy_training", cross_entropy_training, 3 * LOSS, LOSS_COLUMNS},
  };
  return cases;
}

}  // namespace twinloom::perf
