// Index arithmetic, lanes and memory for the kernels of the CPU, but what is loaded from places apart
// (gather.h): functions that core/emit/dialect.h lists.
// Pointers may have any alignment. No lane outside a mask touches memory.
#pragma once

#include "device/kernel.h"
#ifndef __clang__
#include "cpu/xsimd.h"
#endif

namespace twinloom::device {

// Index arithmetic. Divisors are positive; where a loop that does not run hid one that is not, the
// quotient is computed all the same, before the loop, and not used.
TWINLOOM_INLINE i64 floor_div(i64 a, i64 b) {
  if (b <= 0) return 0;
  const i64 quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}
TWINLOOM_INLINE i64 floor_mod(i64 a, i64 b) {
  if (b <= 0) return 0;
  const i64 remainder = a % b;
  return remainder < 0 ? remainder + b : remainder;
}
TWINLOOM_INLINE i64 short_div(i64 a, i64 b) { return u32(b) == 0 ? 0 : i64(u32(a) / u32(b)); }
TWINLOOM_INLINE i64 short_mod(i64 a, i64 b) { return u32(b) == 0 ? 0 : i64(u32(a) % u32(b)); }
TWINLOOM_INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
TWINLOOM_INLINE i64 greatest(i64 a, i64 b) { return a > b ? a : b; }
TWINLOOM_INLINE i64 trailing_zeros(i64 value) { return __builtin_ctzll(static_cast<u64>(value)); }

// The numbers 0 .. count-1 as a pack, for what is done lane by lane.
template <class Number, Number... each>
struct Sequence {};
#ifdef __clang__
template <int count>
using Each = __make_integer_seq<Sequence, int, count>;
#else
template <int count>
using Each = Sequence<int, __integer_pack(count)...>;
#endif

template <class Of, int... each>
TWINLOOM_INLINE Vector<Of, sizeof...(each)> counted(Sequence<int, each...>) {
  return Vector<Of, sizeof...(each)>{Of(each)...};
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> ramp_of(Of first, Of step) {
  return Vector<Of, count>(first) + Vector<Of, count>(step) * counted<Of>(Each<count>());
}
template <int count>
TWINLOOM_INLINE Vector<i64, count> ramp(i64 first, i64 step) {
  return ramp_of<count>(first, step);
}

template <int count>
TWINLOOM_INLINE Lanes<i64, count> least(Lanes<i64, count> a, Lanes<i64, count> b) {
  return select(a < b, a, b);
}
template <int count>
TWINLOOM_INLINE Lanes<i64, count> greatest(Lanes<i64, count> a, Lanes<i64, count> b) {
  return select(a > b, a, b);
}
template <int count, int... each>
TWINLOOM_INLINE Lanes<i64, count> floor_div(Lanes<i64, count> a, Lanes<i64, count> b, Sequence<int, each...>) {
  return Lanes<i64, count>{floor_div(i64(a[each]), i64(b[each]))...};
}
template <int count>
TWINLOOM_INLINE Lanes<i64, count> floor_div(Lanes<i64, count> a, Lanes<i64, count> b) {
  return floor_div(a, b, Each<count>());
}
template <int count>
TWINLOOM_INLINE Lanes<i64, count> floor_mod(Lanes<i64, count> a, Lanes<i64, count> b) {
  return a - floor_div(a, b) * b;
}
template <int count>
TWINLOOM_INLINE Lanes<i64, count> short_div(Lanes<i64, count> a, Lanes<i64, count> b) {
  return floor_div(a, b);
}
template <int count>
TWINLOOM_INLINE Lanes<i64, count> short_mod(Lanes<i64, count> a, Lanes<i64, count> b) {
  return floor_mod(a, b);
}

// Parts of a vector; half of two lanes is an element.
template <int first, int step, class Value, int... each>
TWINLOOM_INLINE auto picked(Value value, Sequence<int, each...>) {
  return shuffled<(first + step * each)...>(value, value);
}
#define TWINLOOM_HALF(name, first, step)                                                            \
  template <class Value>                                                                            \
  TWINLOOM_INLINE Vector<Element<Value>, lanes<Value> / 2> name(Value value) {                      \
    if constexpr (lanes<Value> == 2) return value[first];                                           \
    else if constexpr (is_truth<Value>) return truth(name(truncated<u8>(value)));                   \
    else return picked<first, step>(value, Each<lanes<Value> / 2>());                                \
  }
TWINLOOM_HALF(low, 0, 1)
TWINLOOM_HALF(high, (lanes<Value> / 2), 1)
TWINLOOM_HALF(even, 0, 2)
TWINLOOM_HALF(odd, 1, 2)
#undef TWINLOOM_HALF
template <class Of, int half, int... each>
TWINLOOM_INLINE Vector<Of, 2 * half> joined(Lanes<Of, half> left, Lanes<Of, half> right,
                                            Sequence<int, each...>) {
  return shuffled<each...>(left, right);
}

// Loads and stores of neighbours.
#ifdef __clang__
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load(const Of* pointer) {
  Vector<Of, count> value;
  __builtin_memcpy(&value, pointer, sizeof value);
  return value;
}
template <class Of, class Value>
TWINLOOM_INLINE void store(Of* pointer, Value value) {
  __builtin_memcpy(pointer, &value, sizeof value);
}
template <class Value>
TWINLOOM_INLINE void store_past_caches(Value* pointer, Value value) {
  __builtin_nontemporal_store(value, pointer);
}
#endif
// Past the caches, where a register is aligned. Other threads see such stores after stores_done().
template <class Of, class Value>
TWINLOOM_INLINE void store_streaming(Of* pointer, Value value) {
  if constexpr (sizeof(Value) >= 16) {
    constexpr u64 unaligned = sizeof(Value) - 1;
    if (__builtin_expect((reinterpret_cast<u64>(pointer) & unaligned) == 0, 1))
      return store_past_caches(reinterpret_cast<Value*>(pointer), value);
  }
  store(pointer, value);
}
TWINLOOM_INLINE void stores_done() { __builtin_ia32_sfence(); }
constexpr int LINE = 64;  // bytes of a line of the caches
template <int lines, int stored>
TWINLOOM_INLINE void prefetch_lines(const void* pointer) {
  __builtin_prefetch(pointer, stored);
  if constexpr (lines > 1) prefetch_lines<lines - 1, stored>(static_cast<const char*>(pointer) + LINE);
}
template <int count, class Of>
TWINLOOM_INLINE void prefetch(const Of* pointer) {
  prefetch_lines<(count * int(sizeof(Of)) + LINE - 1) / LINE, 0>(pointer);
}
template <int count, class Of>
TWINLOOM_INLINE void prefetch_written(const Of* pointer) {
  prefetch_lines<(count * int(sizeof(Of)) + LINE - 1) / LINE, 1>(pointer);
}
template <class Value, int... each>
TWINLOOM_INLINE Value reversed(Value value, Sequence<int, each...>) {
  return shuffled<(int(sizeof...(each)) - 1 - each)...>(value, value);
}
// `pointer` is the place of lane 0; lane l is l elements before it.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_reversed(const Of* pointer) {
  return reversed(load<count>(pointer - (count - 1)), Each<count>());
}
template <class Of, class Value>
TWINLOOM_INLINE void store_reversed(Of* pointer, Value value) {
  store(pointer - (lanes<Value> - 1), reversed(value, Each<lanes<Value>>()));
}

// Masks. A count of lanes may be negative or larger than there are lanes.
template <int count>
TWINLOOM_INLINE i64 clamped(i64 active) {
  return least(greatest(active, 0), count);
}
template <int count>
TWINLOOM_INLINE Lanes<bool, count> first_lanes(i64 active) {
  return mask_of(counted<i32>(Each<count>()) < Lanes<i32, count>(i32(clamped<count>(active))));
}
// All but the first ones.
template <int count>
TWINLOOM_INLINE Lanes<bool, count> last_lanes(i64 passed) {
  return mask_of(counted<i32>(Each<count>()) >= Lanes<i32, count>(i32(clamped<count>(passed))));
}

// The first lanes of elements of 1 and 2 bytes where the machine has no masked load of them: whole vectors
// at once, the last one by elements.
template <int count, class Of>
__attribute__((noinline)) Vector<Of, count> load_few(const Of* pointer, i64 active, Of otherwise) {
  Of elements[count];
  for (int i = 0; i < count; ++i) elements[i] = i < active ? pointer[i] : otherwise;
  return load<count>(elements);
}
template <class Of, int count>
__attribute__((noinline)) void store_few(Of* pointer, i64 active, Lanes<Of, count> value) {
  Of elements[count];
  store(elements, value);
  for (int i = 0; i < count && i < active; ++i) pointer[i] = elements[i];
}

template <int bytes, int count>
constexpr bool has_masked_memory = false;
template <int bytes, int count>
struct MaskedMemory;

#ifndef __clang__
template <int bytes, int count>
constexpr bool has_masked_gather = false;
template <int bytes, int count>
struct MaskedGather;
}  // namespace twinloom::device
#include "cpu/masks.h"
namespace twinloom::device {
#else
// The builtins name their own types: char, short, int and, for 8 bytes, long long; some take a pointer to
// a vector, some to an element.
using Wide = long long;
#ifdef __AVX512BW__
#define TWINLOOM_MASKED(bytes, count, number, Place, bits, loads, stores)                        \
  template <>                                                                                    \
  inline constexpr bool has_masked_memory<bytes, count> = true;                                  \
  template <>                                                                                    \
  struct MaskedMemory<bytes, count> {                                                            \
    using Values = Vector<number, count>;                                                        \
    typedef number Native __attribute__((vector_size(bytes * count)));                           \
    static TWINLOOM_INLINE bits first(i64 active) {                                              \
      return bits(active >= 64 ? ~u64(0) : (u64(1) << active) - 1);                              \
    }                                                                                            \
    static TWINLOOM_INLINE bits taken(Vector<bool, count> mask) { return bit_cast<bits>(mask); } \
    static TWINLOOM_INLINE Values load(const number* pointer, bits mask, Values otherwise) {     \
      return loads(reinterpret_cast<const Place*>(pointer), otherwise, mask);                    \
    }                                                                                            \
    static TWINLOOM_INLINE void store(number* pointer, bits mask, Values value) {                \
      stores(reinterpret_cast<Place*>(pointer), value, mask);                                    \
    }                                                                                            \
  };
TWINLOOM_MASKED(1, 64, char, Native, u64, __builtin_ia32_loaddquqi512_mask, __builtin_ia32_storedquqi512_mask)
TWINLOOM_MASKED(1, 32, char, Native, u32, __builtin_ia32_loaddquqi256_mask, __builtin_ia32_storedquqi256_mask)
TWINLOOM_MASKED(1, 16, char, Native, u16, __builtin_ia32_loaddquqi128_mask, __builtin_ia32_storedquqi128_mask)
TWINLOOM_MASKED(2, 32, short, Native, u32, __builtin_ia32_loaddquhi512_mask, __builtin_ia32_storedquhi512_mask)
TWINLOOM_MASKED(2, 16, short, Native, u16, __builtin_ia32_loaddquhi256_mask, __builtin_ia32_storedquhi256_mask)
TWINLOOM_MASKED(2, 8, short, Native, u8, __builtin_ia32_loaddquhi128_mask, __builtin_ia32_storedquhi128_mask)
TWINLOOM_MASKED(4, 16, int, int, u16, __builtin_ia32_loaddqusi512_mask, __builtin_ia32_storedqusi512_mask)
TWINLOOM_MASKED(4, 8, int, Native, u8, __builtin_ia32_loaddqusi256_mask, __builtin_ia32_storedqusi256_mask)
TWINLOOM_MASKED(4, 4, int, Native, u8, __builtin_ia32_loaddqusi128_mask, __builtin_ia32_storedqusi128_mask)
TWINLOOM_MASKED(8, 8, Wide, Wide, u8, __builtin_ia32_loaddqudi512_mask, __builtin_ia32_storedqudi512_mask)
TWINLOOM_MASKED(8, 4, Wide, Native, u8, __builtin_ia32_loaddqudi256_mask, __builtin_ia32_storedqudi256_mask)
TWINLOOM_MASKED(8, 2, Wide, Native, u8, __builtin_ia32_loaddqudi128_mask, __builtin_ia32_storedqudi128_mask)
#undef TWINLOOM_MASKED
#elif defined(__AVX2__)
#define TWINLOOM_MASKED(bytes, count, number, loads, stores)                                   \
  template <>                                                                                  \
  inline constexpr bool has_masked_memory<bytes, count> = true;                                \
  template <>                                                                                  \
  struct MaskedMemory<bytes, count> {                                                          \
    using Values = Vector<number, count>;                                                      \
    typedef number Native __attribute__((vector_size(bytes * count)));                         \
    static TWINLOOM_INLINE Values first(i64 active) {                                          \
      return bit_cast<Values>(counted<number>(Each<count>()) < Values(number(active)));        \
    }                                                                                          \
    static TWINLOOM_INLINE Values taken(Vector<bool, count> mask) {                            \
      return bit_cast<Values>(test_of<Values>(mask));                                          \
    }                                                                                          \
    static TWINLOOM_INLINE Values load(const number* pointer, Values mask, Values otherwise) { \
      const Values loaded = loads(reinterpret_cast<const Native*>(pointer), mask);             \
      return bit_cast<Values>(mask ? loaded : otherwise);                                      \
    }                                                                                          \
    static TWINLOOM_INLINE void store(number* pointer, Values mask, Values value) {            \
      stores(reinterpret_cast<Native*>(pointer), mask, value);                                 \
    }                                                                                          \
  };
TWINLOOM_MASKED(4, 8, int, __builtin_ia32_maskloadd256, __builtin_ia32_maskstored256)
TWINLOOM_MASKED(4, 4, int, __builtin_ia32_maskloadd, __builtin_ia32_maskstored)
TWINLOOM_MASKED(8, 4, Wide, __builtin_ia32_maskloadq256, __builtin_ia32_maskstoreq256)
TWINLOOM_MASKED(8, 2, Wide, __builtin_ia32_maskloadq, __builtin_ia32_maskstoreq)
#undef TWINLOOM_MASKED
#endif
#endif

template <int bytes, int count>
constexpr bool has_masked_parts = has_masked_memory<bytes, count>;
template <int bytes, int count>
  requires(count > 1 && !has_masked_memory<bytes, count>)
constexpr bool has_masked_parts<bytes, count> = has_masked_parts<bytes, count / 2>;

// By one instruction, whose mask is MaskedMemory's.
template <int count, class Of, class Taken>
TWINLOOM_INLINE Vector<Of, count> load_masked(const Of* pointer, Taken mask, Of otherwise) {
  using Value = Vector<Of, count>;
  using Access = MaskedMemory<sizeof(Of), count>;
  using Values = typename Access::Values;
  return bit_cast<Value>(Access::load(reinterpret_cast<const Element<Values>*>(pointer), mask,
                                      bit_cast<Values>(Value(otherwise))));
}
template <class Of, class Taken, class Value>
TWINLOOM_INLINE void store_masked(Of* pointer, Taken mask, Value value) {
  using Access = MaskedMemory<sizeof(Of), lanes<Value>>;
  using Values = typename Access::Values;
  Access::store(reinterpret_cast<Element<Values>*>(pointer), mask, bit_cast<Values>(value));
}

// Of all or none, and of the first: by a branch, which others with the same condition join. Cores fetch ahead of
// loads without masks; an EPYC does not of those with one (sums of rows of 960 products took 2.3 times as long,
// of 300 elements 3.7 times). Of stores none was faster so.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_if(const Of* pointer, bool active, Of otherwise) {
  return active ? load<count>(pointer) : Vector<Of, count>(otherwise);
}

