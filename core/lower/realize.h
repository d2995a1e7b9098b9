// Which values of a graph get memory of their own before fusion looks at them.
//   always   results; Reduce, Scan, Scatter, Realize; what a Realize asks for
//   never    Input and Constant (they are memory), Size, Iota, View
//   else     Pointwise, Cast, Random, Gather, Concat: computed again wherever they are used, unless that is
//            more work than writing the value once and reading it back. Of a cast to a wider type what is
//            cast has memory in its place
// A Concat that has memory is written element by element, or part by part where that is less work: each
// element of many parts chooses among all of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::lower {

// What a machine could compute instead, in the units of ops::cost. These are those of a few cores; a GPU,
// whose threads compute so much more while a kernel starts, has others.
struct Costs {
  double memory = 10;     // one element read or written
  double apart = 160;     // one element whose neighbours in memory are not read with it
  double cached = 2;      // one element read that a cache has, as what is the same for many others
  double launch = 20000;  // one more kernel
  double part = 8;  // one part of a Concat that an element is not of: its place is compared, its load masked
  bool splits_parts = true;  // a loop over few parts is one for each, so that no element chooses among them
};

// The heuristic as numbers. Work is that of one element. It is the same for all machines: what has memory
// here loses it again where fusion finds that computing it in its readers costs the machine less.
struct RealizeLimits {
  Costs usual = {};
  double largest = 1200;      // a value with more work than this has memory whoever reads it
  double typical_size = 128;  // what a size symbol is taken for
  // Products of so many elements, each read at least twice on either side, find their factors in memory, as a
  // library wants them. 0: there is none.
  double library_products = 0;
  // Whether it is fast with factors of this type of 16 or 8 bits as they are; there must be one.
  std::function<bool(ops::DType)> library_takes = {};
  int few_parts = 4;          // of a Concat, among which elements that somebody else computes choose
  int most_parts = 32;        // among which it chooses at all: each is a buffer
  int parts_at_once = 64;     // of those written one by one, neighbours that are small, that one nest writes
  int nodes_at_once = 256;    // of the graph that such a nest computes
  int buffers_at_once = 32;   // that it loads from
};

struct Realized {
  std::vector<bool> values;          // by node
  std::vector<bool> separate;        // by node: fusion leaves the memory between its writer and its readers
  std::vector<bool> in_parts;        // by node: a Concat that is written part by part
  std::vector<std::string> reasons;  // by node, for `explain`; empty where it has no memory
  std::int64_t visited = 0;          // nodes looked at, with repetition: the effort
};
// Parts of a Concat are chosen by what they cost the machine.
Realized choose_realized(const graph::Graph& graph, const Costs& costs = {},
                         const RealizeLimits& limits = {});

// How many neighbouring parts of a Concat from `first` on have one shape and take less time than a launch:
// one nest writes them.
std::size_t parts_together(const graph::Graph& graph, const graph::Node& concat, std::size_t first,
                           const Costs& costs, const RealizeLimits& limits = {});

// The number of elements, with every size symbol taken for `typical`; at least 0.
double typical_count(const graph::Shape& shape, double typical);

}  // namespace twinloom::lower
