// Index arithmetic, lanes and memory for the kernels of a GPU: functions that core/emit/dialect.h lists, each
// for one thread. Pointers may have any alignment that their elements have. No lane outside a mask touches
// memory. A pointer may be of global memory or of scratch; what streams is of global memory.
#pragma once

#include "cuda/packed.h"

// 900 of compute capability 9.0, for `if constexpr`. No directive asks for it: kernels are given text that
// was preprocessed once for all architectures.
#ifdef __CUDA_ARCH__
#define TWINLOOM_ARCHITECTURE __CUDA_ARCH__
#else
#define TWINLOOM_ARCHITECTURE 0  // where nvcc reads for the host
#endif

namespace twinloom::device {

// Index arithmetic. Divisors are positive; where a loop that does not run hid one that is not, the
// quotient is computed all the same, before the loop, and not used.
template <class Integer>
TWINLOOM_INLINE Integer floor_quotient(Integer a, Integer b) {
  if (b <= 0) return 0;
  const Integer quotient = a / b;
  return a % b < 0 ? quotient - 1 : quotient;
}
template <class Integer>
TWINLOOM_INLINE Integer floor_remainder(Integer a, Integer b) {
  if (b <= 0) return 0;
  const Integer remainder = a % b;
  return remainder < 0 ? remainder + b : remainder;
}
// Where the emitter has proven that both are not negative and below 2^31. NVRTC 13.0 crashed on kernels that
// ask for that at many quotients of one number, some of which only a failed index needs. Hidden, because
// where a loop's extent bounds `a`, NVRTC 13.0 computes remainders in 8 or 16 bits: 7*((k + 2) mod 13) became
// 14 + zext8(7*k - 91*((k + 2) / 13)), whose argument is negative.
TWINLOOM_INLINE i64 short_div(i64 a, i64 b) { return b == 0 ? 0 : i64(hidden(u32(a)) / u32(b)); }
TWINLOOM_INLINE i64 short_mod(i64 a, i64 b) { return b == 0 ? 0 : i64(hidden(u32(a)) % u32(b)); }
// Of 32 bits where both fit: a division of 64 takes five times as many instructions. That one is no function
// of its own: NVRTC 13.0 crashed on several calls of such a function with constants.
TWINLOOM_INLINE bool fits_32_bits(i64 a, i64 b) { return ((u64(a) | u64(b)) >> 31) == 0; }
TWINLOOM_INLINE i64 trailing_zeros(i64 value) { return __ffsll(value) - 1; }
TWINLOOM_INLINE bool is_power_of_two(i64 a) { return a > 0 && (a & (a - 1)) == 0; }
// Divisors are mostly constants, of which NVRTC sees that they are powers of two.
TWINLOOM_INLINE i64 floor_div(i64 a, i64 b) {
  if (is_power_of_two(b)) return a >> trailing_zeros(b);
  if (fits_32_bits(a, b)) return short_div(a, b);
  return floor_quotient(a, b);
}
TWINLOOM_INLINE i64 floor_mod(i64 a, i64 b) {
  if (is_power_of_two(b)) return a & (b - 1);
  if (fits_32_bits(a, b)) return short_mod(a, b);
  return floor_remainder(a, b);
}
// A size that whoever launches the kernel knows to be below 2^30. Its bits say so: NVRTC then leaves out the
// test above and the division of 64 bits behind it, which an assumption does not make it do.
TWINLOOM_INLINE i64 small(i64 size) { return size & 0x3fffffff; }
TWINLOOM_INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
TWINLOOM_INLINE i64 greatest(i64 a, i64 b) { return a > b ? a : b; }

template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> ramp_of(Of first, Of step) {
  if constexpr (count == 1) {
    return first;
  } else {
    Vector<Of, count> places;
    TWINLOOM_LANES((count), (places[i] = first + Of(i) * step))
    return places;
  }
}
template <int count>
TWINLOOM_INLINE Vector<i64, count> ramp(i64 first, i64 step) {
  return ramp_of<count>(first, step);
}

#define TWINLOOM_OF_LANES(name)                                                   \
  template <class Of, int count>                                                  \
  TWINLOOM_INLINE Lanes<Of, count> name(Lanes<Of, count> a, Lanes<Of, count> b) { \
    return each_lane([](Of one, Of other) { return name(one, other); }, a, b);    \
  }
TWINLOOM_OF_LANES(least)
TWINLOOM_OF_LANES(greatest)
TWINLOOM_OF_LANES(floor_div)
TWINLOOM_OF_LANES(floor_mod)
TWINLOOM_OF_LANES(short_div)
TWINLOOM_OF_LANES(short_mod)
#undef TWINLOOM_OF_LANES

TWINLOOM_INLINE void stores_done() {}
template <int count, class Of>
TWINLOOM_INLINE void prefetch(const Of*) {}
template <int count, class Of>
TWINLOOM_INLINE void prefetch_written(const Of*) {}

// A run inside global memory, into the cache that all multiprocessors share, as whole pieces of 16 bytes.
template <class Of>
TWINLOOM_INLINE void prefetch_run([[maybe_unused]] const Of* pointer, [[maybe_unused]] i64 count) {
  if constexpr (TWINLOOM_ARCHITECTURE >= 900) {
    const u64 first = (__cvta_generic_to_global(pointer) + 15) & ~u64(15);
    const u64 end = __cvta_generic_to_global(pointer + count) & ~u64(15);
    if (first < end)
      asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(first), "r"(u32(end - first)));
  }
}

