// Which of several ways to compute one nest is the fastest: each is programs that run one after the other, by
// kernels that run alone on memory of the nest's sizes. What they are made for, a graph and its values, plays
// no part.
#pragma once

#include <span>
#include <vector>

#include "core/measure/turns.h"
#include "core/runtime/backend.h"

namespace twinloom::measure {

// How a tensor lies that a nest reads or writes, in elements.
struct Layout {
  std::vector<std::int64_t> sizes, strides;
};

struct Subject {
  const loops::Program& nest;
  std::vector<Layout> layouts;  // one for each of its buffers
  index::Values sizes;          // a value for each of its sizes, and maybe others
  int threads = 0;              // that a kernel runs on, where these are what a machine's workers are
};

// Whether all that must be known of its sizes is known.
bool has_sizes(const loops::Program& nest, const index::Values& sizes);

// What each way takes, by turns; its buffers hold drawn numbers, and integers by which it finds places are
// such as it may find. On a CPU each finds in the caches what a run of its own left there; on a GPU a buffer
// larger than its L2 cache is written before each run. OutOfMemory where the buffers do not fit; what a
// kernel throws, and an index that is out of range, is its failure.
using Way = std::vector<loops::Program>;
std::vector<Taken> try_ways(const runtime::Backend& backend, const Subject& subject,
                            std::span<const Way> ways, const Turns& turns = {});

}  // namespace twinloom::measure
