// See threads.h.
#include "core/emit/threads.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

Threads::Threads(const loops::Program& program) { count_ = walk(*program.body); }

std::int64_t Threads::width(loops::Axis axis) const {
  const auto found = widths_.find(axis);
  CHECK(found != widths_.end(), "no thread loop over ", axis);
  return found->second;
}

// The threads that a statement asks for: those of the outermost thread loops in it count for the others.
std::int64_t Threads::walk(const loops::Stmt& stmt) {
  std::int64_t most = 1;
  loops::for_each_stmt(stmt, [&](const loops::Stmt& inner) {
    const auto* loop = std::get_if<loops::Loop>(&inner.node);
    if (loop == nullptr || loop->bind != loops::Bind::thread) return;
    const auto extent = index::constant_of(loop->extent);
    CHECK(extent && *extent > 0, "a thread loop over ", loop->axis, " of extent ", loop->extent);
    std::int64_t& width = widths_[loop->axis];
    if (width == 0) width = walk(*loop->body);
    most = std::max(most, *extent * width);
  });
  return most;
}

}  // namespace twinloom::emit
