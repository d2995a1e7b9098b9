// Statements of programs that reach accumulators, as steps and schedules both make them. For the inside of
// core/steps and core/schedule.
#pragma once

#include <vector>

#include "core/index/facts.h"
#include "core/loops/loops.h"

namespace twinloom::steps {

// A start of a new accumulator of the same monoid.
loops::Start start_like(const loops::Start& start, loops::Temp total, std::vector<loops::Axis> copies,
                        int depth = 0);
// Merges one accumulator (all its parts) into another.
loops::Ref<loops::Stmt> merge_total(loops::Temp into, loops::Temp from, const loops::Start& start,
                                    index::Condition mask = {});
// How deep a stack of so many nodes is, as far as the facts bound their number.
int stack_depth(const index::Expr& count, const index::Facts& facts);

}  // namespace twinloom::steps
