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

// Work of one element, in units of one simple vector operation: taste, as numbers.
struct RealizeLimits {
  double simple = 1;          // add, compare, select, ...
  double division = 4;        // division, remainder, square root
  double function = 12;       // exp, erf, random numbers, ...
  double memory = 10;         // one element read or written
  double launch = 20000;      // one more kernel
  double largest = 400;       // a value with more work than this has memory whoever reads it
  double typical_size = 128;  // what a size symbol is taken for
  int concat_parts = 4;       // more parts than this are written one by one
};

double work_of(ops::Pointwise op, const RealizeLimits& limits);

struct Realized {
  std::vector<bool> values;          // by node
  std::vector<std::string> reasons;  // by node, for `explain`; empty where it has no memory
  std::int64_t visited = 0;          // nodes looked at, with repetition: the effort
};
Realized choose_realized(const graph::Graph& graph, const RealizeLimits& limits = {});

// The number of elements, with every size symbol taken for `typical`; at least 0.
double typical_count(const graph::Shape& shape, double typical);

}  // namespace twinloom::lower
