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

// From how many products on a library is called: from `large` on always, from `least` on where the estimates
// say so; for fewer a generated kernel takes no longer than the start of a call.
struct CallThresholds {
  double large, least;
};
// CPU: a call starts in some microseconds (what looks for it, the start of its threads), in which two of
// them make half a million products. GPU: an H200's cuBLASLt takes 6.5 to 9.6 us for 68 x 256 x 64, where
// what is generated takes 4 to 5, with what follows it (2026-11-29).
inline constexpr CallThresholds CPU_THRESHOLDS = {1 << 19, 1 << 15}, GPU_THRESHOLDS = {1 << 24, 1 << 19};

// Whether the graph sums up so many products anywhere: where none are large no library is opened, which takes
// as long as many runs (25 ms).
bool has_products(const graph::Graph& graph, double least);

// How many a nest that is a contraction makes; a size that is not known is taken for a typical one.
double products_of(const loops::Program& nest);

// Whether a library should compute the nest, which is a contraction.
using IsWorth = std::function<bool(const loops::Program& nest)>;

// Whether split() takes a part of the nest out of it.
bool takes(const loops::Program& nest, const IsWorth& is_worth);

// A product of two matrices of this type, for which to ask whether a library is fast with it.
loops::Program sample_product(ops::DType type);
// A convolution of an image of f32, channels last, for the same.
loops::Program sample_convolution();

struct Split {
  lower::Lowered lowered;
  std::vector<std::size_t> moved;  // by unit of before: the unit that does the rest of it
};
// Nests whose contractions may be summed up in any order: mode `strict` has none. `graph` tells which nodes a
// contraction computes.
Split split(const lower::Lowered& lowered, const graph::Graph& graph, const IsWorth& is_worth);

}  // namespace twinloom::library_calls
