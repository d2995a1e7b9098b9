// How the loops between the Start of an accumulator and an Accumulate walk its canonical tree
// (core/ops/canonical.h). The place is read as digits, one a loop: place = first + the sum of stride *
// counter. Digits close in this sequence: those of the chain (strides of 256 and more), of lanes from the
// farthest apart to neighbours, of units from single ones to the longest runs. Loops that close before all
// loops around them are summed up into an accumulator of their own in each iteration of these; where an outer
// loop closes first, the inner one keeps a copy for each of its iterations:
//   for k.0 { for k.3 < 16 { for k.1 < 4 { for k.2 < 16 { t += x at 1024*k.0 + 256*k.1 + 16*k.2 + k.3 } } } }
//     -> a level that pushes units around k.0, one with copies (k.3), one with copies (k.2) around the chain
//     k.1
// For the inside of this component.
#pragma once

#include "core/steps/lower.h"

namespace twinloom::steps {

struct Closing {
  loops::Axis axis;
  loops::Pairing pairing;
};

// An accumulator on the way, and the loops that it is summed up over.
struct Level {
  std::size_t at = 0;                  // of the path: its outermost loop; of the first level 0
  bool is_stack = false;               // what comes from inside is pushed, else merged
  bool is_whole_part = false;          // a stack that the part is pushed onto as one run
  std::vector<Closing> closings = {};  // of its copies, in the order in which they are closed
  index::Expr outside = 0;             // the place of the loops around it
  index::Expr inside = 0;              // with that of its own loops: where what comes from inside begins
  std::int64_t run = 1;                // of a stack: elements of what comes from inside
  index::Expr runs = 1;                // of a stack: how many come in one iteration of the loops around
};

// One Accumulate, with the loops around it that stand below the Start.
struct Part {
  std::vector<loops::Loop> path;
  index::Expr first, end;     // places
  bool masked = false;        // loops go on past the end
  bool has_elements = false;  // a loop of at most one iteration around it has none where there is no element
  std::vector<Level> levels;  // outermost first; the last one is no stack
};

// The order of the part that begins at the place `first`, or why the loops do not walk the canonical tree. A
// part that is the only one and has elements for all sizes may come without a stack.
std::variant<Part, std::string> reduction_order(const Lowering& lowering, const loops::Start& start,
                                                const Accumulated& found, const index::Expr& first,
                                                bool is_only_part);

}  // namespace twinloom::steps
