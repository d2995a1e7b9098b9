// Sines and their inverses, over the whole range. An angle is x - k * pi/2 in two parts, |angle| <= pi/4:
// for moderate x by three parts of pi/2, of which the first leaves no rounding at all; for the others, one
// lane at a time: of f32 by f64's three parts, and what is far for these by as many bits of 2/pi as its
// exponent asks for.
#pragma once

#include "exponential.h"

namespace twinloom::device {

template <class Real>
struct Angle {
  Real high, low;
  Unsigned<Real> quarter;  // k; only its two last bits count
};

// exact = x - k * pi/2's first part is that: both are multiples of 2^-24 (2^-53) and |exact| < 1. The second
// part times k may be larger than what is left, so the difference keeps what its rounding loses: in two
// steps, as `exact` is a multiple of the last place of that product (Boldo, Graillat and Muller 2017, on
// Fast2Sum). f32's second part has 11 bits, so that k times it is exact for |x| < 2^14. All three are
// positive: both parts of the angle -0 are -0.
template <class Real>
TWINLOOM_INLINE Angle<Real> short_angle_of(Real x) {
  const auto [k, quarter] = whole_in(fma(x, Real(0x1.45f306p-1f), to_the_low_bits<Real>()));
  const Real second(0x1.444p-24f);
  const Real exact = fma(-k, Real(0x1.921fb4p+0f), x);
  const Real high = fma(-k, second, exact);
  const Real lost = fma(k, second, high - exact);
  return {high, fma(-k, Real(0x1.68c234p-39f), -lost), quarter};
}
template <class Real>
TWINLOOM_INLINE Angle<Real> long_angle_of(Real x) {
  const auto [k, quarter] = whole_near(x * Real(0x1.45f306dc9c883p-1));
  const Real second(0x1.1a62633145c07p-54);
  const Real exact = fma(-k, Real(0x1.921fb54442d18p+0), x);
  const Real product = k * second;
  const Real product_lost = fma(-k, second, product);
  const Real high = exact - product;
  const Real lost = (exact - high) - product;
  return {high, fma(-k, Real(-0x1.f1976b7ed8fbcp-110), lost + product_lost), quarter};
}
template <class Real>
TWINLOOM_INLINE Angle<Real> angle_of(Real x) {
  if constexpr (same<Element<Real>, f32>)
    return short_angle_of(x);
  else
    return long_angle_of(x);
}
template <class Real>
TWINLOOM_INLINE auto is_far_angle(Real x) {
  return negated(abs(x) < pick<Real>(0x1p14f, 0x1p20));
}

struct Wide128 {
  u64 high, low;
};
TWINLOOM_INLINE Wide128 product(u64 a, u64 b) {
#ifdef __CUDACC__
  return {__umul64hi(a, b), a * b};
#else
  const u64 a0 = a & 0xffffffffu, a1 = a >> 32, b0 = b & 0xffffffffu, b1 = b >> 32;
  const u64 low = a0 * b0;
  const u64 middle = a1 * b0 + (low >> 32);
  const u64 cross = a0 * b1 + (middle & 0xffffffffu);
  return {a1 * b1 + (middle >> 32) + (cross >> 32), (cross << 32) | (low & 0xffffffffu)};
#endif
}

// x = mantissa * 2^exponent. Of mantissa * 2/pi * 2^exponent only what is below 4 matters, so 192 bits of
// 2/pi from place exponent - 2 on, times the mantissa, modulo 2^192: two bits of k, 190 of fraction.
TWINLOOM_DEVICE inline __attribute__((noinline)) Angle<f64> far_angle(f64 x) {
#ifdef __CUDACC__
  static  // else it would be copied to the stack
#endif
  constexpr u64 two_over_pi[] = {0x0000000000000000ull, 0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull,
                                 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
                                 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
                                 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull,
                                 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull,
                                 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull,
                                 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull};
  const u64 all = bit_cast<u64>(x);
  const int biased = int((all >> 52) & 0x7ff);
  if (biased == 0x7ff) return {x - x, x - x, 0};
  const u64 mantissa = (all & 0xfffffffffffffull) | 0x10000000000000ull;
  const int place = biased - 1075 - 2 + 64;  // the table starts with a word of zeros before the point
  const int word = place >> 6, shift = place & 63;
  u64 window[3];
  for (int i = 0; i < 3; ++i) {
    const u64 next = shift == 0 ? 0 : two_over_pi[word + i + 1] >> (64 - shift);
    window[i] = (two_over_pi[word + i] << shift) | next;
  }
  const Wide128 last = product(mantissa, window[2]);
  const Wide128 middle = product(mantissa, window[1]);
  const u64 second = middle.low + last.high;
  const u64 first = mantissa * window[0] + middle.high + (second < last.high ? 1 : 0);
  u64 quarter = first >> 62;
  u64 high = (first << 2) | (second >> 62);
  u64 low = (second << 2) | (last.low >> 62);
  const bool above_half = (high >> 63) != 0;
  if (above_half) {
    ++quarter;
    low = 0 - low;
    high = ~high + (low == 0 ? 1 : 0);
  }
  const int zeros = high == 0 ? 63 : leading_zeros(high);
  if (zeros != 0) high = (high << zeros) | (low >> (64 - zeros));
  low <<= zeros;
  const f64 scale = bit_cast<f64>(u64(1023 - 53 - zeros) << 52);
  const f64 upper = f64(i64(high >> 11)) * scale;
  const f64 lower = f64(i64(((high & 0x7ff) << 42) | (low >> 22))) * scale * 0x1p-53;
  const f64 top = upper * 0x1.921fb54442d18p+0;
  const f64 rest =
      fma(upper, 0x1.921fb54442d18p+0, -top) + (upper * 0x1.1a62633145c07p-54 + lower * 0x1.921fb54442d18p+0);
  const f64 sum = top + rest;
  const f64 below = rest - (sum - top);
  const bool negative = above_half != ((all >> 63) != 0);
  if ((all >> 63) != 0) quarter = 0 - quarter;
  return {negative ? -sum : sum, negative ? -below : below, quarter};
}
TWINLOOM_INLINE Angle<f64> far_angle_of(f64 x) { return far_angle(x); }
TWINLOOM_INLINE Angle<f32> far_angle_of(f32 x) {
  const f64 wide = x;
  const Angle<f64> angle = is_far_angle(wide) ? far_angle(wide) : angle_of(wide);
  const f32 high = f32(angle.high);
  return {high, f32(angle.high - f64(high)), u32(angle.quarter)};
}
#ifdef __CUDACC__
// A thread has one x: the angle is replaced, and what is made of it is there once.
template <class One>
TWINLOOM_INLINE Angle<One> any_angle_of(One x) {
  Angle<One> angle = angle_of(x);
  if (is_far_angle(x)) angle = far_angle_of(x);
  return angle;
}
#endif

template <class Real>
TWINLOOM_INLINE TwoPart<Real> sin_parts(Real high, Real low) {
  const Real z = high * high;
  const Real bent = fma(low * z, Real(Element<Real>(-0.5)), low);
  return {high, fma(high * z, sin_rest(z), bent)};
}
template <class Real>
TWINLOOM_INLINE TwoPart<Real> cos_parts(Real high, Real low) {
  const Real one(Element<Real>(1));
  const Real half(Element<Real>(0.5));
  const Real z = high * high;
  const Real first = fma(z, -half, one);
  const Real second = fma(z, -half, one - first);
  // What rounding z lost.
  const Real lost = fma(high, low, half * fma(high, high, -z));
  return {first, second + fma(z * z, cos_rest(z), -lost)};
}
// The square of the angle, its low part included.
template <class Real>
TWINLOOM_INLINE Real square_of(Angle<Real> angle) {
  return fma(angle.high, angle.high, (angle.high + angle.high) * angle.low);
}
// Of f32 the cosine needs the low part in the square alone. A sine of -0 is -0: the difference is -0 - +0.
template <class Real>
TWINLOOM_INLINE Real angle_sin(Angle<Real> angle) {
  if constexpr (same<Element<Real>, f32>) {
    const Real z = square_of(angle);
    return angle.high - fma(-(angle.high * z), sin_rest(z), -angle.low);
  } else {
    return rounded_sum(sin_parts(angle.high, angle.low));
  }
}
template <class Real>
TWINLOOM_INLINE Real angle_cos(Angle<Real> angle) {
  if constexpr (same<Element<Real>, f32>) {
    const Real z = square_of(angle);
    return fma(z, cos_slope(z), Real(1.0f));
  } else {
    return rounded_sum(cos_parts(angle.high, angle.low));
  }
}
// sin(angle + turns * pi/2).
template <class Real>
TWINLOOM_INLINE Real turned_sin(Angle<Real> angle, Element<Unsigned<Real>> turns) {
  using Bits = Unsigned<Real>;
  using Bit = Element<Bits>;
  // The two bits that count, at the place of the sign and below it.
  constexpr int places = bits<Real> - 2;
  Bits moved = angle.quarter << Bits(Bit(places));
#ifdef __CUDACC__  // out of sight of its optimiser, which would ask for the lowest bit in one step more
  if constexpr (same<Bits, u32>) asm("shl.b32 %0, %1, 30;" : "=r"(moved) : "r"(angle.quarter));
#endif
  const Bits turn = moved + Bits(Bit(Bit(turns) << places));
  const auto odd = Bits(turn & Bits(Bit(1) << places)) != Bits(Bit(0));
  const Real value = select(odd, angle_cos(angle), angle_sin(angle));
  return bit_cast<Real>(Bits(bit_cast<Bits>(value) ^ Bits(turn & Bits(sign_bit<Real>))));
}

// `sine` is of an angle that is not far: f64's steps lose the sign of a zero.
template <class Real>
TWINLOOM_INLINE Real with_zero_of(Real x, Real sine) {
  if constexpr (same<Element<Real>, f32>)
    return sine;
  else
    return select(x == Real(0.0), x, sine);
}
template <class Real>
TWINLOOM_INLINE Real sin(Real x) {
#ifdef __CUDACC__
  return with_zero_of(x, turned_sin(any_angle_of(x), 0));
#else
  using One = Element<Real>;
  return replaced_lanes(
      is_far_angle(x), with_zero_of(x, turned_sin(angle_of(x), 0)),
      [](One one) { return turned_sin(far_angle_of(one), 0); }, x);
#endif
}
template <class Real>
TWINLOOM_INLINE Real cos(Real x) {
#ifdef __CUDACC__
  return turned_sin(any_angle_of(x), 1);
#else
  using One = Element<Real>;
  return replaced_lanes(
      is_far_angle(x), turned_sin(angle_of(x), 1), [](One one) { return turned_sin(far_angle_of(one), 1); },
      x);
#endif
}
// tan(angle + turns * pi/2), where that is no pole.
template <class Real>
TWINLOOM_INLINE Real turned_tan(Angle<Real> angle, Element<Unsigned<Real>> turns) {
  using Bits = Unsigned<Real>;
  using Bit = Element<Bits>;
  const auto [sine, sine_low] = normalized(sin_parts(angle.high, angle.low));
  const auto [cosine, cosine_low] = normalized(cos_parts(angle.high, angle.low));
  const auto odd = Bits((angle.quarter + Bits(turns)) & Bits(Bit(1))) != Bits(Bit(0));
  const TwoPart<Real> over = {select(odd, -cosine, sine), select(odd, -cosine_low, sine_low)};
  const TwoPart<Real> under = {select(odd, sine, cosine), select(odd, sine_low, cosine_low)};
  return rounded_sum(quotient_of(over, under));
}
template <class Real>
TWINLOOM_INLINE Real tan(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
#ifdef __CUDACC__
        return select(wide == Wide(0.0), wide, turned_tan(any_angle_of(wide), 0));
#else
        const Wide near = select(wide == Wide(0.0), wide, turned_tan(angle_of(wide), 0));
        return replaced_lanes(
            is_far_angle(wide), near, [](f64 one) { return turned_tan(far_angle(one), 0); }, wide);
#endif
      },
      x);
}

