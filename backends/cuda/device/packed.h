// Loads and stores of neighbours, as few instructions as their addresses allow: of any address, of one that is
// known to be a multiple, of what a block shares, and of a thread's own registers.
#pragma once

#include "device/kernel.h"

namespace twinloom::device {

// What one instruction moves: up to 16 bytes at an address that is a multiple of them.
template <int bytes>
struct alignas(bytes) Packed {
  u32 words[bytes / 4];
};
template <>
struct alignas(2) Packed<2> {
  u16 bits;
};
template <>
struct alignas(1) Packed<1> {
  u8 bits;
};
template <class Of, int count>
constexpr int packed_bytes = int(sizeof(Of)) * count < 16 ? int(sizeof(Of)) * count : 16;

template <class Of, int count>
TWINLOOM_INLINE bool is_packed(const Of* pointer) {
  return packed_bytes<Of, count> == sizeof(Of) ||
         (reinterpret_cast<u64>(pointer) & (packed_bytes<Of, count> - 1)) == 0;
}

// How a packed value, or an element, is read and written. NVRTC 13.0 takes an access to a struct apart and
// finds its parts again only where the address is simple; it answers __isGlobal itself where it knows the
// pointer.
struct Plainly {
  template <class Part>
  static TWINLOOM_INLINE Part get(const Part* pointer) {
    Part part;
    if constexpr (sizeof(Part) == 16) {
      if (__isGlobal(pointer))
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(part.words[0]), "=r"(part.words[1]), "=r"(part.words[2]), "=r"(part.words[3])
                     : "l"(__cvta_generic_to_global(pointer))
                     : "memory");
      else
        part = *pointer;
    } else if constexpr (sizeof(Part) == 8) {
      part = bit_cast<Part>(*reinterpret_cast<const u64*>(pointer));
    } else {
      part = *pointer;
    }
    return part;
  }
  template <class Part>
  static TWINLOOM_INLINE void put(Part* pointer, Part part) {
    if constexpr (sizeof(Part) == 16) {
      if (__isGlobal(pointer))
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                     :
                     : "l"(__cvta_generic_to_global(pointer)), "r"(part.words[0]), "r"(part.words[1]),
                       "r"(part.words[2]), "r"(part.words[3])
                     : "memory");
      else
        *pointer = part;
    } else if constexpr (sizeof(Part) == 8) {
      *reinterpret_cast<u64*>(pointer) = bit_cast<u64>(part);
    } else {
      *pointer = part;
    }
  }
};
// What is written once and not read soon makes room in the caches first.
struct Streaming {
  template <class Part>
  static TWINLOOM_INLINE void put(Part* pointer, Part part) {
    if constexpr (sizeof(Part) == 16) {
      __stcs(reinterpret_cast<uint4*>(pointer), bit_cast<uint4>(part));
    } else if constexpr (sizeof(Part) == 8) {
      __stcs(reinterpret_cast<u64*>(pointer), bit_cast<u64>(part));
    } else if constexpr (sizeof(Part) == 4) {
      __stcs(reinterpret_cast<u32*>(pointer), bit_cast<u32>(part));
    } else {
      *pointer = part;
    }
  }
};

