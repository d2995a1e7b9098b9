// Lanes loaded from places apart for the kernels of the CPU. No lane outside a mask touches memory: where the
// mask is known only at run time, elements of 4 and 8 bytes are gathered by instructions that take one.
#pragma once

#include "cpu/memory.h"

namespace twinloom::device {

#ifdef __clang__
template <int bytes, int count>
constexpr bool has_masked_gather = false;
template <int bytes, int count>
struct MaskedGather;

// Masks are lanes of 0 and -1, as AVX2 has them, which are halved where several instructions gather; the
// builtins for AVX-512 take bits.
#define TWINLOOM_GATHER(bytes, count, number, Place, Taken, taken, gathers)                                \
  template <>                                                                                              \
  inline constexpr bool has_masked_gather<bytes, count> = true;                                            \
  template <>                                                                                              \
  struct MaskedGather<bytes, count> {                                                                      \
    using Values = Vector<number, count>;                                                                  \
    static TWINLOOM_INLINE Values gather(const void* pointer, Vector<i64, count> places,                   \
                                         Signed<Values> mask, Values otherwise) {                          \
      return gathers(otherwise, static_cast<const Place*>(pointer), bit_cast<Vector<Wide, count>>(places), \
                     bit_cast<Taken>(taken), bytes);                                                       \
    }                                                                                                      \
  };
#ifdef __AVX512F__
TWINLOOM_GATHER(4, 8, int, void, u8, mask_of(mask), __builtin_ia32_gatherdiv16si)
TWINLOOM_GATHER(8, 8, Wide, void, u8, mask_of(mask), __builtin_ia32_gatherdiv8di)
#endif
#ifdef __AVX2__
TWINLOOM_GATHER(4, 4, int, int, Values, mask, __builtin_ia32_gatherq_d256)
TWINLOOM_GATHER(8, 4, Wide, Wide, Values, mask, __builtin_ia32_gatherq_q256)
#endif
#undef TWINLOOM_GATHER
#endif

template <int bytes, int count>
constexpr bool has_masked_gathers = has_masked_gather<bytes, count>;
template <int bytes, int count>
  requires(count > 1 && !has_masked_gather<bytes, count>)
constexpr bool has_masked_gathers<bytes, count> = has_masked_gathers<bytes, count / 2>;

// Lane by lane.
template <class Of, int... each>
TWINLOOM_INLINE Vector<Of, sizeof...(each)> load_each(const Of* pointer, i64 stride, Sequence<int, each...>) {
  return Vector<Of, sizeof...(each)>{pointer[each * stride]...};
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_strided(const Of* pointer, i64 stride) {
  return load_each(pointer, stride, Each<count>());
}
template <class Of, class Places, int... each>
TWINLOOM_INLINE Vector<Of, sizeof...(each)> gather_each(const Of* pointer, Places places,
                                                        Sequence<int, each...>) {
  return Vector<Of, sizeof...(each)>{pointer[places[each]]...};
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> gather(const Of* pointer, Vector<i64, count> places) {
  return gather_each(pointer, places, Each<count>());
}
template <class Of, class Places, class Active, int... each>
TWINLOOM_INLINE Vector<Of, sizeof...(each)> gather_each_where(const Of* pointer, Places places, Active active,
                                                              Of otherwise, Sequence<int, each...>) {
  return Vector<Of, sizeof...(each)>{(active[each] != 0 ? pointer[places[each]] : otherwise)...};
}
template <class Of, int count>
TWINLOOM_INLINE Vector<Of, count> gather_taken(const Of* pointer, Lanes<i64, count> places,
                                               Signed<Vector<Of, count>> mask, Of otherwise) {
  using Value = Vector<Of, count>;
  if constexpr (has_masked_gather<sizeof(Of), count>) {
    using Access = MaskedGather<sizeof(Of), count>;
    using Values = typename Access::Values;
    return bit_cast<Value>(Access::gather(pointer, places, mask, bit_cast<Values>(Value(otherwise))));
  } else {
    return joined(gather_taken(pointer, low(places), low(mask), otherwise),
                  gather_taken(pointer, high(places), high(mask), otherwise), Each<count>());
  }
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> gather_where(const Of* pointer, Vector<i64, count> places,
                                               Vector<bool, count> mask, Of otherwise) {
  if constexpr (has_masked_gathers<sizeof(Of), count>)
    return gather_taken(pointer, places, test_of<Vector<Of, count>>(mask), otherwise);
  else
    return gather_each_where(pointer, places, truncated<u8>(mask), otherwise, Each<count>());
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_strided_where(const Of* pointer, i64 stride, Vector<bool, count> mask,
                                                     Of otherwise) {
  return gather_where<count>(pointer, ramp<count>(0, stride), mask, otherwise);
}
// Neighbours under a mask that is no run of first lanes.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_where(const Of* pointer, Vector<bool, count> mask, Of otherwise) {
  if constexpr (has_masked_memory<sizeof(Of), count>) {
    return load_masked<count>(pointer, MaskedMemory<sizeof(Of), count>::taken(mask), otherwise);
  } else if constexpr (has_masked_parts<sizeof(Of), count>) {
    constexpr int half = count / 2;
    return joined(load_where<half>(pointer, low(mask), otherwise),
                  load_where<half>(pointer + half, high(mask), otherwise), Each<count>());
  } else {
    return load_strided_where<count>(pointer, 1, mask, otherwise);
  }
}

}  // namespace twinloom::device
