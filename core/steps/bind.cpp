// What walks a loop. Loops that share an axis are walked alike.
#include "core/base/integers.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

std::string why_not(const std::vector<loops::Loop>& around, const loops::Loop& loop, Bind bind) {
  const auto extent = index::constant_of(loop.extent);
  const bool counted = bind == Bind::unroll || bind == Bind::vector || bind == Bind::thread;
  if (counted && !extent) return cat("its extent ", loop.extent, " is not constant");
  if (bind == Bind::vector && !is_power_of_two(*extent)) return cat("a vector of ", *extent, " lanes");
  for (const loops::Loop& outer : around) {
    if (bind == Bind::block && outer.bind != Bind::block)
      return cat("a block loop stands in the loop over ", outer.axis, ", which is none");
    if (bind == Bind::vector && outer.bind == Bind::vector)
      return cat("it stands in the vector loop over ", outer.axis);
  }
  bool vector_inside = false;
  loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {
    const auto* inner = std::get_if<loops::Loop>(&stmt.node);
    vector_inside |= inner != nullptr && inner->bind == Bind::vector;
  });
  if (bind == Bind::vector && vector_inside) return "a vector loop stands inside";
  return "";
}

// The reason why one of the loops over the axis may not be bound so.
std::string why_not(const Stmt& stmt, std::vector<loops::Loop>& around, const BindLoop& wanted, bool& found) {
  std::string reason;
  const auto look = [&](const Ref<Stmt>& inner) {
    if (reason.empty()) reason = why_not(*inner, around, wanted, found);
  };
  if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const Ref<Stmt>& inner : block->stmts) look(inner);
  } else if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) {
    look(scratch->body);
  } else if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
    if (loop->axis.name() == wanted.loop) {
      found = true;
      reason = why_not(around, *loop, wanted.bind);
    }
    around.push_back(*loop);
    look(loop->body);
    around.pop_back();
  }
  return reason;
}

}  // namespace

Result apply_bind(const Kernel& kernel, const BindLoop& wanted) {
  std::vector<loops::Loop> around;
  bool found = false;
  if (std::string reason = why_not(*kernel.program.body, around, wanted, found); !reason.empty())
    return reason;
  if (!found) return cat("there is no loop over ", wanted.loop);
  Kernel result = kernel;
  result.program.body = replace_loops(kernel.program.body, loops::Axis(wanted.loop), [&](loops::Loop loop) {
    loop.bind = wanted.bind;
    return loops::stmt(std::move(loop));
  });
  return result;
}

}  // namespace twinloom::steps