template <class Value>
TWINLOOM_INLINE Value reversed(Value value) {
  if constexpr (lanes<Value> == 1) {
    return value;
  } else {
    Value back;
    TWINLOOM_LANES((lanes<Value>), (back[i] = value[lanes<Value> - 1 - i]))
    return back;
  }
}
// `pointer` is the place of lane 0; lane l is l elements before it.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_reversed(const Of* pointer) {
  return reversed(load<count>(pointer - (count - 1)));
}
template <class Of, class Value>
TWINLOOM_INLINE void store_reversed(Of* pointer, Value value) {
  store(pointer - (lanes<Value> - 1), reversed(value));
}

// Masks. A count of lanes may be negative or larger than there are lanes. Of lanes that are inside for every
// count, or for none, nothing is asked: a thread has seven predicates, and loads wait for each other where
// they share one.
template <int count, int fewest = 0, int most = count>
TWINLOOM_INLINE Vector<bool, count> first_lanes(i64 active) {
  if constexpr (count == 1) {
    return active > 0;
  } else {
    const int some = int(least(greatest(active, 0), count));  // comparisons of 32 bits
    Vector<bool, count> mask;
    TWINLOOM_LANES((count), (mask[i] = i < fewest || (i < most && i < some)))
    return mask;
  }
}

// Lane by lane; `at(i)` is the place of lane i, `is_in(i)` whether it is inside the mask.
template <int count, class Of, class At>
TWINLOOM_INLINE Vector<Of, count> load_each(const Of* pointer, At at) {
  if constexpr (count == 1) {
    return pointer[at(0)];
  } else {
    Vector<Of, count> value;
    TWINLOOM_LANES((count), (value[i] = pointer[at(i)]))
    return value;
  }
}
template <int count, class Of, class At, class IsIn>
TWINLOOM_INLINE Vector<Of, count> load_each_where(const Of* pointer, At at, IsIn is_in, Of otherwise) {
  if constexpr (count == 1) {
    return is_in(0) ? pointer[at(0)] : otherwise;
  } else {
    Vector<Of, count> value;
    TWINLOOM_LANES((count), (value[i] = is_in(i) ? pointer[at(i)] : otherwise))
    return value;
  }
}
template <class Value>
TWINLOOM_INLINE auto lane_of(const Value& value) {
  if constexpr (lanes<Value> == 1)
    return [value](int) { return value; };
  else
    return [value](int i) { return value[i]; };
}

