// Runs a graph through every stage and compares the bits with those of the evaluator.
//
//   evaluator = interpreter of unfused nests = interpreter of fused nests = interpreter of programs = JIT
//
// So the first stage that differs names the guilty half. Inputs and outputs lie in guarded memory, hard
// against its end or its start; outputs are poisoned; inputs must be as they were afterwards.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/evaluate/evaluate.h"
#include "core/runtime/executable.h"
#include "tests/conformance/generate.h"
#include "tests/conformance/random.h"
#include "tests/support/guarded.h"

namespace twinloom::tests {

// What is handed in for a parameter.
struct Given {
  evaluate::Argument value;
  std::vector<std::int64_t> strides;  // of a tensor; none: row-major
};

// The arguments of one run in memory that notices.
class Arguments {
 public:
  // Drawn from the seed, laid out and filled as the plans say.
  Arguments(const graph::Graph& graph, const std::vector<InputPlan>& inputs, const index::Values& sizes,
            std::uint64_t seed, Against side);
  // These values, in memory with their strides.
  Arguments(const std::vector<Given>& given, Against side);

  const std::vector<runtime::Argument>& tensors() const { return tensors_; }
  std::vector<evaluate::Argument> values() const;
  std::vector<Given> given() const;
  // Bug where a byte of them or around them was written.
  void check() const;
  Against side() const { return side_; }

 private:
  void add(const runtime::Tensor& like, const InputPlan& plan, const index::Values& sizes, Random& random);
  Against side_;
  std::vector<Guarded> memory_;
  std::vector<std::vector<std::byte>> copies_;
  std::vector<runtime::Argument> tensors_;
};

struct Difference {
  std::string stage;
  std::string words;  // output, position, both values; or what was thrown
};

// A graph made ready for every stage, each when it is first run; the sizes of a run share what was made.
// Programs are those of one instruction set, which the seed chooses.
class Comparison {
 public:
  // With a name, of that stage alone.
  Comparison(graph::Graph graph, std::uint64_t seed, std::string_view only = {});
  // Nothing when all stages agree.
  std::optional<Difference> first_difference(const Arguments& arguments);

 private:
  using Expected = std::vector<std::optional<evaluate::Value>>;
  std::optional<std::string> run(std::size_t stage, const Arguments& arguments, const Expected& expected);

  graph::Graph graph_;
  std::uint64_t seed_;
  std::vector<std::size_t> stages_;
  std::map<std::size_t, runtime::Executable> executables_;
};

// The names of the stages that can run here.
std::vector<std::string> stage_names();
// Error where none has this name.
void expect_stage(const std::string& name);

// After the last graph: what a stage checks for several graphs at once. Throws what it finds.
void check_what_stages_kept();

}  // namespace twinloom::tests
