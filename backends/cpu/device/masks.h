// Loads and stores under a mask and gathers, where GCC compiles kernels: the rows that memory.h and gather.h
// have of Clang's builtins.
#pragma once

#include <immintrin.h>

#include "device/kernel.h"

namespace twinloom::device {

#ifdef __AVX512BW__
// A bit for each lane.
template <int count>
TWINLOOM_INLINE u64 bits_of_mask(Vector<bool, count> mask) {
  __m512i bytes = _mm512_setzero_si512();
  __builtin_memcpy(&bytes, &mask, count);
  return _mm512_test_epi8_mask(bytes, bytes);
}
#define TWINLOOM_MASKED(bytes, count, number, Register, Taken, loads, stores)                 \
  template <>                                                                                 \
  inline constexpr bool has_masked_memory<bytes, count> = true;                               \
  template <>                                                                                 \
  struct MaskedMemory<bytes, count> {                                                         \
    using Values = Vector<number, count>;                                                     \
    static TWINLOOM_INLINE Taken first(i64 active) {                                          \
      return Taken(active >= 64 ? ~u64(0) : (u64(1) << active) - 1);                          \
    }                                                                                         \
    static TWINLOOM_INLINE Taken taken(Vector<bool, count> mask) {                            \
      return Taken(bits_of_mask<count>(mask));                                                \
    }                                                                                         \
    static TWINLOOM_INLINE Values load(const number* pointer, Taken mask, Values otherwise) { \
      return bit_cast<Values>(loads(bit_cast<Register>(otherwise), mask, pointer));           \
    }                                                                                         \
    static TWINLOOM_INLINE void store(number* pointer, Taken mask, Values value) {            \
      stores(pointer, mask, bit_cast<Register>(value));                                       \
    }                                                                                         \
  };
TWINLOOM_MASKED(1, 64, i8, __m512i, u64, _mm512_mask_loadu_epi8, _mm512_mask_storeu_epi8)
TWINLOOM_MASKED(1, 32, i8, __m256i, u32, _mm256_mask_loadu_epi8, _mm256_mask_storeu_epi8)
TWINLOOM_MASKED(1, 16, i8, __m128i, u16, _mm_mask_loadu_epi8, _mm_mask_storeu_epi8)
TWINLOOM_MASKED(2, 32, i16, __m512i, u32, _mm512_mask_loadu_epi16, _mm512_mask_storeu_epi16)
TWINLOOM_MASKED(2, 16, i16, __m256i, u16, _mm256_mask_loadu_epi16, _mm256_mask_storeu_epi16)
TWINLOOM_MASKED(2, 8, i16, __m128i, u8, _mm_mask_loadu_epi16, _mm_mask_storeu_epi16)
TWINLOOM_MASKED(4, 16, i32, __m512i, u16, _mm512_mask_loadu_epi32, _mm512_mask_storeu_epi32)
TWINLOOM_MASKED(4, 8, i32, __m256i, u8, _mm256_mask_loadu_epi32, _mm256_mask_storeu_epi32)
TWINLOOM_MASKED(4, 4, i32, __m128i, u8, _mm_mask_loadu_epi32, _mm_mask_storeu_epi32)
TWINLOOM_MASKED(8, 8, i64, __m512i, u8, _mm512_mask_loadu_epi64, _mm512_mask_storeu_epi64)
TWINLOOM_MASKED(8, 4, i64, __m256i, u8, _mm256_mask_loadu_epi64, _mm256_mask_storeu_epi64)
TWINLOOM_MASKED(8, 2, i64, __m128i, u8, _mm_mask_loadu_epi64, _mm_mask_storeu_epi64)
#undef TWINLOOM_MASKED
#elif defined(__AVX2__)
// `Plain` is what the instruction's function calls an element.
#define TWINLOOM_MASKED(bytes, count, number, Register, Plain, loads, stores)                         \
  template <>                                                                                         \
  inline constexpr bool has_masked_memory<bytes, count> = true;                                       \
  template <>                                                                                         \
  struct MaskedMemory<bytes, count> {                                                                 \
    using Values = Vector<number, count>;                                                             \
    static TWINLOOM_INLINE Values first(i64 active) {                                                 \
      return counted<number>(Each<count>()) < Values(number(active));                                 \
    }                                                                                                 \
    static TWINLOOM_INLINE Values taken(Vector<bool, count> mask) { return test_of<Values>(mask); }   \
    static TWINLOOM_INLINE Values load(const number* pointer, Values mask, Values otherwise) {        \
      const auto loaded = loads(reinterpret_cast<const Plain*>(pointer), bit_cast<Register>(mask));   \
      return select(mask, bit_cast<Values>(loaded), otherwise);                                       \
    }                                                                                                 \
    static TWINLOOM_INLINE void store(number* pointer, Values mask, Values value) {                   \
      stores(reinterpret_cast<Plain*>(pointer), bit_cast<Register>(mask), bit_cast<Register>(value)); \
    }                                                                                                 \
  };
TWINLOOM_MASKED(4, 8, i32, __m256i, int, _mm256_maskload_epi32, _mm256_maskstore_epi32)
TWINLOOM_MASKED(4, 4, i32, __m128i, int, _mm_maskload_epi32, _mm_maskstore_epi32)
TWINLOOM_MASKED(8, 4, i64, __m256i, long long, _mm256_maskload_epi64, _mm256_maskstore_epi64)
TWINLOOM_MASKED(8, 2, i64, __m128i, long long, _mm_maskload_epi64, _mm_maskstore_epi64)
#undef TWINLOOM_MASKED
#endif

#define TWINLOOM_GATHER(bytes, count, number, gathered)                                  \
  template <>                                                                            \
  inline constexpr bool has_masked_gather<bytes, count> = true;                          \
  template <>                                                                            \
  struct MaskedGather<bytes, count> {                                                    \
    using Values = Vector<number, count>;                                                \
    static TWINLOOM_INLINE Values gather(const void* pointer, Vector<i64, count> places, \
                                         Signed<Values> mask, Values otherwise) {        \
      return bit_cast<Values>(gathered);                                                 \
    }                                                                                    \
  };
#ifdef __AVX512F__
TWINLOOM_GATHER(4, 8, i32,
                _mm512_mask_i64gather_epi32(bit_cast<__m256i>(otherwise),
                                            __mmask8(bits_of_mask<8>(mask_of(mask))),
                                            bit_cast<__m512i>(places), pointer, 4))
TWINLOOM_GATHER(8, 8, i64,
                _mm512_mask_i64gather_epi64(bit_cast<__m512i>(otherwise),
                                            __mmask8(bits_of_mask<8>(mask_of(mask))),
                                            bit_cast<__m512i>(places), pointer, 8))
#endif
#ifdef __AVX2__
TWINLOOM_GATHER(4, 4, i32,
                _mm256_mask_i64gather_epi32(bit_cast<__m128i>(otherwise), static_cast<const int*>(pointer),
                                            bit_cast<__m256i>(places), bit_cast<__m128i>(mask), 4))
TWINLOOM_GATHER(8, 4, i64,
                _mm256_mask_i64gather_epi64(bit_cast<__m256i>(otherwise),
                                            static_cast<const long long*>(pointer), bit_cast<__m256i>(places),
                                            bit_cast<__m256i>(mask), 8))
#endif
#undef TWINLOOM_GATHER

}  // namespace twinloom::device
