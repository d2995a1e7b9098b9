// Conversions. Each rounds once, to nearest even; integers wrap; a real that leaves an integer type is
// saturated, and a NaN gives 0; to b8 is != 0.
//   convert<i32>(v)    between types that values are computed in
//   widen<bf16>(bits)  a storage format as f32, exactly
//   narrow<bf16>(v)    a value of any type as the bits of a storage format
//   rounded<bf16>(v)   widen(narrow(v)): the f32 that is left after a rounding to the format
#pragma once

#include "arithmetic.h"

namespace twinloom::device {

template <class To, class Real>
TWINLOOM_INLINE Like<Real, To> saturated(Real x) {
  using Part = Element<Real>;
  using Result = Like<Real, To>;
  constexpr To highest = is_signed<To> ? To(~(~u64(0) << (bits<To> - 1))) : To(~u64(0));
  constexpr Part half = Part(1ull << (bits<To> - 1));
  constexpr Part above = is_signed<To> ? half : half * Part(2);  // the first power of two beyond
  constexpr Part least = is_signed<To> ? -half : Part(0);
  const Real below_top = select(x < Real(above), x, Real(Part(0)));
  const Real inside = select(below_top > Real(least), below_top, Real(least));
  return where<Result>(mask_of(x >= Real(above)), Result(highest), truncated<To>(inside));
}

#ifdef __CUDACC__
// An instruction of a GPU saturates too and makes 0 of a NaN, but for integers of 64 bits.
template <class To>
  requires(bits<To> <= 32)
TWINLOOM_INLINE To saturated(f32 x) {
  if constexpr (is_signed<To>) {
    constexpr i32 highest = i32(~(~u32(0) << (bits<To> - 1)));
    i32 whole;
    asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(whole) : "f"(x));
    whole = whole < highest ? whole : highest;
    return To(whole > -highest - 1 ? whole : -highest - 1);
  } else {
    constexpr u32 highest = u32(~u64(0) >> (64 - bits<To>));
    u32 whole;
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(whole) : "f"(x));
    return To(whole < highest ? whole : highest);
  }
}
// The whole number nearest to x, of two the even one, within bounds on either side of 0; a NaN gives 0.
template <class To>
TWINLOOM_INLINE To rounded_within(f32 x, i32 low, i32 high) {
  i32 whole;
  asm("cvt.rni.s32.f32 %0, %1;" : "=r"(whole) : "f"(x));
  whole = whole > low ? whole : low;
  return To(whole < high ? whole : high);
}
#endif

// ptxas 13.0 makes 0 of the negative of a truth that became a real by an instruction or by a choice of two
// numbers, in place of -0; of one whose bits are a product it does not.
template <class To, class Value>
TWINLOOM_INLINE Like<Value, To> convert(Value x) {
  if constexpr (same<To, Element<Value>>)
    return x;
  else if constexpr (lanes<Value> == 1 && is_truth<Value> && is_real<To>)
    return bit_cast<To>(Unsigned<To>(Unsigned<To>(hidden(u32(x))) * bit_cast<Unsigned<To>>(To(1))));
  else if constexpr (is_truth<To>)
    return truth(x);
  else if constexpr (is_real<Value> && !is_real<To>)
    return saturated<To>(x);
  else
    return truncated<To>(x);
}

// To f32 with rounding to odd: what is lost leaves a trace in the last bit, so that a later rounding to
// fewer bits is the right one.
template <class Value>
TWINLOOM_INLINE Like<Value, f32> odd_f32(Value x) {
  using Result = Like<Value, f32>;
  using Bits = Unsigned<Result>;
  const Result near = truncated<f32>(x);
  const Value back = truncated<f64>(near);
  const Bits nearest = bit_cast<Bits>(near);
  const Bits toward_zero = where<Bits>(mask_of(abs(back) > abs(x)), Bits(nearest - Bits(1u)), nearest);
  const auto inexact = mask_of(both(back != x, x == x));
  return bit_cast<Result>(where<Bits>(inexact, Bits(toward_zero | Bits(1u)), nearest));
}

