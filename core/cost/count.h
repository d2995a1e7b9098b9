// How many members of a box of loops satisfy a condition. For the inside of this room.
#pragma once

#include <vector>

#include "core/index/expr.h"

namespace twinloom::cost {

struct Side {
  index::Symbol axis;
  std::int64_t extent = 0;
};

// Each axis runs over 0..extent-1; all other symbols have values. Where the condition is one comparison
// of a place in mixed radix, by a formula; else by trying all members of the axes it mentions.
std::int64_t count_members(const std::vector<Side>& box, const index::Condition& condition,
                           index::Values values);

}  // namespace twinloom::cost
