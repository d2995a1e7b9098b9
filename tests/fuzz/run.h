// Runs a graph that nobody trusts on the evaluator, the interpreter and, one seed in four, the CPU, in memory
// that notices.
#pragma once

#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace twinloom::tests {

enum class Fate : std::uint8_t {
  ran,        // everywhere, with the same bits
  refused,    // an Error
  too_large,  // it was read, and would take long to run
  wrong,      // anything else
};

struct Outcome {
  Fate fate;
  std::string words;  // of the Error, or what went wrong
};

// Sizes and elements are drawn from the seed.
Outcome run_everywhere(const graph::Graph& graph, std::uint64_t seed);

}  // namespace twinloom::tests
