// What back ends with a library ask of a nest that it computes (Program::library).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/loops/epilogue.h"

namespace twinloom::loops {

// The types of what a contraction reads and writes.
struct ContractionTypes {
  ops::DType out, left, right;
  std::vector<ops::DType> operands = {};  // of the epilogue
};
ContractionTypes types_in(const Program& nest, const Contraction& contraction);

// What contraction_call_of finds; Bug where the nest is none.
ContractionCall call_in(const Program& nest);

// The same with values for its sizes, given in the order of the symbols.
ContractionCall with_sizes(const ContractionCall& call, std::span<const index::Symbol> symbols,
                           std::span<const std::int64_t> values);
// With a usual value for each size of the nest, within its range.
ContractionCall with_usual_sizes(const ContractionCall& call, const Program& nest);

// Calls with other sizes that a kernel of a nest caches.
inline constexpr std::size_t MOST_CALLS = 64;

// The number that an expression without symbols is; Bug where it has some.
std::int64_t known(const index::Expr& expr);

}  // namespace twinloom::loops
