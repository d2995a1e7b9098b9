// Where things stand in the tree of a kernel, and names that are still free. For the inside of this
// component.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/loops/rewrite.h"
#include "core/steps/fresh.h"
#include "core/steps/steps.h"

namespace twinloom::steps {

using loops::Ref;
using loops::Stmt;
using loops::stmts_of;

using Result = std::variant<Kernel, std::string>;

// visit(statement, loops around it, outermost first) for each statement but blocks.
using Visit = std::function<void(const Stmt& stmt, const std::vector<loops::Loop>& around)>;
void for_each_in_loops(const Stmt& body, const Visit& visit);

// The loops from the outermost to one over the axis, for each such loop.
std::vector<std::vector<loops::Loop>> paths_to(const Stmt& body, std::string_view axis);
// The same of the only one; empty where there is none, or where several stand side by side.
std::vector<loops::Loop> path_to(const Stmt& body, std::string_view axis);

// The tree with `made` in place of this loop, or with change(loop) in place of each loop over the axis.
Ref<Stmt> replace_loop(const Ref<Stmt>& body, const loops::Loop& loop, const Ref<Stmt>& made);
Ref<Stmt> replace_loops(const Ref<Stmt>& body, const loops::Axis& axis,
                        const std::function<Ref<Stmt>(const loops::Loop&)>& change);

// An Accumulate of the accumulator, with the loops around it; nothing where there is none inside.
struct Accumulated {
  loops::Accumulate step;
  std::vector<loops::Loop> loops;
};
std::vector<Accumulated> all_accumulated_in(const Stmt& body, loops::Temp total);
std::optional<Accumulated> accumulated_in(const Stmt& body, loops::Temp total);

// The loops of the statement over these axes around `body`, outermost first.
Ref<Stmt> in_loops(const std::vector<loops::Loop>& loops, Ref<Stmt> body);

// The most that the expression can be; nothing where that is unknown.
std::optional<std::int64_t> most(const Kernel& kernel, const index::Expr& extent);

// An accumulator, as the printed nest names it: its Start.
std::optional<loops::Start> start_named(const loops::Program& program, std::string_view name);
// Whether one has copies along one of these loops.
bool has_copies_along(const loops::Program& program, const std::vector<loops::Loop>& loops);

// A second copy of the statement in the kernel, to whose program local buffers are added. Loops over the
// copies of accumulators that are started outside keep their names.
Ref<Stmt> second_copy(Kernel& kernel, const Ref<Stmt>& stmt);
// A new local buffer of so many elements, under a name like this one.
loops::Buffer add_array(Kernel& kernel, const std::string& name, ops::DType dtype, std::int64_t count);
// Of loops, Indices and sizes.
std::set<index::Symbol> symbols_in(const loops::Program& program);

}  // namespace twinloom::steps
