// Simplifies every index expression of a statement with what is known of its symbols. For the inside of
// this room.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::schedule {

// No statement comes or goes. Axes of loops inside are known to lie below their extents.
loops::Ref<loops::Stmt> tidy(const loops::Ref<loops::Stmt>& stmt, index::Facts facts);

}  // namespace twinloom::schedule
