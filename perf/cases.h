// Graphs that become one kernel each, of every sort of body: what measurements of kernels walk.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::perf {

struct Case {
  std::string name;
  graph::Graph graph;
};

std::vector<Case> kernel_cases();

}  // namespace twinloom::perf
