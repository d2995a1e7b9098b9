// The operators of sizes.h by kind, and what they share. Operands are numbers, as many as the row says. What
// stands as a quotient of sizes stays one as long as f64 rounds it at most once; everything else is computed
// by the graph.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string_view>

#include "frontends/fx/numbers.h"
#include "frontends/fx/sizes.h"

namespace twinloom::fx {

constexpr std::size_t ANY_COUNT = std::numeric_limits<std::size_t>::max();

struct SizeRow {
  std::string_view op;
  std::size_t fewest, most;  // operands
  Item (*apply)(const Items& operands, const SizeRules& rules);
};

std::span<const SizeRow> arithmetic_rows();
std::span<const SizeRow> truth_rows();
std::span<const SizeRow> rounding_rows();

inline bool is_real(const Item& item) { return kind_of(item) == Number::Kind::real; }
// The row of the graph for operands of which at least one is known to the run only.
Item computed(ops::Pointwise row, Items operands, Number::Kind kind);
Item computed(ops::Pointwise row, Items operands);
Fraction reduced(const index::Expr& numerator, const index::Expr& denominator);

Item add(const Items& operands, const SizeRules& rules);
Item sub(const Items& operands, const SizeRules& rules);
Item mul(const Items& operands, const SizeRules& rules);
Item floor_div(const Items& operands, const SizeRules& rules);

}  // namespace twinloom::fx
