// How far results are from the true value, in units of the last place (ulp) of their type at the true value;
// beyond its largest number the type is taken to go on, so that infinity is right for what rounds to 2^top.
//
// MPFR takes microseconds a value, so a fast function filters for it: of f32 our own in f64, of f64 the C
// library's in long double. Where the filter says that a result is off by e, it is off by at most
//   e + filter_error ulp,
// so a result may pass unseen by MPFR when e <= bound - margin, provided filter_error < margin; all others
// MPFR decides. For f32 the margin is 2^-10: a filter within 12 ulp of f64, which the test of f64 shows, errs
// by 2^-25 ulp of f32. For f64 it is 2^-4: long double has 11 bits more, so it holds for a library that errs
// by less than 128 of its ulp; those that are used err by less than 10. A filtered value that is no more
// above a power of two than it may err is measured in the steps below that power, which are half as large.
// That this is so is measured: one input in `every` goes to MPFR whatever the filter says, whose e may then
// be no more than half a margin too small. These are spread over all kinds of inputs, so a range in which the
// filter were wrong would be noticed if it held but one input in ten thousand.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "tests/ops/references.h"

namespace twinloom::ops::testing {

struct Format {
  int digits, top;                                 // of the significand; all numbers are below 2^top
  int lowest() const { return 3 - top - digits; }  // exponent of the smallest number
};
Format format_of(DType dtype);

// Nothing is known of a NaN or a sign that is wrong but that it is HUGE_VAL away.
double ulps(Format format, double got, mpfr_srcptr want);
double ulps(Format format, double got, double want);
double ulps(Format format, double got, long double want);

// Where a bound relative to the result does not hold: between the poles of lgamma and digamma, of f32 only
// near the roots, where the result is below 0.01; near the root of a gelu's slope.
bool is_near_root(Pointwise op, DType computed, double x, double result);

// One element of what is judged.
struct Judged {
  double x, y, got;
};
struct Worst {
  double ulps = 0;
  Judged at = {};
};
struct Verdict {
  Worst worst;
  double filter_error = 0;   // by how much the filter's error was too small, in ulp
  std::int64_t by_mpfr = 0;  // inputs that MPFR decided
  std::int64_t checked = 0;  // inputs on which the filter was compared with MPFR
};

// Zeros and infinities are left out: what they give is a matter of definition, which the edge cases test.
class Judge {
 public:
  // Of results of the type `dtype` of an operator computed in `computed` (f32 or f64).
  Judge(Pointwise op, DType dtype, DType computed, double bound);
  // `checked`: MPFR is asked as well, and compared with the filter.
  void add(const Judged& element, double filtered, bool checked);
  void add(const Judged& element, std::optional<long double> filtered, bool checked);
  // What may pass unseen by MPFR.
  double certain() const { return bound_ - margin_; }
  const Verdict& verdict() const { return verdict_; }
  // Nothing when the bound holds and the filter is as good as it must be; else in words.
  std::optional<std::string> complaint() const;

 private:
  void decide(const Judged& element, double filtered, double error, bool checked);
  double exactly(const Judged& element) const;

  const Reference& reference_;
  DType dtype_, computed_;
  Format format_;
  double bound_, margin_;
  std::int64_t exceeded_ = 0;
  Verdict verdict_;
};

}  // namespace twinloom::ops::testing
