// See wide.h. Straight from the definitions, in a form that is stable in the tails.
#include "core/ops/wide.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace twinloom::ops::wide {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// x * sigmoid(v) where v has the sign of x; its limit at -inf is -0.
double gated(double x, double v) {
  if (v >= 0) return x / (1 + std::exp(-v));
  if (v < -800) return -0.0;
  return x * (std::exp(v) / (1 + std::exp(v)));
}

}  // namespace

double rsqrt(double x) { return 1 / std::sqrt(x); }

double sigmoid(double x) {
  const double small = std::exp(-std::fabs(x));
  return (x < 0 ? small : 1) / (1 + small);
}

double silu(double x) { return gated(x, x); }

double gelu_erf(double x) {
  if (x < -40) return -0.0;
  return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
}

double gelu_erf_slope(double x) {
  if (x < -40) return -0.0;
  const double inside = std::min(x, 40.0);
  const double density = std::exp(-inside * inside / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return 0.5 * std::erfc(-inside / std::numbers::sqrt2) + inside * density;
}

double gelu_tanh(double x) {
  const double slope = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // 2 sqrt(2 / pi)
  if (x < -40) return -0.0;
  if (x > 40) return x;
  return gated(x, slope * (x + 0.044715 * x * x * x));
}

double gelu_tanh_slope(double x) {
  if (x < -40) return -0.0;
  if (x > 40) return 1;
  const double slope = 2 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const double v = slope * (x + 0.044715 * x * x * x), bend = slope * x * (1 + 3 * 0.044715 * x * x);
  const double small = std::exp(-std::fabs(v)), gate = 1 / (1 + small);
  return x < 0 ? small * gate * (1 + bend * gate) : gate * (1 + bend * small * gate);
}

double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::fabs(x))); }

double lgamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

double digamma(double x) {
  if (x == 0) return std::signbit(x) ? infinite : -infinite;
  if (std::isnan(x) || x == -infinite) return std::numeric_limits<double>::quiet_NaN();
  if (x < 0) {
    if (std::floor(x) == x) return std::numeric_limits<double>::quiet_NaN();
    const double fraction = x - std::round(x);
    return digamma(1 - x) - std::numbers::pi / std::tan(std::numbers::pi * fraction);
  }
  long double y = x;
  long double total = 0;
  for (; y < 20; y += 1) total -= 1 / y;
  // The Bernoulli numbers of the asymptotic series, B(2k) / 2k.
  constexpr long double terms[] = {1.0L / 12,  -1.0L / 120,     1.0L / 252, -1.0L / 240,
                                   1.0L / 132, -691.0L / 32760, 1.0L / 12};
  const long double w = 1 / (y * y);
  long double power = w;
  for (const long double term : terms) {
    total -= term * power;
    power *= w;
  }
  return static_cast<double>(total + std::log(y) - 0.5L / y);
}

// Bisection in the argument, then Newton: slow and sure.
double erfinv(double x) {
  const double a = std::fabs(x);
  if (!(a < 1)) return a == 1 ? std::copysign(infinite, x) : std::numeric_limits<double>::quiet_NaN();
  if (a < 1e-9) return x * (0.5 / std::numbers::inv_sqrtpi);
  long double low = 0;
  long double high = 6;
  for (int step = 0; step < 30; ++step) {
    const long double middle = (low + high) / 2;
    (std::erfc(middle) > 1 - static_cast<long double>(a) ? low : high) = middle;
  }
  long double y = (low + high) / 2;
  for (int step = 0; step < 3; ++step) {
    const long double over = a < 0.5 ? std::erf(y) - a : (1 - static_cast<long double>(a)) - std::erfc(y);
    y -= over / (2 * std::numbers::inv_sqrtpi_v<long double> * std::exp(-y * y));
  }
  return std::copysign(static_cast<double>(y), x);
}

// The power series for moderate x, the asymptotic one beyond.
double i0(double x) {
  const long double a = std::fabs(x);
  if (std::isnan(x)) return x;
  long double term = 1;
  long double total = 1;
  if (a < 40) {
    const long double quarter = a * a / 4;
    for (int k = 1; term > total * 1e-21L; ++k) {
      term *= quarter / (static_cast<long double>(k) * k);
      total += term;
    }
    return static_cast<double>(total);
  }
  if (a > 720) return infinite;
  for (int k = 1; k < 20; ++k) {
    const long double odd = 2 * k - 1;
    term *= odd * odd / (8 * k * a);
    total += term;
  }
  return static_cast<double>(std::exp(a) / std::sqrt(2 * std::numbers::pi_v<long double> * a) * total);
}

}  // namespace twinloom::ops::wide
