// Exponentials and logarithms of f32 and f64, and what is made of them. One text serves both types; only
// the polynomials and constants differ. Each rounds to within the bounds of the operator table, with
// subnormals, infinities and NaN.
//   exp(x) = 2^k * exp(r), r = x - k * ln 2 with |r| <= ln(2) / 2
//   log(x) = k * ln 2 + log(m), m in [sqrt(1/2), sqrt(2))
#pragma once

#include "arithmetic.h"
#include "parts.h"
#include "polynomials.h"

namespace twinloom::device {

// A constant of the type.
template <class Real>
TWINLOOM_INLINE Real pick(f32 single, f64 twice) {
  if constexpr (same<Element<Real>, f32>)
    return Real(single);
  else
    return Real(twice);
}
template <class Real>
TWINLOOM_INLINE Unsigned<Real> pick_bits(u32 single, u64 twice) {
  if constexpr (same<Element<Real>, f32>)
    return Unsigned<Real>(single);
  else
    return Unsigned<Real>(twice);
}
template <class Real>
constexpr u32 fraction_bits = same<Element<Real>, f32> ? 23 : 52;

// computed(wide x) rounded once to the type of x: for functions that are rare enough to be done in f64.
template <class Real, class Computed, class... More>
TWINLOOM_INLINE Real in_f64(Computed computed, Real x, More... more) {
  return truncated<Element<Real>>(called(computed, truncated<f64>(x), truncated<f64>(more)...));
}

// A sum with it has no fraction, and the whole number that was added in its low bits.
template <class Real>
TWINLOOM_INLINE Real to_the_low_bits() {
  return pick<Real>(0x1.8p23f, 0x1.8p52);
}
// A whole number held as a real, as an integer in the low bits.
template <class Real>
TWINLOOM_INLINE Unsigned<Real> low_bits_of(Real whole) {
  return bit_cast<Unsigned<Real>>(whole + to_the_low_bits<Real>());
}
// A whole number of fewer than 22 (51) bits, and the same as an integer in the low bits.
template <class Real>
struct Whole {
  Real value;
  Unsigned<Real> bits;
};
// What a sum with to_the_low_bits() holds.
template <class Real>
TWINLOOM_INLINE Whole<Real> whole_in(Real sum) {
  return {sum - to_the_low_bits<Real>(), bit_cast<Unsigned<Real>>(sum)};
}
// The one nearest to x, of two the even one.
template <class Real>
TWINLOOM_INLINE Whole<Real> whole_near(Real x) {
  return whole_in(x + to_the_low_bits<Real>());
}
// The reverse, for an integer of few bits.
template <class Real>
TWINLOOM_INLINE Real real_of(Unsigned<Real> integer) {
  const Real shift = to_the_low_bits<Real>();
  return bit_cast<Real>(Unsigned<Real>(integer + bit_cast<Unsigned<Real>>(shift))) - shift;
}
// 2^k for a k in the low bits whose power is a normal number.
template <class Real>
TWINLOOM_INLINE Real power_of_low_bits(Unsigned<Real> k) {
  using Bits = Unsigned<Real>;
  const Bits one = bit_cast<Bits>(Real(Element<Real>(1)));
  return bit_cast<Real>(Bits((k << Bits(Element<Bits>(fraction_bits<Real>))) + one));
}
template <class Real>
TWINLOOM_INLINE Real power_of_two(Real k) {
  return power_of_low_bits<Real>(low_bits_of(k));
}
#if defined(__clang__) && defined(__AVX512F__)
// Of an x near 1, which gives 0 where k is below the limit. There the instruction takes 25 times as long (a register
// of Sapphire Rapids 105 ns in place of 4), and masked softmax asks for exp(-inf), so those lanes are left out.
template <class Real>
TWINLOOM_INLINE Real scaled_by_instruction(Real x, Real k) {
  constexpr int current_rounding = 4, not_less = 0x15;  // to nearest; true of a NaN
  if constexpr (same<Element<Real>, f32>) {
    const u16 lanes = __builtin_ia32_cmpps512_mask(k, Real(-160.0f), not_less, u16(0xffff), current_rounding);
    return __builtin_ia32_scalefps512_mask(x, k, Real(0.0f), lanes, current_rounding);
  } else {
    const u8 lanes = __builtin_ia32_cmppd512_mask(k, Real(-1085.0), not_less, u8(0xff), current_rounding);
    return __builtin_ia32_scalefpd512_mask(x, k, Real(0.0), lanes, current_rounding);
  }
}
#endif
// x * 2^k, rounded once: the first factor is exact for an x near 1. One instruction where the machine has it
// for whole registers, with the same bits. The bits above those of k are even, so that half of all is half of
// k in the low bits.
template <class Real>
TWINLOOM_INLINE Real scaled(Real x, Whole<Real> k) {
#if defined(__clang__) && defined(__AVX512F__)
  if constexpr (sizeof(Real) == 64) return scaled_by_instruction(x, k.value);
#endif
  using Bits = Unsigned<Real>;
  const Bits half = k.bits >> Bits(Element<Bits>(1));
  return x * power_of_low_bits<Real>(half) * power_of_low_bits<Real>(Bits(k.bits - half));
}
template <class Real>
TWINLOOM_INLINE Real scaled(Real x, Real k) {
  return scaled(x, Whole<Real>{k, low_bits_of(k)});
}
// min(x, limit) and the like, where a NaN stays.
template <class Real>
TWINLOOM_INLINE Real below_limit(Real x, Real limit) {
  return select(x > limit, limit, x);
}
template <class Real>
TWINLOOM_INLINE Real clamped(Real x, Real low, Real high) {
  return below_limit(select(x < low, low, x), high);
}

// exp(x) = (factor + low) * 2^k, factor in [0.7, 1.5]; low is what rounding factor lost.
template <class Real>
struct Power {
  Real factor, low, k;
};
template <class Real>
struct Split {
  Real rest, low, k;  // x = k * ln 2 + rest + low
};
// ln 2 in two parts, of which k times the higher is exact.
template <class Real>
TWINLOOM_INLINE Real high_ln2() {
  return pick<Real>(0x1.62e4p-1f, 0x1.62e42fefap-1);
}
template <class Real>
TWINLOOM_INLINE Real low_ln2() {
  return pick<Real>(0x1.7f7d1cp-20f, 0x1.cf79abc9e3b3ap-40);
}
template <class Real>
TWINLOOM_INLINE Whole<Real> units_of_ln2(Real x) {
  return whole_in(fma(x, pick<Real>(0x1.715476p+0f, 0x1.71547652b82fep+0), to_the_low_bits<Real>()));
}
template <class Real>
TWINLOOM_INLINE Split<Real> parts_by_ln2(Real x) {
  const Real k = units_of_ln2(x).value;
  return {fma(-k, high_ln2<Real>(), x), k * -low_ln2<Real>(), k};
}
// Of a * b + below = k * ln 2 + rest + low, where below is far smaller than the product and than 1.
template <class Real>
struct SplitProduct {
  Real rest, low;
  Whole<Real> k;
};
template <class Real>
TWINLOOM_INLINE SplitProduct<Real> product_by_ln2(Real a, Real b, Real below) {
  const Whole<Real> k = units_of_ln2(a * b);
  return {fma(a, b, -(k.value * high_ln2<Real>())), fma(-k.value, low_ln2<Real>(), below), k};
}
template <class Real>
TWINLOOM_INLINE Split<Real> split_by_ln2(Real x) {
  const auto [exact, below, k] = parts_by_ln2(x);
  const Real rest = fma(-k, low_ln2<Real>(), exact);
  return {rest, fma(-k, low_ln2<Real>(), exact - rest), k};
}
template <class Real>
TWINLOOM_INLINE Real exp_limited(Real x) {
  return clamped(x, pick<Real>(-150, -1200), pick<Real>(100, 800));
}
template <class Real>
TWINLOOM_INLINE Power<Real> power_of_rest(Real rest, Real low, Real k) {
  const Real one(Element<Real>(1));
  const Real first = one + rest;
  const Real tail = fma(rest * rest, exp_rest(rest), ((one - first) + rest) + low);
  const Real factor = first + tail;
  return {factor, (first - factor) + tail, k};
}
template <class Real>
TWINLOOM_INLINE Power<Real> power(Real x) {
  const auto [rest, low, k] = split_by_ln2(exp_limited(x));
  return power_of_rest(rest, low, k);
}
// Of x + below, where below is far smaller than x and than 1.
template <class Real>
TWINLOOM_INLINE Power<Real> power(Real x, Real below) {
  const auto [factor, low, k] = power(x);
  const Real more = fma(factor, below, low);
  const Real sum = factor + more;
  return {sum, (factor - sum) + more, k};
}

// exp(exact + below) - 1, for an exact that is at most ln(2) / 2 in size and a far smaller below, with the
// error of a number near 1.
template <class Real>
TWINLOOM_INLINE Real rise_of_parts(Real exact, Real below) {
  const Real rest = exact + below;
  return exact + fma(rest * rest, exp_rest(rest), below);
}
// How a function that divides in some way scales: the way that stands beside it.
template <class Real>
TWINLOOM_INLINE Real scaled_by(Dividing, Real x, Whole<Real> k) {
  return scaled(x, k);
}
// x = k ln 2 + rest, where rounding loses of the rest.
template <class Real>
struct NearWhole {
  Real rest;
  Whole<Real> k;
};
template <class Real>
TWINLOOM_INLINE NearWhole<Real> near_whole_of_ln2(Real x) {
  const Whole<Real> k = units_of_ln2(x);
  return {fma(-k.value, low_ln2<Real>(), fma(-k.value, high_ln2<Real>(), x)), k};
}
// An x for which scaled() gives what it gives for exp_limited(x): where one instruction scales, what is far
// below is left out there.
template <class Real>
TWINLOOM_INLINE Real limited_for_scaling(Real x) {
#if defined(__clang__) && defined(__AVX512F__)
  if constexpr (sizeof(Real) == 64) return below_limit(x, pick<Real>(100, 800));
#endif
  return exp_limited(x);
}
// Without what rounding loses of the result, which only those need that go on with it: within 0.89 ulp. Of an
// x between the limits of exp().
template <class Real, class Divide>
TWINLOOM_INLINE Real exp_within(Real x, Divide way) {
  const Real one(Element<Real>(1));
  const auto [rest, k] = near_whole_of_ln2(x);
  return scaled_by(way, fma(fma(exp_rest(rest), rest, one), rest, one), k);
}
template <class Real>
TWINLOOM_INLINE Real exp(Real x) {
  return exp_within(limited_for_scaling(x), Dividing{});
}
// 2^(a b + lift) for a whole `lift` and a sum in [-125, 126], with a relative error of 2^-23.3 and that of the
// product: the sum is rounded in the low bits.
template <class Real>
TWINLOOM_INLINE Real lifted_exp2(Real a, Real b, f32 lift) {
  using Bits = Unsigned<Real>;
  const Real shift = to_the_low_bits<Real>() + Real(lift);
  const Real lifted = fma(a, b, shift);
  const Real rest = fma(a, b, shift - lifted);
  const Bits exponent = bit_cast<Bits>(lifted) << Bits(Element<Bits>(fraction_bits<Real>));
  const Bits factor = bit_cast<Bits>(fma(rest, exp2_slope(rest), Real(1.0f)));
  return bit_cast<Real>(Bits(factor + exponent));
}
// 2^(a b) for a product in [-170, 70]: the last step alone may give a subnormal number.
template <class Real>
TWINLOOM_INLINE Real brief_exp2(Real a, Real b) {
  return lifted_exp2(a, b, 48.0f) * Real(0x1p-48f);
}
// exp(x) / 2, which does not overflow before sinh and cosh do.
template <class Real>
TWINLOOM_INLINE Real half_exp(Real x) {
  const auto [factor, low, k] = power(x);
  return scaled(factor, k - Real(Element<Real>(1)));
}

template <class Real>
TWINLOOM_INLINE Real exp2(Real x) {
  const Real ln2 = pick<Real>(0x1.62e43p-1f, 0x1.62e42fefa39efp-1);
  const Real inside = clamped(x, pick<Real>(-200, -1200), pick<Real>(150, 1100));
  const Whole<Real> k = whole_near(inside);
  const Real part = inside - k.value;
  const Real rest = part * ln2;
  const Real low = fma(part, ln2, -rest) + part * pick<Real>(-0x1.05c61p-29f, 0x1.abc9e3b39803fp-56);
  return scaled(power_of_rest(rest, low, k.value).factor, k);
}

// exp(x) - 1; a zero loses its sign.
template <class Real>
TWINLOOM_INLINE TwoPart<Real> expm1_parts(Real x) {
  const Real half(Element<Real>(0.5));
  const auto [rest, low, k] = split_by_ln2(clamped(x, pick<Real>(-30, -50), pick<Real>(89, 710)));
  const Real tail = fma(rest * rest, expm1_rest(rest), fma(low, rest, low));
  const Real near = rest + tail;
  const Real near_low = (rest - near) + tail;
  // Half of 2^k, as 2^128 (2^1024) is no number. |offset| >= |moved| when k is not 0.
  const Real scale = power_of_two(k - Real(Element<Real>(1)));
  const Real offset = scale - half;
  const Real moved = scale * near;
  const Real sum = offset + moved;
  const Real offset_low = (scale - offset) - half;
  const Real sum_low = offset_low + fma(scale, near_low, (offset - sum) + moved);
  const Real far = sum + sum_low;
  const Real far_low = (sum - far) + sum_low;
  const auto is_near = k == Real(Element<Real>(0));
  return {select(is_near, near, far + far), select(is_near, near_low, far_low + far_low)};
}
template <class Real>
TWINLOOM_INLINE Real expm1(Real x) {
  return select(x == Real(Element<Real>(0)), x, expm1_parts(x).high);
}

// x = 2^k * (1 + part) for a positive x that is not infinite.
template <class Real>
struct Fraction {
  Real part, k;
};
// Of a normal number x, which was multiplied by 2^lift.
template <class Real>
TWINLOOM_INLINE Fraction<Real> fraction_of_normal(Real x, Real bias_and_lift = pick<Real>(127, 1023)) {
  using Bits = Unsigned<Real>;
  using Part = Element<Real>;
  const Bits middle = pick_bits<Real>(0x3f3504f3u, 0x3fe6a09e667f3bcdull);  // sqrt(1/2)
  const Bits one = bit_cast<Bits>(Real(Part(1)));
  const Bits places(Element<Bits>{fraction_bits<Real>});
  const Bits moved = bit_cast<Bits>(x) + (one - middle);
  const Bits mantissa = (moved & Bits((Element<Bits>(1) << fraction_bits<Real>)-1)) + middle;
  return {bit_cast<Real>(mantissa) - Real(Part(1)), real_of<Real>(moved >> places) - bias_and_lift};
}
template <class Real>
TWINLOOM_INLINE Fraction<Real> fraction_of(Real x) {
  const auto subnormal = x < pick<Real>(0x1p-126f, 0x1p-1022);
  const Real bias = pick<Real>(127, 1023);
  return fraction_of_normal(select(subnormal, x * pick<Real>(0x1p32f, 0x1p64), x),
                            select(subnormal, bias + pick<Real>(32, 64), bias));
}
// log(1 + f) - f for f in [-0.293, 0.414].
template <class Real>
TWINLOOM_INLINE Real log_bend(Real f) {
  if constexpr (same<Element<Real>, f32>) {
    return f * f * fma(f, log_rest(f), Real(-0.5f));
  } else {
    const Real s = f / (Real(2.0) + f);
    const Real z = s * s;
    const Real half_square = Real(0.5) * f * f;
    return fma(s, fma(z + z, atanh_rest(z), half_square), -half_square);
  }
}
// k * unit + (high + low), |high| below |unit|; the unit comes in two parts so that k * unit_high is exact.
template <class Real>
TWINLOOM_INLINE Real plus_units(Real k, Real unit_high, Real unit_low, Real high, Real low) {
  const Real base = k * unit_high;
  const Real total = base + high;
  return total + ((high - (total - base)) + fma(k, unit_low, low));
}
template <class Real>
TWINLOOM_INLINE Real log_of(Fraction<Real> x, Real low) {
  return plus_units(x.k, pick<Real>(0x1.62e4p-1f, 0x1.62e42fefap-1),
                    pick<Real>(0x1.7f7d1cp-20f, 0x1.cf79abc9e3b3ap-40), x.part, log_bend(x.part) + low);
}
// What a logarithm gives where there is no finite positive number.
template <class Real>
TWINLOOM_INLINE Real log_limits(Real x, Real usual) {
  const Real zero(Element<Real>(0));
  const Real outside = select(x == zero, -infinity<Real>(), select(x > zero, x, not_a_number<Real>()));
  return select(both(x > zero, x < infinity<Real>()), usual, outside);
}

template <class Real>
TWINLOOM_INLINE Real log(Real x) {
  return log_limits(x, log_of(fraction_of(x), Real(Element<Real>(0))));
}

// log(1 + x + below), or without the last.
template <class Real, class... Below>
TWINLOOM_INLINE Real log1p(Real x, Below... below) {
  using Part = Element<Real>;
  const Real one(Part(1));
  const auto [part, k] = fraction_of(one + x);
  // (1 + x) / 2^k - 1 and what rounding it lost; when 2^k is large the one no longer matters.
  const Real shrink = power_of_two(-clamped(k, -pick<Real>(100, 1000), pick<Real>(100, 1000)));
  const Real shrunk = x * shrink;
  const Real offset = shrink - one;
  const Real sum = shrunk + offset;
  const Real back = sum - offset;
  const Real lost = (((offset - (sum - back)) + (shrunk - back)) + ... + (below * shrink));
  const auto huge = k > pick<Real>(60, 120);
  const Real low = select(huge, Real(Part(0)), fma(-lost, sum, lost));
  const Real usual = log_of(Fraction<Real>{select(huge, part, sum), k}, low);
  return select(x == Real(Part(0)), x, log_limits(one + x, usual));
}

// log(x) in units of 1 / factor: log2 and log10. In f64.
template <class Real>
struct Base {
  Real unit_high, unit_low, factor_high, factor_low;
};
template <class Real>
TWINLOOM_INLINE Real log_in_base(Real x, Base<Real> base) {
  const auto [part, k] = fraction_of(x);
  const Real bend = log_bend(part);
  const Real natural = part + bend;
  const Real below = (part - natural) + bend;
  const Real high = natural * base.factor_high;
  const Real low =
      fma(natural, base.factor_high, -high) + fma(below, base.factor_high, natural * base.factor_low);
  return log_limits(x, plus_units(k, base.unit_high, base.unit_low, high, low));
}
template <class Real>
TWINLOOM_INLINE Real log2(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        return log_in_base(
            wide, Base<Wide>{Wide(1.0), Wide(0.0), Wide(0x1.71547652b82fep+0), Wide(0x1.777d0ffda0d24p-56)});
      },
      x);
}
template <class Real>
TWINLOOM_INLINE Real log10(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        return log_in_base(wide, Base<Wide>{Wide(0x1.34413509f8p-2), Wide(-0x1.80433b83b532ap-44),
                                            Wide(0x1.bcb7b1526e50ep-2), Wide(0x1.95355baaafad3p-57)});
      },
      x);
}

