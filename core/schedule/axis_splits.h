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

// Elements along the axis that a thread takes at once, neighbours in memory.
std::int64_t packed_elements(const Situation& situation, const loops::NestLoop& loop);

// How an axis ends that is walked in such steps.
Tail tail_of(const Situation& situation, std::int64_t step, const loops::NestLoop& loop);

// Rows of a block: fewer, but those of a whole warp, where so many would leave multiprocessors idle. 32 rows
// of 768 took a layer norm 5.1 us by 32 blocks on an H100, 5.6 by 8.
std::int64_t over_all_blocks(const Situation& situation, std::int64_t rows);

// Of the largest element along the axis.
std::int64_t bytes_along(const Situation& situation, const loops::NestLoop& loop);

// Fewer elements a thread along the axis where there are not blocks for all multiprocessors: then nothing
// counts but how long one thread takes.
std::int64_t lanes_of_few(const Situation& situation, const loops::NestLoop& loop, std::int64_t lanes);

// What a thread takes it takes several times, far apart: along the fast axis, of which a block has so many
// threads, or, where that is short, along another one.
void repeat_far_apart(const Situation& situation, std::size_t fast, std::int64_t threads,
                      std::vector<AxisSplit>& splits);

// The common axes in the order of their loops over blocks, the last one's blocks following each other: as
// they are, or with that along which the largest load is the same last, so that the last cache still has it.
std::vector<std::size_t> order_of_blocks(const Situation& situation);

// The loops of a scan: of one thread, or of the threads of a block; and how many rows a block scans, of which
// each has as many threads as other rows. See choose_scan_threads.cpp.
void choose_scan(const Situation& situation, const loops::Sibling& sibling, bool in_thread,
                 ScopeChoice& choice);
std::int64_t scanned_rows(const Situation& situation);

}  // namespace twinloom::schedule
