// Every elementary function stays within its bound in units of the last place, measured against MPFR over all
// exponents, subnormals included. Bounds are the column of pointwise.def.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "core/base/text.h"
#include "core/ops/pointwise.h"

namespace twinloom::ops {
namespace {

constexpr int precision = 160;

class Big {
 public:
  Big() { mpfr_init2(value_, precision); }
  explicit Big(double value) : Big() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

using Function = void (*)(mpfr_ptr result, mpfr_ptr x);
#define DIRECT(name) [](mpfr_ptr r, mpfr_ptr x) { mpfr_##name(r, x, MPFR_RNDN); }

// x * sigmoid(v).
void gate(mpfr_ptr r, mpfr_ptr x, mpfr_ptr v) {
  mpfr_neg(r, v, MPFR_RNDN);
  mpfr_exp(r, r, MPFR_RNDN);
  mpfr_add_ui(r, r, 1, MPFR_RNDN);
  mpfr_div(r, x, r, MPFR_RNDN);
}
void gelu_tanh(mpfr_ptr r, mpfr_ptr x) {
  Big v;
  Big scale;
  mpfr_sqr(v.get(), x, MPFR_RNDN);
  mpfr_mul_ui(v.get(), v.get(), 44715, MPFR_RNDN);
  mpfr_div_ui(v.get(), v.get(), 1000000, MPFR_RNDN);
  mpfr_add_ui(v.get(), v.get(), 1, MPFR_RNDN);
  mpfr_mul(v.get(), v.get(), x, MPFR_RNDN);
  mpfr_const_pi(scale.get(), MPFR_RNDN);
  mpfr_ui_div(scale.get(), 8, scale.get(), MPFR_RNDN);
  mpfr_sqrt(scale.get(), scale.get(), MPFR_RNDN);
  mpfr_mul(v.get(), v.get(), scale.get(), MPFR_RNDN);
  gate(r, x, v.get());
}
void gelu_erf(mpfr_ptr r, mpfr_ptr x) {
  Big root;
  mpfr_set_d(root.get(), 0.5, MPFR_RNDN);
  mpfr_sqrt(root.get(), root.get(), MPFR_RNDN);
  mpfr_mul(r, x, root.get(), MPFR_RNDN);
  mpfr_neg(r, r, MPFR_RNDN);
  mpfr_erfc(r, r, MPFR_RNDN);
  mpfr_mul(r, r, x, MPFR_RNDN);
  mpfr_div_2ui(r, r, 1, MPFR_RNDN);
}
void softplus(mpfr_ptr r, mpfr_ptr x) {
  if (mpfr_cmp_ui(x, 2000) > 0) {
    mpfr_set(r, x, MPFR_RNDN);
    return;
  }
  mpfr_exp(r, x, MPFR_RNDN);
  mpfr_log1p(r, r, MPFR_RNDN);
}
void lgamma(mpfr_ptr r, mpfr_ptr x) {
  int sign = 0;
  mpfr_lgamma(r, &sign, x, MPFR_RNDN);
}
void i0(mpfr_ptr r, mpfr_ptr x) {
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
    if (mpfr_get_exp(term.get()) < mpfr_get_exp(r) - precision) return;
  }
}
// Newton from the double's neighbourhood: erf(y) = x.
void erfinv(mpfr_ptr r, mpfr_ptr x) {
  Big over;
  Big slope;
  const double given = mpfr_get_d(x, MPFR_RNDN);
  if (std::fabs(given) >= 1) {
    if (std::fabs(given) == 1)
      mpfr_set_inf(r, given < 0 ? -1 : 1);
    else
      mpfr_set_nan(r);
    return;
  }
  const Number start = apply_wide(Pointwise::erfinv, DType::f64, std::array{Number(given)});
  mpfr_set_d(r, start.real(), MPFR_RNDN);
  for (int step = 0; step < 3; ++step) {
    mpfr_erf(over.get(), r, MPFR_RNDN);
    mpfr_sub(over.get(), over.get(), x, MPFR_RNDN);
    mpfr_sqr(slope.get(), r, MPFR_RNDN);
    mpfr_exp(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_mul(over.get(), over.get(), slope.get(), MPFR_RNDN);
    mpfr_const_pi(slope.get(), MPFR_RNDN);
    mpfr_sqrt(slope.get(), slope.get(), MPFR_RNDN);
    mpfr_mul(over.get(), over.get(), slope.get(), MPFR_RNDN);
    mpfr_div_2ui(over.get(), over.get(), 1, MPFR_RNDN);
    mpfr_sub(r, r, over.get(), MPFR_RNDN);
  }
}

const std::map<Pointwise, Function>& references() {
  static const std::map<Pointwise, Function> all = {
      {Pointwise::exp, DIRECT(exp)},
      {Pointwise::exp2, DIRECT(exp2)},
      {Pointwise::expm1, DIRECT(expm1)},
      {Pointwise::log, DIRECT(log)},
      {Pointwise::log2, DIRECT(log2)},
      {Pointwise::log10, DIRECT(log10)},
      {Pointwise::log1p, DIRECT(log1p)},
      {Pointwise::sin, DIRECT(sin)},
      {Pointwise::cos, DIRECT(cos)},
      {Pointwise::tan, DIRECT(tan)},
      {Pointwise::sinh, DIRECT(sinh)},
      {Pointwise::cosh, DIRECT(cosh)},
      {Pointwise::tanh, DIRECT(tanh)},
      {Pointwise::asin, DIRECT(asin)},
      {Pointwise::acos, DIRECT(acos)},
      {Pointwise::atan, DIRECT(atan)},
      {Pointwise::asinh, DIRECT(asinh)},
      {Pointwise::acosh, DIRECT(acosh)},
      {Pointwise::atanh, DIRECT(atanh)},
      {Pointwise::erf, DIRECT(erf)},
      {Pointwise::erfc, DIRECT(erfc)},
      {Pointwise::sqrt, DIRECT(sqrt)},
      {Pointwise::rsqrt, DIRECT(rec_sqrt)},
      {Pointwise::digamma, DIRECT(digamma)},
      {Pointwise::lgamma, lgamma},
      {Pointwise::i0, i0},
      {Pointwise::erfinv, erfinv},
      {Pointwise::gelu_erf, gelu_erf},
      {Pointwise::gelu_tanh, gelu_tanh},
      {Pointwise::gelu_erf_brief, gelu_erf},
      {Pointwise::gelu_tanh_brief, gelu_tanh},
      {Pointwise::softplus, softplus},
      {Pointwise::reciprocal, [](mpfr_ptr r, mpfr_ptr x) { mpfr_ui_div(r, 1, x, MPFR_RNDN); }},
      {Pointwise::silu, [](mpfr_ptr r, mpfr_ptr x) { gate(r, x, x); }},
      {Pointwise::sigmoid,
       [](mpfr_ptr r, mpfr_ptr x) {
         Big one(1.0);
         gate(r, one.get(), x);
       }},
  };
  return all;
}

// |got - want| in steps of the type at `want`, beyond the largest number as if it went on.
template <class Real>
double ulps(Real got, mpfr_ptr want) {
  constexpr int digits = std::numeric_limits<Real>::digits;
  constexpr int lowest = std::numeric_limits<Real>::min_exponent - digits;
  if (mpfr_nan_p(want) != 0) return std::isnan(got) ? 0 : HUGE_VAL;
  if (std::isnan(got)) return HUGE_VAL;
  if (mpfr_zero_p(want) != 0) return got == 0 ? 0 : HUGE_VAL;
  Big error(static_cast<double>(got));
  constexpr int top = std::numeric_limits<Real>::max_exponent;
  if (std::isinf(got)) {
    if (mpfr_inf_p(want) != 0) return (got > 0) == (mpfr_sgn(want) > 0) ? 0 : HUGE_VAL;
    mpfr_set_ui_2exp(error.get(), 1, top, MPFR_RNDN);
    if (got < 0) mpfr_neg(error.get(), error.get(), MPFR_RNDN);
    // Any number past the largest is as good as infinity.
    if (mpfr_cmpabs(want, error.get()) >= 0) return (got > 0) == (mpfr_sgn(want) > 0) ? 0 : HUGE_VAL;
  }
  if (mpfr_inf_p(want) != 0) return HUGE_VAL;
  const long exponent = std::max<long>(mpfr_get_exp(want) - digits, lowest);
  mpfr_sub(error.get(), error.get(), want, MPFR_RNDN);
  mpfr_mul_2si(error.get(), error.get(), -std::min<long>(exponent, top - digits), MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
}

// Roots where a bound relative to the result cannot hold, and a distance that is kept from them.
bool near_root(Pointwise op, double x) {
  if (op == Pointwise::lgamma && x < 0) return true;  // a root between any two poles
  if (op == Pointwise::digamma) return x < 0;         // likewise
  return false;
}
bool near_root(Pointwise op, double x, bool single) {
  if (!single) return near_root(op, x);
  if (op == Pointwise::lgamma && x < 0) {
    int sign = 0;
    return std::fabs(::lgamma_r(x, &sign)) < 0.01;
  }
  if (op == Pointwise::digamma) {
    return std::fabs(apply_wide(op, DType::f64, std::array{Number(x)}).real()) < 0.01;
  }
  return false;
}

template <class Real, class Bits>
std::vector<Real> sample(int count, std::mt19937_64& random) {
  std::vector<Real> all = {0,
                           Real(-0.0),
                           1,
                           -1,
                           std::numeric_limits<Real>::infinity(),
                           -std::numeric_limits<Real>::infinity(),
                           std::numeric_limits<Real>::denorm_min(),
                           -std::numeric_limits<Real>::denorm_min(),
                           std::numeric_limits<Real>::min(),
                           std::numeric_limits<Real>::max(),
                           std::numeric_limits<Real>::quiet_NaN()};
  std::uniform_real_distribution<double> exponent(-12, 8);
  std::uniform_real_distribution<double> part(-1, 1);
  for (int i = 0; i < count; ++i) {
    all.push_back(std::bit_cast<Real>(static_cast<Bits>(random())));
    all.push_back(static_cast<Real>(std::exp2(exponent(random)) * (part(random) < 0 ? -1 : 1)));
    all.push_back(static_cast<Real>(part(random) * 4));
  }
  return all;
}

template <class Real, class Bits>
void check_row(Pointwise op, DType dtype, int count) {
  std::mt19937_64 random(static_cast<std::uint64_t>(op) + 100);
  auto inputs = sample<Real, Bits>(count, random);
  // The series of i0 would need hundreds of terms where the result overflows anyway.
  if (op == Pointwise::i0) std::erase_if(inputs, [](Real x) { return std::fabs(x) > 800; });
  std::vector<Real> results(inputs.size());
  const void* pointer = inputs.data();
  apply_spelled(op, dtype, {&pointer, 1}, results.data(), static_cast<std::int64_t>(inputs.size()));
  const double bound = ulp_bound(op, dtype);
  const Function reference = references().at(op);
  double worst = 0;
  Real worst_input = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto x = static_cast<double>(inputs[i]);
    if (std::isnan(x)) {
      EXPECT_TRUE(std::isnan(results[i])) << name(op);
      continue;
    }
    if (!std::isfinite(x) || x == 0 || near_root(op, x, dtype == DType::f32)) continue;
    Big want;
    Big given(x);
    reference(want.get(), given.get());
    const double error = ulps(results[i], want.get());
    if (!(error <= worst)) {
      worst = error;
      worst_input = inputs[i];
    }
  }
  EXPECT_LE(worst, bound) << name(op) << " of " << name(dtype) << " at "
                          << print(Number(double{worst_input}));
  ::testing::Test::RecordProperty(cat(name(op), "_", name(dtype)), cat(worst));
}

class EveryFunction : public ::testing::TestWithParam<Pointwise> {};

TEST_P(EveryFunction, StaysWithinItsBoundInF32) {
  check_row<float, std::uint32_t>(GetParam(), DType::f32, 10000);
}
TEST_P(EveryFunction, StaysWithinItsBoundInF64) {
  check_row<double, std::uint64_t>(GetParam(), DType::f64, 2000);
}

INSTANTIATE_TEST_SUITE_P(Accuracy, EveryFunction, ::testing::ValuesIn([] {
                           std::vector<Pointwise> all;
                           for (const auto& [op, reference] : references()) all.push_back(op);
                           return all;
                         }()),
                         [](const auto& row) { return std::string(name(row.param)); });

// Every row of one real input whose bound is above zero has a reference here.
TEST(Accuracy, NoFunctionIsLeftOut) {
  for (const Pointwise op : all_pointwise()) {
    if (arity(op) != 1 || takes(op) != Takes::real || ulp_bound(op, DType::f32) == 0) continue;
    EXPECT_TRUE(references().contains(op)) << name(op);
  }
}

using Binary = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

template <class Real, class Bits>
void check_pairs(Pointwise op, DType dtype, Binary reference, bool positive) {
  std::mt19937_64 random(5);
  auto x = sample<Real, Bits>(4000, random);
  auto y = sample<Real, Bits>(4000, random);
  std::shuffle(y.begin(), y.end(), random);
  if (positive) {
    for (Real& value : x) value = std::fabs(value);
  }
  std::vector<Real> results(x.size());
  const std::array<const void*, 2> pointers = {x.data(), y.data()};
  apply_spelled(op, dtype, pointers, results.data(), static_cast<std::int64_t>(x.size()));
  for (std::size_t i = 0; i < x.size(); ++i) {
    Big want;
    Big a(x[i]);
    Big b(y[i]);
    reference(want.get(), a.get(), b.get(), MPFR_RNDN);
    ASSERT_LE(ulps(results[i], want.get()), ulp_bound(op, dtype))
        << name(op) << " of " << name(dtype) << " at " << x[i] << ", " << y[i] << ": " << results[i];
  }
}

TEST(Accuracy, FunctionsOfTwo) {
  check_pairs<float, std::uint32_t>(Pointwise::pow, DType::f32, mpfr_pow, true);
  check_pairs<double, std::uint64_t>(Pointwise::pow, DType::f64, mpfr_pow, true);
  check_pairs<float, std::uint32_t>(Pointwise::pow, DType::f32, mpfr_pow, false);
  check_pairs<float, std::uint32_t>(Pointwise::atan2, DType::f32, mpfr_atan2, false);
  check_pairs<double, std::uint64_t>(Pointwise::atan2, DType::f64, mpfr_atan2, false);
  check_pairs<float, std::uint32_t>(Pointwise::hypot, DType::f32, mpfr_hypot, false);
  check_pairs<double, std::uint64_t>(Pointwise::hypot, DType::f64, mpfr_hypot, false);
}

// f16 and bf16: the f32 function rounded once stays within 0.501 of the type's last place, a shorter one
// within 0.51.
TEST(Accuracy, HalvesAreRoundedOnce) {
  for (const auto& [op, reference] : references()) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const int digits = dtype == DType::f16 ? 11 : 8;
      const int lowest = dtype == DType::f16 ? -24 : -133;
      std::vector<std::uint16_t> inputs;
      for (unsigned bits = 0; bits < 65536; bits += 7) inputs.push_back(static_cast<std::uint16_t>(bits));
      std::vector<std::uint16_t> results(inputs.size());
      const void* pointer = inputs.data();
      apply_spelled(op, dtype, {&pointer, 1}, results.data(), static_cast<std::int64_t>(inputs.size()));
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const double x = load_number(dtype, &inputs[i]).real();
        const double got = load_number(dtype, &results[i]).real();
        const double limit = dtype == DType::f16 ? 65504 : 0x1.fep127;
        const double root = op == Pointwise::lgamma || op == Pointwise::digamma ? 0.01 : 0;
        if (!std::isfinite(x) || x == 0 || (op == Pointwise::i0 && std::fabs(x) > 800)) continue;
        Big want;
        Big given(x);
        reference(want.get(), given.get());
        const double exact = mpfr_get_d(want.get(), MPFR_RNDN);
        if (std::isnan(exact) || std::fabs(exact) > limit || std::fabs(exact) < root || exact == 0) continue;
        const int exponent = std::max(std::ilogb(exact) + 1 - digits, lowest);
        const bool brief = computed_for(op, dtype) != op || name(op).ends_with("_brief");
        ASSERT_LE(std::fabs(std::ldexp(got - exact, -exponent)), brief ? 0.51 : 0.501)
            << name(op) << " of " << name(dtype) << " at " << x;
      }
    }
  }
}

}  // namespace
}  // namespace twinloom::ops
