// Inside of the component: two units whose loops cannot be shared as parts of one kernel. Their common loops
// are those along which the second reads what the first made in the same iteration; what it made there is an
// array of that iteration (core/loops/parts.h).
//   for i { for j { s[i, j] = .. } }   +   for i { for r { m += s[i, r] }; y[i] = m }
//     ->  for i { scratch s[] { for j { s[j] = .. }; for r { m += s[r] }; y[i] = m } }
#pragma once

#include "core/fuse/combine.h"

namespace twinloom::fuse {

// One of the two may consist of parts already. Only where `Limits::seconds_in_parts` tells that the one
// kernel takes less time than the two.
Combined in_parts(const Around& around, std::size_t first, std::size_t second, lower::Names& names);

}  // namespace twinloom::fuse
