// The layer everything else of the device header is written against: values that are one element or a
// vector of them, masks, and a few operations that each compiler offers in its own words.
//   Clang  vectors of any power of two of lanes, and single elements
//   GCC    the same (the interpreter has single elements only)
//   NVRTC  the same, of lanes that a thread holds in registers of its own
// No other header is included but GCC's and NVRTC's vectors, contraction is off, and every function gives the
// same bits wherever it is compiled.
//   Vector<f32, 8>  eight lanes; Vector<f32, 1> is float
//   Like<V, i32>    as many lanes as V, of i32
//   Mask<V>         of b8: what questions give and `where` takes
//   Test<V>         what a comparison of V gives in here: bool, or a vector of 0 and -1 (by NVRTC, of bool)
#pragma once

// A flag of NVRTC makes all functions a GPU's; nvcc (exported sources) asks for a word at each.
#if defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#define TWINLOOM_DEVICE __device__
#else
#define TWINLOOM_DEVICE
#endif
#define TWINLOOM_INLINE TWINLOOM_DEVICE inline __attribute__((always_inline))
// A loop over lanes that must leave none of them in memory, and one that stays a loop. Other compilers see to
// that themselves.
#ifdef __CUDACC__
#define TWINLOOM_UNROLL _Pragma("unroll")
#define TWINLOOM_ROLLED _Pragma("unroll 1")
#else
#define TWINLOOM_UNROLL
#define TWINLOOM_ROLLED
#endif

