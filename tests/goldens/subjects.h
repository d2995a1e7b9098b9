// The graphs whose kernels are kept as goldens, each with what says how its inputs lie.
//   case/NAME           perf/cases                    on both
//   speed/NAME          perf/speed_cases              on a CPU
//   gpu/NAME            perf/gpu_cases                on a GPU
//   indexed/NAME        perf/gpu_indexed_cases        on a GPU
//   way/FAMILY/NAME     perf/ways_cases               on both, each at the sizes that perf/ways measures
//   there graph/NAME          tests/graphs/graphs.txt       on both
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/runtime/layout.h"

namespace twinloom::tests {

struct Subject {
  std::string name;
  graph::Graph graph;
  std::vector<runtime::Argument>
      arguments;  // types, sizes and strides; those of large tensors have no memory
};

std::vector<Subject> subjects(bool on_a_gpu);

}  // namespace twinloom::tests
