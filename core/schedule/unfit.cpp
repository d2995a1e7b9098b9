// Why a legal schedule is none for a machine: its blocks have threads that the machine's have not, or more
// than it runs, or a compiler would take too long for the text.
#include <cmath>

#include "core/cost/estimate.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

std::optional<std::string> why_unfit(const loops::Program& nest, const Schedule& schedule,
                                     const machine::Machine& machine) {
  const std::vector<loops::Program> programs = apply(nest, schedule);
  bool threads = false;
  for (const loops::Program& program : programs)
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
      const auto* loop = std::get_if<loops::Loop>(&stmt.node);
      threads |= loop != nullptr && loop->bind == loops::Bind::thread;
    });
  if (threads && machine.max_threads == 1)
    return cat("its blocks have threads, and those of ", machine.name, " have none");
  const cost::Estimate estimate = cost::estimate(programs, machine, usual_sizes(nest));
  if (estimate.text > static_cast<double>(cost::MOST_TEXT))
    return cat("its text would have about ", std::llround(estimate.text),
               " instructions where loops are written out; a compiler is given at most ", cost::MOST_TEXT);
  if (std::isinf(estimate.seconds)) return cat("its blocks are larger than ", machine.name, " runs");
  return std::nullopt;
}

}  // namespace twinloom::schedule
