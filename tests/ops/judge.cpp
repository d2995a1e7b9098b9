// See judge.h.
#include "tests/ops/judge.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "core/base/text.h"
#include "tests/ops/big.h"

namespace twinloom::ops::testing {

namespace {

// The e of a number in [2^(e-1), 2^e), as MPFR counts; of a subnormal or zero, something below all others.
int exponent_of(double value) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(value) >> 52) & 0x7ff) - 1022;
}
int exponent_of(long double value) {
  std::uint16_t sign_and_exponent = 0;
  std::memcpy(&sign_and_exponent, reinterpret_cast<const char*>(&value) + 8, 2);
  return (sign_and_exponent & 0x7fff) - 16382;
}

// 2^-e for every exponent of a last place.
constexpr int lowest_place = -1074, places = 1074 + 1024;
const std::array<long double, places>& inverse_places() {
  static const std::array<long double, places> all = [] {
    std::array<long double, places> powers{};
    for (int i = 0; i < places; ++i)
      powers[static_cast<std::size_t>(i)] = std::ldexp(1.0L, -(lowest_place + i));
    return powers;
  }();
  return all;
}

template <class Wide>
double ulps_of(Format format, double got, Wide want) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : HUGE_VAL;
  if (std::signbit(got) != std::signbit(want)) return got == 0 && want == 0 ? 0 : HUGE_VAL;
  long double given = got;
  if (std::isinf(got)) {
    given = std::copysign(std::ldexp(1.0L, format.top), given);
    if (std::fabs(want) >= std::fabs(given)) return 0;
  }
  if (std::isinf(want)) return HUGE_VAL;
  if (want == 0) return got == 0 ? 0 : HUGE_VAL;
  constexpr Wide nearer = 1 - (sizeof(Wide) == sizeof(double) ? Wide(0x1p-44) : Wide(0x1p-56));
  const int place =
      std::clamp(exponent_of(want * nearer) - format.digits, format.lowest(), format.top - format.digits);
  const long double inverse = inverse_places()[static_cast<std::size_t>(place - lowest_place)];
  return static_cast<double>(std::fabs(given - want) * inverse);
}

}  // namespace

Format format_of(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return {11, 16};
    case DType::bf16:
      return {8, 128};
    case DType::f32:
      return {24, 128};
    default:
      return {53, 1024};
  }
}

double ulps(Format format, double got, double want) { return ulps_of(format, got, want); }
double ulps(Format format, double got, long double want) { return ulps_of(format, got, want); }

double ulps(Format format, double got, mpfr_srcptr want) {
  if (mpfr_nan_p(want) != 0 || std::isnan(got))
    return mpfr_nan_p(want) != 0 && std::isnan(got) ? 0 : HUGE_VAL;
  if (mpfr_zero_p(want) != 0) return got == 0 ? 0 : HUGE_VAL;
  if (std::signbit(got) != (mpfr_sgn(want) < 0)) return HUGE_VAL;
  Big error(got);
  if (std::isinf(got)) {
    mpfr_set_si_2exp(error.get(), got < 0 ? -1 : 1, format.top, MPFR_RNDN);
    if (mpfr_cmpabs(want, error.get()) >= 0) return 0;
  }
  if (mpfr_inf_p(want) != 0) return HUGE_VAL;
  const long place =
      std::clamp<long>(mpfr_get_exp(want) - format.digits, format.lowest(), format.top - format.digits);
  mpfr_sub(error.get(), error.get(), want, MPFR_RNDN);
  mpfr_mul_2si(error.get(), error.get(), -place, MPFR_RNDN);
  return std::fabs(mpfr_get_d(error.get(), MPFR_RNDN));
}

bool is_near_root(Pointwise op, DType computed, double x, double result) {
  const bool is_small = std::fabs(result) < 0.01, is_slope_of_tanh = op == Pointwise::gelu_tanh_slope_brief;
  if (is_slope_of_tanh || (op == Pointwise::gelu_erf_slope_brief && computed == DType::f64))
    return x > -0.8 && x < -0.7 && is_small;
  if (op != Pointwise::lgamma && op != Pointwise::digamma) return false;
  if (computed == DType::f64) return x < 0;
  return (x < 0 || op == Pointwise::digamma) && is_small;
}

Judge::Judge(Pointwise op, DType dtype, DType computed, double bound)
    : reference_(reference_of(op)),
      dtype_(dtype),
      computed_(computed),
      format_(format_of(dtype)),
      bound_(bound),
      margin_(dtype == DType::f64 ? 0x1p-4 : 0x1p-10) {}

double Judge::exactly(const Judged& element) const {
  Big want;
  Big x(element.x);
  Big y(element.y);
  reference_.exact(want.get(), x.get(), y.get());
  return ulps(format_, element.got, want.get());
}

void Judge::add(const Judged& element, double filtered, bool checked) {
  decide(element, filtered, ulps(format_, element.got, filtered), checked);
}
void Judge::add(const Judged& element, std::optional<long double> filtered, bool checked) {
  if (filtered)
    decide(element, static_cast<double>(*filtered), ulps(format_, element.got, *filtered), checked);
  else
    decide(element, element.got, HUGE_VAL, checked);
}

void Judge::decide(const Judged& element, double filtered, double error, bool checked) {
  constexpr std::int64_t enough = 1000;  // inputs beyond the bound: what is this wrong need not be judged on
  if (exceeded_ > enough) return;
  if (element.x == 0 || std::isinf(element.x) || std::isinf(element.y)) return;
  if (is_near_root(reference_.op, computed_, element.x, filtered)) return;
  if (checked || !(error <= certain())) {
    const double exact = exactly(element);
    ++verdict_.by_mpfr;
    if (checked && error < 1e6) {
      verdict_.filter_error = std::max(verdict_.filter_error, exact - error);
      ++verdict_.checked;
    }
    error = exact;
    if (!(error <= bound_)) ++exceeded_;
  }
  if (!(error <= verdict_.worst.ulps)) verdict_.worst = {error, element};
}

std::optional<std::string> Judge::complaint() const {
  const auto& [worst, filter_error, by_mpfr, checked] = verdict_;
  if (!(worst.ulps <= bound_)) {
    return cat(name(reference_.op), " of ", name(dtype_), " at ", print(Number(worst.at.x)), ", ",
               print(Number(worst.at.y)), " gives ", print(Number(worst.at.got)), ", off by ", worst.ulps,
               " ulp of ", bound_);
  }
  if (filter_error > margin_ / 2) {
    return cat("the filter of ", name(reference_.op), " of ", name(dtype_), " errs by ", filter_error,
               " ulp; the margin is ", margin_);
  }
  return std::nullopt;
}

}  // namespace twinloom::ops::testing
