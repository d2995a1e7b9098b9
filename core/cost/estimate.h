// How long a program takes on a machine, from what it moves and computes: THE measure by which schedules,
// fusion and memory are chosen. Seconds of one run with cold caches; what a launch costs is in it.
//
// A roofline of several roofs: each level of memory with the bytes that cross to it (footprint.h), the units
// that execute instructions, and the longest chain of what waits for something else. The longest of them is
// the time, and the others hide behind it but for a share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/loops/loops.h"
#include "core/machine/machine.h"

namespace twinloom::cost {

struct Roof {
  std::string name;   // of a memory level, "instructions", "wavefronts", "chain", "blocks", "launch"
  double amount = 0;  // bytes, instructions, cycles
  double seconds = 0;
};

// Instructions of a program's text that a compiler should be given. What was ever chosen has 23,000.
constexpr std::int64_t MOST_TEXT = 1 << 16;

struct Estimate {
  // Infinite where a block is larger than the machine runs, or the text longer than MOST_TEXT.
  double seconds = 0;
  double text = 0;  // instructions of the longest program's text, about
  std::vector<Roof> roofs;
  double registers = 0, blocks_each = 0;  // of a thread; blocks that a multiprocessor runs at once
  const Roof& limiter() const;            // the one that takes longest
};

Estimate estimate(const loops::Program& program, const machine::Machine& machine, const index::Values& sizes);

// What an estimate must be of that of another nest for the first to be the faster: 0.8 where blocks have threads, for
// estimates are a quarter off in the median (perf/results/2026-11-24-breadth.md: on 119 nests of an H200);
// 0.6 on a core, where of 82 measured nests the one picked below that was never the slower, and below 0.8
// twice (perf/results/2026-11-25-estimates-cpu.md).
double clearly_less(const machine::Machine& machine);

// Bytes of the elements that a nest reads and writes, each once, by a sample of its masks.
double least_bytes(const loops::Program& nest, const machine::Machine& machine, const index::Values& sizes);

// Seconds that no schedule of a nest can beat: all distinct memory that it touches, moved once, and one
// launch.
double least_seconds(const loops::Program& nest, const machine::Machine& machine, const index::Values& sizes);

// Of programs that run one after the other.
Estimate estimate(std::span<const loops::Program> programs, const machine::Machine& machine,
                  const index::Values& sizes);

}  // namespace twinloom::cost
