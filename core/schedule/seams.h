// Loops cut where a condition of their counter alone changes, as at the seam of a concatenation:
//   for i < 128 { y[8*i..] = where(lt(8*i, 512), neg(x[8*i + 512..] if 8*i < 512), x[8*i - 512..] if 511 <
//   8*i) }
// becomes
//   for i < 64 { y[8*i..] = neg(x[8*i + 512..]) }
//   for j < 64 { y[8*j + 512..] = x[8*j..] }
// Turns keep their order, so no bit changes. For the inside of this room.
#pragma once

#include "core/schedule/build.h"

namespace twinloom::schedule {

// Only serial loops over numbers of turns that are known, with small bodies, where no total has copies along
// them or a loop inside, and no other loop shares those; each into a few pieces at most. Expressions must be
// tidy already.
Ref<Stmt> cut_at_seams(const Ref<Stmt>& stmt, const index::Facts& facts, Names& names);

}  // namespace twinloom::schedule
