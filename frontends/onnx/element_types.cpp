// See element_types.h.
#include "frontends/onnx/element_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/ops/number.h"
#include "frontends/onnx/read.h"

namespace twinloom::onnx {

namespace {

using ops::DType;
using Kind = NarrowType::Kind;

constexpr NarrowType uint4{"uint4", DType::u8, 4, Kind::unsigned_integer};
constexpr NarrowType int4{"int4", DType::i8, 4, Kind::signed_integer};
constexpr NarrowType uint2{"uint2", DType::u8, 2, Kind::unsigned_integer};
constexpr NarrowType int2{"int2", DType::i8, 2, Kind::signed_integer};
constexpr NarrowType float4e2m1{"float4e2m1", DType::f16, 4, Kind::finite, 2, 0};
constexpr NarrowType float6e2m3{"float6e2m3", DType::f16, 6, Kind::finite, 4, 0};
constexpr NarrowType float6e3m2{"float6e3m2", DType::f16, 6, Kind::finite, 3, -2};
constexpr NarrowType float8e4m3fnuz{"float8e4m3fnuz", DType::f16, 8, Kind::unsigned_zero, 4, -7};
constexpr NarrowType float8e5m2fnuz{"float8e5m2fnuz", DType::f16, 8, Kind::unsigned_zero, 3, -15};
constexpr NarrowType float8e8m0{"float8e8m0", DType::f32, 8, Kind::exponent};

// By their number in the format; without a type where no such elements are read.
struct TypeRow {
  std::string_view name;
  std::optional<DType> dtype;
  const NarrowType* narrow = nullptr;
};
constexpr TypeRow held(const NarrowType& type) { return {type.name, type.held, &type}; }
constexpr std::array types = {
    TypeRow{"undefined", {}},
    TypeRow{"float", DType::f32},
    TypeRow{"uint8", DType::u8},
    TypeRow{"int8", DType::i8},
    TypeRow{"uint16", DType::u16},
    TypeRow{"int16", DType::i16},
    TypeRow{"int32", DType::i32},
    TypeRow{"int64", DType::i64},
    TypeRow{"string", {}},
    TypeRow{"bool", DType::b8},
    TypeRow{"float16", DType::f16},
    TypeRow{"double", DType::f64},
    TypeRow{"uint32", DType::u32},
    TypeRow{"uint64", DType::u64},
    TypeRow{"complex64", {}},
    TypeRow{"complex128", {}},
    TypeRow{"bfloat16", DType::bf16},
    TypeRow{"float8e4m3fn", DType::f8e4m3},
    held(float8e4m3fnuz),
    TypeRow{"float8e5m2", DType::f8e5m2},
    held(float8e5m2fnuz),
    held(uint4),
    held(int4),
    held(float4e2m1),
    held(float8e8m0),
    held(uint2),
    held(int2),
    held(float6e2m3),
    held(float6e3m2),
};

double float_of(const NarrowType& type, unsigned code) {
  const unsigned sign = 1U << (type.bits - 1), hidden = 1U << (type.digits - 1);
  if (type.kind == Kind::unsigned_zero && code == sign) return std::numeric_limits<double>::quiet_NaN();
  const unsigned exponent = (code & (sign - 1)) / hidden, fraction = code & (hidden - 1);
  const double significand = exponent == 0 ? fraction : hidden + fraction;
  const int power = std::max(static_cast<int>(exponent), 1) - 1 + type.lowest - (type.digits - 1);
  return std::copysign(std::ldexp(significand, power), (code & sign) != 0 ? -1.0 : 1.0);
}

// The element that the lowest bits of a file say.
ops::Number number_of(const NarrowType& type, unsigned code) {
  switch (type.kind) {
    case Kind::unsigned_integer:
      return static_cast<std::int64_t>(code);
    case Kind::signed_integer: {
      const std::int64_t sign = std::int64_t{1} << (type.bits - 1);
      return (static_cast<std::int64_t>(code) ^ sign) - sign;
    }
    case Kind::finite:
    case Kind::unsigned_zero:
      return float_of(type, code);
    case Kind::exponent:
      break;
  }
  constexpr unsigned highest = 255;
  constexpr int bias = 127;
  return code == highest ? std::numeric_limits<double>::quiet_NaN()
                         : std::ldexp(1.0, static_cast<int>(code) - bias);
}

}  // namespace

double NarrowType::greatest() const {
  if (is_integer()) return std::ldexp(1.0, kind == Kind::signed_integer ? bits - 1 : bits) - 1;
  const int highest = (1 << (bits - digits)) - 2 + lowest;
  return std::ldexp((1 << digits) - 1, highest - (digits - 1));
}
double NarrowType::least() const {
  if (kind == Kind::unsigned_integer) return 0;
  return kind == Kind::signed_integer ? -greatest() - 1 : -greatest();
}

ElementType element_type(std::int64_t number, const std::string& what) {
  if (number <= 0 || std::cmp_greater_equal(number, types.size()))
    throw Error(cat(what, ": there is no element type ", number));
  const TypeRow& row = types[static_cast<std::size_t>(number)];
  if (!row.dtype) throw Unsupported(cat(what, ": elements of type ", row.name));
  return {*row.dtype, row.narrow};
}

DType dtype_of(std::int64_t number, const std::string& what) {
  const ElementType type = element_type(number, what);
  if (type.narrow != nullptr) throw Unsupported(cat(what, ": elements of type ", type.name()));
  return type.dtype;
}

std::int32_t number_of(DType dtype) {
  const auto row = std::ranges::find_if(
      types, [&](const TypeRow& each) { return each.dtype == dtype && each.narrow == nullptr; });
  if (row == types.end()) throw Error(cat("files of ONNX hold no elements of ", ops::name(dtype)));
  return static_cast<std::int32_t>(row - types.begin());
}

std::int64_t packed_bytes(const NarrowType& type, std::int64_t count) {
  constexpr std::int64_t per_byte = 8;
  // Elements are taken by eights, so that no product overflows.
  return count / per_byte * type.bits + (count % per_byte * type.bits + per_byte - 1) / per_byte;
}

std::vector<std::byte> unpacked(const NarrowType& type, std::span<const std::byte> packed,
                                std::int64_t count) {
  CHECK(std::cmp_equal(packed.size(), packed_bytes(type, count)), "packed elements of another number");
  const auto size = static_cast<std::size_t>(ops::size_of(type.held));
  const std::size_t codes = std::size_t{1} << type.bits;
  std::vector<std::byte> elements(codes * size);
  for (std::size_t code = 0; code < codes; ++code)
    ops::store_number(type.held, number_of(type, static_cast<unsigned>(code)), elements.data() + code * size);
  std::vector<std::byte> result(static_cast<std::size_t>(count) * size);
  // No element reaches beyond two bytes.
  for (std::size_t e = 0; e < static_cast<std::size_t>(count); ++e) {
    const std::size_t at = e * static_cast<std::size_t>(type.bits), byte = at / 8;
    const unsigned next = byte + 1 < packed.size() ? std::to_integer<unsigned>(packed[byte + 1]) : 0;
    const unsigned both = std::to_integer<unsigned>(packed[byte]) | next << 8;
    const std::size_t code = (both >> (at % 8)) & (codes - 1);
    std::memcpy(result.data() + e * size, elements.data() + code * size, size);
  }
  return result;
}

}  // namespace twinloom::onnx