// atan(a) for a >= 0, in f64: three pieces, each turned to |t| <= 0.5625. In the middle one a - 1 is exact
// and the result above 0.5.
template <class Wide>
TWINLOOM_INLINE TwoPart<Wide> atan_parts(Wide a) {
  const Wide one(1.0);
  const Wide zero(0.0);
  const auto middle = a > Wide(0.5625);
  const auto far = a > Wide(0x1.3504f333f9de6p+1);     // tan(3 pi/8)
  const Wide over = select(far, -one, select(middle, a - one, a));
  const Wide under = select(far, a, select(middle, a + one, one));
  const Wide t = over / under;
  const Wide z = t * t;
  const Wide base = select(far, Wide(0x1.921fb54442d18p+0), select(middle, Wide(0x1.921fb54442d18p-1), zero));
  const Wide below =
      select(far, Wide(0x1.1a62633145c07p-54), select(middle, Wide(0x1.1a62633145c07p-55), zero));
  return {base + t, fma(t * z, atan_rest(z), below)};
}
template <class Real>
TWINLOOM_INLINE Real atan(Real x) {
  return in_f64<Real>([](auto wide) { return with_sign(rounded_sum(atan_parts(abs(wide))), wide); }, x);
}
template <class Real>
TWINLOOM_INLINE Real atan2(Real y, Real x) {
  return in_f64<Real>(
      [](auto wide_y, auto wide_x) {
        using Wide = decltype(wide_y);
        const Wide zero(0.0);
        const Wide a = abs(wide_y);
        const Wide b = abs(wide_x);
        const auto steep = a > b;
        const Wide over = select(steep, b, a);
        const Wide under = select(steep, a, b);
        // 0 / 0 and inf / inf are met at the corners: 0 and 1.
        const Wide ratio =
            select(under == zero, zero, select(over == infinity<Wide>(), Wide(1.0), over / under));
        const auto [near, near_low] = atan_parts(ratio);
        // The angle is that, in one sense or the other from the nearest half axis.
        const auto left = sign_bits(wide_x) != Unsigned<Wide>(u64(0));
        const Wide quarters = select(steep, Wide(1.0), select(left, Wide(2.0), zero));
        const Wide sense = select(left, Wide(-1.0), Wide(1.0)) * select(steep, Wide(-1.0), Wide(1.0));
        const auto [sum, sum_low] = sum_of(quarters * Wide(0x1.921fb54442d18p+0), sense * near);
        const Wide below = fma(sense, near_low, quarters * Wide(0x1.1a62633145c07p-54));
        const Wide full = sum + (sum_low + below);
        return select(either(wide_x != wide_x, wide_y != wide_y), not_a_number<Wide>(),
                      with_sign(full, wide_y));
      },
      y, x);
}

