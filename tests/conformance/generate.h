// Random graphs over the builder, from a seed.
//
//   Plan {seed, shrink}  ->  Generated: graph, how each input is laid out and filled, sizes to run with
//
// Recipes (recipes.h) draw values from a pool and put results back; what nothing has used in the end
// becomes an output, so every kept node reaches one. A recipe that finds nothing to work on leaves no trace
// but its number.
#pragma once

#include <bitset>
#include <string_view>
#include <vector>

#include "core/graph/builder.h"

namespace twinloom::tests {

enum class Feature : std::uint8_t {
#define FEATURE(name) name,
#include "tests/conformance/features.def"
#undef FEATURE
};
constexpr std::size_t feature_count = 0
#define FEATURE(name) +1
#include "tests/conformance/features.def"
#undef FEATURE
    ;
std::string_view name(Feature feature);
using Features = std::bitset<feature_count>;

// How a tensor that is handed in lies in memory.
enum class Layout : std::uint8_t {
  contiguous,   // row-major
  other_order,  // without gaps, last axis outermost
  zero,         // one axis has stride 0
  negative,     // one axis runs backwards
  overlapping,  // rows share elements
  gaps,         // every second element
};

enum class Contents : std::uint8_t {
  plain,     // moderate numbers
  special,   // among them NaN, infinities, subnormals, the ends of integer types
  indices,   // 0 <= element < bound
  wrapping,  // -bound <= element < bound
};

struct InputPlan {
  int parameter = 0;
  Layout layout = Layout::contiguous;
  int axis = 0;  // that the layout speaks of
  Contents contents = Contents::plain;
  index::Expr bound = 0;
};

struct Plan {
  std::uint64_t seed;
  int shrink = 0;        // how often every drawn size is halved
  bool networks = true;  // recipes of networks too
};

struct Generated {
  graph::Graph graph;
  std::vector<InputPlan> inputs;
  std::vector<index::Values> sizes;  // to run with: one, or three where there is a size symbol
  Features features;
  int attempts = 0, skipped = 0;  // recipes, and those that found nothing to work on
};

Generated generate(const Plan& plan);

// What is counted over all graphs: see Done.
struct Counts {
  int lengths = 0;       // reductions, scans and scatters
  int near_borders = 0;  // of these, with a length around a border of the canonical order
  int above_2_17 = 0;
  bool framed = false;  // a reduction with prologue and epilogue
  bool symbolic = false;
  int nodes = 0;  // that reach an output
};
Counts count(const Generated& generated);

}  // namespace twinloom::tests
