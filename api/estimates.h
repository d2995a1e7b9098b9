// How long each kernel of a variant should take, as core/cost estimates it for its machine, and the line that
// says so:
//   estimate 103.8 us: memory 93.2 us (402.65 MB), L2 69.9 us, ...; 32 registers, 8 blocks a multiprocessor
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/cost/estimate.h"
#include "core/runtime/variant.h"

namespace twinloom {

// Nothing where there is no program to estimate: where a nest is interpreted, or a routine is called.
using Estimates = std::vector<std::optional<cost::Estimate>>;

// One for each group of the variant: of its programs, in order. `threads`: those of a run on a CPU, 0: as
// many as the machine has; a GPU's estimate does not depend on them. `values`: of all run-time symbols.
Estimates estimates_of(const runtime::Variant& variant, const runtime::Backend& backend, int threads,
                       const index::Values& values);

// What the kernel of a nest would take without the relaxations of mode `fast`: sums in the canonical order
// but those of contractions, each product rounded before it is added, and no function approximated.
double unrelaxed_seconds(const loops::Program& nest, const runtime::Backend& backend, int threads,
                         const index::Values& values);
// What mode `fast` relaxed in a nest: whether sums have a free order that are no contractions, how many
// products are not rounded before they are added, whether reals are added in memory, and how many functions
// are approximated.
struct RelaxedNest {
  bool sums = false;
  int products = 0;
  bool atomics = false;
  int functions = 0;
};
RelaxedNest relaxed_in(const loops::Program& nest);

// What takes longest first; what would be printed as 0.0 us is left out.
std::string estimate_words(const cost::Estimate& estimate);
// The sum of those that are there; empty where none is.
std::string sum_words(const Estimates& estimates);

// "4.10 kB"
std::string bytes_words(std::int64_t bytes);

}  // namespace twinloom