template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_first(const Of* pointer, i64 active, Of otherwise) {
  if (__builtin_expect(active >= count, 1)) return load<count>(pointer);
  return load_each_where<count>(
      pointer, [](int i) { return i; }, [=](int i) { return i < active; }, otherwise);
}
// Of an array in registers, which has `size` elements from there on: fewer than there are lanes.
template <int count, int fewest, int size, class Of>
TWINLOOM_INLINE Vector<Of, count> load_first_of(const Of* array, i64 active, Of otherwise) {
  return load_each_where<count>(
      array, [](int i) { return i < size ? i : 0; }, lane_of(first_lanes<count, fewest, size>(active)),
      otherwise);
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_strided(const Of* pointer, i64 stride) {
  return load_each<count>(pointer, [=](int i) { return i * stride; });
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_strided_where(const Of* pointer, i64 stride, Vector<bool, count> mask,
                                                     Of otherwise) {
  return load_each_where<count>(
      pointer, [=](int i) { return i * stride; }, lane_of(mask), otherwise);
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> gather(const Of* pointer, Vector<i64, count> places) {
  return load_each<count>(pointer, lane_of(places));
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> gather_where(const Of* pointer, Vector<i64, count> places,
                                               Vector<bool, count> mask, Of otherwise) {
  return load_each_where<count>(pointer, lane_of(places), lane_of(mask), otherwise);
}

// Integers that the GPU adds and compares in memory: those of 4 and 8 bytes, here as it spells them. For the
// others the word around them is exchanged until nobody else came between. It adds f32 and f64 too.
template <class Of>
constexpr bool is_atomic = !is_real<Of> && !is_truth<Of> && sizeof(Of) >= 4;
template <class Of>
constexpr bool is_added = same<Of, f32> || same<Of, f64>;
template <int bytes>
struct ComparedWord {
  using type = typename IntegerOf<bytes>::Unsigned;
};
template <>
struct ComparedWord<1> {
  using type = u32;
};
template <class Of, class Changed>
TWINLOOM_DEVICE __attribute__((noinline)) void change_atomically(Of* pointer, Changed changed) {
  using Word = typename ComparedWord<sizeof(Of)>::type;
  const u64 address = reinterpret_cast<u64>(pointer);
  auto* const word = reinterpret_cast<Word*>(address & ~u64(sizeof(Word) - 1));
  const int shift = int(address & (sizeof(Word) - 1)) * 8;
  constexpr Word ones = Word(typename IntegerOf<sizeof(Of)>::Unsigned(~u64(0)));
  Word held = *static_cast<volatile Word*>(word);
  while (true) {
    using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
    const Of before = bit_cast<Of>(Bits(held >> shift));
    const Of after = changed(before);
    if (bit_cast<Bits>(before) == bit_cast<Bits>(after)) return;
    const Word wanted = Word((held & Word(~(ones << shift))) | (Word(bit_cast<Bits>(after)) << shift));
    const Word found = atomicCAS(word, held, wanted);
    if (found == held) return;
    held = found;
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
    if constexpr (is_added<Of>) {
      atomicAdd(pointer, value);
    } else if constexpr (is_atomic<Of>) {
      using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
      atomicAdd(reinterpret_cast<Bits*>(pointer), bit_cast<Bits>(value));
    } else {
      change_atomically(pointer, [=](Of held) { return add(held, value); });
    }
  }
};
struct AtomicMax {
  template <class Of>
  static TWINLOOM_INLINE void put(Of* pointer, Of value) {
    if constexpr (is_atomic<Of>)
      atomicMax(pointer, value);
    else
      change_atomically(pointer, [=](Of held) { return maximum(held, value); });
  }
};
template <class How, class Of, class At, class Value>
TWINLOOM_INLINE void put_each(Of* pointer, At at, Value value) {
  const auto of_lane = lane_of(value);
  TWINLOOM_LANES((lanes<Value>), (How::put(pointer + at(i), Of(of_lane(i)))))
}
template <class How, class Of, class At, class IsIn, class Value>
TWINLOOM_INLINE void put_each_where(Of* pointer, At at, IsIn is_in, Value value) {
  const auto of_lane = lane_of(value);
  TWINLOOM_LANES((lanes<Value>), (is_in(i) ? How::put(pointer + at(i), Of(of_lane(i))) : void()))
}
#define TWINLOOM_STORES(prefix, How)                                                                         \
  template <class Of, class Value>                                                                           \
  TWINLOOM_INLINE void prefix##scatter(Of* pointer, Like<Value, i64> places, Value value) {                  \
    put_each<How>(pointer, lane_of(places), value);                                                          \
  }                                                                                                          \
  template <class Of, class Value>                                                                           \
  TWINLOOM_INLINE void prefix##scatter_where(Of* pointer, Like<Value, i64> places, Mask<Value> mask,         \
                                             Value value) {                                                  \
    put_each_where<How>(pointer, lane_of(places), lane_of(mask), value);                                     \
  }                                                                                                          \
  template <class Of, class Value>                                                                           \
  TWINLOOM_INLINE void prefix##store_strided(Of* pointer, i64 stride, Value value) {                         \
    put_each<How>(                                                                                           \
        pointer, [=](int i) { return i * stride; }, value);                                                  \
  }                                                                                                          \
  template <class Of, class Value>                                                                           \
  TWINLOOM_INLINE void prefix##store_strided_where(Of* pointer, i64 stride, Mask<Value> mask, Value value) { \
    put_each_where<How>(                                                                                     \
        pointer, [=](int i) { return i * stride; }, lane_of(mask), value);                                   \
  }