// Lanes as they lie in memory, and back.
template <class Of, int count>
struct InMemory {
  Of lane[count];
};
// Lanes of 1 and 2 bytes are put together and taken apart in words, as the instructions are that give and
// take pairs of them; of structs NVRTC makes two stores for one.
template <class Of, int count, class Part>
TWINLOOM_INLINE InMemory<Of, count> lanes_of(const Part& part) {
  InMemory<Of, count> lanes;
  if constexpr (sizeof(Of) < 4 && sizeof(Part) >= 4) {
    constexpr int each = 4 / int(sizeof(Of));
    using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
    TWINLOOM_LANES((count),
                   (lanes.lane[i] = bit_cast<Of>(Bits(part.words[i / each] >> (32 / each * (i % each))))))
  } else {
    lanes = bit_cast<InMemory<Of, count>>(part);
  }
  return lanes;
}
template <class Part, class Of, int count>
TWINLOOM_INLINE Part part_of(const InMemory<Of, count>& lanes) {
  Part part;
  if constexpr (sizeof(Of) < 4 && sizeof(Part) >= 4) {
    constexpr int each = 4 / int(sizeof(Of));
    using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
    TWINLOOM_UNROLL
    for (u32& word : part.words) word = 0;
    TWINLOOM_LANES((count),
                   (part.words[i / each] |= u32(bit_cast<Bits>(lanes.lane[i])) << (32 / each * (i % each))))
  } else {
    part = bit_cast<Part>(lanes);
  }
  return part;
}
template <class How, int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_parts(const Of* pointer) {
  constexpr int bytes = packed_bytes<Of, count>, each = bytes / int(sizeof(Of));
  Vector<Of, count> value;
  TWINLOOM_UNROLL
  for (int first = 0; first < count; first += each) {
    const auto part = How::get(reinterpret_cast<const Packed<bytes>*>(pointer + first));
    const auto read = lanes_of<Of, each>(part);
    TWINLOOM_LANES((each), (value[first + i] = read.lane[i]))
  }
  return value;
}
template <class How, class Of, int count>
TWINLOOM_INLINE void store_parts(Of* pointer, Lanes<Of, count> value) {
  constexpr int bytes = packed_bytes<Of, count>, each = bytes / int(sizeof(Of));
  TWINLOOM_UNROLL
  for (int first = 0; first < count; first += each) {
    InMemory<Of, each> written;
    TWINLOOM_LANES((each), (written.lane[i] = value[first + i]))
    How::put(reinterpret_cast<Packed<bytes>*>(pointer + first), part_of<Packed<bytes>>(written));
  }
}