// asin(t) in f64, of t = a for a <= 0.5 and else of t = sqrt((1 - a) / 2), when it is half of acos(a).
template <class Wide>
TWINLOOM_INLINE TwoPart<Wide> folded_asin(Wide a) {
  const auto outer = a > Wide(0.5);
  const Wide z = select(outer, Wide(0.5) * (Wide(1.0) - a), a * a);
  const Wide t = select(outer, sqrt(z), a);
  return {t, t * z * asin_rest(z)};
}
template <class Real>
TWINLOOM_INLINE Real asin(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide a = abs(wide);
        const auto [t, bend] = folded_asin(a);
        const auto [far, far_low] = sum_of(Wide(0x1.921fb54442d18p+0), -(t + t));
        const Wide rest = far_low - (bend + bend - Wide(0x1.1a62633145c07p-54));
        return with_sign(select(a > Wide(0.5), far + rest, t + bend), wide);
      },
      x);
}
template <class Real>
TWINLOOM_INLINE Real acos(Real x) {
  return in_f64<Real>(
      [](auto wide) {
        using Wide = decltype(wide);
        const Wide a = abs(wide);
        const Wide near = rounded_sum(folded_asin(a));
        const Wide twice = near + near;
        const Wide left = Wide(0x1.921fb54442d18p+1) - (twice - Wide(0x1.1a62633145c07p-53));
        const Wide inner = Wide(0x1.921fb54442d18p+0) - (with_sign(near, wide) - Wide(0x1.1a62633145c07p-54));
        return select(a > Wide(0.5), select(wide < Wide(0.0), left, twice), inner);
      },
      x);
}

}  // namespace twinloom::device
