// Where two sums of integers meet in one value and one of them is an integer of 8 bits before, that is kept
// in memory: a library's call stores it, where the kernel that reads both would find the sum of 32 bits.
//   y = add(mul(cast(q), s), mul(b, c))     q = cast(... a ...): u8, for sums of products a and b
// The last of the sums stays with what follows it.
#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace twinloom::lower {

// By node, whether it is such a q, of sums of at least so many products.
std::vector<bool> joined_sums(const graph::Graph& graph, double least_products);

}  // namespace twinloom::lower
