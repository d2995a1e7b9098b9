// Where the temporaries of a run lie: one block of memory, offsets by lifetime.
//
// A temporary lives from the first step that names it to the last. Two that live at the same time do not
// overlap, but what a step reads last and what it writes first, where its kernel does so in place. Largest
// first, each at the lowest offset that is free for its whole life.
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/once.h"

namespace twinloom::runtime {

struct MemoryPlan {
  std::vector<std::int64_t> offsets;  // bytes, by value; -1 for what is no temporary of a run
  std::int64_t bytes = 0;             // of the block
};

// Pairs of a kernel's buffers that may be one memory, by step.
using InPlaceSteps = std::vector<std::vector<loops::InPlace>>;

// The plan for these sizes. Error where it does not fit 63 bits.
MemoryPlan plan_memory(const Variant& variant, const index::Values& sizes, const Once& once,
                       const InPlaceSteps& in_place);

}  // namespace twinloom::runtime
