// Results that are Views of one value, and strided views of each other: a chain of Views is one View as soon
// as it is built, so what PyTorch prints as permute(view(clone(x))) stands beside view(clone(x)) as if it
// knew nothing of it.
//
//   a = view(x) at [i0, i1] from [floor_div(i0, 4), ...]
//   b = view(x) at [i0, i1] from [floor_div(i1, 4), ...]
//     ->  b = view(a) at [i0, i1] from [i1, i0]    shared_results() lets both lie in one memory
#pragma once

#include <vector>

#include "core/graph/sharing.h"

namespace twinloom::graph {

// The same values, where each that holds the elements of an earlier one of the same copy, its axes permuted
// and then reshaped, is a View of that one. Adds these Views to the graph.
// `row_major` as for shared_results().
std::vector<Returned> with_related_views(Graph& graph, std::vector<Returned> returned,
                                         const std::set<NodeId>& row_major = {});

}  // namespace twinloom::graph
