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
struct ComesBefore {
  bool operator()(const index::Expr& a, const index::Expr& b) const { return index::comes_before(a, b); }
};
// Of axes, and of quotients and remainders of them.
using PartEnds = std::map<index::Expr, Ends, ComesBefore>;

// Symbols without ends are sizes. `facts` are of sizes; no divisor mentions an axis.
Ends ends_of(const index::Expr& expr, const PartEnds& parts, const index::Facts& facts);

// The ends of axes as near as the condition brings them, and of the quotients and remainders that it names:
// p < i makes the low end p + 1 where that is more.
PartEnds narrowed(const PartEnds& axes, const index::Condition& condition, const index::Facts& facts);

bool mentions_any(const index::Expr& expr, const PartEnds& axes);

}  // namespace twinloom::graph
