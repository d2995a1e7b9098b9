// Whose memory the results of a graph lie in. What a program returns is shared as PyTorch shares it: a
// strided view of a parameter is the parameter's memory, and results that are strided views of one value lie
// in one.
//
//   y = relu(x); return y, y.t(), y, x[0], y.clone()
//     ->  own y, view y.t() of y, view y of y, input x[0], own y
//   y = relu(x); a, b = y.split(4); return a, b
//     ->  view a of y, view b of y                             all of y is stored anyway
#pragma once

#include <set>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// Whether a value is `base` or a strided view of it: Views without an outside lie between them, and moving on
// along an axis moves on by a stride of at least 0 in the memory of `base`.
enum class Strided : std::uint8_t {
  no,
  row_major,  // where the elements of `base` lie row-major and without gaps
  always,     // whatever the strides of `base`
};
Strided strided(const Graph& graph, NodeId value, NodeId base);

// Such a view in numbers, in elements of a base with these strides.
struct StridedView {
  std::vector<std::int64_t> sizes, strides;
  std::int64_t offset = 0;  // from the first element of the base to that of the view
};
StridedView strided_view(const Graph& graph, NodeId value, NodeId base,
                         std::span<const std::int64_t> base_strides, const index::Values& sizes);

// A value that a program returns. Where `copy` is not 0 it lies in the memory that this clone of its base
// made, and shares only with what has the same number.
struct Returned {
  NodeId value;
  int copy = 0;
};
// Whether a result that is such a view of `base` lies in its memory. The layout of a parameter is the
// caller's, unless it is in `row_major`.
bool lies_in(const Graph& graph, NodeId base, const Returned& returned, Strided how,
             const std::set<NodeId>& row_major);
// The result for each, without a name. Of the parameters in `row_major` the program says that their elements
// lie row-major and without gaps, so what is a strided view of such memory is theirs too; a run whose caller
// lays one out otherwise returns a view of a row-major copy.
std::vector<Result> shared_results(const Graph& graph, std::span<const Returned> returned,
                                   const std::set<NodeId>& row_major = {});

}  // namespace twinloom::graph
