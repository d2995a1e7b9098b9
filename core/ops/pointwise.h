// The pointwise operators: one row each in pointwise.def, from which the enum, the meaning, the
// spelling in generated code, the types and the test range are all made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/ops/dtype.h"
#include "core/ops/number.h"

namespace twinloom::ops {

enum class Pointwise : std::uint8_t {
#define POINTWISE(name, ...) name,
#include "core/ops/pointwise.def"
#undef POINTWISE
};

// Which element types an operator takes. Its inputs are of one type, but where a row says otherwise.
enum class Takes : std::uint8_t {
  real,      // f64 f32 f16 bf16
  integer,   // i* u*
  bits,      // integers and b8
  number,    // real and integer
  any,       // number and b8
  truth,     // b8
  select,    // (b8, any T, the same T) -> T
  counter,   // Philox rows: (i64 element number, i64 seed, i64 offset, i64 operator number[, ...])
};

// What it gives.
enum class Gives : std::uint8_t {
  same,   // the type of its inputs (for select: of the last input)
  truth,  // b8
  f32,
  i64,
};

int arity(Pointwise op);
Takes takes(Pointwise op);
Gives gives(Pointwise op);
std::string_view name(Pointwise op);
std::optional<Pointwise> pointwise_named(std::string_view name);
std::span<const Pointwise> all_pointwise();

// The type of the result, or nothing when the operator does not take these types.
std::optional<DType> result_type(Pointwise op, std::span<const DType> inputs);

}  // namespace twinloom::ops
