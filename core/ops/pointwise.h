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
  real,     // f64 f32 f16 bf16
  precise,  // f64 f32
  integer,  // i* u*
  bits,     // integers and b8
  number,   // real and integer
  any,      // number and b8
  truth,    // b8
  select,   // (b8, any T, the same T) -> T
  counter,  // Philox rows: (i64 element number, i64 seed, i64 offset, i64 operator number[, ...])
};

// What it gives.
enum class Gives : std::uint8_t {
  same,   // the type of its inputs (for select: of the last input)
  truth,  // b8
  f32,
  f64,
  i64,
};

int arity(Pointwise op);
Takes takes(Pointwise op);
Gives gives(Pointwise op);
// Whether inputs of this type (of select: the last two) are taken.
bool takes_element(Pointwise op, DType element);
// The call of the device header's function that computes it, inputs as $0, $1, ...: "pow($0, $1)".
// Overloads go by the type of the values; f16 and bf16 are computed in f32.
std::string_view spelling(Pointwise op);
// Bound on the error in units in the last place of the type the operator is computed in (f32 or f64).
double ulp_bound(Pointwise op, DType element);

// Whether a result of floats is one of the inputs (of a select: of the last two), with another sign or 0: it
// has no more digits than they have. NaNs may be others.
bool gives_an_input(Pointwise op);

// The row that computes `op` for results of this type: one of 16 bits may have a shorter one, which is right
// to 0.51 units in its last place. The same on every device and in every mode; never for a step in f32.
Pointwise computed_for(Pointwise op, DType result);

// The row that mode `fused` computes `op` by, of elements of this type: one of f32, and so of 16 bits, may be
// within 2 units in the last place where a shorter function of the same meaning is faster. The same on every
// device. What computed_for has a form for is left to it.
Pointwise fused_form(Pointwise op, DType element);

// The row that mode `fast` may compute `op`, a row of `fused`, by: of f32 within 4 units in the last place,
// on a GPU within 2^-21 of the value where it and what it is made of are 2^-118 in size or more, of results
// of 16 bits within 1 unit in the last place. A GPU has other bits than a CPU.
enum class Subnormals : std::uint8_t {
  kept,     // down to the last place
  flushed,  // zeros may stand for them
};
enum class ComputedBy : std::uint8_t {
  cores,  // with fewer such forms: `op` where they have no other
  gpu,
};
Pointwise approximate_form(Pointwise op, DType element, Subnormals subnormals, ComputedBy unit);
// The row that a form approximates; nothing of other rows.
std::optional<Pointwise> approximated_by(Pointwise form);

// The form of it for several elements of f32 side by side that the device header has: quick.def.
enum class QuickForm : std::uint8_t {
  none,
  never,   // nothing mends what is rare
  masked,  // a second form does where the kernel may leave elements out
};
QuickForm quick_form(Pointwise op);

struct TestRange {
  double low, high;  // inputs that tests of whole graphs draw from
};
TestRange test_range(Pointwise op);

std::string_view name(Pointwise op);
std::optional<Pointwise> pointwise_named(std::string_view name);
std::span<const Pointwise> all_pointwise();

// The type of the result, or nothing when the operator does not take these types.
std::optional<DType> result_type(Pointwise op, std::span<const DType> inputs);

// Arrays of elements in, an array of elements out, one after the other. All inputs are of the type
// `element`, but the first of a select is b8; the output is of result_type. 16-bit floats are
// computed in f32 and rounded once. The output may be one of the inputs when the sizes of their
// elements agree.
//   strict   what the operator means: its formula in the type itself, every step rounded once
//   spelled  what generated code does: the function of the device header that the spelling names
void apply_strict(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                  std::int64_t count);
void apply_spelled(Pointwise op, DType element, std::span<const void* const> inputs, void* output,
                   std::int64_t count);
// One element, not rounded to its type: floats by the C library in double (so f64 is as good as that),
// integers exactly.
Number apply_wide(Pointwise op, DType element, std::span<const Number> inputs);

}  // namespace twinloom::ops
