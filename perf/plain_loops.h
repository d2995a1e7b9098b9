// The loops that a programmer would write for the cases of speed_cases.h, compiled by g++ with -O3, OpenMP
// (and none of the options that change bits, such as -ffast-math) and the widest vectors that the processor
// has: plain_loops.cpp is compiled for x86-64-v3 and for x86-64-v4, and plain_levels.cpp chooses.
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

#define TWINLOOM_PLAIN_LOOPS(ROW) \
  ROW(sine_of_cosine)             \
  ROW(exp_of_sum)                 \
  ROW(gelu_tanh_f32)              \
  ROW(gelu_erf_f32)               \
  ROW(gelu_tanh_bf16)             \
  ROW(gelu_erf_bf16)              \
  ROW(layer_norm)                 \
  ROW(rms_norm)                   \
  ROW(softmax)                    \
  ROW(column_sum)                 \
  ROW(full_sum)                   \
  ROW(transposed_sum)             \
  ROW(running_sum)                \
  ROW(scale_bias_relu)            \
  ROW(cross_entropy)

#define TWINLOOM_ROW(name) void plain_##name(const Arrays& arrays);
TWINLOOM_PLAIN_LOOPS(TWINLOOM_ROW)
namespace avx2 {
TWINLOOM_PLAIN_LOOPS(TWINLOOM_ROW)
}
namespace avx512 {
TWINLOOM_PLAIN_LOOPS(TWINLOOM_ROW)
}
#undef TWINLOOM_ROW

}  // namespace twinloom::perf
