// See references.h: by MPFR, and the table of both.
#include "tests/ops/references.h"

#include <array>
#include <cmath>

#include "core/base/error.h"
#include "tests/ops/big.h"

namespace twinloom::ops::testing {

namespace {

// x * sigmoid(v).
void gate(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr v) {
  mpfr_neg(r, v, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_div(r, x, r, MPFR_RNDN);
}
void sigmoid(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  Big one(1.0);
  gate(r, one.get(), x);
}
void silu(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { gate(r, x, x); }
// 2 sqrt(2 / pi) (x + millionths / 10^6 x^3).
void tanh_gate(mpfr_ptr r, mpfr_srcptr x, unsigned long millionths) {
  Big scale;
  mpfr_sqr(r, x, MPFR_RNDN);
  mpfr_mul_ui(r, r, millionths, MPFR_RNDN);
  mpfr_div_ui(r, r, 1000000, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
  mpfr_const_pi(scale.get(), MPFR_RNDN);
  mpfr_ui_div(scale.get(), 8, scale.get(), MPFR_RNDN);
  mpfr_sqrt(scale.get(), scale.get(), MPFR_RNDN);
  mpfr_mul(r, r, scale.get(), MPFR_RNDN);
}
constexpr unsigned long CUBIC = 44715;
void gelu_tanh(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  Big v;
  tanh_gate(v.get(), x, CUBIC);
  gate(r, x, v.get());
}
void gelu_erf(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  Big root;
  mpfr_set_d(root.get(), 0.5, MPFR_RNDN);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDN);
  mpfr_mul(r, x, root.get(), MPFR_RNDN);
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
}
// x density(x) + normal distribution(x).
void gelu_erf_slope(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) {
  Big scale;
  Big normal;
  mpfr_const_pi(scale.get(), MPFR_RNDN);
  mpfr_mul_2ui(scale.get(), scale.get(), 1, MPFR_RNDN);
  mpfr_rec_sqrt(scale.get(), scale.get(), MPFR_RNDN);
  mpfr_mul(scale.get(), scale.get(), x, MPFR_RNDN);
  gelu_erf(normal.get(), x, y);
  if (mpfr_zero_p(x) == 0)
    mpfr_div(normal.get(), normal.get(), x, MPFR_RNDN);
  else
    mpfr_set_d(normal.get(), 0.5, MPFR_RNDN);
  mpfr_sqr(r, x, MPFR_RNDN);
  mpfr_div_si(r, r, -2, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_fma(r, r, scale.get(), normal.get(), MPFR_RNDN);
}
// g + x v' g (1 - g), g = sigmoid(v) and v as in gelu_tanh.
void gelu_tanh_slope(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  Big one(1.0);
  Big v;
  Big gate_of_v;
  Big bend;
  tanh_gate(v.get(), x, CUBIC);
  gate(gate_of_v.get(), one.get(), v.get());
  tanh_gate(bend.get(), x, 3 * CUBIC);
  mpfr_ui_sub(r, 1, gate_of_v.get(), MPFR_RNDN);
  mpfr_mul(r, r, bend.get(), MPFR_RNDN);
  mpfr_fma(r, r, gate_of_v.get(), gate_of_v.get(), MPFR_RNDN);
}
void softplus(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  if (mpfr_cmp_ui(x, 2000) > 0) {
    mpfr_set(r, x, MPFR_RNDN);
    return;
  }
  mpfr_exp(r, x, MPFR_RNDN);
  mpfr_log1p(r, r, MPFR_RNDN);
}
void reciprocal(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { mpfr_ui_div(r, 1, x, MPFR_RNDN); }
void lgamma(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  int sign = 0;
  mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}
// The power series, but where the result is beyond f64 anyway.
void i0(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  mpfr_abs(r, x, MPFR_RNDN);
  if (mpfr_number_p(x) == 0) return;
  if (mpfr_cmpabs_ui(x, 800) > 0) {
    mpfr_set_ui_2exp(r, 1, 1100, MPFR_RNDN);
    return;
  }
  Big term(1.0);
  Big quarter;
  mpfr_sqr(quarter.get(), x, MPFR_RNDN);
  mpfr_div_2ui(quarter.get(), quarter.get(), 2, MPFR_RNDN);
  mpfr_set_ui(r, 1, MPFR_RNDN);
  for (unsigned long k = 1; k < 2000; ++k) {
    mpfr_mul(term.get(), term.get(), quarter.get(), MPFR_RNDN);
    mpfr_div_ui(term.get(), term.get(), k, MPFR_RNDN);
    mpfr_div_ui(term.get(), term.get(), k, MPFR_RNDN);
    mpfr_add(r, r, term.get(), MPFR_RNDN);
    if (mpfr_get_exp(term.get()) < mpfr_get_exp(r) - Big::precision) return;
  }
}
// Newton from the double's neighbourhood: erf(y) = x. erfc keeps what erf would lose next to 1.
void erfinv(mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) {
  const double given = mpfr_get_d(x, MPFR_RNDN);
  const double a = std::fabs(given);
  if (!(a < 1)) {
    mpfr_set_d(r, a == 1 ? std::copysign(HUGE_VAL, given) : std::nan(""), MPFR_RNDN);
    return;
  }
  Big over;
  Big slope;
  const Number start = apply_wide(Pointwise::erfinv, DType::f64, std::array{Number(a)});
  mpfr_set_d(r, start.real(), MPFR_RNDN);
  for (int step = 0; step < 3; ++step) {
    if (a < 0.5) {
      mpfr_erf(over.get(), r, MPFR_RNDN);
      mpfr_sub_d(over.get(), over.get(), a, MPFR_RNDN);
    } else {
      mpfr_erfc(over.get(), r, MPFR_RNDN);
      mpfr_d_sub(over.get(), 1 - a, over.get(), MPFR_RNDN);
    }
    mpfr_sqr(slope.get(), r, MPFR_RNDN);
    mpfr_exp(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_mul(over.get(), over.get(), slope.get(), MPFR_RNDN);
    mpfr_const_pi(slope.get(), MPFR_RNDN);
    mpfr_sqrt(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_mul(over.get(), over.get(), slope.get(), MPFR_RNDN);
    mpfr_div_2ui(over.get(), over.get(), 1, MPFR_RNDN);
    mpfr_sub(r, r, over.get(), MPFR_RNDN);
  }
  if (given < 0) mpfr_neg(r, r, MPFR_RNDN);
}

#define BY_MPFR(name) [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr) { mpfr_##name(r, x, MPFR_RNDN); }
#define BY_MPFR_2(name) [](mpfr_ptr r, mpfr_srcptr x, mpfr_srcptr y) { mpfr_##name(r, x, y, MPFR_RNDN); }
#define LONG(expression) [](const Inputs& in) -> std::optional<long double> { return expression; }
#define LIBRARY(name, every) \
  { Pointwise::name, BY_MPFR(name), LONG(std::name(in.x)), every }
#define LIBRARY_2(name, every) \
  { Pointwise::name, BY_MPFR_2(name), LONG(std::name(in.x, in.y)), every }
#define SHORT(name, every) \
  { Pointwise::name##_short, BY_MPFR(name), LONG(std::name(in.x)), every, Pointwise::name }
#define APPROXIMATE_OF(name, full, big, near)                            \
  {Pointwise::name##_approximate, big, near, seldom, Pointwise::full}, { \
    Pointwise::name##_flushed, big, near, seldom, Pointwise::full        \
  }
#define APPROXIMATE(name, big, near) APPROXIMATE_OF(name, name, big, near)
#define OURS(name, every) \
  { Pointwise::name, name, near_##name, every }

constexpr std::size_t often = 64, seldom = 256, rarely = 512;
const Reference table[] = {
    LIBRARY(exp, often),
    LIBRARY(exp2, often),
    LIBRARY(expm1, often),
    LIBRARY(log, often),
    LIBRARY(log2, often),
    LIBRARY(log10, often),
    LIBRARY(log1p, often),
    LIBRARY(sin, often),
    LIBRARY(cos, often),
    LIBRARY(tan, often),
    LIBRARY(sinh, often),
    LIBRARY(cosh, often),
    LIBRARY(tanh, often),
    LIBRARY(asin, seldom),
    LIBRARY(acos, seldom),
    LIBRARY(atan, seldom),
    LIBRARY(asinh, often),
    LIBRARY(acosh, often),
    LIBRARY(atanh, often),
    LIBRARY(erf, often),
    LIBRARY(erfc, often),
    LIBRARY(sqrt, often),
    {Pointwise::rsqrt, BY_MPFR(rec_sqrt), LONG(1 / std::sqrt(in.x)), often},
    {Pointwise::reciprocal, reciprocal, LONG(1 / in.x), often},
    {Pointwise::digamma, BY_MPFR(digamma), near_digamma, seldom},
    OURS(lgamma, seldom),
    OURS(i0, rarely),
    OURS(erfinv, rarely),
    OURS(gelu_erf, often),
    OURS(gelu_tanh, often),
    {Pointwise::gelu_erf_brief, gelu_erf, near_gelu_erf, often, Pointwise::gelu_erf},
    {Pointwise::gelu_tanh_brief, gelu_tanh, near_gelu_tanh, often, Pointwise::gelu_tanh},
    {Pointwise::gelu_erf_slope_brief, gelu_erf_slope, near_gelu_erf_slope, often,
     Pointwise::gelu_erf_slope_brief},
    {Pointwise::gelu_tanh_slope_brief, gelu_tanh_slope, near_gelu_tanh_slope, often,
     Pointwise::gelu_tanh_slope_brief},
    SHORT(log, often),
    SHORT(log2, often),
    SHORT(log10, often),
    SHORT(log1p, often),
    SHORT(expm1, often),
    SHORT(sin, often),
    SHORT(cos, often),
    SHORT(tanh, often),
    SHORT(erf, often),
    SHORT(asin, seldom),
    SHORT(acos, seldom),
    SHORT(atan, seldom),
    {Pointwise::rsqrt_short, BY_MPFR(rec_sqrt), LONG(1 / std::sqrt(in.x)), often, Pointwise::rsqrt},
    {Pointwise::sigmoid_short, sigmoid, near_sigmoid, often, Pointwise::sigmoid},
    {Pointwise::silu_short, silu, near_silu, often, Pointwise::silu},
    {Pointwise::gelu_tanh_short, gelu_tanh, near_gelu_tanh, often, Pointwise::gelu_tanh},
    {Pointwise::softplus_short, softplus, near_softplus, often, Pointwise::softplus},
    {Pointwise::pow_short, BY_MPFR_2(pow), LONG(std::pow(in.x, in.y)), seldom, Pointwise::pow},
    APPROXIMATE(exp, BY_MPFR(exp), LONG(std::exp(in.x))),
    APPROXIMATE(sqrt, BY_MPFR(sqrt), LONG(std::sqrt(in.x))),
    APPROXIMATE(rsqrt, BY_MPFR(rec_sqrt), LONG(1 / std::sqrt(in.x))),
    APPROXIMATE(reciprocal, reciprocal, LONG(1 / in.x)),
    APPROXIMATE(sigmoid, sigmoid, near_sigmoid),
    APPROXIMATE(silu, silu, near_silu),
    APPROXIMATE(tanh, BY_MPFR(tanh), LONG(std::tanh(in.x))),
    APPROXIMATE(gelu_erf, gelu_erf, near_gelu_erf),
    APPROXIMATE(gelu_tanh, gelu_tanh, near_gelu_tanh),
    APPROXIMATE_OF(exp_brief, exp, BY_MPFR(exp), LONG(std::exp(in.x))),
    APPROXIMATE_OF(sigmoid_brief, sigmoid, sigmoid, near_sigmoid),
    APPROXIMATE_OF(silu_brief, silu, silu, near_silu),
    APPROXIMATE_OF(tanh_brief, tanh, BY_MPFR(tanh), LONG(std::tanh(in.x))),
    APPROXIMATE_OF(gelu_tanh_brief, gelu_tanh, gelu_tanh, near_gelu_tanh),
    APPROXIMATE(div, BY_MPFR_2(div), LONG(in.x / in.y)),
    OURS(softplus, often),
    OURS(silu, often),
    OURS(sigmoid, often),
    {Pointwise::add, BY_MPFR_2(add), LONG(in.x + in.y), often},
    {Pointwise::sub, BY_MPFR_2(sub), LONG(in.x - in.y), often},
    {Pointwise::mul, BY_MPFR_2(mul), LONG(in.x* in.y), often},
    {Pointwise::div, BY_MPFR_2(div), LONG(in.x / in.y), often},
    LIBRARY_2(pow, seldom),
    LIBRARY_2(atan2, seldom),
    LIBRARY_2(hypot, often),
};

}  // namespace

std::span<const Reference> references() { return table; }

const Reference& reference_of(Pointwise op) {
  for (const Reference& row : table)
    if (row.op == op) return row;
  CHECK(false, "no reference for ", name(op));
  return table[0];
}

}  // namespace twinloom::ops::testing