TWINLOOM_STORES(, Replace)
TWINLOOM_STORES(atomic_add_, AtomicAdd)
TWINLOOM_STORES(atomic_max_, AtomicMax)
#undef TWINLOOM_STORES
template <class Of>
TWINLOOM_INLINE void atomic_add_store(Of* pointer, Of value) {
  AtomicAdd::put(pointer, value);
}
// Neighbours: from compute capability 9.0 on four of f32 are one access.
template <class Of, class Value>
TWINLOOM_INLINE void atomic_add_run(Of* pointer, Value value) {
  if constexpr (TWINLOOM_ARCHITECTURE >= 900 && same<Of, f32> && lanes<Value> % 4 == 0) {
    if (reinterpret_cast<u64>(pointer) % 16 == 0) {
#pragma unroll
      for (int i = 0; i < lanes<Value>; i += 4)
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(pointer + i), "f"(value[i]),
                     "f"(value[i + 1]), "f"(value[i + 2]), "f"(value[i + 3])
                     : "memory");
      return;
    }
  }
  atomic_add_store_strided(pointer, 1, value);
}
template <class Of>
TWINLOOM_INLINE void atomic_max_store(Of* pointer, Of value) {
  AtomicMax::put(pointer, value);
}
template <int fewest, int size, class Of, class Value>
TWINLOOM_INLINE void store_first_of(Of* array, i64 active, Value value) {
  put_each_where<Replace>(
      array, [](int i) { return i < size ? i : 0; }, lane_of(first_lanes<lanes<Value>, fewest, size>(active)),
      value);
}
template <class Of, class Value>
TWINLOOM_INLINE void store_first(Of* pointer, i64 active, Value value) {
  if (__builtin_expect(active >= lanes<Value>, 1)) return store(pointer, value);
  put_each_where<Replace>(
      pointer, [](int i) { return i; }, [=](int i) { return i < active; }, value);
}

}  // namespace twinloom::device
