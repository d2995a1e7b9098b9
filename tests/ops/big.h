// A number of MPFR with 120 bits, which is freed with its scope.
#pragma once

#include <mpfr.h>

namespace twinloom::ops::testing {

class Big {
 public:
  static constexpr int precision = 120;
  Big() { mpfr_init2(value_, precision); }
  explicit Big(double value) : Big() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Big(const Big&) = delete;
  Big& operator=(const Big&) = delete;
  ~Big() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

}  // namespace twinloom::ops::testing
