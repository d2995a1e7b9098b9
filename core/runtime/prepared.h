// What runs with the same sizes and strides have in common, found once and kept: the variant, where
// everything lies, how large everything is, how many tasks each kernel has.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/graph/sharing.h"
#include "core/runtime/constants.h"
#include "core/runtime/layout.h"
#include "core/runtime/plan.h"
#include "core/runtime/reuse.h"

namespace twinloom::runtime {

// All of the arguments that a Prepared follows from: equal where it is the same.
using Signature = std::vector<std::int64_t>;
Signature signature_of(std::span<const Argument> arguments);

struct Prepared {
  // One kernel launch.
  struct Launch {
    // The step's, or what it becomes with the constants; null where what it computes is made already.
    std::shared_ptr<const Kernel> kernel;
    std::vector<std::int64_t> sizes;          // as Program::sizes
    std::int64_t tasks = -1;                  // as Kernel::tasks
    std::vector<std::size_t> seeds, offsets;  // places in `sizes` of the symbols that each run has its own of
  };
  // Of a value that is a result.
  struct Shape {
    std::vector<std::int64_t> sizes, strides;
  };
  std::shared_ptr<const Variant> variant;
  index::Values values;                              // of all run-time symbols but `seed` and `offset`
  std::shared_ptr<const Once> once;                  // what all runs have alike, made where one is to run
  MemoryPlan plan;                                   // of the other temporaries
  std::vector<Shape> shapes;                         // by value; empty for what is no result
  std::vector<std::vector<std::int64_t>> own_sizes;  // by result of the graph; empty for what is not its own
  // Of a result that lies in the memory of another tensor.
  struct Seen {
    std::size_t value = 0;  // of a view: whose memory it is
    bool copied = false;    // of a parameter's: it lies in a row-major copy, for the parameter is not so
    graph::StridedView view;
  };
  std::vector<Seen> seen;        // by result of the graph; of views and of what is a parameter's
  std::vector<Memory> memory;    // by value; `data` of constants and of what is made once
  std::vector<Launch> launches;  // by step
  std::vector<int> reused;       // by value: the parameter whose memory it takes, or NO_PARAMETER
  bool can_begin_again = false;  // no kernel writes what the run was given
  std::int64_t result_bytes = 0;
};

// What asks how a run would be starts no kernel.
enum class Purpose : std::uint8_t { plan, run };

Prepared prepare(const graph::Graph& graph, std::shared_ptr<const Variant> variant, index::Values values,
                 std::span<const Argument> arguments, Constants& constants, Purpose purpose);

}  // namespace twinloom::runtime
