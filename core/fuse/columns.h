// Inside of the room: totals of columns made in the pass over the rows of the same elements.
//   for i { start a; for k { a += x[i,k] at k }; y[i] = a }
//   for j { start b; for r { b += x[r,j] at r }; z[j] = b }
//     ->  start b copies (k)
//         for i { start a; for k { a += x[i,k] at k; b += x[i,k] at i }; y[i] = a }
//         for k { z[k] = b }
#pragma once

#include "core/fuse/combine.h"

namespace twinloom::fuse {

bool has_columns(const lower::Unit& unit);

// The totals of columns of one unit beside those of rows of the other, or why not. As for combine(): `first`
// may store what `second` loads, but rows read no totals of columns.
Combined in_one_pass(const Around& around, std::size_t first, std::size_t second, lower::Names& names);

}  // namespace twinloom::fuse
