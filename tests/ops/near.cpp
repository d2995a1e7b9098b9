// The functions that the C library does not have, in long double. What is amplified by an exponential is
// computed in 113 bits first.
#include <cmath>
#include <limits>
#include <numbers>

#include "tests/ops/references.h"

namespace twinloom::ops::testing {

namespace {

using Real = long double;
__extension__ using Quad = __float128;

// A number of 113 bits as the sum of two of 64.
struct Parts {
  Real high, low;
};
Parts parts_of(Quad value) {
  const auto high = static_cast<Real>(value);
  return {high, std::isinf(high) ? 0 : static_cast<Real>(value - high)};
}

Real sigmoid(Parts v) {
  const Real e = std::exp(v.high < 0 ? v.high : -v.high) * (1 + (v.high < 0 ? v.low : -v.low));
  return (v.high < 0 ? e : 1) / (1 + e);
}
// x * sigmoid(v): its limit at -inf is -0.
Real gated(Real x, Parts v) { return v.high < -11400 ? Real(-0.0) : x * sigmoid(v); }

}  // namespace

std::optional<Real> near_sigmoid(const Inputs& in) { return sigmoid({in.x, 0}); }
std::optional<Real> near_silu(const Inputs& in) { return gated(in.x, {in.x, 0}); }

// 2 sqrt(2 / pi) (x + cubic x^3), the first factor in two parts.
Quad tanh_gate_of(Quad x, Quad cubic) {
  const Quad slope = Quad(0xcc42299ea1b28468p-63L) + Quad(0xfcb3c500bab8e2ffp-128L);
  return slope * (x + cubic * x * x * x);
}
const Quad CUBIC = Quad(44715) / Quad(1000000);

std::optional<Real> near_gelu_tanh(const Inputs& in) {
  if (std::isinf(in.x)) return in.x < 0 ? Real(-0.0) : in.x;
  return gated(in.x, parts_of(tanh_gate_of(in.x, CUBIC)));
}
std::optional<Real> near_gelu_tanh_slope(const Inputs& in) {
  if (in.x < -100) return Real(-0.0);
  if (in.x > 100) return 1;
  const Parts v = parts_of(tanh_gate_of(in.x, CUBIC)), bend = parts_of(tanh_gate_of(in.x, 3 * CUBIC));
  return sigmoid(v) * (1 + bend.high * sigmoid({-v.high, -v.low}));
}

// erfc(z + d) = erfc(z) - 2 / sqrt(pi) * exp(-z^2) * d for a d below the last place of z.
std::optional<Real> near_gelu_erf(const Inputs& in) {
  if (std::isinf(in.x)) return in.x < 0 ? Real(-0.0) : in.x;
  const Quad root_half = Quad(0xb504f333f9de6484p-64L) + Quad(0xb2fb1366ea957d3ep-129L);
  const auto [z, d] = parts_of(-Quad(in.x) * root_half);
  const Real bend = 2 * std::numbers::inv_sqrtpi_v<Real> * std::exp(-z * z) * d;
  return in.x / 2 * (std::erfc(z) - bend);
}

std::optional<Real> near_gelu_erf_slope(const Inputs& in) {
  if (std::isinf(in.x)) return in.x < 0 ? Real(-0.0) : 1;
  const auto [exponent, low] = parts_of(-Quad(in.x) * Quad(in.x) / 2);
  const Real power = std::exp(exponent) * (1 + low);
  const Real density = power * std::numbers::inv_sqrtpi_v<Real> / std::numbers::sqrt2_v<Real>;
  return (in.x == 0 ? Real(0.5) : *near_gelu_erf(in) / in.x) + in.x * density;
}

std::optional<Real> near_softplus(const Inputs& in) {
  return (in.x < 0 ? 0 : in.x) + std::log1p(std::exp(-std::fabs(in.x)));
}

std::optional<Real> near_lgamma(const Inputs& in) {
  int sign = 0;
  return ::lgammal_r(in.x, &sign);
}

// Down from 20 by the recurrence, there by the asymptotic series with B(2k) / 2k; near the root too much of
// both cancels.
std::optional<Real> near_digamma(const Inputs& in) {
  if (!(in.x > 0) || std::isinf(in.x)) return std::nullopt;
  Real y = in.x;
  Real total = 0;
  for (; y < 20; y += 1) total -= 1 / y;
  constexpr Real terms[] = {Real(1) / 12,  Real(-1) / 120,     Real(1) / 252, Real(-1) / 240,
                            Real(1) / 132, Real(-691) / 32760, Real(1) / 12};
  const Real w = 1 / (y * y);
  Real power = w;
  for (const Real term : terms) {
    total -= term * power;
    power *= w;
  }
  const Real result = total + std::log(y) - 1 / (2 * y);
  if (std::fabs(result) < 0.25L) return std::nullopt;
  return result;
}

// The power series, or beyond 25 the asymptotic one, whose smallest term there is exp(-50).
std::optional<Real> near_i0(const Inputs& in) {
  const Real a = std::fabs(in.x);
  if (!(a < 11000)) return a * std::numeric_limits<Real>::max();
  Real term = 1;
  Real total = 1;
  for (int k = 1; term > total * 0x1p-70L; ++k) {
    const Real odd = 2 * k - 1;
    term *= a < 25 ? a * a / (Real(4) * k * k) : odd * odd / (8 * k * a);
    total += term;
  }
  return a < 25 ? total : std::exp(a) / std::sqrt(2 * std::numbers::pi_v<Real> * a) * total;
}

// One step of Newton's from what the function gave; erf'(y) = 2 / sqrt(pi) * exp(-y^2).
std::optional<Real> near_erfinv(const Inputs& in) {
  const Real a = std::fabs(in.x);
  const Real y = std::fabs(Real(in.got));
  if (!(a < 1 && y < 10)) return std::nullopt;
  const Real over = a < 0.5L ? std::erf(y) - a : (1 - a) - std::erfc(y);
  return std::copysign(y - over * std::exp(y * y) / (2 * std::numbers::inv_sqrtpi_v<Real>), in.x);
}

}  // namespace twinloom::ops::testing
