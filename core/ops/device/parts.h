// Numbers in two parts, for the steps of f64 in which one rounding more would cost the bound. The second part
// is far smaller than the first, which need not be the sum rounded.
#pragma once

#include "vector.h"

namespace twinloom::device {

template <class Real>
struct TwoPart {
  Real high, low;
};

// a + b, all of it.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> sum_of(Real a, Real b) {
  const Real high = a + b;
  const Real back = high - a;
  return {high, (a - (high - back)) + (b - back)};
}
// a * b, all of it.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> product_of(Real a, Real b) {
  const Real high = a * b;
  return {high, fma(a, b, -high)};
}
template <class Real>
TWINLOOM_INLINE TwoPart<Real> product_of(TwoPart<Real> a, Real b) {
  const auto [high, low] = product_of(a.high, b);
  return {high, fma(a.low, b, low)};
}
template <class Real>
TWINLOOM_INLINE TwoPart<Real> plus(TwoPart<Real> a, Real b) {
  const auto [high, low] = sum_of(a.high, b);
  return {high, low + a.low};
}
// Of an `under` whose reciprocal is a normal number. The first part may be off in its last places.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> quotient_of(TwoPart<Real> over, TwoPart<Real> under) {
  const Real inverse = Real(Element<Real>(1)) / under.high;
  const Real high = over.high * inverse;
  const Real residue = fma(-high, under.high, over.high) + fma(-high, under.low, over.low);
  return {high, residue * inverse};
}
// The same number with the sum rounded first.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> normalized(TwoPart<Real> parts) {
  return sum_of(parts.high, parts.low);
}
template <class Real>
TWINLOOM_INLINE Real rounded_sum(TwoPart<Real> parts) {
  return parts.high + parts.low;
}

}  // namespace twinloom::device
