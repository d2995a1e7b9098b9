// Makes a failing case small, and writes it where `twinloom run` can read it.
#pragma once

#include <filesystem>
#include <functional>

#include "tests/conformance/stages.h"

namespace twinloom::tests {

struct Case {
  graph::Graph graph;
  std::vector<Given> inputs;
  std::uint64_t seed = 0;  // of its random numbers
};

using Fails = std::function<bool(const Case&)>;

// The smallest case found that still fails: outputs are dropped, and nodes become inputs that hold what
// the evaluator computes for them.
Case shrink(Case failing, const Fails& fails);

// NAME.graph and NAME.npz in $TWINLOOM_FAILURES, else a folder of the build; gives the arguments of
// `twinloom` that show the difference.
std::string write_case(const Case& small, const std::string& name);
// The same as STEM.graph and STEM.npz.
std::string write_case_at(const Case& small, const std::filesystem::path& stem);

}  // namespace twinloom::tests
