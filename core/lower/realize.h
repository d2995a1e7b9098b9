// Which values of a graph get memory of their own before fusion looks at them.
//   always   results; Reduce, Scan, Scatter, Realize; a Concat of many parts; what a Realize asks for
//   never    Input and Constant (they are memory), Size, Iota, View
//   else     Pointwise, Cast, Random, Gather, a Concat of few parts: computed again wherever they are
//            used, unless that is more work than writing the value once and reading it back
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::lower {

// The heuristic as numbers. Work is that of one element, in the units of ops::cost.
struct RealizeLimits {
  double memory = 10;         // one element read or written
  double launch = 20000;      // one more kernel
  double largest = 1200;      // a value with more work than this has memory whoever reads it
  double typical_size = 128;  // what a size symbol is taken for
  int concat_parts = 4;       // more parts than this are written one by one
  int parts_at_once = 64;     // of them, neighbours that are small, that one nest writes
  int nodes_at_once = 256;    // of the graph that such a nest computes
  int buffers_at_once = 32;   // that it loads from
};

struct Realized {
  std::vector<bool> values;          // by node
  std::vector<std::string> reasons;  // by node, for `explain`; empty where it has no memory
  std::int64_t visited = 0;          // nodes looked at, with repetition: the effort
};
Realized choose_realized(const graph::Graph& graph, const RealizeLimits& limits = {});

// The number of elements, with every size symbol taken for `typical`; at least 0.
double typical_count(const graph::Shape& shape, double typical);

}  // namespace twinloom::lower
