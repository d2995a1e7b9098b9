// Reductions and scans: one row each in monoid.def. A monoid has one part, or two (a value and the
// place it was found at).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "core/ops/dtype.h"
#include "core/ops/number.h"

namespace twinloom::ops {

enum class Monoid : std::uint8_t {
#define MONOID(name, ...) name,
#include "core/ops/monoid.def"
#undef MONOID
};

enum class Order : std::uint8_t {
  canonical,  // the tree of NUMERICS: floats of sum and prod
  any,        // the bits do not depend on the order
};

int parts(Monoid monoid);
std::string_view name(Monoid monoid);
std::optional<Monoid> monoid_named(std::string_view name);
std::span<const Monoid> all_monoids();
// Whether elements of this type may be combined by it. A 16-bit float is accepted where f32 is: its total
// is of total_type.
bool accepts(Monoid monoid, DType element);
// The type in which elements are combined: f32 for f16 and bf16, else the element's own. The functions
// below take and give numbers of this type.
DType total_type(DType element);
// Neutral on both sides bit for bit (-0.0 for a float sum); one number a part.
std::array<Number, 2> identity(Monoid monoid, DType element);
// The value over nothing (+0.0 for sum, true for all); nothing where an empty reduction is refused.
std::optional<Number> over_nothing(Monoid monoid, DType element);
// The type of part 0 is the element's; of part 1, a place, i64.
DType part_type(Monoid monoid, DType element, int part);
Order order(Monoid monoid, DType element);

// The call of the device header's function on totals. One part: "sum($0, $1)" gives the new total. Two
// parts: "argmax($0, $1, $2, $3)" over left value, left place, right value, right place says whether
// the right pair takes the place of the left one.
std::string_view spelling(Monoid monoid);

// combine(left, right) on numbers already rounded to the parts' types; the result is so rounded.
// Floats of f16 and bf16 are never combined: totals of them are f32.
std::array<Number, 2> combine(Monoid monoid, DType element, const std::array<Number, 2>& left,
                              const std::array<Number, 2>& right);

}  // namespace twinloom::ops
