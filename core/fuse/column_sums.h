// Inside of the room: a nest that sums up columns, taken apart.
//   for j { before; start b; for r { b += x[r, j] at r }; z[j] = b }      z is stored in `after`
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/loops/nest.h"
#include "core/lower/unit.h"

namespace twinloom::fuse {

struct ColumnSums {
  std::vector<loops::Start> totals;
  std::vector<loops::Ref<loops::Stmt>> before, after;  // once a column
  std::vector<loops::Sibling> siblings;                // each sums up for some totals
  std::string refused;                                 // why they are no sums of columns alone, or empty
};
ColumnSums column_sums(const loops::Nest& nest);

// Whether the matrices that the unit sums up have their neighbours along its iterations, not along the sums,
// which else would be the rows. Not where it has rows beside them.
bool sums_columns(const lower::Unit& unit);

// The nest of a unit, which speaks of buffers by value.
loops::Nest nest_by_value(const lower::Unit& unit);
std::set<loops::Temp> temps_read(const std::vector<loops::Ref<loops::Stmt>>& stmts);

}  // namespace twinloom::fuse
