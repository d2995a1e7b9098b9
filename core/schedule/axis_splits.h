// How the common axes are split where blocks have threads, and how often a thread of a pointwise nest takes
// what it takes: parts of choose_threads.cpp.
#pragma once

#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

// How one axis is split: so many threads, each with so many packed elements, and that so many times, far
// apart; 1 of all: not at all.
struct AxisSplit {
  std::int64_t threads = 1, lanes = 1, times = 1;
  bool is_split() const { return threads > 1 || lanes > 1; }
};

// Members of an axis that are worth a place each: as many as wanted, fewer where the axis is shorter.
std::int64_t members(const Situation& situation, const loops::NestLoop& loop, std::int64_t each,
                     std::int64_t wanted);

// Of the largest element along the axis.
std::int64_t bytes_along(const Situation& situation, const loops::NestLoop& loop);

// Fewer elements a thread along the axis where there are not blocks for all multiprocessors: then nothing
// counts but how long one thread takes.
std::int64_t lanes_of_few(const Situation& situation, const loops::NestLoop& loop, std::int64_t lanes);

// What a thread takes it takes several times, far apart: along the fast axis, of which a block has so many
// threads, or, where that is short, along another one.
void repeat_far_apart(const Situation& situation, std::size_t fast, std::int64_t threads,
                      std::vector<AxisSplit>& splits);

}  // namespace twinloom::schedule
