// What a nest or a program touches and computes, counted: bytes that cross between arguments and registers, and
// operations. How long it takes is estimate.h's.
//
// Bytes are those of executed loads and stores of arguments. A load in a loop that its offset does not
// mention is counted once for the loop, equal loads of one loop body once, and what is the same for all
// members of a vector once; local buffers cost nothing.
// Masks are counted exactly; a condition on a value known only at run time counts as true. An extent that
// such values decide is taken for its largest, shared evenly by the turns in which they are found.
#pragma once

#include <cstdint>

#include "core/loops/loops.h"

namespace twinloom::cost {

struct Work {
  std::int64_t loaded = 0, stored = 0;  // bytes
  std::int64_t operations = 0;          // ops::cost of pointwise operators, and combinations of totals
  friend bool operator==(const Work&, const Work&) = default;
};

// For these values of Program::sizes. A routine's call costs what its operands hold and what its
// slots load for every element.
Work work_of(const loops::Program& program, const index::Values& sizes);
std::int64_t touched_bytes(const loops::Program& program, const index::Values& sizes);

}  // namespace twinloom::cost
