// What walks a loop. Loops that share an axis are walked alike.
#include "core/base/integers.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

using loops::Bind;

// Of the last loop of the path.
std::string why_not(std::vector<loops::Loop> around, Bind bind) {
  const loops::Loop loop = std::move(around.back());
  around.pop_back();
  const auto extent = index::constant_of(loop.extent);
  const bool counted = bind == Bind::unroll || bind == Bind::vector || bind == Bind::thread;
  if (counted && !extent) return cat("its extent ", loop.extent, " is not constant");
  if (bind == Bind::vector && !is_power_of_two(*extent)) return cat("a vector of ", *extent, " lanes");
  for (const loops::Loop& outer : around) {
    if (bind == Bind::block && outer.bind != Bind::block)
      return cat("a block loop stands in the loop over ", outer.axis, ", which is none");
    if ((bind == Bind::vector || bind == Bind::thread) && outer.bind == Bind::vector)
      return cat("it stands in the vector loop over ", outer.axis);
  }
  std::string reason;
  loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {
    const auto* inner = std::get_if<loops::Loop>(&stmt.node);
    const bool wide = inner != nullptr && (inner->bind == Bind::vector || inner->bind == Bind::thread);
    if (bind == Bind::vector && wide) reason = cat("a ", name(inner->bind), " loop stands inside");
  });
  return reason;
}

}  // namespace

Result apply_bind(const Kernel& kernel, const BindLoop& wanted) {
  const auto paths = paths_to(*kernel.program.body, wanted.loop);
  if (paths.empty()) return cat("there is no loop over ", wanted.loop);
  for (const std::vector<loops::Loop>& path : paths)
    if (std::string reason = why_not(path, wanted.bind); !reason.empty()) return reason;
  Kernel result = kernel;
  result.program.body = replace_loops(kernel.program.body, loops::Axis(wanted.loop), [&](loops::Loop loop) {
    loop.bind = wanted.bind;
    return loops::stmt(std::move(loop));
  });
  return result;
}

}  // namespace twinloom::steps
