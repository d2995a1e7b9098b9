#!/usr/bin/env python3
"""Writes polynomials.h, short_polynomials.h, special_polynomials.h and approximate_polynomials.h of core/ops/device: what the
functions there are made of.

Method: for each function a table row gives what is approximated, the interval, the degree for f32 and
f64, and a weight. Values come from mpmath with 100 digits. The coefficients are the weighted least squares
fit at Chebyshev nodes (close to minimax for such smooth functions); the lowest coefficient is rounded to
the type first, then the rest is fitted again with it held fixed, and so on, so that rounding one
coefficient is made good by the others. Quotients are fitted the same way, as over - function * under with the weight divided
by the last under, where nodes that are off most weigh more from step to step (Lawson). Run without arguments; needs mpmath
(pip install mpmath).
"""
import pathlib

import mpmath
from mpmath import mp, mpf

mp.dps = 100
FOLDER = pathlib.Path(__file__).resolve().parents[2] / "core/ops/device"


def rounded(value, bits):
    if value == 0:
        return mpf(0)
    mantissa, exponent = mpmath.frexp(value)
    return mpmath.ldexp(mpmath.nint(mpmath.ldexp(mantissa, bits)), int(exponent) - bits)


def fit(function, low, high, degree, bits, weight):
    """Coefficients, lowest first, each a number of the type with so many bits."""
    count = 3 * (degree + 2)
    low, high = mpf(low), mpf(high)
    nodes = [(low + high) / 2 + (high - low) / 2 * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    rest = [function(x) for x in nodes]
    weights = [weight(x) for x in nodes]
    coefficients = []
    for fixed in range(degree + 1):
        rows = mpmath.matrix(count, degree + 1 - fixed)
        right = mpmath.matrix(count, 1)
        for i, x in enumerate(nodes):
            power = weights[i] * x**fixed
            for j in range(degree + 1 - fixed):
                rows[i, j] = power
                power *= x
            right[i] = rest[i] * weights[i]
        coefficient = rounded(mpmath.lu_solve(rows, right)[0], bits)
        coefficients.append(coefficient)
        rest = [value - coefficient * x**fixed for value, x in zip(rest, nodes)]
    error = max(abs(value * w) for value, w in zip(rest, weights))
    return coefficients, error


def fit_quotient(row):
    """Coefficients of over and under, lowest first: function(x) = over(x) / (1 + x under(x)), or with a first
    (first + x over(x)) / (1 + x under(x))."""
    _, _, function, high, middle, over, under, first, weight = row
    count, end = 80, (mpf(high) - middle) / (mpf(high) + middle)
    flat = [(end - 1) / 2 + (end + 1) / 2 * mpmath.cos(mp.pi * (2 * i + 1) / (2 * count)) for i in range(count)]
    nodes = [middle * (1 + t) / (1 - t) for t in flat]
    values = [function(x) for x in nodes]
    lift = 0 if first is None else 1
    names = [name for i in range(max(over, under)) for name in (("under", i), ("over", i)) if i < {"under": under, "over": over}[name[0]]]

    def factor(name, x, value):
        return x ** (name[1] + lift) if name[0] == "over" else -value * x ** (name[1] + 1)

    def denominator(known, x):
        return 1 + sum(known["under", i] * x ** (i + 1) for i in range(under))

    def off(known, x, value):
        above = sum(known["over", i] * x ** (i + lift) for i in range(over)) + (first or 0)
        return (above / denominator(known, x) - value) * weight(x)

    more, last = [mpf(1)] * count, [mpf(1)] * count

    def solve(fixed):
        free = [name for name in names if name not in fixed]
        rows, right = mpmath.matrix(count, max(1, len(free))), mpmath.matrix(count, 1)
        for i, (x, value) in enumerate(zip(nodes, values)):
            scale = more[i] * weight(x) / last[i]
            for j, name in enumerate(free):
                rows[i, j] = factor(name, x, value) * scale
            right[i] = (value - (first or 0) - sum(factor(name, x, value) * known for name, known in fixed.items())) * scale
        known = dict(zip(free, mpmath.lu_solve(rows, right))) if free else {}
        return {**known, **fixed}

    for step in range(14):
        known = solve({})
        last = [denominator(known, x) for x in nodes]
        errors = [abs(off(known, x, value)) for x, value in zip(nodes, values)]
        if step > 3:
            more = [m * mpmath.sqrt(mpf("0.3") + error / max(errors)) for m, error in zip(more, errors)]
    fixed = {}
    for name in names:
        for _ in range(3):
            known = solve(fixed)
            last = [denominator(known, x) for x in nodes]
        fixed[name] = rounded(known[name], 24)
    error = max(abs(off(fixed, x, value)) for x, value in zip(nodes, values))
    return [fixed["over", i] for i in range(over)], [fixed["under", i] for i in range(under)], error


def safe(function, at_zero):
    return lambda x: at_zero if x == 0 else function(x)


def sqrt_form(function):
    """Of z = x*x."""
    return lambda z: function(mpmath.sqrt(z))


def erfcx(x):
    return mpmath.exp(x * x) * mpmath.erfc(x)


def mills(a):
    """exp(a^2 / 2) (1 - normal distribution(a))."""
    return erfcx(a / mpmath.sqrt(2)) / 2


def normal_root(a):
    return mpmath.root(mpmath.erfc(a / mpmath.sqrt(2)) / 2, 32)


def normal_root_weight(a):
    """What an error makes of the 32nd power, relative to it; a sixth of that where a times the power is below 2^-20 and f16 has
    only subnormal numbers, which falls from 2^-14 on."""
    root = normal_root(a)
    below = -14 - mpmath.log(max(a, mpf(0.001)) * root**32, 2)
    return 32 / root * mpf(6) ** -min(1, max(0, below / 6))


def normal_density(a):
    return mpmath.exp(-a * a / 2) / mpmath.sqrt(2 * mp.pi)


def gelu_slope_of_minus(a):
    return mpmath.erfc(a / mpmath.sqrt(2)) / 2 - a * normal_density(a)


GELU_SLOPE_ROOT = mpmath.findroot(gelu_slope_of_minus, 0.75)


def gelu_slope_root(a):
    off = GELU_SLOPE_ROOT - a
    flat = normal_density(a) * (2 - a * a)  # the slope of the slope, where both are nearly 0
    return mpmath.root(flat if abs(off) < mpf(10) ** -30 else gelu_slope_of_minus(a) / off, 32)


def of_ratio(function, middle):
    """Of t = (a - middle) / (a + middle), a >= 0."""
    return lambda t: function(middle * (1 + t) / (1 - t))


def stirling_rest(w):
    x = 1 / mpmath.sqrt(w)
    return (mpmath.loggamma(x) - (x - mpf(1) / 2) * mpmath.log(x) + x - mpmath.log(2 * mp.pi) / 2) * x


def digamma_rest(w):
    x = 1 / mpmath.sqrt(w)
    return (mpmath.log(x) - 1 / (2 * x) - mpmath.digamma(x)) / w


def bessel_tail(u):
    x = 1 / u
    return mpmath.sqrt(x) * mpmath.exp(-x) * mpmath.besseli(0, x)


def lgamma_middle(u):
    x = u + 2
    if x == 1:
        return mp.euler
    if x == 2:
        return 1 - mp.euler
    return mpmath.loggamma(x) / ((x - 1) * (x - 2))


def sin_bend(r):
    """A little more than it is, so that no sine is above 1."""
    return (1 + mpf(2)**-26) * (r - mpmath.sin(r)) / r**3


one = lambda x: mpf(1)
i0_slope = sqrt_form(lambda x: mpmath.besseli(1, x) / (2 * x))
DIGAMMA_ROOT = mpmath.findroot(mpmath.digamma, mpf("1.46"))
# The two lowest coefficients of erf(x)/x - 1 in x^2, as f32.
ERF_FIRST = mpf(float.fromhex("0x1.06eba80000000p-3"))
ERF_SECOND = mpf(float.fromhex("-0x1.8127460000000p-2"))
# name, what the variable is, function, low, high, degree of f32 (or None), degree of f64 (or None), weight
ELEMENTARY = [
    ("exp_rest", "(exp(r) - 1 - r) / r^2 of r", lambda r: (mpmath.exp(r) - 1 - r) / r**2, -0.3467, 0.3467, 4, 9,
     lambda r: r**2),
    ("expm1_rest", "the same, of one degree more for f32", lambda r: (mpmath.exp(r) - 1 - r) / r**2, -0.3467, 0.3467, 5, 10,
     lambda r: r**2),
    ("exp2_slope", "(2^r - 1) / r of r", safe(lambda r: (mpmath.mpf(2)**r - 1) / r, mpmath.log(2)), -0.5, 0.5, 4, None,
     lambda r: r),
    ("log_rest", "(log(1 + f) - f + f^2/2) / f^3 of f", lambda f: (mpmath.log1p(f) - f + f**2 / 2) / f**3,
     -0.29290, 0.41422, 7, None, lambda f: f * f),
    ("atanh_rest", "(atanh(s) - s) / s^3 of z = s^2", sqrt_form(lambda s: (mpmath.atanh(s) - s) / s**3),
     1e-12, 0.029438, None, 7, lambda z: z),
    ("atanh_far_rest", "(atanh(s) - s - s^3/3) / s^5 of z = s^2",
     sqrt_form(lambda s: (mpmath.atanh(s) - s - s**3 / 3) / s**5), 1e-10, 0.029438, None, 8, lambda z: z**2),
    ("sin_rest", "(sin(r) - r) / r^3 of z = r^2", sqrt_form(lambda r: (mpmath.sin(r) - r) / r**3), 1e-12, 0.6169, 2, 5,
     lambda z: z),
    ("cos_rest", "(cos(r) - 1 + r^2/2) / r^4 of z = r^2",
     sqrt_form(lambda r: (mpmath.cos(r) - 1 + r * r / 2) / r**4), 1e-9, 0.6169, None, 5, lambda z: z * z),
    ("cos_slope", "(cos(r) - 1) / r^2 of z = r^2", sqrt_form(lambda r: (mpmath.cos(r) - 1) / r**2), 1e-12, 0.618, 3,
     None, lambda z: z),
    ("tanh_rest", "(tanh(x) - x) / x^3 of z = x^2", sqrt_form(lambda x: (mpmath.tanh(x) - x) / x**3), 1e-12, 1.0, 7, None,
     lambda z: z),
    ("atan_rest", "(atan(t) - t) / t^3 of z = t^2", sqrt_form(lambda t: (mpmath.atan(t) - t) / t**3), 1e-12, 0.3165,
     None, 14, lambda z: z),
    ("asin_rest", "(asin(t) - t) / t^3 of z = t^2", sqrt_form(lambda t: (mpmath.asin(t) - t) / t**3), 1e-12, 0.25, None,
     12, lambda z: z),
]
SHORT = [
    ("short_log_bend", "(log(1 + f) - f) / f^2 of f", lambda f: (mpmath.log1p(f) - f) / f**2, -0.29290, 0.41422, 7, None,
     lambda f: f),
    ("short_log1p_bend", "the same for f from 0 to 1", lambda f: (mpmath.log1p(f) - f) / f**2, 1e-12, 1, 8, None,
     lambda f: f * f / mpmath.log1p(f)),
    ("short_erf_rest", "erf(x) / x - 1 of z = x^2", sqrt_form(lambda x: mpmath.erf(x) / x - 1), 1e-20, 1.0, 6, None, one),
    ("short_erfc_slope", "log2(erfc(a)) / a of a", lambda a: mpmath.log(mpmath.erfc(a), 2) / a, 0.99, 4.0, 5, None,
     lambda a: a * mpmath.erfc(a) * mpmath.log(2)),
    ("short_tanh_rest", "(tanh(x) - x) / x^3 of z = x^2", sqrt_form(lambda x: (mpmath.tanh(x) - x) / x**3), 1e-12, 0.4226,
     4, None, lambda z: z),
    ("short_asin_rest", "(asin(t) - t) / t^3 of z = t^2", sqrt_form(lambda t: (mpmath.asin(t) - t) / t**3), 1e-12, 0.29275, 4,
     None, lambda z: z),
    ("short_atan_rest", "(atan(t) - t) / t^3 of z = t^2", sqrt_form(lambda t: (mpmath.atan(t) - t) / t**3), 1e-12, 1.0, 8,
     None, lambda z: z),
    ("short_atanh_far_rest", "(atanh(s) - s - s^3/3) / s^5 of z = s^2",
     sqrt_form(lambda s: (mpmath.atanh(s) - s - s**3 / 3) / s**5), 1e-10, 0.029438, 2, None, lambda z: z**2),
    ("short_sin_bend", "(r - sin(r)) / r^3 of -r^2", lambda y: sin_bend(mpmath.sqrt(-y)), -2.5, -1e-12, 3, None,
     lambda y: mpmath.sqrt(-y)**3 / mpmath.sin(mpmath.sqrt(-y))),
    ("short_exp2_slope", "(2^r - 1) / r of r", safe(lambda r: (mpmath.mpf(2)**r - 1) / r, mpmath.log(2)), -0.5, 0.5, 5,
     None, lambda r: r * mpf(2)**-r),
]
SPECIAL = [
    ("erf_rest", "erf(x) / x - 1 of z = x^2", sqrt_form(lambda x: mpmath.erf(x) / x - 1), 1e-20, 1.0, None, 14, one),
    ("erf_bend", "((erf(x)/x - 1 - first) / z - second) / z of z = x^2; first and second as in special.h",
     sqrt_form(lambda x: ((mpmath.erf(x) / x - 1 - ERF_FIRST) / x**2 - ERF_SECOND) / x**2), 1e-20, 1.0, 6, None,
     lambda z: z * z),
    ("erfc_slope", "-log(erfc(a)) / a of a", lambda a: -mpmath.log(mpmath.erfc(a)) / a, 0.99, 4.0, 8, None,
     lambda a: a * mpmath.erfc(a)),
    ("erfcx_flat", "(a + 9/16) exp(a^2) erfc(a) of (a - 4) / (a + 4)",
     of_ratio(lambda a: (a + mpf(9) / 16) * erfcx(a), 4), -1, 0.752, None, 24, one),
    ("normal_flat", "(a + 51/64) exp(a^2 / 2) (1 - normal distribution(a)) of (a - 4) / (a + 4)",
     of_ratio(lambda a: (a + mpf(51) / 64) * mills(a), 4), -1, 0.58, 10, None, one),
    ("normal_root", "(1 - normal distribution(a))^(1/32) of a - 4", lambda t: normal_root(t + 4), -4, 10.375, 13, None,
     lambda t: normal_root_weight(t + 4)),
    ("gelu_slope_root", "((normal distribution(-a) - a density(a)) / (root - a))^(1/32) of a - 4, root 0.7518 where that is 0",
     lambda t: gelu_slope_root(t + 4), -4, 10.625, 13, None, lambda t: normal_root_weight(t + 4)),
    ("lgamma_middle", "lgamma(x) / ((x - 1)(x - 2)) of x - 2", lgamma_middle, -1, 1, None, 27, one),
    ("digamma_middle", "digamma(x) / (x - root) of x - 2",
     lambda u: mpmath.digamma(u + 2) / (u + 2 - DIGAMMA_ROOT), -1, 1, None, 27, one),
    ("stirling_rest", "x times the rest of Stirling's formula, of 1 / x^2", stirling_rest, 1e-14, 0.015625, None, 7, one),
    ("digamma_rest", "x^2 (log(x) - 1/(2x) - digamma(x)) of 1 / x^2", digamma_rest, 1e-10, 0.01, None, 7, one),
    ("i0_near", "I0(x) of x^2", sqrt_form(lambda x: mpmath.besseli(0, x)), 0, 64, None, 19,
     sqrt_form(lambda x: 1 / mpmath.besseli(0, x))),
    ("i0_slope", "I0'(x) / (2 x) of x^2: the derivative of i0_near", i0_slope, 1e-10, 64, None, 4, lambda z: 1 / i0_slope(z)),
    ("i0_far", "sqrt(x) exp(-x) I0(x) of 1 / x", bessel_tail, 0.00125, 0.125, None, 23, lambda u: 1 / bessel_tail(u)),
]
APPROXIMATE = [
    ("approximate_exp_slope", "(exp(r) - 1) / r of r", safe(lambda r: mpmath.expm1(r) / r, mpf(1)), -0.3467, 0.3467, 4, None,
     lambda r: r * mpmath.exp(-r)),
    ("brief_exp2_slope", "(2^r - 1) / r of r, for results of 16 bits", safe(lambda r: (mpmath.mpf(2)**r - 1) / r, mpmath.log(2)),
     -0.5, 0.5, 2, None, lambda r: r * mpf(2)**-r),
]
ROOT_OF_TWICE_PI = rounded(mpmath.sqrt(2 * mp.pi), 24)
# name, what it is, function, high, middle of the nodes, coefficients over and under, first (or None), weight
QUOTIENTS = [
    ("normal_bend", "over / (1 + a under) = (1 / m - 2) / a - sqrt(2 pi), m = exp(a^2 / 2) (1 - normal distribution(a))",
     lambda a: (1 / mills(a) - 2) / a - ROOT_OF_TWICE_PI, 14.5, 2, 4, 4, None, lambda a: a * mills(a)),
    ("brief_tanh", "(1 + z over) / (1 + z under) = tanh(x) / x, z = x^2, for results of 16 bits",
     sqrt_form(lambda x: mpmath.tanh(x) / x), 81.4, 4, 3, 3, 1, sqrt_form(lambda x: x / mpmath.tanh(x))),
]

HEAD = """// Polynomials of {what}, by tools/coefficients/fit.py
// (method and weights are there): least squares at Chebyshev nodes, each coefficient rounded in turn. Beside
// each: the largest weighted error before the arithmetic's own rounding.
#pragma once

#include "vector.h"

namespace twinloom::device {{
"""


def literal(value, bits):
    return (float(value)).hex() + ("f" if bits == 24 else "")


def horner(coefficients, bits, error, indent):
    lines = [f"// 2^{float(mpmath.log(error, 2)):.1f}", f"Real y({literal(coefficients[-1], bits)});"]
    for coefficient in reversed(coefficients[:-1]):
        lines.append(f"y = fma(y, x, Real({literal(coefficient, bits)}));")
    lines.append("return y;")
    return "".join(f"{indent}{line}\n" for line in lines)


def body(row, bits, degree, indent):
    _, _, function, low, high, _, _, weight = row
    coefficients, error = fit(function, low, high, degree, bits, weight)
    print(f"{row[0]:16s} {bits} bits, degree {degree}: error 2^{float(mpmath.log(error, 2)):.1f}")
    return horner(coefficients, bits, error, indent)


def function_head(name, words):
    return f"\n// {words}.\ntemplate <class Real>\nTWINLOOM_INLINE Real {name}(Real x) {{\n"


def function_text(row):
    name, words, _, _, _, single, double, _ = row
    text = function_head(name, words)
    if single is not None and double is not None:
        text += "  if constexpr (same<Element<Real>, f32>) {\n" + body(row, 24, single, "    ")
        text += "  } else {\n" + body(row, 53, double, "    ") + "  }\n"
    else:
        text += body(row, 24 if single is not None else 53, single if single is not None else double, "  ")
    return text + "}\n"


def quotient_text(row):
    over, under, error = fit_quotient(row)
    print(f"{row[0]:16s} quotient: error 2^{float(mpmath.log(error, 2)):.1f}")
    name = row[0]
    return (function_head(f"{name}_over", row[1]) + horner(over, 24, error, "  ") + "}\n" +
            function_head(f"{name}_under", f"see {name}_over") + horner(under, 24, error, "  ") + "}\n")


def write(file, what, table, quotients=()):
    text = HEAD.format(what=what) + "".join(function_text(row) for row in table)
    text += "".join(quotient_text(row) for row in quotients)
    (FOLDER / file).write_text(text + "\n}  // namespace twinloom::device\n")


write("polynomials.h", "the elementary functions", ELEMENTARY)
write("short_polynomials.h", "the shorter forms of f32", SHORT)
write("special_polynomials.h", "erf, lgamma, digamma and i0", SPECIAL)
write("approximate_polynomials.h", "the approximate forms of f32", APPROXIMATE, QUOTIENTS)
