// What elementary functions are, twice: by MPFR, slowly and to 110 bits or more, and by the C library's long
// double, fast and to 60 bits or so. The second filters for the first: see judge.h.
#pragma once

#include <mpfr.h>

#include <optional>
#include <span>

#include "core/ops/pointwise.h"

namespace twinloom::ops::testing {

// A row of one input gets y = 0.
using Exact = void (*)(mpfr_ptr result, mpfr_srcptr x, mpfr_srcptr y);

// Of f64 inputs, and of what the function under test gave for them. Nothing: not known well enough.
struct Inputs {
  long double x, y;
  double got;
};
using Near = std::optional<long double> (*)(const Inputs& in);

struct Reference {
  Pointwise op;
  Exact exact;
  Near near;
  std::size_t every;  // one input in so many is asked of MPFR: the more seldom, the slower MPFR is
  // The row whose f64 filters for f32, where that is not the row itself.
  std::optional<Pointwise> full = {};
};

// A row for each row of the operator table with one or two inputs whose bound is above zero and that is no
// random number. What rounds once over three inputs, fma, has fixed points.
std::span<const Reference> references();
const Reference& reference_of(Pointwise op);

std::optional<long double> near_digamma(const Inputs& in);
std::optional<long double> near_erfinv(const Inputs& in);
std::optional<long double> near_gelu_erf(const Inputs& in);
std::optional<long double> near_gelu_erf_slope(const Inputs& in);
std::optional<long double> near_gelu_tanh(const Inputs& in);
std::optional<long double> near_gelu_tanh_slope(const Inputs& in);
std::optional<long double> near_i0(const Inputs& in);
std::optional<long double> near_lgamma(const Inputs& in);
std::optional<long double> near_sigmoid(const Inputs& in);
std::optional<long double> near_silu(const Inputs& in);
std::optional<long double> near_softplus(const Inputs& in);

}  // namespace twinloom::ops::testing
