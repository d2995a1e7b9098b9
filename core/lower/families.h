// Inside of the room: how each family of values with memory becomes drafts. Each function appends the drafts
// that compute the node, in order, to `drafts`.
#pragma once

#include <vector>

#include "core/lower/draft.h"
#include "core/lower/reader.h"

namespace twinloom::lower {

// Everything that is computed element by element: one draft.
Draft lower_elements(Lowering& lowering, graph::NodeId id, ValueId into);
// The same of what has memory already, as it stands there.
Draft lower_copy(Lowering& lowering, graph::NodeId id, ValueId into);
// A Scatter whose places are a permutation: each element to its own.
Draft lower_permutation(Lowering& lowering, graph::NodeId id);
// A Concat part by part: one draft a part, into disjoint places.
std::vector<Draft> lower_parts(Lowering& lowering, graph::NodeId id, ValueId into);
// Reduce nodes that differ in their component only.
Draft lower_reduce(Lowering& lowering, const std::vector<graph::NodeId>& components);
// Scan nodes that differ in their component only.
Draft lower_scan(Lowering& lowering, const std::vector<graph::NodeId>& components);
// A Sort: one stable sort a digit of the keys, then a walk over the result.
std::vector<Draft> lower_sort(Lowering& lowering, graph::NodeId id, ValueId into);
// A Scatter: a sort of the places, then a walk over the result.
std::vector<Draft> lower_scatter(Lowering& lowering, graph::NodeId id);

// Axes for a shape: a loop for each dimension but those of size 1, and the position that they say.
struct Walk {
  std::vector<loops::NestLoop> loops;
  At at;
};
Walk walk_over(Lowering& lowering, Reader& reader, const graph::Shape& shape);

// A value of the table for a node, not yet written by anybody.
ValueId add_value(Lowering& lowering, Storage storage, graph::NodeId node, const graph::Shape& shape,
                  ops::DType dtype, std::vector<index::Expr> strides);

// The dimensions of a value that is computed element by element from outermost to innermost in memory:
// as the first load that walks all of them has them (channels-last stays channels-last), else row-major. With
// `any_walk` a load need not walk them in steps.
std::vector<std::size_t> memory_order(std::span<const loops::Load> loads, const Walk& walk, bool any_walk);
std::vector<std::size_t> row_major_order(std::size_t dimensions);
// As all loads that have each dimension have them, else row-major: parts that lie in another order each gain
// nothing.
std::vector<std::size_t> memory_order_of_all(std::span<const loops::Load> loads, const Walk& walk);
// The order in which all that reads a node, or what is made of it element by element, finds in steps several
// dimensions that it walks as one, as a layer does behind a flattened image: in another order they are
// gathered for each of the layer's results. Nothing where a reader walks none as one, or where two differ.
std::optional<std::vector<std::size_t>> flattened_order(const Lowering& lowering, graph::NodeId id);

}  // namespace twinloom::lower
