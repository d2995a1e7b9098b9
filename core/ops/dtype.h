// The element types and what is known of each: one row a type in dtype.def.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace twinloom::ops {

enum class DType : std::uint8_t {
#define DTYPE(name, bits, kind, words) name,
#include "core/ops/dtype.def"
#undef DTYPE
};

enum class TypeKind : std::uint8_t {
  boolean,       // one byte; any non-zero byte is true when loaded, 0 or 1 is stored
  signed_int,    // two's complement, wraps
  unsigned_int,  // wraps
  floating,      // IEEE 754 binary, subnormals kept
  narrow_float,  // 8-bit floats: storage only, computed in f32
  packed_int,    // below one byte: storage only
};

std::string_view name(DType dtype);                       // "f32", "b8", ...
std::optional<DType> dtype_named(std::string_view name);  // "bool" is b8
std::span<const DType> all_dtypes();
TypeKind kind(DType dtype);
int bits_of(DType dtype);
int size_of(DType dtype);       // bytes of one element; Bug for packed types
bool is_floating(DType dtype);  // f64, f32, f16, bf16
bool holds_real(DType dtype);   // those and the 8-bit floats
bool is_integer(DType dtype);   // signed and unsigned, not b8
bool is_16_bit_float(DType dtype);
// What arithmetic of this type is done in: f32 for f16 and bf16, else the type itself.
DType compute_type(DType dtype);

}  // namespace twinloom::ops