template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_first(const Of* pointer, i64 active, Of otherwise) {
  if (__builtin_expect(active >= count, 1)) return load<count>(pointer);
  if constexpr (has_masked_memory<sizeof(Of), count>) {
    const auto mask = MaskedMemory<sizeof(Of), count>::first(clamped<count>(active));
    return load_masked<count>(pointer, mask, otherwise);
  } else if constexpr (has_masked_parts<sizeof(Of), count>) {
    constexpr int half = count / 2;
    return joined(load_first<half>(pointer, active, otherwise),
                  load_first<half>(pointer + half, active - half, otherwise), Each<count>());
  } else {
    return load_few<count>(pointer, active, otherwise);
  }
}
template <class Of, class Value>
TWINLOOM_INLINE void store_first(Of* pointer, i64 active, Value value) {
  constexpr int count = lanes<Value>;
  if constexpr (has_masked_memory<sizeof(Of), count>) {
    store_masked(pointer, MaskedMemory<sizeof(Of), count>::first(clamped<count>(active)), value);
  } else if constexpr (has_masked_parts<sizeof(Of), count>) {
    store_first(pointer, active, low(value));
    store_first(pointer + count / 2, active - count / 2, high(value));
  } else {
    if (__builtin_expect(active >= count, 1)) store(pointer, value);
    else store_few(pointer, active, value);
  }
}

