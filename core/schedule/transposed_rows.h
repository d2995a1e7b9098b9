// Rows that a vector walks side by side lie apart in memory, so that each load and store of it touches as
// many lines as it has lanes. In arrays, which squares of elements are transposed into on the way in and out
// of (core/emit/transposition.h), its lanes are neighbours:
//   for i vector { for k < 64 { y[64*i + k] = f(x[64*i + k]) } }
//   ->  scratch x_rows[64*lanes], y_rows[64*lanes]:
//         for h, c { for r < 16 unroll { for l < 16 vector { x_rows[lanes*(16*c + r) + 16*h + l] = x[...] } }
//         } for i vector { for k < 64 { y_rows[lanes*k + i] = f(x_rows[lanes*k + i]) } } for h, c { for l <
//         16 unroll { for r < 16 vector { y[...] = y_rows[...] } } }
// Elements are only moved, so no bit changes. For the inside of this component.
#pragma once

#include "core/schedule/build.h"

namespace twinloom::schedule {

constexpr std::int64_t LEAST_ROW_STRIDE = 8;  // elements; nearer lanes are picked out of whole registers

// Only rows, or parts of them, that loops of constant extents walk without masks, and that fit the first
// cache. Expressions must be tidy already.
Ref<Stmt> transpose_rows(const Ref<Stmt>& stmt, Names& names);

}  // namespace twinloom::schedule
