// What kernels have from xsimd where GCC compiles them: registers, and how they are loaded and stored.
// xsimd 8.1 has no masks that are known only at run time, no gathers by 64 bits and no elementary functions
// that round as ours do; those are instructions (masks.h) and the functions of device/kernel.h. Values of
// less than 16 bytes or more than a register are the compiler's to divide.
#pragma once

#include <immintrin.h>

#include <xsimd/xsimd.hpp>

#include "device/kernel.h"

namespace twinloom::device {

template <int bytes>
struct RegisterOf {
  static constexpr bool exists = false;
};
template <>
struct RegisterOf<16> {
  static constexpr bool exists = true;
  using Isa = xsimd::sse4_2;
};
template <>
struct RegisterOf<32> {
  static constexpr bool exists = true;
  using Isa = xsimd::avx2;
};
#ifdef __AVX512BW__
template <>
struct RegisterOf<64> {
  static constexpr bool exists = true;
  using Isa = xsimd::avx512bw;
};
#endif
template <class Value>
using Batch = xsimd::batch<Element<Value>, typename RegisterOf<sizeof(Value)>::Isa>;

template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load(const Of* pointer) {
  using Value = Vector<Of, count>;
  if constexpr (RegisterOf<sizeof(Value)>::exists) {
    return bit_cast<Value>(Batch<Value>::load_unaligned(pointer).data);
  } else {
    Value value;
    __builtin_memcpy(&value, pointer, sizeof value);
    return value;
  }
}
template <class Of, class Value>
TWINLOOM_INLINE void store(Of* pointer, Value value) {
  if constexpr (same<Of, Element<Value>> && RegisterOf<sizeof(Value)>::exists)
    Batch<Value>(bit_cast<typename Batch<Value>::register_type>(value)).store_unaligned(pointer);
  else
    __builtin_memcpy(pointer, &value, sizeof value);
}
// Past the caches; the pointer is a multiple of the value's size.
template <class Value>
TWINLOOM_INLINE void store_past_caches(Value* pointer, Value value) {
  if constexpr (sizeof(Value) == 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(pointer), bit_cast<__m128i>(value));
  else if constexpr (sizeof(Value) == 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(pointer), bit_cast<__m256i>(value));
#ifdef __AVX512F__
  else if constexpr (sizeof(Value) == 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(pointer), bit_cast<__m512i>(value));
#endif
  else
    *pointer = value;
}

}  // namespace twinloom::device
