// Arithmetic on sizes, and what only checks them.
#include <array>

#include "core/graph/builder.h"
#include "frontends/fx/operators.h"
#include "frontends/fx/promote.h"

namespace twinloom::fx {

namespace {

using index::Expr;

Item sym_size(const Arguments& arguments) {
  return {arguments.tensor(0, "self").size(arguments.integer(1, "dim"))};
}
Item sym_count(const Arguments& arguments) { return {arguments.tensor(0, "self").count()}; }
Item sym_max(const Arguments& arguments) {
  return {index::greatest(arguments.size(0, "a"), arguments.size(1, "b"))};
}
Item sym_min(const Arguments& arguments) {
  return {index::least(arguments.size(0, "a"), arguments.size(1, "b"))};
}
Item same_number(const Arguments& arguments) { return arguments.item(0, "a"); }

// operator.floordiv and mod of sizes; the divisor becomes a requirement where it is not known.
Expr positive(const Arguments& arguments, const Expr& divisor) {
  const auto constant = index::constant_of(divisor);
  if (constant && *constant <= 0)
    arguments.fail(cat("a size is divided by ", *constant, "; the divisor must be positive"));
  if (!constant) {
    arguments.builder().graph().require({{index::Less{0, divisor}}},
                                        cat("a size is divided by ", divisor, ", which must be positive"));
  }
  return divisor;
}
Item floordiv(const Arguments& arguments) {
  return {index::floor_div(arguments.size(0, "a"), positive(arguments, arguments.size(1, "b")))};
}
Item mod(const Arguments& arguments) {
  return {index::floor_mod(arguments.size(0, "a"), positive(arguments, arguments.size(1, "b")))};
}
Item nothing(const Arguments&) { return {}; }

constexpr std::array rows = {
    Row{"sym_size", sym_size},
    Row{"sym_numel", sym_count},
    Row{"sym_max", sym_max},
    Row{"sym_min", sym_min},
    Row{"sym_int", same_number},
    Row{"floordiv", floordiv},
    Row{"mod", mod},
    // Conditions that PyTorch has already specialised on; the printed shapes say them too.
    Row{"_assert_scalar", nothing},
    Row{"_assert_async", nothing},
    Row{"sym_constrain_range", nothing},
    Row{"sym_constrain_range_for_size", nothing},
    Row{"_assert_tensor_metadata", nothing},
};

}  // namespace

std::span<const Row> size_rows() { return rows; }

}  // namespace twinloom::fx
