// Index-set splitting: a loop becomes several, one after another, where a condition changes with its
// iteration alone. Of a concatenation
//   for i < 128 { y[8*i..] = where(lt(8*i, 512), neg(x[8*i + 512..] if 8*i < 512), x[8*i - 512..] if 511 <
//   8*i) }
// becomes
//   for i < 64 { y[8*i..] = neg(x[8*i + 512..]) }
//   for j < 64 { y[8*j + 512..] = x[8*j..] }
// Iterations keep their order, so no bit changes. For the inside of this component.
#pragma once

#include "core/schedule/build.h"

namespace twinloom::schedule {

// Only serial loops of constant extent with small bodies, each into a few at most. Not where a reduction has
// an accumulator for each iteration, nor around such a loop: the loops that initialize, update and read these
// share one axis. Expressions must be tidy already, and the facts know of the loops inside.
Ref<Stmt> split_index_sets(const Ref<Stmt>& stmt, const index::Facts& facts, Names& names);

}  // namespace twinloom::schedule
