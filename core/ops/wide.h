// Elementary functions in double that the C library does not have, for the `wide` arithmetic and as a
// reference in tests; written apart from the device header's.
#pragma once

namespace twinloom::ops::wide {

double rsqrt(double x);
double sigmoid(double x);
double silu(double x);
double gelu_erf(double x);
double gelu_erf_slope(double x);
double gelu_tanh(double x);
double gelu_tanh_slope(double x);
double softplus(double x);
double lgamma(double x);
double digamma(double x);
double erfinv(double x);
double i0(double x);

}  // namespace twinloom::ops::wide
