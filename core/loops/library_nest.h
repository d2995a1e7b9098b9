// What back ends with a library ask of a nest that it computes (Program::library).
#pragma once

#include <cstdint>

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

// The same with sizes put in.
ContractionCall with_sizes(const ContractionCall& call, const index::Substitution& sizes);

// A usual value for each size of the nest, within its range.
index::Substitution usual_sizes(const Program& nest);

// The number that an expression without symbols is; Bug where it has some.
std::int64_t known(const index::Expr& expr);

}  // namespace twinloom::loops