// An integer of 64 bits as f64, rounded to odd at its bit 11 when it has more than 53 bits.
template <class Value>
TWINLOOM_INLINE Like<Value, f64> odd_f64(Value x) {
  using Bits = Unsigned<Value>;
  const Bits zero(u64(0));
  Bits magnitude = bit_cast<Bits>(x);
  if constexpr (is_signed<Value>) magnitude = bit_cast<Bits>(abs(x));
  const Bits lost = magnitude & Bits(u64(0x7ff));
  const Bits kept = magnitude ^ lost;
  const Bits odd = select(lost != zero, Bits(kept | Bits(u64(0x800))), kept);
  const auto real = truncated<f64>(select(magnitude < Bits(u64(1) << 53), magnitude, odd));
  if constexpr (is_signed<Value>)
    return select(x < Value(Element<Value>(0)), -real, real);
  else
    return real;
}

// Any value as an f32 from which a rounding to 11 bits or fewer is right.
template <class Value>
TWINLOOM_INLINE Like<Value, f32> sticky_f32(Value x) {
  using Part = Element<Value>;
  if constexpr (same<Part, f32>)
    return x;
  else if constexpr (same<Part, f64>)
    return odd_f32(x);
  else if constexpr (is_truth<Value> || sizeof(Part) <= 2)
    return truncated<f32>(x);
  else if constexpr (sizeof(Part) == 4)
    return odd_f32(truncated<f64>(x));
  else
    return odd_f32(odd_f64(x));
}

// The bits of an f32 magnitude in a format of `fraction` fraction bits and this bias; what is beyond the
// largest number comes out as bits that are larger than those of infinity.
template <int fraction, int bias, class Bits>
TWINLOOM_INLINE Bits narrowed(Bits magnitude) {
  using Real = Like<Bits, f32>;
  constexpr u32 shift = 23 - fraction;
  // Adding a number whose last place is the format's smallest subnormal rounds to that place.
  constexpr u32 magic = u32(127 + 1 - bias - fraction + 23) << 23;
  const Real pushed = bit_cast<Real>(magnitude) + bit_cast<Real>(Bits(magic));
  const Bits subnormal = bit_cast<Bits>(pushed) - Bits(magic);
  const Bits odd = (magnitude >> shift) & Bits(1u);
  const Bits carried = magnitude + odd + Bits((1u << (shift - 1)) - 1 - (u32(127 - bias) << 23));
  const Bits normal = carried >> shift;
  return select(magnitude < Bits(u32(127 + 1 - bias) << 23), subnormal, normal);
}

