// What one run walks: kernels in order, and where each of their arguments lies. made by core/pipeline for
// one graph, one set of input layouts and one device; immutable.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/loops/size_class.h"
#include "core/lower/unit.h"
#include "core/runtime/backend.h"

namespace twinloom::runtime {

// One kernel launch.
struct Step {
  loops::Program program;  // what the kernel does
  std::shared_ptr<const Kernel> kernel;
  std::vector<lower::ValueId> arguments;  // one for each buffer of the program that is not local
  std::string schedule;                   // printed; empty for an unscheduled nest
  Source source;                          // what was compiled
  double compile_seconds = 0;
  bool cached = false;   // Built::cached
  Code code = {};        // Built::code
  std::size_t unit = 0;  // of Variant::units, that it is part of
  // Of parameters whose memory results may take: what the kernel may be handed one memory for.
  std::vector<loops::InPlace> in_place = {};
};

// A fused group of graph nodes, for reports.
struct Group {
  std::string name;
  std::vector<graph::NodeId> nodes;
  loops::Program nest;
};

// Why two groups that share a buffer are two.
struct Missed {
  std::size_t first, second;  // of Variant::groups
  std::string words;
};

struct Variant {
  loops::SizeClass sizes;  // that it may run with
  graph::Graph graph;  // after the graph passes; failures name its nodes
  std::vector<lower::Value> values;
  std::vector<Group> groups;
  std::vector<Missed> missed;
  std::vector<Step> steps;
};

}  // namespace twinloom::runtime
