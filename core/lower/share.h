// Brings a nest into the form that lowering and fusion hand on: every value computed once and as far out
// as it can be, with short names.
//   - offsets, masks and counts are simplified with what is known of the sizes and axes;
//   - equal Index statements that can see each other become one;
//   - what does not depend on a sibling's own axes moves in front of the sibling;
//   - a value that is used more than once becomes a Let, one that is used once is written in place;
//   - axes are named i0, i1, ... (common), r0, r1, ... (siblings), Index symbols x0, x1, ..., temps by
//     number in the order of their definition.
// Idempotent, and never changes what a nest computes: f16 and bf16 values are not named, because they may
// only be converted and stored.
//
//   for i0 { for r0 { y[..] = exp(x[..]) * (1.0 / s[i0]) + exp(x[..]) } }
//     ->  for i0 { let t0 = 1.0 / s[i0]; for r0 { let t1 = exp(x[..]); y[..] = t1 * t0 + t1 } }
#pragma once

#include "core/index/facts.h"
#include "core/loops/nest.h"

namespace twinloom::lower {

// `sizes`: what is known of size symbols. A nest that is a Call comes back as it is.
loops::Nest share(const loops::Nest& nest, const index::Facts& sizes);

// `sizes` and what the nest's loops and Index statements say of their symbols.
index::Facts facts_of(const loops::Nest& nest, const index::Facts& sizes);
void assume_axis(index::Facts& facts, loops::Axis axis, const index::Expr& extent);

// Whether the nest is a routine, which is the whole of its kernel.
bool is_call(const loops::Nest& nest);

}  // namespace twinloom::lower