// Loads and stores of neighbours. The test of alignment vanishes where the address is known to be a multiple.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load(const Of* pointer) {
  if constexpr (count == 1) {
    return *pointer;
  } else {
    if (__builtin_expect(is_packed<Of, count>(pointer), 1)) return load_parts<Plainly, count>(pointer);
    Vector<Of, count> value;
    TWINLOOM_LANES((count), (value[i] = pointer[i]))
    return value;
  }
}
// The same where the address is known to be a multiple, in words and without a test: a test and what is done
// else cost NVRTC thirty times as long.
template <class Of, int count>
struct Words {
  static constexpr int bytes = int(sizeof(Of)) * count;
  u32 word[bytes / 4];
};
template <class Of, int count>
TWINLOOM_INLINE Vector<Of, count> lanes_of_words(const Words<Of, count>& words) {
  if constexpr (sizeof(Of) >= 4) {
    return bit_cast<Vector<Of, count>>(words);
  } else {
    constexpr int each = 4 / int(sizeof(Of));
    using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
    Vector<Of, count> value;
    TWINLOOM_LANES((count), (value[i] = bit_cast<Of>(Bits(words.word[i / each] >> (32 / each * (i % each))))))
    return value;
  }
}
template <class Of, int count>
TWINLOOM_INLINE Words<Of, count> words_of_lanes(const Lanes<Of, count>& value) {
  if constexpr (sizeof(Of) >= 4) {
    return bit_cast<Words<Of, count>>(value);
  } else {
    constexpr int each = 4 / int(sizeof(Of));
    using Bits = typename IntegerOf<sizeof(Of)>::Unsigned;
    Words<Of, count> words{};
    TWINLOOM_LANES((count),
                   (words.word[i / each] |= u32(bit_cast<Bits>(value[i])) << (32 / each * (i % each))))
    return words;
  }
}
// Written as instructions, since NVRTC 13.0 takes an access to a struct apart and finds its parts again only
// where the address is simple.
template <int bytes>
TWINLOOM_INLINE void load_words(u32* words, const void* pointer) {
  const auto place = __cvta_generic_to_global(pointer);
  if constexpr (bytes == 16)
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(place)
                 : "memory");
  else if constexpr (bytes == 8)
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(place) : "memory");
  else
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(words[0]) : "l"(place) : "memory");
}
template <int bytes>
TWINLOOM_INLINE void store_words(void* pointer, const u32* words) {
  const auto place = __cvta_generic_to_global(pointer);
  if constexpr (bytes == 16)
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
                 :
                 : "l"(place), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])
                 : "memory");
  else if constexpr (bytes == 8)
    asm volatile("st.global.v2.u32 [%0], {%1, %2};" : : "l"(place), "r"(words[0]), "r"(words[1]) : "memory");
  else
    asm volatile("st.global.u32 [%0], %1;" : : "l"(place), "r"(words[0]) : "memory");
}
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_packed(const Of* pointer) {
  constexpr int bytes = packed_bytes<Of, count>;
  if constexpr (bytes < 4) {
    return load_parts<Plainly, count>(pointer);
  } else {
    Words<Of, count> words;
    TWINLOOM_UNROLL
    for (int first = 0; first < words.bytes / 4; first += bytes / 4)
      load_words<bytes>(words.word + first, reinterpret_cast<const u32*>(pointer) + first);
    return lanes_of_words(words);
  }
}
template <class Of, int count>
TWINLOOM_INLINE void store_packed(Of* pointer, const Lanes<Of, count>& value) {
  constexpr int bytes = packed_bytes<Of, count>;
  if constexpr (bytes < 4) {
    store_parts<Plainly>(pointer, value);
  } else {
    const Words<Of, count> words = words_of_lanes(value);
    TWINLOOM_UNROLL
    for (int first = 0; first < words.bytes / 4; first += bytes / 4)
      store_words<bytes>(reinterpret_cast<u32*>(pointer) + first, words.word + first);
  }
}
// The same of what the threads of a block share, whose accesses NVRTC leaves whole.
template <int bytes>
struct WordsAs;
template <>
struct WordsAs<16> {
  using type = uint4;
};
template <>
struct WordsAs<8> {
  using type = uint2;
};
template <>
struct WordsAs<4> {
  using type = u32;
};
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_scratch(const Of* pointer) {
  constexpr int bytes = packed_bytes<Of, count>;
  if constexpr (bytes < 4 || sizeof(Of) * count != bytes)
    return load_parts<Plainly, count>(pointer);
  else
    return lanes_of_words(
        bit_cast<Words<Of, count>>(*reinterpret_cast<const typename WordsAs<bytes>::type*>(pointer)));
}
template <class Of, int count>
TWINLOOM_INLINE void store_scratch(Of* pointer, const Lanes<Of, count>& value) {
  constexpr int bytes = packed_bytes<Of, count>;
  if constexpr (bytes < 4 || sizeof(Of) * count != bytes) {
    store_parts<Plainly>(pointer, value);
  } else {
    using Part = typename WordsAs<bytes>::type;
    *reinterpret_cast<Part*>(pointer) = bit_cast<Part>(words_of_lanes(value));
  }
}
// The same of an array in registers, which has no address.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_own(const Of* array) {
  if constexpr (count == 1) {
    return *array;
  } else {
    Vector<Of, count> value;
    TWINLOOM_LANES((count), (value[i] = array[i]))
    return value;
  }
}
template <class Of, class Value>
TWINLOOM_INLINE void store_own(Of* array, Value value) {
  if constexpr (lanes<Value> == 1) {
    *array = value;
  } else {
    TWINLOOM_LANES((lanes<Value>), (array[i] = value[i]))
  }
}
// All lanes or none.
#define TWINLOOM_IF(name)                                                                                \
  template <int count, class Of>                                                                         \
  TWINLOOM_INLINE Vector<Of, count> name##_if(const Of* pointer, bool active, Of otherwise) {            \
    Vector<Of, count> value(otherwise);                                                                  \
    if (active) value = name<count>(pointer);                                                            \
    return value;                                                                                        \
  }
TWINLOOM_IF(load)
TWINLOOM_IF(load_own)
TWINLOOM_IF(load_packed)
TWINLOOM_IF(load_scratch)
#undef TWINLOOM_IF
template <class How, class Of, class Value>
TWINLOOM_INLINE void store_by(Of* pointer, Value value) {
  if constexpr (lanes<Value> == 1) {
    How::put(pointer, Of(value));
  } else {
    if (__builtin_expect(is_packed<Of, lanes<Value>>(pointer), 1)) return store_parts<How>(pointer, value);
    TWINLOOM_LANES((lanes<Value>), (How::put(pointer + i, value[i])))
  }
}
template <class Of, class Value>
TWINLOOM_INLINE void store(Of* pointer, Value value) {
  store_by<Plainly>(pointer, value);
}
template <class Of, class Value>
TWINLOOM_INLINE void store_streaming(Of* pointer, Value value) {
  store_by<Streaming>(pointer, value);
}

}  // namespace twinloom::device
