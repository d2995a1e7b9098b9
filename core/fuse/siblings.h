// Inside of the room: siblings of one nest that walk the same loops and do not need each other's totals
// become one, so that what both load is loaded once.
//   for r { s += x[r] };  for q { t += x[q] * y[q] }   ->   for r { s += x[r]; t += x[r] * y[r] }
#pragma once

#include "core/fuse/align.h"

namespace twinloom::fuse {

// All pairs that load the same element; `nest` has no Lets.
loops::Nest merge_siblings(loops::Nest nest, const index::Facts& facts);

// Item `second` (a sibling) into item `first`, its axes renamed as given; nothing where it needs what lies
// between, or where a total would come to stand beside a scan: the two walk their elements in different
// orders.
std::optional<loops::Nest> join(const loops::Nest& nest, std::size_t first, std::size_t second,
                                const std::map<loops::Axis, loops::Axis>& first_by_second);

}  // namespace twinloom::fuse
