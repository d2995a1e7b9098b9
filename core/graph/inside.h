// Proves that the positions which the map of a View, Gather or Scatter gives lie inside the tensor that it
// looks into, and that what it divides by is positive. Where the facts do not prove it, it says what the
// sizes must be:
//   at [i0] from [i0 + 3], result [n], source [m]    needs n + 2 < m
// The need is sufficient; it is exact where every axis stands once in a position and no size is 0.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// A map with what it is over.
struct IndexMap {
  std::vector<index::Symbol> symbols;  // axes and found indices
  Shape sizes;                         // of each: 0 <= symbol < size
  std::span<const index::Expr> places;
  index::Condition inside;            // elsewhere nothing is looked at
  std::span<const index::Expr> into;  // the sizes of what is looked into; one for each place
  std::size_t found = 0;              // how many of the symbols, the last, are found indices
};

// What could go wrong at an expression of a map.
enum class Risk : std::uint8_t {
  outside,   // it is a place outside its axis
  division,  // it is a divisor below 1
  overflow,  // its value leaves 64 bits
  negative,  // it is a size below 0
};
// A condition on sizes that is not proven, and what happens without it.
struct Need {
  index::Condition condition;
  Risk risk;
  index::Expr expr;
  std::size_t axis = 0;  // of `into`; of outside
};

// What the graph's facts and requirements do not prove of the map; nothing where it is safe for all sizes.
// Error where no sizes could make it safe.
std::vector<Need> needs_of(const Graph& graph, const IndexMap& map);
// What they do not prove of a size that is computed: that it is not negative, and what it divides by.
std::vector<Need> needs_of(const Graph& graph, const index::Expr& size);

// `of_sizes`, and what holds of axes that run over these sizes.
index::Facts axis_facts(const index::Facts& of_sizes, std::span<const index::Symbol> axes,
                        std::span<const index::Expr> sizes);
// `facts` and what the condition says of single symbols: i < n, 3 < i. Elements outside the condition
// are not looked at, so their source may be anything.
index::Facts facts_where(index::Facts facts, const index::Condition& condition);
// What it and its parts divide by, but for numbers.
std::vector<index::Expr> divisors_in(const index::Expr& expr);

}  // namespace twinloom::graph
