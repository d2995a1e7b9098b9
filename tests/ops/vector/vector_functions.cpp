// Compiled without any system header, once for each row of tables.def: every row of the operator table over
// vectors of 8 and 16 lanes and over single elements, and the conversions, behind plain functions. TABLE
// names what this compilation defines, and is the namespace of its device header: of functions of one name
// that are not inlined the linker would keep one for all objects.
//
// Clang has vectors of 8 and 16 lanes and single elements; GCC's are the registers of xsimd, one width a
// type.
#ifndef __clang__
#include <xsimd/xsimd.hpp>
#endif
#define device TABLE
#include "core/ops/device/kernel.h"
#include "tests/ops/vector/tables.h"

using namespace twinloom::device;

namespace {

#ifdef __clang__
template <class Of, int count>
Vector<Of, count> load_lanes(const void* from, i64 at) {
  Vector<Of, count> value;
  __builtin_memcpy(&value, static_cast<const Of*>(from) + at, sizeof(Of) * count);
  return value;
}
template <class Value>
void store_lanes(void* to, i64 at, Value value) {
  __builtin_memcpy(static_cast<Element<Value>*>(to) + at, &value, sizeof(Element<Value>) * lanes<Value>);
}
#else
constexpr int register_bytes = sizeof(xsimd::batch<f32>);
template <class Of>
constexpr int native_lanes = register_bytes / int(sizeof(Of));

template <class Of, int count>
Vector<Of, count> load_lanes(const void* from, i64 at) {
  const Of* first = static_cast<const Of*>(from) + at;
  if constexpr (count == native_lanes<Of>) {
    return bit_cast<Vector<Of, count> >(xsimd::batch<Of>::load_unaligned(first).data);
  } else {
    Vector<Of, count> value;
    __builtin_memcpy(&value, first, sizeof(value));
    return value;
  }
}
template <class Value>
void store_lanes(void* to, i64 at, Value value) {
  using Of = Element<Value>;
  Of* first = static_cast<Of*>(to) + at;
  if constexpr (lanes<Value> == native_lanes<Of>)
    xsimd::batch<Of>(bit_cast<typename xsimd::batch<Of>::register_type>(value)).store_unaligned(first);
  else
    __builtin_memcpy(first, &value, sizeof(value));
}
#endif

template <class Of, int count>
Vector<Of, count> load(const void* from, i64 at) {
  if constexpr (same<Of, bool>)
    return ne(load_lanes<u8, count>(from, at), Vector<u8, count>(u8(0)));
  else
    return load_lanes<Of, count>(from, at);
}
template <class Value>
void store(void* to, i64 at, Value value) {
  if constexpr (same<Element<Value>, bool>)
    store_lanes(to, at, truncated<u8>(value));
  else
    store_lanes(to, at, value);
}

template <class Of, int count, class Row>
void one(Row row, const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count) store(out, i, row(load<Of, count>(in[0], i)));
}
template <class Of, int count, class Row>
void two(Row row, const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count)
    store(out, i, row(load<Of, count>(in[0], i), load<Of, count>(in[1], i)));
}
template <class First, class Of, int count, class Row>
void first_and_two(Row row, const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count) {
    store(out, i, row(load<First, count>(in[0], i), load<Of, count>(in[1], i), load<Of, count>(in[2], i)));
  }
}
template <class Of, int count, class Row>
void three(Row row, const void* const* in, void* out, long long size) {
  first_and_two<Of, Of, count>(row, in, out, size);
}
template <class Of, int count, class Row>
void mask_and_two(Row row, const void* const* in, void* out, long long size) {
  first_and_two<bool, Of, count>(row, in, out, size);
}
template <class Of, int count, class Row>
void four(Row row, const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count) {
    store(out, i,
          row(load<Of, count>(in[0], i), load<Of, count>(in[1], i), load<Of, count>(in[2], i),
              load<Of, count>(in[3], i)));
  }
}
template <class Of, int count, class Row>
void six(Row row, const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count) {
    store(out, i,
          row(load<Of, count>(in[0], i), load<Of, count>(in[1], i), load<Of, count>(in[2], i),
              load<Of, count>(in[3], i), load<Of, count>(in[4], i), load<Of, count>(in[5], i)));
  }
}

using Row = twinloom::ops::testing::VectorRow;

