// What follows from arrays of a graph alone, so that each run would compute the same.
#pragma once

#include <span>
#include <vector>

#include "core/lower/unit.h"

namespace twinloom::lower {

// A nest or a program of one, with one argument for each of its buffers that is not local.
struct Work {
  const loops::Program* program;
  std::span<const ValueId> arguments;
};

// By work: whether it computes the same in all runs, and is worth the memory of what it writes. Such work
// knows nothing of the run (no sizes, no random numbers), reads arrays of the graph and what such work
// writes, and writes what nobody else does.
std::vector<bool> follows_from_arrays(std::span<const Value> values, std::span<const Work> works);
std::vector<bool> follows_from_arrays(const Lowered& lowered);  // by unit

// Those of the arguments that are written.
std::vector<ValueId> written_by(const Work& work);

}  // namespace twinloom::lower
