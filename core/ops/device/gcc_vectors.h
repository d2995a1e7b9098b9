// Vectors for GCC: what vector.h has from Clang's vector types and builtins. GCC's own types lack a vector
// made of one element, lanes of bool and one name for a type with its width, so a struct holds one. It costs
// no instructions, and bit_cast makes it of a register that somebody else has loaded (xsimd::batch::data).
#pragma once

namespace twinloom::device {

template <class Of, int count>
struct GccVector {
  typedef Of Native __attribute__((vector_size(sizeof(Of) * count)));
  Native native;

  GccVector() = default;
  TWINLOOM_INLINE GccVector(Of all) {
    for (int lane = 0; lane < count; ++lane) native[lane] = all;
  }
  template <class... More>
  requires(sizeof...(More) + 2 == count) TWINLOOM_INLINE GccVector(Of first, Of second, More... more)
      : native{first, second, Of(more)...} {}
  TWINLOOM_INLINE Of& operator[](int lane) { return native[lane]; }
  TWINLOOM_INLINE Of operator[](int lane) const { return native[lane]; }
};

// Lanes of bool are bytes of 0 and 1.
template <int count>
struct GccVector<bool, count> {
  typedef u8 Native __attribute__((vector_size(count)));
  Native native;

  GccVector() = default;
  TWINLOOM_INLINE GccVector(bool all) : native(Native{} + u8(all)) {}
  // Until `count` is known GCC takes Native for a single byte, which has no elements.
  TWINLOOM_INLINE bool operator[](int lane) const { return reinterpret_cast<const u8*>(&native)[lane]; }
};

template <class Of, int count>
struct Traits<GccVector<Of, count>> {
  using Element = Of;
  static constexpr int lanes = count;
};
template <class Of, int count>
struct VectorOf {
  using type = GccVector<Of, count>;
};
template <class Of, int count>
using Lanes = GccVector<Of, count>;

template <class Vector>
TWINLOOM_INLINE Vector of_native(typename Vector::Native native) {
  Vector vector;
  vector.native = native;
  return vector;
}

// The second operand may be one element for all lanes.
template <class Of>
struct Just {
  using type = Of;
};
#define TWINLOOM_OPERATOR(sign)                                                             \
  template <class Of, int count>                                                            \
  TWINLOOM_INLINE Lanes<Of, count> operator sign(Lanes<Of, count> a,                        \
                                                 typename Just<Lanes<Of, count>>::type b) { \
    return of_native<Lanes<Of, count>>(a.native sign b.native);                             \
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
  return of_native<Lanes<Of, count>>(-a.native);
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> operator~(Lanes<Of, count> a) {
  if constexpr (same<Of, bool>)
    return of_native<Lanes<Of, count>>(a.native ^ u8(1));
  else
    return of_native<Lanes<Of, count>>(~a.native);
}

// Lanes of 0 and -1, as wide as those that were compared.
#define TWINLOOM_COMPARISON(sign)                                                            \
  template <class Of, int count>                                                             \
  TWINLOOM_INLINE auto operator sign(Lanes<Of, count> a, Lanes<Of, count> b) {               \
    using Test = Lanes<typename IntegerOf<sizeof(Of)>::Signed, count>;                       \
    return of_native<Test>(reinterpret_cast<typename Test::Native>(a.native sign b.native)); \
  }
TWINLOOM_COMPARISON(==)
TWINLOOM_COMPARISON(!=)
TWINLOOM_COMPARISON(<)
TWINLOOM_COMPARISON(<=)
TWINLOOM_COMPARISON(>)
TWINLOOM_COMPARISON(>=)
#undef TWINLOOM_COMPARISON

template <class Test, class Of, int count>
TWINLOOM_INLINE Lanes<Of, count> select(Test test, Lanes<Of, count> yes, Lanes<Of, count> no) {
  return of_native<Lanes<Of, count>>(test.native ? yes.native : no.native);
}
template <class Of, int count>
TWINLOOM_INLINE bool any_lane(Lanes<Of, count> test) {
  Of any = 0;
  for (int lane = 0; lane < count; ++lane) any = Of(any | test[lane]);
  return any != 0;
}
// Lane l is lane each[l] of both, those of `second` counted on behind those of `first`.
template <int... each, class Of, int count>
TWINLOOM_INLINE Lanes<Of, sizeof...(each)> shuffled(Lanes<Of, count> first, Lanes<Of, count> second) {
  return of_native<Lanes<Of, sizeof...(each)>>(__builtin_shufflevector(first.native, second.native, each...));
}
template <class To, class From, int count>
TWINLOOM_INLINE Lanes<To, count> converted(Lanes<From, count> value) {
  return of_native<Lanes<To, count>>(
      __builtin_convertvector(value.native, typename Lanes<To, count>::Native));
}
template <class Of, int count>
TWINLOOM_INLINE Lanes<bool, count> mask_of(Lanes<Of, count> test) {
  const auto bytes = converted<i8>(test != Lanes<Of, count>(Of(0)));
  return of_native<Lanes<bool, count>>(reinterpret_cast<typename Lanes<bool, count>::Native>(bytes.native) &
                                       u8(1));
}
template <class Value, int count>
TWINLOOM_INLINE Signed<Value> test_of(Lanes<bool, count> mask) {
  return -converted<Element<Signed<Value>>>(mask);
}

}  // namespace twinloom::device
