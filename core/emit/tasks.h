// The tasks of a kernel.
#pragma once

#include <vector>

#include "core/loops/loops.h"

namespace twinloom::emit {

// The outermost block loops, whose iterations are the tasks, and what a task does.
struct Tasks {
  std::vector<const loops::Loop*> loops;
  loops::Ref<loops::Stmt> body;
};
Tasks tasks_of(const loops::Program& program);

}  // namespace twinloom::emit
