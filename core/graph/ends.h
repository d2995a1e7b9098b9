// The least and the greatest value of an index expression over axes, as expressions of sizes alone:
//   4*i + j | 0 <= i <= n - 1, 0 <= j <= 3        0 .. 4*n - 1
// Each part is taken at its own worst, so the ends are exact where every axis stands once, else safe.
#pragma once

#include <map>

#include "core/index/facts.h"

namespace twinloom::graph {

// low <= value <= high
struct Ends {
  index::Expr low, high;
};
using AxisEnds = std::map<index::Symbol, Ends>;

// Symbols without ends are sizes. `facts` are of sizes; no divisor mentions an axis.
Ends ends_of(const index::Expr& expr, const AxisEnds& axes, const index::Facts& facts);

// `axes` with ends as near as the condition brings them: p < i makes the low end p + 1 where that is more.
AxisEnds narrowed(const AxisEnds& axes, const index::Condition& condition, const index::Facts& facts);

bool mentions_any(const index::Expr& expr, const AxisEnds& axes);

}  // namespace twinloom::graph
