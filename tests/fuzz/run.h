// Runs a graph that nobody trusts on the evaluator, the interpreter and, one seed in four, the CPU, in memory
// that notices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

struct RunLimits {
  std::uint64_t compiled_one_in = 4;  // seeds: compiling takes longer than all else
  // Elements of all nodes together. Of more than are checked, up to `run`, the CPU alone runs what takes no
  // more than so many bytes, its inputs neither, and nobody says what it should give.
  std::int64_t checked = 20'000, run = 0, bytes = 0;
  bool fused = false;  // the CPU also runs in mode fused, whose results nobody checks
};

// Sizes and elements are drawn from the seed; a value is taken for its parameter where it fits.
using Values = std::vector<std::optional<graph::Array>>;
Outcome run_everywhere(const graph::Graph& graph, std::uint64_t seed, const RunLimits& limits = {},
                       const Values& values = {});

}  // namespace twinloom::tests
