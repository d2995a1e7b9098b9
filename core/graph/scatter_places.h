// Inside of the room: which elements of a Scatter's source may be written to a place of its result.
//   scatter add (base [n, m], source [n, 2], index [n, 2]) at [i0, i1] to [i0, f0]
//     to place [i0, i1]: element [i0, 0] and element [i0, 1], each where its index is i1
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "core/graph/rebuild.h"

namespace twinloom::graph {

// An element that may be written to a place. Its expressions are over the result's axes, axis_symbol(d).
struct Candidate {
  std::vector<index::Expr> element;  // its position in the source
  index::Condition inside;           // where the source has it, and what of the place follows from the axes
};

struct Candidates {
  std::vector<Candidate> all;  // ascending by position in the source
  // By dimension of the result: the number of the index that must be the position along it, or -1.
  std::vector<int> index_at;
};

// A select asks each element that may be written to a place. On a GPU that costs some three operations a
// candidate where order plays no part, and half a select for each pair where floats are added in order; a
// sort of the source costs some twenty bytes a place. At 8 candidates the select is still the shorter way
// (on one CPU core, 4096 rows of 1024 f32: 6 and 8 ms beside more than 28). Whole rows that are replaced are
// sorted once a row and moved in one piece, which 2 candidates equal (0.54 beside 0.53 ms; 4: 0.92).
constexpr std::int64_t MOST_CANDIDATES = 8;
constexpr std::int64_t MOST_ROWS = 2;

// The candidates, or in words why there are too many or none can be named.
std::variant<Candidates, std::string> candidates_of(const Graph& graph, NodeId id);

// The positions that index `k` of a scatter says for each element of `index`, a node of this shape that
// stands for it, checked and wrapped as the scatter's: of `positions`, all there are. Of the new graph.
NodeId found_positions(Rebuild& rebuild, NodeId scatter, std::size_t k, NodeId positions, NodeId index,
                       const Shape& shape);

}  // namespace twinloom::graph
