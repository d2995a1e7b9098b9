// Writes through views: what the first argument of a view operator is after a write into what it gave.
//   v = slice(x, 0, 1, 3); write value into v    ->    x = slice_scatter(x, value, 0, 1, 3)
#pragma once

#include "frontends/fx/operators.h"

namespace twinloom::fx {

graph::Tensor put_reshaped(const Write& write);    // all elements, in their order
graph::Tensor put_permuted(const Write& write);    // permute
graph::Tensor put_transposed(const Write& write);  // transpose
graph::Tensor put_turned(const Write& write);      // t
// Error where the view shows an element twice.
graph::Tensor put_expanded(const Write& write);
graph::Tensor put_slice(const Write& write);
graph::Tensor put_selected(const Write& write);
graph::Tensor put_diagonal(const Write& write);
// as_strided, whose first argument must be all of its memory.
graph::Tensor put_strided(const Write& write);
graph::Tensor put_part(const Write& write);   // split, split_with_sizes
graph::Tensor put_chunk(const Write& write);  // chunk
graph::Tensor put_row(const Write& write);    // unbind

}  // namespace twinloom::fx
