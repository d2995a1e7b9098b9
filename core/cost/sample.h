// What is learned of offsets and masks by evaluating them here and there. For the inside of this room.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cost/count.h"
#include "core/index/expr.h"

namespace twinloom::cost {

// How an offset moves along one axis: by digits, each of so many iterations that are so far apart, the
// fastest first. An axis that the offset is linear in has one.
struct Digit {
  double iterations = 1;
  double stride = 0;  // elements
};
struct Motion {
  std::int64_t start = 0;                 // where all axes are 0
  std::vector<std::vector<Digit>> along;  // by side of the box
};
// From the form of the offset where it is linear, else from its values at some places. Symbols that neither
// the box nor `known` has are 0. What divides by a size that is nothing is never accessed, and stays.
Motion motion_of(const index::Expr& offset, const std::vector<Side>& box, const index::Values& known);

// The share of the box's members for which the condition holds, from a sample that is always the same.
double share_of(const index::Condition& condition, const std::vector<Side>& box, const index::Values& known);

}  // namespace twinloom::cost