namespace twinloom::device {

using b8 = bool;
#ifdef __CUDACC__
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
#else
using i8 = __INT8_TYPE__;
using i16 = __INT16_TYPE__;
using i32 = __INT32_TYPE__;
using i64 = __INT64_TYPE__;
using u8 = __UINT8_TYPE__;
using u16 = __UINT16_TYPE__;
using u32 = __UINT32_TYPE__;
using u64 = __UINT64_TYPE__;
#endif
using f32 = float;
using f64 = double;

// Formats of storage. Their bits travel in u16 or u8; they are computed with as f32.
struct f16 {
  using Bits = u16;
};
struct bf16 {
  using Bits = u16;
};
struct f8e4m3 {
  using Bits = u8;
};
struct f8e5m2 {
  using Bits = u8;
};

template <class Value>
struct Traits {
  using Element = Value;
  static constexpr int lanes = 1;
};
template <class Of, int count>
struct VectorOf;
template <class Of>
struct VectorOf<Of, 1> {
  using type = Of;
};
#ifdef __clang__
template <class Of, int count>
struct Traits<Of __attribute__((ext_vector_type(count)))> {
  using Element = Of;
  static constexpr int lanes = count;
};
template <class Of, int count>
struct VectorOf {
  using type = Of __attribute__((ext_vector_type(count)));
};
#endif

template <class Of, int count>
using Vector = typename VectorOf<Of, count>::type;
template <class Value>
using Element = typename Traits<Value>::Element;
template <class Value>
constexpr int lanes = Traits<Value>::lanes;
template <class Value, class Of>
using Like = Vector<Of, lanes<Value>>;
template <class Value>
using Mask = Like<Value, bool>;

template <class One, class Other>
constexpr bool same = false;
template <class One>
constexpr bool same<One, One> = true;

template <int bytes>
struct IntegerOf;
template <>
struct IntegerOf<1> {
  using Signed = i8;
  using Unsigned = u8;
};
template <>
struct IntegerOf<2> {
  using Signed = i16;
  using Unsigned = u16;
};
template <>
struct IntegerOf<4> {
  using Signed = i32;
  using Unsigned = u32;
};
template <>
struct IntegerOf<8> {
  using Signed = i64;
  using Unsigned = u64;
};
// Integers as wide as the elements of a value.
template <class Value>
using Signed = Like<Value, typename IntegerOf<sizeof(Element<Value>)>::Signed>;
template <class Value>
using Unsigned = Like<Value, typename IntegerOf<sizeof(Element<Value>)>::Unsigned>;

template <class Value>
constexpr bool is_real = same<Element<Value>, f32> || same<Element<Value>, f64>;
template <class Value>
constexpr bool is_truth = same<Element<Value>, bool>;
template <class Value>
constexpr bool is_signed = is_real<Value> || (!is_truth<Value> && Element<Value>(-1) < Element<Value>(0));
template <class Value>
constexpr int bits = int(sizeof(Element<Value>)) * 8;

template <class To, class From>
TWINLOOM_INLINE To bit_cast(From value) {
#if defined(__CUDACC_RTC__) && __CUDACC_VER_MAJOR__ == 12 && __CUDACC_VER_MINOR__ < 3
  To to;  // NVRTC 12.0 does not have the builtin
  memcpy(&to, &value, sizeof(To));
  return to;
#else
  return __builtin_bit_cast(To, value);
#endif
}

template <class To, class From>
TWINLOOM_INLINE Like<From, To> truncated(From value);

// Tests and masks.
template <class Value>
TWINLOOM_INLINE Value select(bool test, Value yes, Value no) {
  return test ? yes : no;
}
TWINLOOM_INLINE bool any_lane(bool test) { return test; }
TWINLOOM_INLINE bool mask_of(bool test) { return test; }
template <class Value>
TWINLOOM_INLINE bool test_of(bool mask) {
  return mask;
}
TWINLOOM_INLINE bool both(bool a, bool b) { return a && b; }
TWINLOOM_INLINE bool either(bool a, bool b) { return a || b; }
TWINLOOM_INLINE bool negated(bool a) { return !a; }

#ifdef __clang__
template <class Of, int count>
using Lanes = Of __attribute__((ext_vector_type(count)));
template <class Test, class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> select(Test test, Lanes<Of, count> yes, Lanes<Of, count> no) {
  return test ? yes : no;
}
template <class Of, int count>
TWINLOOM_INLINE bool any_lane(Lanes<Of, count> test) {
  return __builtin_reduce_or(test) != 0;
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<bool, count> mask_of(Lanes<Of, count> test) {
  return __builtin_convertvector(test, Lanes<bool, count>);
}
template <class Value, int count>
TWINLOOM_INLINE Signed<Value> test_of(Lanes<bool, count> mask) {
  return -__builtin_convertvector(mask, Signed<Value>);
}
// Lane l is lane each[l] of both, those of `second` counted on behind those of `first`.
template <int... each, class Value>
TWINLOOM_INLINE auto shuffled(Value first, Value second) {
  return __builtin_shufflevector(first, second, each...);
}
#define TWINLOOM_HAS_VECTORS
#elif defined(__CUDACC__)
}  // namespace twinloom::device
#include "gpu_vectors.h"
namespace twinloom::device {
#define TWINLOOM_HAS_VECTORS
#elif defined(__GNUC__) && !defined(__CUDACC__)
}  // namespace twinloom::device
#include "gcc_vectors.h"
namespace twinloom::device {
#define TWINLOOM_HAS_VECTORS
#endif

#ifdef TWINLOOM_HAS_VECTORS
template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> both(Lanes<Of, count> a, Lanes<Of, count> b) {
  return a & b;
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> either(Lanes<Of, count> a, Lanes<Of, count> b) {
  return a | b;
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> negated(Lanes<Of, count> a) {
  return ~a;
}
#endif

// single(x, more...) for every lane.
template <class Value, class Single, class... More>
TWINLOOM_INLINE Value lane_by_lane(Single single, Value x, More... more) {
  TWINLOOM_UNROLL
  for (int lane = 0; lane < lanes<Value>; ++lane) x[lane] = single(x[lane], more[lane]...);
  return x;
}

// a * b + c, rounded once.
template <class Real>
TWINLOOM_INLINE Real fma(Real a, Real b, Real c) {
#ifdef __clang__
  return __builtin_elementwise_fma(a, b, c);
#elif defined(__CUDACC__)
  if constexpr (same<Real, f32>) return __fmaf_rn(a, b, c);
  if constexpr (same<Real, f64>) return __fma_rn(a, b, c);
  if constexpr (lanes < Real >> 1) return lane_by_lane([](auto... one) { return fma(one...); }, a, b, c);
#else
  if constexpr (same<Real, f32>) return __builtin_fmaf(a, b, c);
  if constexpr (same<Real, f64>) return __builtin_fma(a, b, c);
  if constexpr (lanes < Real >> 1) return lane_by_lane([](auto... one) { return fma(one...); }, a, b, c);
#endif
}

// The same value, of which NVRTC's optimiser knows nothing: where its folds are wrong.
template <class Value>
TWINLOOM_INLINE Value hidden(Value x) {
#ifdef __CUDACC__
  if constexpr (same<Value, f32>) asm("" : "+f"(x));
  if constexpr (same<Value, f64>) asm("" : "+d"(x));
  if constexpr (same<Value, u64>) asm("" : "+l"(x));
  if constexpr (same<Value, u32>) asm("" : "+r"(x));
  if constexpr (same<Value, u16>) asm("" : "+h"(x));
  if constexpr (same<Value, u8>) return u8(hidden(u16(x)));
  if constexpr (lanes < Value >> 1) return lane_by_lane([](auto one) { return hidden(one); }, x);
#endif
  return x;
}

// The number of zeros above the highest one; of a number that is not 0.
TWINLOOM_INLINE int leading_zeros(u64 number) {
#ifdef __CUDACC__
  return __clzll(i64(number));
#else
  return __builtin_clzll(number);
#endif
}

#ifdef __clang__
#define TWINLOOM_ROUNDING(name, clang_name, gcc_name) \
  template <class Real>                               \
  TWINLOOM_INLINE Real name(Real x) {                 \
    return __builtin_elementwise_##clang_name(x);     \
  }
#else
#ifdef __CUDACC__
#define TWINLOOM_OF_F32(name) ::name##f
#define TWINLOOM_OF_F64(name) ::name
#else
#define TWINLOOM_OF_F32(name) __builtin_##name##f
#define TWINLOOM_OF_F64(name) __builtin_##name
#endif
#define TWINLOOM_ROUNDING(name, clang_name, gcc_name)                                            \
  template <class Real>                                                                          \
  TWINLOOM_INLINE Real name(Real x) {                                                            \
    if constexpr (same<Real, f32>) return TWINLOOM_OF_F32(gcc_name)(x);                          \
    if constexpr (same<Real, f64>) return TWINLOOM_OF_F64(gcc_name)(x);                          \
    if constexpr (lanes < Real >> 1) return lane_by_lane([](auto one) { return name(one); }, x); \
  }
#endif
TWINLOOM_ROUNDING(floor, floor, floor)
TWINLOOM_ROUNDING(ceil, ceil, ceil)
TWINLOOM_ROUNDING(trunc, trunc, trunc)
TWINLOOM_ROUNDING(round, roundeven, rint)  // half to even; the rounding mode is to nearest everywhere
TWINLOOM_ROUNDING(sqrt, sqrt, sqrt)
#undef TWINLOOM_ROUNDING
#ifndef __clang__
#undef TWINLOOM_OF_F32
#undef TWINLOOM_OF_F64
#endif

// The language's own conversion; a real value must fit the integer type.
template <class To, class From>
TWINLOOM_INLINE Like<From, To> truncated(From value) {
#ifdef __clang__
  if constexpr (lanes < From >> 1)
    return __builtin_convertvector(value, Like<From, To>);
  else
#elif defined(TWINLOOM_HAS_VECTORS)
  if constexpr (lanes < From >> 1)
    return converted<To>(value);
  else
#endif
    return static_cast<To>(value);
}

// computed(x, more...), by NVRTC in a function of its own: what is inlined is what its time goes to.
#ifdef __CUDACC__
template <class Computed, class... Values>
TWINLOOM_DEVICE __attribute__((noinline)) auto called(Computed computed, Values... values) {
  return computed(values...);
}
#else
template <class Computed, class... Values>
TWINLOOM_INLINE auto called(Computed computed, Values... values) {
  return computed(values...);
}
#endif

// rare(x) for the lanes of `test`, one after the other; the other lanes keep `common`. For inputs so seldom
// met that their slow way costs nothing.
template <class Test, class Real, class Rare, class... More>
TWINLOOM_INLINE Real replaced_lanes(Test test, Real common, Rare rare, Real x, More... more) {
#ifdef TWINLOOM_HAS_VECTORS
  if constexpr (lanes < Real >> 1) {
    if (__builtin_expect(any_lane(test), 0)) {
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
      TWINLOOM_UNROLL
      for (int i = 0; i < lanes<Real>; ++i) {
        if (test[i] != 0) common[i] = called(rare, x[i], more[i]...);
      }
    }
    return common;
  } else
#endif
    return test ? called(rare, x, more...) : common;
}

}  // namespace twinloom::device
