// Runs a nest and the programs of a schedule on the same inputs and compares every byte of the outputs.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/index/expr.h"
#include "core/loops/interpret.h"
#include "core/loops/loops.h"
#include "core/schedule/schedule.h"

namespace twinloom::tests {

using Sizes = index::Values;

// The nest with these sizes as constants.
loops::Program with_constants(const loops::Program& nest, const Sizes& sizes);

// The arguments of a nest for some sizes, with elements on both sides that may not be written.
class Arguments {
 public:
  Arguments(const loops::Program& nest, const Sizes& sizes);
  // Runs the programs one after the other; buffers that the nest lacks are theirs together.
  // The bytes of the written buffers, which held a poison pattern before; all NaNs count as one value.
  std::vector<std::vector<std::byte>> run(const std::vector<loops::Program>& programs,
                                          const loops::Order& order = {}) const;

 private:
  Sizes sizes_;
  std::vector<std::vector<std::byte>> initial_;
};

// Machines that differ in what schedules depend on.
std::vector<machine::Machine> machines();

}  // namespace twinloom::tests