#define LOOP_1 one
#define LOOP_2 two
#define LOOP_3 three
#define LOOP_3_select mask_and_two
#define LOOP_4 four
#define LOOP_6 six
#define ROW(name, arity, of, count)                                                \
  {#name, #of, count, [](const void* const* in, void* out, long long size) {       \
     LOOP_##arity<of, count>([](auto... x) { return name(x...); }, in, out, size); \
   }},
#ifdef __clang__
#define TYPE(name, arity, of) ROW(name, arity, of, 1) ROW(name, arity, of, 8) ROW(name, arity, of, 16)
#else
#define TYPE(name, arity, of) ROW(name, arity, of, native_lanes<of>)
#endif
#define ROWS_precise(name, arity) TYPE(name, arity, f32) TYPE(name, arity, f64)
#define ROWS_real(name, arity) ROWS_precise(name, arity)
#define ROWS_integer(name, arity) \
  TYPE(name, arity, i8)           \
  TYPE(name, arity, i16)          \
  TYPE(name, arity, i32)          \
  TYPE(name, arity, i64)          \
  TYPE(name, arity, u8) TYPE(name, arity, u16) TYPE(name, arity, u32) TYPE(name, arity, u64)
#define ROWS_bits(name, arity) ROWS_integer(name, arity) TYPE(name, arity, b8)
#define ROWS_number(name, arity) ROWS_real(name, arity) ROWS_integer(name, arity)
#define ROWS_any(name, arity) ROWS_number(name, arity) TYPE(name, arity, b8)
#define ROWS_select(name, arity) ROWS_any(name, arity##_select)
#define ROWS_counter(name, arity) TYPE(name, arity, i64)

constexpr Row rows[] = {
#define POINTWISE(name, arity, takes, ...) ROWS_##takes(name, arity)
#include "core/ops/pointwise.def"
#undef POINTWISE
};

// A conversion from each type, through the forms of memory, to each other.
template <class To, int count, class Value>
void store_as(void* to, i64 at, Value value) {
  if constexpr (same<To, f16> || same<To, bf16> || same<To, f8e4m3> || same<To, f8e5m2>)
    store(to, at, narrow<To>(value));
  else
    store(to, at, convert<To>(value));
}
template <class From, class To, int count>
void cast(const void* const* in, void* out, long long size) {
  for (i64 i = 0; i < size; i += count) {
    if constexpr (same<From, f16> || same<From, bf16> || same<From, f8e4m3> || same<From, f8e5m2>) {
      store_as<To, count>(out, i, widen<From>(load<typename From::Bits, count>(in[0], i)));
    } else {
      store_as<To, count>(out, i, load<From, count>(in[0], i));
    }
  }
}
#define CAST(from, to) {#to, #from, 8, cast<from, to, 8>}, {#to, #from, 16, cast<from, to, 16>},
#define CASTS(from)                                                                                \
  CAST(from, b8)                                                                                   \
  CAST(from, i8)                                                                                   \
  CAST(from, i16)                                                                                  \
  CAST(from, i32)                                                                                  \
  CAST(from, i64)                                                                                  \
  CAST(from, u8)                                                                                   \
  CAST(from, u16)                                                                                  \
  CAST(from, u32) CAST(from, u64) CAST(from, f16) CAST(from, bf16) CAST(from, f32) CAST(from, f64) \
      CAST(from, f8e4m3) CAST(from, f8e5m2)
constexpr Row casts[] = {CASTS(b8) CASTS(i8) CASTS(i16) CASTS(i32) CASTS(i64) CASTS(u8) CASTS(u16) CASTS(
    u32) CASTS(u64) CASTS(f16) CASTS(bf16) CASTS(f32) CASTS(f64) CASTS(f8e4m3) CASTS(f8e5m2)};

}  // namespace

#ifdef __AVX512F__
constexpr bool needs_avx512 = true;
#else
constexpr bool needs_avx512 = false;
#endif
#define JOINED(first, second) first##second
#define TABLE_OF(name) JOINED(vector_table_, name)
#define WORD(name) #name
#define WORD_OF(name) WORD(name)

extern "C" {
extern const twinloom::ops::testing::VectorTable TABLE_OF(TABLE);
const twinloom::ops::testing::VectorTable TABLE_OF(TABLE) = {WORD_OF(TABLE),
                                                             __VERSION__,
                                                             needs_avx512,
                                                             {rows, sizeof(rows) / sizeof(rows[0])},
                                                             {casts, sizeof(casts) / sizeof(casts[0])}};
}
