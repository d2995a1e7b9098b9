// See plain_loops.h; TWINLOOM_LEVEL is avx2 or avx512. Sums are left to the compiler's own order only where
// OpenMP says so.
#include "perf/plain_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace twinloom::perf::TWINLOOM_LEVEL {

namespace {

const float* floats(const Arrays& arrays, std::size_t at) { return static_cast<const float*>(arrays.in[at]); }
float* result(const Arrays& arrays, std::size_t at = 0) { return static_cast<float*>(arrays.out[at]); }

float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
}
float gelu_erf(float x) { return 0.5f * x * (1.0f + std::erf(x * 0.7071067812f)); }

float widen(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
std::uint16_t narrow(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <float (*gelu)(float)>
void gelu_of_f32(const Arrays& arrays) {
  const float *x = floats(arrays, 0), *bias = floats(arrays, 1);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t i = 0; i < GELU_ROWS; ++i)
    for (std::int64_t k = 0; k < GELU_COLUMNS; ++k)
      y[i * GELU_COLUMNS + k] = gelu(x[i * GELU_COLUMNS + k] + bias[k]);
}

template <float (*gelu)(float)>
void gelu_of_bf16(const Arrays& arrays) {
  const auto* x = static_cast<const std::uint16_t*>(arrays.in[0]);
  const auto* bias = static_cast<const std::uint16_t*>(arrays.in[1]);
  auto* y = static_cast<std::uint16_t*>(arrays.out[0]);
#pragma omp parallel for
  for (std::int64_t i = 0; i < GELU_ROWS; ++i)
    for (std::int64_t k = 0; k < GELU_COLUMNS; ++k)
      y[i * GELU_COLUMNS + k] = narrow(gelu(widen(x[i * GELU_COLUMNS + k]) + widen(bias[k])));
}

float largest(const float* x, std::int64_t count) {
  float most = -std::numeric_limits<float>::infinity();
#pragma omp simd reduction(max : most)
  for (std::int64_t k = 0; k < count; ++k) most = std::max(most, x[k]);
  return most;
}

float sum_of_exponentials(const float* x, std::int64_t count, float most) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t k = 0; k < count; ++k) sum += std::exp(x[k] - most);
  return sum;
}

}  // namespace

void plain_sine_of_cosine(const Arrays& arrays) {
  const float* x = floats(arrays, 0);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t i = 0; i < LONG; ++i) y[i] = std::sin(std::cos(x[i]));
}

void plain_exp_of_sum(const Arrays& arrays) {
  const float *x = floats(arrays, 0), *z = floats(arrays, 1);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t i = 0; i < LONG; ++i) y[i] = std::exp(x[i] + z[i]);
}

void plain_gelu_tanh_f32(const Arrays& arrays) { gelu_of_f32<gelu_tanh>(arrays); }
void plain_gelu_erf_f32(const Arrays& arrays) { gelu_of_f32<gelu_erf>(arrays); }
void plain_gelu_tanh_bf16(const Arrays& arrays) { gelu_of_bf16<gelu_tanh>(arrays); }
void plain_gelu_erf_bf16(const Arrays& arrays) { gelu_of_bf16<gelu_erf>(arrays); }

void plain_layer_norm(const Arrays& arrays) {
  const float *weight = floats(arrays, 1), *bias = floats(arrays, 2);
#pragma omp parallel for
  for (std::int64_t i = 0; i < NORM_ROWS; ++i) {
    const float* x = floats(arrays, 0) + i * NORM_COLUMNS;
    float* y = result(arrays) + i * NORM_COLUMNS;
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < NORM_COLUMNS; ++k) sum += x[k];
    const float mean = sum / static_cast<float>(NORM_COLUMNS);
#pragma omp simd reduction(+ : squares)
    for (std::int64_t k = 0; k < NORM_COLUMNS; ++k) squares += (x[k] - mean) * (x[k] - mean);
    const float scale =
        1.0f / std::sqrt(squares / static_cast<float>(NORM_COLUMNS) + static_cast<float>(NORM_EPSILON));
    for (std::int64_t k = 0; k < NORM_COLUMNS; ++k) y[k] = (x[k] - mean) * scale * weight[k] + bias[k];
  }
}

