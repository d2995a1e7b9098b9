// How many blocks of a kernel a multiprocessor should run at once, which is how many registers it has.
#pragma once

#include <string>

#include "core/loops/loops.h"

namespace twinloom::cuda {

// What __launch_bounds__ is told of a program: the threads of a block and, for some, how many blocks. Left
// alone, ptxas keeps to the 32 registers with which all threads of a multiprocessor are resident wherever it
// can, even where scratch has no room for so many blocks, at the price of loads that wait for each other's
// registers. Threads that walk an axis for a total do better with half as many of them, those that never wait
// for others with a quarter (perf/results/2026-11-23-gpu-speed.md, "Registers"). Threads that walk lists have
// one load on their way: as many of them as of those that wait, also in small blocks. What may need more
// registers than are left then, rows that stay in them or many totals, is left to ptxas, and so are small
// blocks; but many totals of what is loaded from several buffers, and totals of columns of it, get all
// registers of a multiprocessor that runs one block: left alone, ptxas then loads a pair, adds it, loads the
// next (sums of columns of products took 1.2 to 1.8 times as long on an H100:
// perf/results/2026-11-28-h100.md; what loads from one buffer, and rows in registers, were 0.75 to 1.0 times
// as fast with it).
std::string launch_bounds(const loops::Program& program);

// Whether a program is faster within its bound also where that makes ptxas spill: what walks lists has a load
// of a list on its way, not values, and wants threads (0.73 and 0.97 without the bound on an H100).
bool keeps_launch_bounds(const loops::Program& program);

// A text whose __launch_bounds__ counts blocks, without that count; empty where it has none, or one block,
// which has all registers as it is. Where the bound makes ptxas spill, kernels take 1.11 to 1.88 times as
// long as without it (perf/results/2026-11-27-night-h100.md, "Registers that a block has not"); no count of a
// program's values told these kernels from those that the bound makes faster.
std::string without_block_count(const std::string& text);

}  // namespace twinloom::cuda
