// Neighbouring loops walked as one:
//   fuse i, j as r   for i < m { for j < n { y[i*n + j] = x[i*n + j] } }  ->  for r < m*n { y[r] = x[r] }
// Every use of i becomes floor_div(r, n) and of j floor_mod(r, n), which simplify away where the loops are
// neighbours in memory too. Where they do not they stay: dearer, but right.
#include <algorithm>

#include "core/index/simplify.h"
#include "core/steps/rows.h"
#include "core/steps/tidy.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The loops that are named, or why they do not stand one in the other.
std::variant<std::vector<loops::Loop>, std::string> neighbours(const Kernel& kernel, const Fuse& fuse) {
  const std::vector<loops::Loop> path = path_to(*kernel.program.body, fuse.loops.back());
  if (path.size() < fuse.loops.size()) return cat("there is not one loop over ", fuse.loops.back());
  std::vector<loops::Loop> named(path.end() - static_cast<std::ptrdiff_t>(fuse.loops.size()), path.end());
  for (std::size_t at = 0; at < named.size(); ++at) {
    const loops::Loop& loop = named[at];
    if (loop.axis.name() != fuse.loops[at])
      return cat("the loop over ", fuse.loops[at], " does not stand there");
    if (loop.bind != loops::Bind::serial) return cat("the loop over ", loop.axis, " is bound already");
    if (at == 0) continue;
    const auto* only = std::get_if<loops::Loop>(&named[at - 1].body->node);
    if (only == nullptr || only->axis != loop.axis)
      return cat("a statement stands beside the loop over ", loop.axis);
    for (std::size_t outer = 0; outer < at; ++outer)
      if (index::mentions(loop.extent, named[outer].axis))
        return cat("the extent of ", loop.axis, " depends on ", named[outer].axis);
  }
  return named;
}

// Each axis by the counter of all of them: floor_mod(floor_div(r, iterations of those inside), extent).
index::Substitution by_one(const std::vector<loops::Loop>& loops, const loops::Axis& one) {
  index::Substitution result;
  index::Expr inside = 1;
  // Without an iteration any place will do: one that is the counter again.
  const bool none = std::ranges::any_of(
      loops, [](const loops::Loop& loop) { return index::constant_of(loop.extent) == 0; });
  for (std::size_t at = loops.size(); at-- > 0;) {
    const index::Expr from_here =
        none && at + 1 < loops.size() ? index::Expr(0) : floor_div(index::Expr(one), inside);
    result.emplace(loops[at].axis, none || at == 0 ? from_here : floor_mod(from_here, loops[at].extent));
    inside = inside * loops[at].extent;
  }
  return result;
}

}  // namespace

Result apply_fuse(const Kernel& kernel, const Fuse& fuse) {
  if (fuse.loops.size() < 2) return std::string("there is nothing to fuse");
  const auto found = neighbours(kernel, fuse);
  if (const auto* reason = std::get_if<std::string>(&found)) return *reason;
  auto loops = std::get<std::vector<loops::Loop>>(found);
  for (loops::Loop& loop : loops) loop.extent = index::simplify(loop.extent, kernel.facts);
  const loops::Axis one(fuse.name);
  if (symbols_in(kernel.program).contains(one)) return cat("the name ", fuse.name, " is taken");
  if (has_copies_along(kernel.program, loops))
    return std::string("an accumulator has copies along the loops");
  Kernel result = kernel;
  index::Expr extent = 1;
  for (const loops::Loop& loop : loops) extent = extent * loop.extent;
  extent = index::simplify(extent, kernel.facts);
  result.facts.assume_below(one, extent);
  const Ref<Stmt> body = loops::substitute(loops.back().body, by_one(loops, one));
  result.program.body = replace_loop(kernel.program.body, loops.front(),
                                     loops::stmt(loops::Loop{one, extent, loops::Bind::serial,
                                                             tidy(body, index::Simplifier(result.facts))}));
  return result;
}

}  // namespace twinloom::steps