void plain_rms_norm(const Arrays& arrays) {
  const float* weight = floats(arrays, 2);
#pragma omp parallel for
  for (std::int64_t i = 0; i < NORM_ROWS; ++i) {
    const float *x = floats(arrays, 0) + i * NORM_COLUMNS, *residual = floats(arrays, 1) + i * NORM_COLUMNS;
    float *both = result(arrays, 0) + i * NORM_COLUMNS, *y = result(arrays, 1) + i * NORM_COLUMNS;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t k = 0; k < NORM_COLUMNS; ++k) {
      both[k] = x[k] + residual[k];
      squares += both[k] * both[k];
    }
    const float scale =
        1.0f / std::sqrt(squares / static_cast<float>(NORM_COLUMNS) + static_cast<float>(NORM_EPSILON));
    for (std::int64_t k = 0; k < NORM_COLUMNS; ++k) y[k] = both[k] * scale * weight[k];
  }
}

void plain_softmax(const Arrays& arrays) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < SOFTMAX_ROWS; ++i) {
    const float* x = floats(arrays, 0) + i * SOFTMAX_COLUMNS;
    float* y = result(arrays) + i * SOFTMAX_COLUMNS;
    const float most = largest(x, SOFTMAX_COLUMNS);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < SOFTMAX_COLUMNS; ++k) sum += y[k] = std::exp(x[k] - most);
    for (std::int64_t k = 0; k < SOFTMAX_COLUMNS; ++k) y[k] /= sum;
  }
}

void plain_column_sum(const Arrays& arrays) {
  const float* x = floats(arrays, 0);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t block = 0; block < SUM_COLUMNS; block += 256) {
    std::fill(y + block, y + block + 256, 0.0f);
    for (std::int64_t i = 0; i < SUM_ROWS; ++i)
      for (std::int64_t k = block; k < block + 256; ++k) y[k] += x[i * SUM_COLUMNS + k];
  }
}

void plain_full_sum(const Arrays& arrays) {
  const float* x = floats(arrays, 0);
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (std::int64_t i = 0; i < SUM_ROWS * SUM_COLUMNS; ++i) sum += x[i];
  *result(arrays) = sum;
}

void plain_transposed_sum(const Arrays& arrays) {
  constexpr std::int64_t TILE = 32;
  const float *a = floats(arrays, 0), *b = floats(arrays, 1);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t i = 0; i < SQUARE; i += TILE)
    for (std::int64_t k = 0; k < SQUARE; k += TILE)
      for (std::int64_t row = i; row < i + TILE; ++row)
        for (std::int64_t column = k; column < k + TILE; ++column)
          y[row * SQUARE + column] = a[row * SQUARE + column] + b[column * SQUARE + row];
}

void plain_running_sum(const Arrays& arrays) {
#pragma omp parallel for
  for (std::int64_t i = 0; i < SQUARE; ++i) {
    const float* x = floats(arrays, 0) + i * SQUARE;
    float* y = result(arrays) + i * SQUARE;
    float sum = 0;
    for (std::int64_t k = 0; k < SQUARE; ++k) y[k] = sum += x[k];
  }
}

void plain_scale_bias_relu(const Arrays& arrays) {
  const float *x = floats(arrays, 0), *scale = floats(arrays, 1), *bias = floats(arrays, 2);
  float* y = result(arrays);
#pragma omp parallel for
  for (std::int64_t i = 0; i < PIXELS; ++i)
    for (std::int64_t k = 0; k < CHANNELS; ++k)
      y[i * CHANNELS + k] = std::max(0.0f, x[i * CHANNELS + k] * scale[k] + bias[k]);
}

void plain_cross_entropy(const Arrays& arrays) {
  const auto* target = static_cast<const std::int64_t*>(arrays.in[0]);
  float loss = 0;
#pragma omp parallel for reduction(+ : loss)
  for (std::int64_t i = 0; i < LOSS_ROWS; ++i) {
    const float* x = floats(arrays, 1) + i * LOSS_COLUMNS;
    const float most = largest(x, LOSS_COLUMNS);
    loss += std::log(sum_of_exponentials(x, LOSS_COLUMNS, most)) - (x[target[i]] - most);
  }
  *result(arrays) = loss / static_cast<float>(LOSS_ROWS);
}

}  // namespace twinloom::perf::TWINLOOM_LEVEL
