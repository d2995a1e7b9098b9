// The loops that a programmer would write for the cases of speed_cases.h, compiled by g++ with -O3,
// -march=native and OpenMP (and none of the options that change bits, such as -ffast-math).
#pragma once

#include <cstdint>

#include "perf/speed_cases.h"

namespace twinloom::perf {

constexpr std::int64_t LONG = 16 << 20;
constexpr std::int64_t GELU_ROWS = 4096, GELU_COLUMNS = 3072;
constexpr std::int64_t NORM_ROWS = 8192, NORM_COLUMNS = 1024;
constexpr double NORM_EPSILON = 1e-5;
constexpr std::int64_t SOFTMAX_ROWS = 8192, SOFTMAX_COLUMNS = 2049;
constexpr std::int64_t SUM_ROWS = 8192, SUM_COLUMNS = 4096;
constexpr std::int64_t SQUARE = 4096;
constexpr std::int64_t PIXELS = 32 * 25 * 25, CHANNELS = 256;
constexpr std::int64_t LOSS_ROWS = 2048, LOSS_COLUMNS = 32768;

void plain_sine_of_cosine(const Arrays& arrays);
void plain_exp_of_sum(const Arrays& arrays);
void plain_gelu_tanh_f32(const Arrays& arrays);
void plain_gelu_erf_f32(const Arrays& arrays);
void plain_gelu_tanh_bf16(const Arrays& arrays);
void plain_gelu_erf_bf16(const Arrays& arrays);
void plain_layer_norm(const Arrays& arrays);
void plain_rms_norm(const Arrays& arrays);
void plain_softmax(const Arrays& arrays);
void plain_column_sum(const Arrays& arrays);
void plain_full_sum(const Arrays& arrays);
void plain_transposed_sum(const Arrays& arrays);
void plain_running_sum(const Arrays& arrays);
void plain_scale_bias_relu(const Arrays& arrays);
void plain_cross_entropy(const Arrays& arrays);

}  // namespace twinloom::perf
