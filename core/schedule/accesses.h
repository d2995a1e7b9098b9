// What a nest touches, as choose looks at it. For the inside of this room.
#pragma once

#include <optional>
#include <vector>

#include "core/loops/nest.h"

namespace twinloom::schedule {

struct Access {
  loops::Buffer buffer;
  index::Expr offset;
  int bytes = 4;       // of an element in memory
  int lane_bytes = 4;  // of an element in a register: 16-bit floats are computed in f32
  bool store = false;
  bool local = false;  // of an array that the program declares itself
  int sibling = -1;    // whose inner statement it stands in; -1: a row's own statement
  bool found = false;  // at a place that an Index of its sibling finds
  bool place = false;  // of a place, by an Index
};
std::vector<Access> accesses_of(const loops::Program& nest, const loops::Nest& shape);

// Elements between neighbours along the axis; nothing where that is not a constant.
std::optional<std::int64_t> stride_along(const Access& access, const index::Symbol& axis);

// The iterations of an axis in runs of so many, each from a multiple of their number on.
struct Runs {
  index::Expr stride;  // elements between neighbours of a run
  index::Expr first;   // the offset of a run's first iteration
  index::Facts facts;  // also of what `first` mentions
};
// Nothing where the offset is not linear in a run. It may be where it is not along the whole axis: where axes
// are walked as one and the last of them is a multiple of a run long.
//   802816*floor_div(r, 3136) + floor_mod(r, 3136), by 4 or 8
std::optional<Runs> runs_along(const index::Expr& offset, const index::Symbol& axis, std::int64_t iterations,
                               const index::Facts& known);

// From an element to the next in so many iterations along the axis; 0 where it is no number.
std::int64_t step_along(const index::Expr& offset, const index::Symbol& axis, std::int64_t iterations,
                        const index::Facts& known);
// Whether a warp that loads elements with such a step loads all that is near: neighbours, and channels that
// take turns, as in a shuffle of them.
bool is_near(std::int64_t step, std::int64_t bytes);

// A row's own statements, which stand in no sibling.
std::vector<loops::Ref<loops::Stmt>> own_stmts(const loops::Nest& shape);
// The load of the buffer in these statements; nothing where it is loaded at several places, or under several
// masks.
std::optional<loops::Load> only_load(const std::vector<loops::Ref<loops::Stmt>>& stmts, loops::Buffer buffer);
// The same, and nothing where it is masked.
std::optional<loops::Load> only_unmasked_load(const std::vector<loops::Ref<loops::Stmt>>& stmts,
                                              loops::Buffer buffer);

// What the operators of one execution of the inner statements cost (ops::cost), and 1 for each load.
int work_of(const std::vector<loops::Ref<loops::Stmt>>& stmts);

}  // namespace twinloom::schedule
