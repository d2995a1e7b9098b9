// Graphs as the programs that the CPU would run, without machine code: what tests of kernels look at.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/builder.h"
#include "core/runtime/variant.h"
#include "tools/twinloom/model.h"

namespace twinloom::tests {

// A graph and what says which inputs it has: an archive, else they are drawn as the program `twinloom` does.
struct Loaded {
  tool::Model model;
  tool::ModelOptions options;
};
Loaded built(void (*build)(graph::Builder&));
// A graph of tests/graphs/printed, with its real inputs.
Loaded read_printed(const std::string& name);

struct Compiled {
  std::shared_ptr<const runtime::Variant> variant;
  index::Values values;  // of all run-time symbols
};
// For the instruction set "avx2" or "avx512", whatever this machine has.
Compiled compiled(const Loaded& loaded, const std::string& isa);

// How many statements that compute, combine or store an element a run executes, and how many of them as a
// lane of a vector. A routine has none.
struct Executions {
  std::int64_t all = 0, in_vectors = 0;
};
Executions executions_of(const loops::Program& program, const index::Values& values);

}  // namespace twinloom::tests
