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
};
std::vector<Access> accesses_of(const loops::Program& nest, const loops::Nest& shape);

// Elements between neighbours along the axis; nothing where that is not a constant.
std::optional<std::int64_t> stride_along(const Access& access, const index::Symbol& axis);

// A row's own statements, which stand in no sibling.
std::vector<loops::Ref<loops::Stmt>> own_stmts(const loops::Nest& shape);
// The load of the buffer in these statements; nothing where it is loaded at several places, or masked.
std::optional<loops::Load> only_load(const std::vector<loops::Ref<loops::Stmt>>& stmts, loops::Buffer buffer);

// What the operators of one execution of the inner statements cost (ops::cost), and 1 for each load.
int work_of(const std::vector<loops::Ref<loops::Stmt>>& stmts);

}  // namespace twinloom::schedule
