// Simplifies every index expression of a statement with what is known of its symbols; what these facts decide
// of the conditions in its values is written as decided:
//   for i < 4 { y[i] = where(lt(i, 8), x[i], z[i]) }  ->  for i < 4 { y[i] = x[i] }
// For the inside of core/steps and core/schedule.
#pragma once

#include "core/loops/loops.h"

namespace twinloom::steps {

// No statement comes or goes. Axes of loops inside are known to lie below their extents.
loops::Ref<loops::Stmt> tidy(const loops::Ref<loops::Stmt>& stmt, index::Facts facts);

}  // namespace twinloom::steps
