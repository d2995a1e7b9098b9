// What whoever launches a kernel must know of its program. See emit.h and tasks.h.
#include "core/base/integers.h"
#include "core/emit/emit.h"
#include "core/emit/tasks.h"
#include "core/emit/threads.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

using loops::Loop;
using loops::Stmt;

Tasks tasks_of(const loops::Program& program) {
  Tasks tasks;
  tasks.body = program.body;
  while (const auto* loop = std::get_if<Loop>(&tasks.body->node)) {
    if (loop->bind != loops::Bind::block) break;
    bool depends = false;
    for (const Loop* outer : tasks.loops) depends = depends || index::mentions(loop->extent, outer->axis);
    if (depends) break;
    tasks.loops.push_back(loop);
    tasks.body = loop->body;
  }
  return tasks;
}

index::Expr task_count(const loops::Program& program) {
  index::Expr count = 1;
  for (const Loop* loop : tasks_of(program).loops) count = count * loop->extent;
  return count;
}

std::int64_t thread_count(const loops::Program& program) { return Threads(program).count(); }

machine::BlockShape block_shape(const loops::Program& program) { return Threads(program).shape(); }

ScratchLayout scratch_layout(const loops::Program& program) {
  constexpr std::int64_t ALIGNMENT = 16;  // of the widest access
  ScratchLayout layout;
  loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* scratch = std::get_if<loops::Scratch>(&stmt.node);
    if (scratch == nullptr || scratch->place != loops::Place::scratch) return;
    const std::int64_t count = *index::constant_of(scratch->count);  // as verify() asks
    layout.offsets.emplace(scratch->buffer, layout.bytes);
    const std::int64_t bytes = count * ops::size_of(program.buffers[scratch->buffer.index].dtype);
    layout.bytes += ceil_div(bytes, ALIGNMENT) * ALIGNMENT;
  });
  return layout;
}

}  // namespace twinloom::emit
