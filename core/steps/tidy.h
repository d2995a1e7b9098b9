// Simplifies every index expression of a statement with what is known of its symbols; what these facts decide
// of the conditions in its values is written as decided:
//   for i < 4 { y[i] = where(lt(i, 8), x[i], z[i]) }  ->  for i < 4 { y[i] = x[i] }
// For the inside of core/steps and core/schedule.
#pragma once

#include "core/index/simplify.h"
#include "core/loops/loops.h"

namespace twinloom::steps {

// That axes of loops inside lie below their extents, with what is known already.
index::Facts facts_inside(const loops::Stmt& stmt, index::Facts facts);
// No statement comes or goes. The facts of `simplify` know of the loops inside too.
loops::Ref<loops::Stmt> tidy(const loops::Ref<loops::Stmt>& stmt, const index::Simplifier& simplify);

}  // namespace twinloom::steps
