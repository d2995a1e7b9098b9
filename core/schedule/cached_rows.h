// Which rows and tiles of inputs a block of threads caches, in registers or in shared memory: a part of
// choose_rows.cpp.
#pragma once

#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

// Rows that several siblings read, where it is legal to cache them there. What values that are cached in
// shared memory are computed from is widened there, so that they may take its memory.
std::vector<TempPlan> cached_rows(const Plan& plan, loops::Place place);

// Squares of inputs whose neighbours lie along another axis than the result's.
std::vector<TempPlan> cached_tiles(const Plan& plan);

// Of all that is cached at once, for one element of a row.
std::int64_t bytes_of_element(const Plan& plan, const Situation& situation);

// Of few rows: what later siblings alone load is loaded by the first one, where registers are left for as
// many elements of a thread.
Schedule loading_ahead(const Forms& forms, const Situation& situation, std::int64_t elements,
                       Schedule schedule);

}  // namespace twinloom::schedule
