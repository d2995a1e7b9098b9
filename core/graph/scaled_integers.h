// A factor of a sum of products as quantized networks have them, integers of 8 bits that were scaled:
//   mul(cast(sub(cast(q: u8): i32, z)): f32, s)    ->    numbers q, zero z, scales s
// whatever views are between, and in whichever type that holds the difference.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// (numbers - zero - zeros) times all of the scales, in one shape.
struct Scaled {
  NodeId numbers;  // of 8 bits
  std::int64_t zero = 0;
  std::optional<NodeId> zeros = {};  // of 8 bits too, which a run knows or which change
  std::vector<NodeId> scales = {};

  bool has_zero() const { return zero != 0 || zeros; }
  // Whether all elements have the same, but for 0 where a view adds elements.
  bool has_one_zero(const Graph& graph) const;
  // The most that the absolute value of an element is before it is scaled.
  std::int64_t greatest(const Graph& graph) const;
};

// In the graph that is made, to which views are added as they are needed.
std::optional<Scaled> scaled_integers(Graph& graph, NodeId id);
// What has no scale.
std::optional<Scaled> centred_integers(Graph& graph, NodeId id);

}  // namespace twinloom::graph
