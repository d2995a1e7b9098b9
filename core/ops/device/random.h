// Random numbers as a function of the element's number: Philox 4x32-10 with
//   counter = (number low, number high, operator, offset), key = (seed low, seed high).
// Words w0..w3. All arguments are i64, of which the operator and the offset count with 32 bits. Four uniform
// numbers of f32 are the words of one counter, number / 4.
#pragma once

#include "exponential.h"
#include "trigonometric.h"

namespace twinloom::device {

template <class Words>
struct FourWords {
  Words w0, w1, w2, w3;
};

template <class Words>
TWINLOOM_INLINE FourWords<Words> philox(FourWords<Words> counter, Words key0, Words key1) {
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
  for (int round = 0; round < 10; ++round) {
    const auto product0 = truncated<u64>(counter.w0) * u64(0xD2511F53u);
    const auto product1 = truncated<u64>(counter.w2) * u64(0xCD9E8D57u);
    const Words high0 = truncated<u32>(product0 >> u64(32));
    const Words high1 = truncated<u32>(product1 >> u64(32));
    counter = {Words(high1 ^ counter.w1 ^ key0), truncated<u32>(product1), Words(high0 ^ counter.w3 ^ key1),
               truncated<u32>(product0)};
    key0 = key0 + Words(0x9E3779B9u);
    key1 = key1 + Words(0xBB67AE85u);
  }
  return counter;
}

template <class Integer>
TWINLOOM_INLINE auto random_words(Integer number, Integer seed, Integer offset, Integer operation) {
  using Words = Like<Integer, u32>;
  const auto high = [](Integer value) {
    return truncated<u32>(bit_cast<Unsigned<Integer>>(value) >> u64(32));
  };
  return philox(FourWords<Words>{truncated<u32>(number), high(number), truncated<u32>(operation),
                                 truncated<u32>(offset)},
                Words(truncated<u32>(seed)), Words(high(seed)));
}

// In [0, 1), a multiple of 2^-24.
template <class Words>
TWINLOOM_INLINE Like<Words, f32> unit_of(Words word) {
  return truncated<f32>(bit_cast<Signed<Words>>(Words(word >> 8u))) * Like<Words, f32>(0x1p-24f);
}
template <class Words>
TWINLOOM_INLINE Like<Words, f32> unit_at(FourWords<Words> words, Words place) {  // by its two lowest bits
  const auto is_odd = (place & Words(1u)) != Words(0u), is_upper = (place & Words(2u)) != Words(0u);
  return unit_of(
      Words(select(is_upper, select(is_odd, words.w3, words.w2), select(is_odd, words.w1, words.w0))));
}
template <class Integer>
TWINLOOM_INLINE Like<Integer, f32> random_uniform(Integer number, Integer seed, Integer offset,
                                                  Integer operation) {
  const auto words = random_words(Integer(number >> Integer(2)), seed, offset, operation);
  return unit_at(words, truncated<u32>(number));
}
// That of `first` + lane, where `first` is a multiple of `together`, 2 or 4, and lanes are below `together`
// or it is 4: NVRTC does not find by itself that lanes share a counter.
template <int lane, int together>
TWINLOOM_INLINE f32 random_uniform_beside(i64 first, i64 seed, i64 offset, i64 operation) {
  const auto words = random_words(i64((first >> 2) + lane / 4), seed, offset, operation);
  return unit_at(words, u32(together == 4 ? lane : first + lane));
}
// In [0, 1), a multiple of 2^-53: the high bits of w1:w0.
template <class Integer>
TWINLOOM_INLINE Like<Integer, f64> random_uniform_f64(Integer number, Integer seed, Integer offset,
                                                      Integer operation) {
  const auto words = random_words(number, seed, offset, operation);
  const auto all = (truncated<u64>(words.w1) << u64(32)) | truncated<u64>(words.w0);
  return truncated<f64>(truncated<i64>(all >> u64(11))) * Like<Integer, f64>(0x1p-53);
}

// cos(pi * turns), turns in [0, 2).
template <class Real>
TWINLOOM_INLINE Real cospi(Real turns) {
  const Real k = round(turns + turns);
  const Real part = fma(k, Real(-0.5f), turns);
  const Real pi(0x1.921fb6p+1f);
  const Real high = part * pi;
  const Real low = fma(part, pi, -high) + part * Real(-0x1.777a5cp-24f);
  return turned_sin(Angle<Real>{high, low, low_bits_of(k)}, 1);
}
template <class Integer>
TWINLOOM_INLINE Like<Integer, f32> random_normal(Integer number, Integer seed, Integer offset,
                                                 Integer operation) {
  using Real = Like<Integer, f32>;
  const auto words = random_words(number, seed, offset, operation);
  const Real radius = sqrt(Real(-2.0f) * log(Real(1.0f) - unit_of(words.w0)));
  return radius * cospi(Real(2.0f) * unit_of(words.w1));
}
// low + the high word of w1:w0 times (high - low); the range may be all of i64.
template <class Integer>
TWINLOOM_INLINE Integer random_integers(Integer number, Integer seed, Integer offset, Integer operation,
                                        Integer low, Integer high) {
  using Bits = Unsigned<Integer>;
  const auto words = random_words(number, seed, offset, operation);
  const Bits range = bit_cast<Bits>(high) - bit_cast<Bits>(low);
  const Bits range0 = range & Bits(u64(0xffffffff));
  const Bits range1 = range >> u64(32);
  const Bits word0 = truncated<u64>(words.w0);
  const Bits word1 = truncated<u64>(words.w1);
  const Bits middle = word1 * range0 + ((word0 * range0) >> u64(32));
  const Bits cross = word0 * range1 + (middle & Bits(u64(0xffffffff)));
  const Bits top = word1 * range1 + (middle >> u64(32)) + (cross >> u64(32));
  return bit_cast<Integer>(Bits(bit_cast<Bits>(low) + top));
}

}  // namespace twinloom::device
