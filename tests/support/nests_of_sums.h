// Nests with sums of floats, as text.
#pragma once

#include <string_view>

namespace twinloom::tests {

constexpr std::string_view ROW_SUMS = R"(
program row_sums(x: f32[m*n], y: written f32[m]; m in 0.., n in 0..) {
  for i < m {
    start t0: sum f32
    for k < n { t0 += x[i*n + k] at k }
    y[i] = t0
  }
})";

constexpr std::string_view SOFTMAX = R"(
program softmax(x: f32[m*n], y: written f32[m*n]; m in 0.., n in 1..) {
  for i < m {
    start t0: max f32
    for k < n { t0 += x[i*n + k] at k }
    start t1: sum f32
    for l < n { t1 += exp(sub(x[i*n + l], t0)) at l }
    for j < n { y[i*n + j] = div(exp(sub(x[i*n + j], t0)), t1) }
  }
})";

constexpr std::string_view COLUMN_SUMS = R"(
program column_sums(x: f32[n*m], y: written f32[m]; m in 0.., n in 0..) {
  for j < m {
    start t0: sum f32
    for k < n { t0 += x[k*m + j] at k }
    y[j] = neg(t0)
  }
})";

// Over two axes of the same sum.
constexpr std::string_view PLANES = R"(
program planes(x: f32[m*n*s], y: written f32[m]; m in 0.., s in 0..) {
  for i < m {
    start t0: sum f32
    for h < s { for k < n { t0 += x[i*n*s + h*n + k] at h*n + k } }
    y[i] = t0
  }
})";

}  // namespace twinloom::tests