// 1 / sqrt(x): the quotient, then one step towards the root with the exact residue.
template <class Real>
TWINLOOM_INLINE Real rsqrt_from(Real x, Real rough) {
  const Real one(Element<Real>(1));
  const Real root = x * rough;
  const Real residue = fma(-root, rough, one) - fma(x, rough, -root) * rough;
  const Real better = fma(rough * Real(Element<Real>(0.5)), residue, rough);
  return select(both(x > Real(Element<Real>(0)), x < infinity<Real>()), better, rough);
}
template <class Real>
TWINLOOM_INLINE Real rsqrt(Real x) {
  return rsqrt_from(x, Real(Element<Real>(1)) / sqrt(x));
}

// 1 + exp(v) = (under + low) / lift, of exp(v) = (1 + rise) * 2^k and |k| below 191 (1500). lift is 1, or the
// power of two that keeps an exponential of more than 2^64 (2^512) finite, beside which the one is nothing.
// What is divided by `under` is multiplied by lift as the last step, which alone may give a subnormal number.
template <class Real>
struct Gate {
  Real under, low, lift;
};
template <class Real>
TWINLOOM_INLINE Gate<Real> gate(Real rise, Whole<Real> k) {
  using Bits = Unsigned<Real>;
  const Real lift =
      select(k.value > pick<Real>(64, 512), pick<Real>(0x1p-64f, 0x1p-512), Real(Element<Real>(1)));
  const Bits places(Element<Bits>{fraction_bits<Real>});
  const Real power = bit_cast<Real>(Bits((k.bits << places) + bit_cast<Bits>(lift)));
  const Real sum = lift + power;
  const Real inner = fma(power, rise, lift - (sum - power));
  const Real under = sum + inner;
  return {under, inner - (under - sum), lift};
}
// The same of exp(-x), for an x that is not far below -110 (-760): what exponentials are when it is far above
// no longer matters.
template <class Real>
TWINLOOM_INLINE Gate<Real> gate_of_minus(Real x) {
  const Real near = below_limit(x, pick<Real>(80, 700));
  const Whole<Real> k = units_of_ln2(-near);
  const Real rest = fma(-k.value, low_ln2<Real>(), fma(-k.value, high_ln2<Real>(), -near));
  return gate(fma(exp_rest(rest) * rest, rest, rest), k);
}
// Below it both functions are zeros.
template <class Real>
TWINLOOM_INLINE Real above_no_gate(Real x) {
  const Real least = pick<Real>(-110, -760);
  return select(x < least, least, x);
}
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real sigmoid(Real x, Divide divide = {}) {
  const auto [under, low, lift] = gate_of_minus(above_no_gate(x));
  const Real inverse = divide.usual(Real(Element<Real>(1)), under);
  return fma(-inverse * low, inverse, inverse) * lift;
}
template <class Real, class Divide = Dividing>
TWINLOOM_INLINE Real silu(Real x, Divide divide = {}) {
  const Real inside = above_no_gate(x);
  const auto [under, low, lift] = gate_of_minus(inside);
  return divide(inside, under) * lift;
}
template <class Real>
TWINLOOM_INLINE Real softplus(Real x) {
  const Real above = select(x < Real(Element<Real>(0)), Real(Element<Real>(0)), x);
  return above + log1p(exp(-abs(x)));
}

}  // namespace twinloom::device
