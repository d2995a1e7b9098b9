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
// Each lane a variable. Written as instructions, since NVRTC 13.0 takes an access to a struct apart and finds
// its parts again only where the address is simple.
template <class Of>
TWINLOOM_INLINE u32 word_of(Of a, Of b) {
  return u32(bit_cast<u16>(a)) | u32(bit_cast<u16>(b)) << 16;
}
template <class Of>
TWINLOOM_INLINE u32 word_of(Of a, Of b, Of c, Of d) {
  return u32(bit_cast<u8>(a)) | u32(bit_cast<u8>(b)) << 8 | u32(bit_cast<u8>(c)) << 16 |
         u32(bit_cast<u8>(d)) << 24;
}
template <class Of>
TWINLOOM_INLINE void take_apart(u32 word, Of& a, Of& b) {
  a = bit_cast<Of>(u16(word));
  b = bit_cast<Of>(u16(word >> 16));
}
template <class Of>
TWINLOOM_INLINE void take_apart(u32 word, Of& a, Of& b, Of& c, Of& d) {
  a = bit_cast<Of>(u8(word));
  b = bit_cast<Of>(u8(word >> 8));
  c = bit_cast<Of>(u8(word >> 16));
  d = bit_cast<Of>(u8(word >> 24));
}
TWINLOOM_INLINE void load_words(const void* pointer, u32& a, u32& b, u32& c, u32& d) {
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
               : "l"(__cvta_generic_to_global(pointer))
               : "memory");
}
TWINLOOM_INLINE void load_words(const void* pointer, u32& a, u32& b) {
  asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
               : "=r"(a), "=r"(b)
               : "l"(__cvta_generic_to_global(pointer))
               : "memory");
}
TWINLOOM_INLINE void load_words(const void* pointer, u64& a, u64& b) {
  asm volatile("ld.global.v2.u64 {%0, %1}, [%2];"
               : "=l"(a), "=l"(b)
               : "l"(__cvta_generic_to_global(pointer))
               : "memory");
}
TWINLOOM_INLINE void store_words(void* pointer, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(pointer)), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
TWINLOOM_INLINE void store_words(void* pointer, u32 a, u32 b) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(pointer)), "r"(a), "r"(b)
               : "memory");
}
TWINLOOM_INLINE void store_words(void* pointer, u64 a, u64 b) {
  asm volatile("st.global.v2.u64 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(pointer)), "l"(a), "l"(b)
               : "memory");
}
template <class Of>
using BitsOf = typename IntegerOf<sizeof(Of)>::Unsigned;
template <class Of>
TWINLOOM_INLINE void load_packed(const Of* pointer, Of& a, Of& b) {
  if constexpr (sizeof(Of) >= 4) {
    BitsOf<Of> first, second;
    load_words(pointer, first, second);
    a = bit_cast<Of>(first);
    b = bit_cast<Of>(second);
  } else if constexpr (sizeof(Of) == 2) {
    take_apart(*reinterpret_cast<const u32*>(pointer), a, b);
  } else {
    const u16 both_of_them = *reinterpret_cast<const u16*>(pointer);
    a = bit_cast<Of>(u8(both_of_them));
    b = bit_cast<Of>(u8(both_of_them >> 8));
  }
}
template <class Of>
TWINLOOM_INLINE void load_packed(const Of* pointer, Of& a, Of& b, Of& c, Of& d) {
  if constexpr (sizeof(Of) == 8) {
    load_packed(pointer, a, b);
    load_packed(pointer + 2, c, d);
  } else if constexpr (sizeof(Of) == 4) {
    u32 word_a, word_b, word_c, word_d;
    load_words(pointer, word_a, word_b, word_c, word_d);
    a = bit_cast<Of>(word_a);
    b = bit_cast<Of>(word_b);
    c = bit_cast<Of>(word_c);
    d = bit_cast<Of>(word_d);
  } else if constexpr (sizeof(Of) == 2) {
    u32 first, second;
    load_words(pointer, first, second);
    take_apart(first, a, b);
    take_apart(second, c, d);
  } else {
    take_apart(*reinterpret_cast<const u32*>(pointer), a, b, c, d);
  }
}
template <class Of>
TWINLOOM_INLINE void load_packed(const Of* pointer, Of& a, Of& b, Of& c, Of& d, Of& e, Of& f, Of& g, Of& h) {
  if constexpr (sizeof(Of) >= 4) {
    load_packed(pointer, a, b, c, d);
    load_packed(pointer + 4, e, f, g, h);
  } else if constexpr (sizeof(Of) == 2) {
    u32 first, second, third, fourth;
    load_words(pointer, first, second, third, fourth);
    take_apart(first, a, b);
    take_apart(second, c, d);
    take_apart(third, e, f);
    take_apart(fourth, g, h);
  } else {
    u32 first, second;
    load_words(pointer, first, second);
    take_apart(first, a, b, c, d);
    take_apart(second, e, f, g, h);
  }
}
template <class Of>
TWINLOOM_INLINE void load_packed(const Of* pointer, Of& a, Of& b, Of& c, Of& d, Of& e, Of& f, Of& g, Of& h,
                                 Of& i, Of& j, Of& k, Of& l, Of& m, Of& n, Of& o, Of& p) {
  if constexpr (sizeof(Of) >= 2) {
    load_packed(pointer, a, b, c, d, e, f, g, h);
    load_packed(pointer + 8, i, j, k, l, m, n, o, p);
  } else {
    u32 first, second, third, fourth;
    load_words(pointer, first, second, third, fourth);
    take_apart(first, a, b, c, d);
    take_apart(second, e, f, g, h);
    take_apart(third, i, j, k, l);
    take_apart(fourth, m, n, o, p);
  }
}
template <class Of>
TWINLOOM_INLINE void store_packed(Of* pointer, Of a, Of b) {
  if constexpr (sizeof(Of) >= 4)
    store_words(pointer, bit_cast<BitsOf<Of>>(a), bit_cast<BitsOf<Of>>(b));
  else if constexpr (sizeof(Of) == 2)
    *reinterpret_cast<u32*>(pointer) = word_of(a, b);
  else
    *reinterpret_cast<u16*>(pointer) = u16(u16(bit_cast<u8>(a)) | u16(bit_cast<u8>(b)) << 8);
}
template <class Of>
TWINLOOM_INLINE void store_packed(Of* pointer, Of a, Of b, Of c, Of d) {
  if constexpr (sizeof(Of) == 8) {
    store_packed(pointer, a, b);
    store_packed(pointer + 2, c, d);
  } else if constexpr (sizeof(Of) == 4) {
    store_words(pointer, bit_cast<u32>(a), bit_cast<u32>(b), bit_cast<u32>(c), bit_cast<u32>(d));
  } else if constexpr (sizeof(Of) == 2) {
    store_words(pointer, word_of(a, b), word_of(c, d));
  } else {
    *reinterpret_cast<u32*>(pointer) = word_of(a, b, c, d);
  }
}
template <class Of>
TWINLOOM_INLINE void store_packed(Of* pointer, Of a, Of b, Of c, Of d, Of e, Of f, Of g, Of h) {
  if constexpr (sizeof(Of) >= 4) {
    store_packed(pointer, a, b, c, d);
    store_packed(pointer + 4, e, f, g, h);
  } else if constexpr (sizeof(Of) == 2) {
    store_words(pointer, word_of(a, b), word_of(c, d), word_of(e, f), word_of(g, h));
  } else {
    store_words(pointer, word_of(a, b, c, d), word_of(e, f, g, h));
  }
}
template <class Of>
TWINLOOM_INLINE void store_packed(Of* pointer, Of a, Of b, Of c, Of d, Of e, Of f, Of g, Of h, Of i, Of j,
                                  Of k, Of l, Of m, Of n, Of o, Of p) {
  if constexpr (sizeof(Of) >= 2) {
    store_packed(pointer, a, b, c, d, e, f, g, h);
    store_packed(pointer + 8, i, j, k, l, m, n, o, p);
  } else {
    store_words(pointer, word_of(a, b, c, d), word_of(e, f, g, h), word_of(i, j, k, l), word_of(m, n, o, p));
  }
}
// All lanes or none.
template <class Of, class... Lane>
TWINLOOM_INLINE void load_packed_if(const Of* pointer, bool active, Of otherwise, Lane&... lane) {
  ((lane = otherwise), ...);
  if (active) load_packed(pointer, lane...);
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
// The same one by one and without a test: rows of what a block shares lie at odd distances, so that its banks
// are met evenly.
template <int count, class Of>
TWINLOOM_INLINE Vector<Of, count> load_apart(const Of* pointer) {
  Vector<Of, count> value;
  TWINLOOM_LANES((count), (value[i] = pointer[i]))
  return value;
}
template <class Of, int count>
TWINLOOM_INLINE void store_apart(Of* pointer, const Lanes<Of, count>& value) {
  TWINLOOM_LANES((count), (pointer[i] = value[i]))
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
TWINLOOM_IF(load_scratch)
TWINLOOM_IF(load_apart)
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
