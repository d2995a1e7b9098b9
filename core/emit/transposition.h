// Loops that only turn a square of elements over, for which a dialect may have something better than strided
// loads:
//   for r < n unroll { for l < n vector { to[to_place + to_stride*r + l] = from[from_place + from_stride*l +
//   r] } }
#pragma once

#include <optional>

#include "core/loops/loops.h"

namespace twinloom::emit {

struct Transposition {
  loops::Buffer to, from;
  index::Expr to_place, to_stride, from_place, from_stride;
  int count = 0;  // rows, and elements of a row
};

// `known` are the counters of unrolled loops around it. Nothing where the loop is anything else.
std::optional<Transposition> transposition_of(const loops::Loop& loop, const index::Substitution& known);

}  // namespace twinloom::emit