// What is done to one element by a store and by its atomic forms. Lanes go in ascending order.
struct Replace {
  template <class Of>
  static TWINLOOM_INLINE void put(Of* pointer, Of value) {
    *pointer = value;
  }
};
struct AtomicAdd {
  template <class Of>
  static TWINLOOM_INLINE void put(Of* pointer, Of value) {
    if constexpr (is_real<Of>) {
      Of held, sum;
      __atomic_load(pointer, &held, __ATOMIC_RELAXED);
      do {
        sum = held + value;
      } while (!__atomic_compare_exchange(pointer, &held, &sum, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    } else {
      __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED);
    }
  }
};
struct AtomicMax {
  template <class Of>
  static TWINLOOM_INLINE void put(Of* pointer, Of value) {
    Of held = __atomic_load_n(pointer, __ATOMIC_RELAXED);
    while (held < value &&
           !__atomic_compare_exchange_n(pointer, &held, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
};
template <class How, class Of, class Places, class Value, int... each>
TWINLOOM_INLINE void put_each(Of* pointer, Places places, Value value, Sequence<int, each...>) {
  (How::put(pointer + places[each], Of(value[each])), ...);
}
template <class How, class Of, class Places, class Active, class Value, int... each>
TWINLOOM_INLINE void put_each_where(Of* pointer, Places places, Active active, Value value,
                                    Sequence<int, each...>) {
  ((active[each] != 0 ? How::put(pointer + places[each], Of(value[each])) : void()), ...);
}
#define TWINLOOM_STORES(prefix, How)                                                                   \
  template <class Of, class Value>                                                                     \
  TWINLOOM_INLINE void prefix##scatter(Of* pointer, Like<Value, i64> places, Value value) {            \
    put_each<How>(pointer, places, value, Each<lanes<Value>>());                                       \
  }                                                                                                    \
  template <class Of, class Value>                                                                     \
  TWINLOOM_INLINE void prefix##scatter_where(Of* pointer, Like<Value, i64> places, Mask<Value> mask,   \
                                             Value value) {                                            \
    put_each_where<How>(pointer, places, truncated<u8>(mask), value, Each<lanes<Value>>());            \
  }                                                                                                    \
  template <class Of, class Value>                                                                     \
  TWINLOOM_INLINE void prefix##store_strided(Of* pointer, i64 stride, Value value) {                   \
    prefix##scatter(pointer, ramp<lanes<Value>>(0, stride), value);                                    \
  }                                                                                                    \
  template <class Of, class Value>                                                                     \
  TWINLOOM_INLINE void prefix##store_strided_where(Of* pointer, i64 stride, Mask<Value> mask,          \
                                                   Value value) {                                      \
    prefix##scatter_where(pointer, ramp<lanes<Value>>(0, stride), mask, value);                        \
  }
TWINLOOM_STORES(, Replace)
TWINLOOM_STORES(atomic_add_, AtomicAdd)
TWINLOOM_STORES(atomic_max_, AtomicMax)
#undef TWINLOOM_STORES
// Neighbours under a mask that is no run of first lanes.
template <class Of, class Value>
TWINLOOM_INLINE void store_where(Of* pointer, Mask<Value> mask, Value value) {
  constexpr int count = lanes<Value>;
  if constexpr (has_masked_memory<sizeof(Of), count>) {
    store_masked(pointer, MaskedMemory<sizeof(Of), count>::taken(mask), value);
  } else if constexpr (has_masked_parts<sizeof(Of), count>) {
    store_where(pointer, low(mask), low(value));
    store_where(pointer + count / 2, high(mask), high(value));
  } else {
    store_strided_where(pointer, 1, mask, value);
  }
}
template <class Of>
TWINLOOM_INLINE void atomic_add_store(Of* pointer, Of value) {
  AtomicAdd::put(pointer, value);
}
template <class Of>
TWINLOOM_INLINE void atomic_max_store(Of* pointer, Of value) {
  AtomicMax::put(pointer, value);
}

}  // namespace twinloom::device
