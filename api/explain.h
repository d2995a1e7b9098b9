// What a graph became for one layout and one set of sizes: kernels with their schedules, sources and
// estimates, and why neighbours stayed apart.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/estimates.h"
#include "api/twinloom.h"
#include "core/graph/passes.h"

namespace twinloom {

struct ExplainedOperator {
  std::string words;  // "'mul'", or its kind and number where it has no name
  std::string name;   // of the node in its source; may be empty
  std::string file;   // of the user's program; empty where nobody told
  int line = 0;
};

struct ExplainedKernel {
  std::string name;
  std::vector<ExplainedOperator> computes;  // each once, in the graph's order
  loops::Program nest;
  std::string schedule;                    // printed; empty for a nest that is interpreted
  std::vector<std::string> sources;        // one for each of its programs
  std::int64_t bytes = 0;                  // of the elements that it reads and writes, each once
  std::optional<cost::Estimate> estimate;  // nothing where there is none: see Estimates
  RelaxedNest relaxed;                     // of mode `fast`
  bool once = false;                       // before the first run, from arrays of the graph alone
  std::optional<double>
      unrelaxed_seconds;  // what it would take without; where it has an estimate and relaxes anything
};

// What became of a scatter of the graph.
struct ExplainedScatter {
  std::string words;  // what a person calls it
  graph::ScatterForm form;
};

// A result that lies in the memory of a donated or written input.
struct ExplainedReuse {
  std::size_t result;
  std::string result_name;  // may be empty
  std::string input;
  std::int64_t bytes;
};

struct Explanation {
  std::vector<ExplainedKernel> kernels;
  std::vector<runtime::Missed> missed;  // pairs of kernels by their numbers
  std::vector<ExplainedScatter> scatters;
  std::vector<ExplainedReuse> reuses;
  std::int64_t peak_bytes = 0;
};

// Makes the machine code that a run with these arguments needs; their data may be null. `options` and
// `device` are those that the executable was made with; of `run` the threads count.
Explanation explain(const Executable& executable, std::span<const Argument> arguments, const Device& device,
                    const CompileOptions& options, const RunOptions& run = {});

// The text of the form after each pass, for a run with these arguments; their data may be null.
std::vector<pipeline::PassText> dump(const Graph& graph, std::span<const Argument> arguments,
                                     const Device& device, const CompileOptions& options);
// As a list of objects: pass, text.
std::string json_of(const std::vector<pipeline::PassText>& texts);

// As an object: kernels (name, computes, nest, schedule, sources, bytes, estimate with seconds and limits,
// relaxed, once where it is so), missed, scatters, reuses (result, name, input, bytes), peak_bytes. Times in
// seconds.
std::string json_of(const Explanation& explanation);

}  // namespace twinloom
