// Vectors for NVRTC: what vector.h has from Clang's vector types and builtins. A thread has no registers of
// several lanes, so a struct holds them and every operation is a loop over lanes without a trace in the
// machine code. Comparisons give lanes of bool; tests and masks are the same. Operands go by
// reference, as each copy is work for the compiler.
#pragma once

namespace twinloom::device {

// `what` for each i below count, written out where these are few: loops would be unrolled too, but by the
// optimiser, at several times the cost.
#define TWINLOOM_LANE(at, what)    \
  if constexpr (at < lanes_here) { \
    constexpr int i = at;          \
    what;                          \
  }
#define TWINLOOM_LANES(count, what)                                                               \
  {                                                                                               \
    constexpr int lanes_here = count;                                                             \
    if constexpr (lanes_here <= 8) {                                                              \
      TWINLOOM_LANE(0, what)                                                                      \
      TWINLOOM_LANE(1, what) TWINLOOM_LANE(2, what) TWINLOOM_LANE(3, what) TWINLOOM_LANE(4, what) \
          TWINLOOM_LANE(5, what) TWINLOOM_LANE(6, what) TWINLOOM_LANE(7, what)                    \
    } else {                                                                                      \
      TWINLOOM_UNROLL                                                                             \
      for (int i = 0; i < lanes_here; ++i) what;                                                  \
    }                                                                                             \
  }

template <class Of, int count>
struct GpuVector {
  Of lane[count];

  GpuVector() = default;
  // clang-format off
  TWINLOOM_INLINE GpuVector(Of all) { TWINLOOM_LANES((count), (lane[i] = all)) }
  // clang-format on
  template <class... More>
  TWINLOOM_INLINE GpuVector(Of first, Of second, More... more) : lane{first, second, more...} {}
  TWINLOOM_INLINE Of& operator[](int i) { return lane[i]; }
  TWINLOOM_INLINE const Of& operator[](int i) const { return lane[i]; }
};

template <class Of, int count>
struct Traits<GpuVector<Of, count>> {
  using Element = Of;
  static constexpr int lanes = count;
};
template <class Of, int count>
struct VectorOf {
  using type = GpuVector<Of, count>;
};
template <class Of, int count>
using Lanes = GpuVector<Of, count>;

// The second operand may be one element for all lanes.
template <class Of>
struct Just {
  using type = Of;
};
// What a lane is computed in: u16 times u16 would be promoted to int, which it overflows.
template <class Of>
struct Promoted {
  using type = Of;
};
template <>
struct Promoted<u8> {
  using type = u32;
};
template <>
struct Promoted<u16> {
  using type = u32;
};

#define TWINLOOM_OPERATOR(sign)                                                                    \
  template <class Of, int count>                                                                   \
  TWINLOOM_INLINE Lanes<Of, count> operator sign(const Lanes<Of, count>& a,                        \
                                                 const typename Just<Lanes<Of, count>>::type& b) { \
    using Step = typename Promoted<Of>::type;                                                      \
    Lanes<Of, count> result;                                                                       \
    TWINLOOM_LANES((count), (result[i] = Of(Step(a[i]) sign Step(b[i]))))                          \
    return result;                                                                                 \
  }
TWINLOOM_OPERATOR(+)
TWINLOOM_OPERATOR(-)
TWINLOOM_OPERATOR(*)
TWINLOOM_OPERATOR(/)
TWINLOOM_OPERATOR(%)
TWINLOOM_OPERATOR(&)
TWINLOOM_OPERATOR(|)
TWINLOOM_OPERATOR(^)
TWINLOOM_OPERATOR(<<)
TWINLOOM_OPERATOR(>>)
#undef TWINLOOM_OPERATOR

template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> operator-(Lanes<Of, count> a) {
  TWINLOOM_LANES((count), (a[i] = Of(-a[i])))
  return a;
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> operator~(Lanes<Of, count> a) {
  TWINLOOM_UNROLL
  for (int i = 0; i < count; ++i) {
    if constexpr (same<Of, bool>)
      a[i] = !a[i];
    else
      a[i] = Of(~a[i]);
  }
  return a;
}

#define TWINLOOM_COMPARISON(sign)                                                                          \
  template <class Of, int count>                                                                           \
  TWINLOOM_INLINE Lanes<bool, count> operator sign(const Lanes<Of, count>& a, const Lanes<Of, count>& b) { \
    Lanes<bool, count> test;                                                                               \
    TWINLOOM_LANES((count), (test[i] = a[i] sign b[i]))                                                    \
    return test;                                                                                           \
  }
TWINLOOM_COMPARISON(==)
TWINLOOM_COMPARISON(!=)
TWINLOOM_COMPARISON(<)
TWINLOOM_COMPARISON(<=)
TWINLOOM_COMPARISON(>)
TWINLOOM_COMPARISON(>=)
#undef TWINLOOM_COMPARISON

template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> select(const Lanes<bool, count>& test, const Lanes<Of, count>& yes,
                                        const Lanes<Of, count>& no) {
  Lanes<Of, count> result;
  TWINLOOM_LANES((count), (result[i] = test[i] ? yes[i] : no[i]))
  return result;
}
template <class Of, int count>
TWINLOOM_INLINE bool any_lane(const Lanes<Of, count>& test) {
  bool any = false;
  TWINLOOM_LANES((count), (any = any | (test[i] != Of(0))))
  return any;
}
template <class To, class From, int count>
TWINLOOM_INLINE Lanes<To, count> converted(const Lanes<From, count>& value) {
  Lanes<To, count> result;
  TWINLOOM_LANES((count), (result[i] = static_cast<To>(value[i])))
  return result;
}
template <int count>
TWINLOOM_INLINE Lanes<bool, count> mask_of(Lanes<bool, count> test) {
  return test;
}
template <class Value, int count>
TWINLOOM_INLINE Lanes<bool, count> test_of(Lanes<bool, count> mask) {
  return mask;
}

}  // namespace twinloom::device
