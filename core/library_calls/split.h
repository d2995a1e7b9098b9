// Which part of a kernel a library computes: its contraction becomes a kernel of its own, marked
// Program::library, and what is left reads what that makes. See core/loops/contraction.h.
//
//   for i, j { start t; for k { t += a[i,k] * b[k,j] }; y[i,j] = relu(t + c[j]) }
//     ->  library   for i, j { start t; for k { t += a[i,k] * b[k,j] }; p[i,j] = t }
//         for i, j { y[i,j] = relu(p[i,j] + c[j]) }
#pragma once

#include <functional>
#include <vector>

#include "core/graph/graph.h"
#include "core/lower/unit.h"

namespace twinloom::library_calls {

// A call starts in some microseconds (what looks for it, the start of its threads), in which two cores make
// half a million products: from so many on it costs little, and so does memory for what it makes. Of fewer
// than the least a generated kernel takes no longer than the start alone.
inline constexpr double LARGE_PRODUCTS = 1 << 19, LEAST_PRODUCTS = 1 << 15;

// Whether the graph sums up so many products anywhere: for fewer no library is opened, which takes as long as
// many runs (25 ms).
bool has_large_products(const graph::Graph& graph);

// How many a nest that is a contraction makes; a size that is not known is taken for a typical one.
double products_of(const loops::Program& nest);

// Whether a library should compute the nest, which is a contraction.
using IsWorth = std::function<bool(const loops::Program& nest)>;

// Whether split() takes a part of the nest out of it.
bool takes(const loops::Program& nest, const IsWorth& is_worth);

// A product of two matrices of this type, for which to ask whether a library is fast with it.
loops::Program sample_product(ops::DType type);

struct Split {
  lower::Lowered lowered;
  std::vector<std::size_t> moved;  // by unit of before: the unit that does the rest of it
};
// Nests whose contractions may be summed up in any order: mode `strict` has none. `graph` tells which nodes a
// contraction computes.
Split split(const lower::Lowered& lowered, const graph::Graph& graph, const IsWorth& is_worth);

}  // namespace twinloom::library_calls
