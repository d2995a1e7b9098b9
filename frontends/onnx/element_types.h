// Inside of the component: the element types of ONNX. The graph has not all of them: integers and floats of
// 2 to 6 bits, and some of 8, are *narrow*. It holds their values in a wider type, and files pack them.
//   int4, uint2, ...    i8, u8       float4e2m1, float6*, float8*fnuz    f16       float8e8m0    f32
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ops/dtype.h"

namespace twinloom::onnx {

struct NarrowType {
  enum class Kind : std::uint8_t {
    signed_integer,
    unsigned_integer,
    finite,         // a float: sign, exponent and fraction, neither NaN nor infinity
    unsigned_zero,  // the same with NaN in place of -0
    exponent,       // a power of two: 0 is 2^-127, and the highest number is NaN
  };
  std::string_view name;
  ops::DType held;  // that holds each of its values
  int bits;
  Kind kind;
  int digits = 0;  // of a float: bits of the significand, the leading one counted
  int lowest = 0;  // and the exponent of the least number that has so many

  bool is_integer() const { return kind == Kind::signed_integer || kind == Kind::unsigned_integer; }
  // Of integers and of floats with a fraction.
  double least() const;
  double greatest() const;
};

// What a tensor of a model is made of: the type in the graph, and which narrow type it stands for.
struct ElementType {
  ops::DType dtype;
  const NarrowType* narrow = nullptr;  // of a table that lives as long as the program
  std::string_view name() const { return narrow == nullptr ? ops::name(dtype) : narrow->name; }
};

// The type that ONNX numbers so. Unsupported where there is one that is not read, Error where there is none.
ElementType element_type(std::int64_t number, const std::string& what);
// The same, and Unsupported of narrow types too.
ops::DType dtype_of(std::int64_t number, const std::string& what);

// The number that ONNX has for the type; Error where it has none.
std::int32_t number_of(ops::DType dtype);

// How many bytes so many elements take, one behind the other: the first ones in the lowest bits.
std::int64_t packed_bytes(const NarrowType& type, std::int64_t count);
// These, held in the wider type; there must be packed_bytes().
std::vector<std::byte> unpacked(const NarrowType& type, std::span<const std::byte> packed,
                                std::int64_t count);

}  // namespace twinloom::onnx