#ifdef __CUDACC__
// A GPU has instructions with the same bits, but for NaNs: to nearest even, subnormals kept.
template <class Format>
TWINLOOM_INLINE u16 converted_f32(f32 x) {
  u16 bits;
  if constexpr (same<Format, bf16>)
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  else
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
// The first in the low half.
template <class Format>
TWINLOOM_INLINE u32 converted_pair(f32 x, f32 y) {
  u32 bits;
  if constexpr (same<Format, bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(y), "f"(x));
  return bits;
}
TWINLOOM_INLINE f32 widened_f16(u16 bits) {
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
#endif

template <int fraction, int bias, class Bits>
TWINLOOM_INLINE Like<Bits, f32> widened(Bits magnitude) {
  using Real = Like<Bits, f32>;
  constexpr u32 power = u32(127 + 127 - bias) << 23;
  return bit_cast<Real>(Bits(magnitude << u32(23 - fraction))) * bit_cast<Real>(Bits(power));
}

// Of a format other than bf16.
template <class Format, class Real>
TWINLOOM_INLINE Like<Real, typename Format::Bits> narrow_by_magnitude(Real x) {
  using Bits = Unsigned<Real>;
  using Out = typename Format::Bits;
  const Bits magnitude = magnitude_bits(x);
  const Bits sign = sign_bits(x);
  const auto nan = magnitude > Bits(infinity_bits<Real>);
  if constexpr (same<Format, f16>) {
#if defined(__clang__) && defined(__F16C__)
    if constexpr (lanes<Real> >= 4)
      return bit_cast<Like<Real, u16>>(__builtin_convertvector(x, Like<Real, _Float16>));
#endif
    const Bits number = narrowed<10, 15>(magnitude);
    const Bits held = select(number < Bits(0x7c00u), number, Bits(0x7c00u));
    return truncated<Out>(Bits(select(nan, Bits(0x7e00u), held) | (sign >> 16u)));
  } else if constexpr (same<Format, f8e4m3>) {
    const Bits number = narrowed<3, 7>(magnitude);
    const Bits held = select(number < Bits(0x7fu), number, Bits(0x7fu));
    return truncated<Out>(Bits(select(nan, Bits(0x7fu), held) | (sign >> 24u)));
  } else {
    const Bits number = narrowed<2, 15>(magnitude);
    const Bits held = select(number < Bits(0x7cu), number, Bits(0x7cu));
    return truncated<Out>(Bits(select(nan, Bits(0x7eu), held) | (sign >> 24u)));
  }
}

#ifdef __clang__
template <class Value>
struct Halves {
  Vector<Element<Value>, lanes<Value> / 2> low, high;
};
#endif
// The bits of an f32 whose upper half is that of the nearest bf16. What is carried out of the fraction of a
// number never reaches the sign.
template <class Real>
TWINLOOM_INLINE Unsigned<Real> rounded_words(Real x) {
  using Bits = Unsigned<Real>;
  const Bits all = bit_cast<Bits>(x);
#ifdef __AVX512F__  // one addition under a mask
  const Bits carried =
      select(Bits(all & Bits(0x10000u)) != Bits(0u), all + Bits(0x8000u), all + Bits(0x7fffu));
#else
  const Bits carried = all + (((all >> 16u) & Bits(1u)) + Bits(0x7fffu));
#endif
  return select(x != x, Bits(0x7fc00000u), carried);
}

#if defined(__clang__) && defined(__AVX2__)
// Two registers are packed into one, whose parts of 16 bytes take turns.
TWINLOOM_INLINE Vector<u16, 16> packed_words(Vector<u32, 8> low, Vector<u32, 8> high) {
  const auto turns = bit_cast<Vector<u64, 4>>(
      __builtin_ia32_packusdw256(bit_cast<Vector<int, 8>>(low), bit_cast<Vector<int, 8>>(high)));
  return bit_cast<Vector<u16, 16>>(__builtin_shufflevector(turns, turns, 0, 2, 1, 3));
}
#endif
#if defined(__clang__) && defined(__AVX512BW__)
TWINLOOM_INLINE Vector<u16, 32> packed_words(Vector<u32, 16> low, Vector<u32, 16> high) {
  const auto turns = bit_cast<Vector<u64, 8>>(
      __builtin_ia32_packusdw512(bit_cast<Vector<int, 16>>(low), bit_cast<Vector<int, 16>>(high)));
  return bit_cast<Vector<u16, 32>>(__builtin_shufflevector(turns, turns, 0, 2, 4, 6, 1, 3, 5, 7));
}
#endif

// One register after the other: there are not masks enough for several at once.
template <class Real>
TWINLOOM_INLINE Like<Real, u16> narrow_bf16(Real x) {
  using Bits = Unsigned<Real>;
#if defined(__clang__) && defined(__AVX2__)
  constexpr int half = lanes<Real> / 2;
#ifdef __AVX512BW__
  constexpr int words = 16;  // of a register
#else
  constexpr int words = 8;
#endif
  if constexpr (half >= words) {
    const auto halves = bit_cast<Halves<Real>>(x);
    if constexpr (half == words)
      return packed_words(rounded_words(halves.low) >> 16u, rounded_words(halves.high) >> 16u);
    else
      return bit_cast<Like<Real, u16>>(
          Halves<Like<Real, u16>>{narrow_bf16(halves.low), narrow_bf16(halves.high)});
  }
#endif
  return truncated<u16>(Bits(rounded_words(x) >> 16u));
}

template <class Format, class Real>
TWINLOOM_INLINE Like<Real, typename Format::Bits> narrow_f32(Real x) {
#ifdef __CUDACC__
  if constexpr (same<Format, bf16> || same<Format, f16>) return converted_f32<Format>(x);
#endif
  if constexpr (same<Format, bf16>)
    return narrow_bf16(x);
  else
    return narrow_by_magnitude<Format>(x);
}

template <class Format, class Value>
TWINLOOM_INLINE Like<Value, typename Format::Bits> narrow(Value x) {
  return narrow_f32<Format>(sticky_f32(x));
}

#if defined(__clang__) && defined(__F16C__)
// The same, but LLVM does not know what it was made of. Else it compares halves in place of what they are widened to,
// element by element where vectors of halves cannot be compared: ten times as long.
template <class Value>
TWINLOOM_INLINE Value opaque(Value value) {
#ifdef __AVX512F__
  constexpr int register_bytes = 64;
#else
  constexpr int register_bytes = 32;
#endif
  if constexpr (sizeof(Value) <= register_bytes) {
    asm("" : "+v"(value));
    return value;
  } else {
    const auto halves = bit_cast<Halves<Value>>(value);
    return bit_cast<Value>(Halves<Value>{opaque(halves.low), opaque(halves.high)});
  }
}
#endif

template <class Format, class Stored>
TWINLOOM_INLINE Like<Stored, f32> widen(Stored stored) {
  using Real = Like<Stored, f32>;
  using Bits = Unsigned<Real>;
  const Bits all = truncated<u32>(stored);
  const Bits beyond(infinity_bits<Real>);
  if constexpr (same<Format, bf16>) {
    return bit_cast<Real>(Bits(all << 16u));
  } else if constexpr (same<Format, f16>) {
#if defined(__clang__) && defined(__F16C__)
    if constexpr (lanes<Real> >= 4)
      return opaque(__builtin_convertvector(bit_cast<Like<Real, _Float16>>(stored), Real));
#elif defined(__CUDACC__)
    if constexpr (lanes<Real> == 1) return widened_f16(stored);
#endif
    const Bits magnitude = all & Bits(0x7fffu);
    const Bits number = bit_cast<Bits>(widened<10, 15>(magnitude));
    const Bits special = select(magnitude < Bits(0x7c00u), number, Bits(beyond | (magnitude << 13u)));
    return bit_cast<Real>(Bits(special | ((all & Bits(0x8000u)) << 16u)));
  } else if constexpr (same<Format, f8e4m3>) {
    const Bits magnitude = all & Bits(0x7fu);
    const Bits number = bit_cast<Bits>(widened<3, 7>(magnitude));
    const Bits special = select(magnitude < Bits(0x7fu), number, Bits(0x7fc00000u));
    return bit_cast<Real>(Bits(special | ((all & Bits(0x80u)) << 24u)));
  } else {
    const Bits magnitude = all & Bits(0x7fu);
    const Bits number = bit_cast<Bits>(widened<2, 15>(magnitude));
    const Bits special = select(magnitude < Bits(0x7cu), number, Bits(beyond | (magnitude << 21u)));
    return bit_cast<Real>(Bits(special | ((all & Bits(0x80u)) << 24u)));
  }
}

template <class Format, class Value>
TWINLOOM_INLINE Like<Value, f32> rounded(Value x) {
#ifndef __CUDACC__
  using Bits = Like<Value, u32>;
  if constexpr (same<Format, bf16> && same<Element<Value>, f32>)
    return bit_cast<Value>(Bits(rounded_words(x) & Bits(0xffff0000u)));
#endif
  return widen<Format>(narrow<Format>(x));
}

}  // namespace twinloom::device
