// One loop around several groups of statements becomes a loop around each:
//   distribute i   for i < 8 { for j < n { s[n*i + j] = x }; for k < n { y[n*i + k] = s[n*i + k] } }
//              ->  for i < 8 { for j < n { s[n*i + j] = x } }; for i_1 < 8 { for k < n { y[..] = s[..] } }
// A group uses no temp of another. What one of them stores and another touches must lie apart for each
// iteration, so that all iterations of one may come before those of the next.
#include <algorithm>

#include "core/index/simplify.h"
#include "core/loops/parts.h"
#include "core/steps/fresh.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

struct Touch {
  std::size_t group = 0;
  bool stores = false;
  index::Expr offset;
};

using Groups = std::vector<std::vector<Ref<Stmt>>>;

std::map<loops::Buffer, std::vector<Touch>> touches_in(const Groups& groups) {
  std::map<loops::Buffer, std::vector<Touch>> touches;
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const Ref<Stmt>& stmt : groups[group]) {
      loops::for_each_stmt(*stmt, [&](const Stmt& inner) {
        if (const auto* store = std::get_if<loops::Store>(&inner.node))
          touches[store->buffer].push_back({group, true, store->offset});
      });
      loops::for_each_value(*stmt, [&](const loops::Value& value) {
        if (const auto* load = std::get_if<loops::Load>(&value.node))
          touches[load->buffer].push_back({group, false, load->offset});
      });
    }
  return touches;
}

// Whether what the two touch in different iterations of the loop is never one element: s*x + a, where a of
// one is nearer to a of the other than s, with the loops inside walked by each on its own.
class Apart {
 public:
  Apart(const Kernel& kernel, const loops::Loop& loop) : kernel_(kernel), loop_(loop), facts_(kernel.facts) {
    std::set<index::Symbol> taken = symbols_in(kernel.program);
    loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {
      const auto* inner = std::get_if<loops::Loop>(&stmt.node);
      if (inner == nullptr || others_.contains(inner->axis)) return;
      depends_ |= index::mentions(inner->extent, loop.axis);
      const index::Symbol other = fresh_symbol(inner->axis.name(), taken);
      facts_.assume_below(other, index::substitute(inner->extent, others_));
      others_.emplace(inner->axis, other);
    });
  }

  bool operator()(const index::Expr& one, const index::Expr& other) const {
    const auto a = index::linear_in(index::simplify(one, kernel_.facts), loop_.axis);
    const auto b = index::linear_in(index::simplify(other, kernel_.facts), loop_.axis);
    if (!a || !b || a->scale != b->scale || depends_) return false;
    const auto step = index::constant_of(a->scale);
    if (!step || *step < 1) return false;
    const index::Expr between = index::simplify(a->rest - index::substitute(b->rest, others_), facts_);
    return facts_.proves_less(between, *step) && facts_.proves_less(-*step, between);
  }

 private:
  const Kernel& kernel_;
  const loops::Loop& loop_;
  index::Facts facts_;
  index::Substitution others_;
  bool depends_ = false;  // a loop inside has another extent in each iteration
};

std::string why_not_apart(const Kernel& kernel, const loops::Loop& loop, const Groups& groups) {
  const Apart are_apart(kernel, loop);
  for (const auto& [buffer, touches] : touches_in(groups))
    for (const Touch& store : touches)
      for (const Touch& other : touches)
        if (store.stores && store.group != other.group && !are_apart(store.offset, other.offset))
          return cat("iterations of ", loop.axis, " touch the same elements of ",
                     kernel.program.buffers[buffer.index].name);
  return "";
}

}  // namespace

Result apply_distribute(const Kernel& kernel, const Distribute& distribute) {
  const std::vector<loops::Loop> path = path_to(*kernel.program.body, distribute.loop);
  if (path.empty()) return cat("there is not one loop over ", distribute.loop);
  const loops::Loop& loop = path.back();
  if (loop.bind != loops::Bind::serial) return cat("the loop over ", loop.axis, " is bound already");
  const Groups groups = loops::independent_groups(stmts_of(loop.body));
  if (groups.size() < 2) return cat("the loop over ", loop.axis, " has one group of statements");
  if (has_copies_along(kernel.program, {loop}))
    return cat("an accumulator has copies along the loop over ", loop.axis);
  std::string reason = why_not_apart(kernel, loop, groups);
  loops::for_each_stmt(*loop.body, [&](const Stmt& stmt) {
    if (std::holds_alternative<loops::Index>(stmt.node))
      reason = "the failure that an index reports is that of the first iteration";
  });
  if (!reason.empty()) return reason;
  Kernel result = kernel;
  std::set<index::Symbol> taken = symbols_in(kernel.program);
  std::vector<Ref<Stmt>> made;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const loops::Axis axis = group == 0 ? loop.axis : fresh_symbol(loop.axis.name(), taken);
    result.facts.assume_below(axis, loop.extent);
    const Ref<Stmt> body = loops::substitute(loops::block(groups[group]), {{loop.axis, index::Expr(axis)}});
    made.push_back(in_loops({{axis, loop.extent, loop.bind, nullptr}}, body));
  }
  result.program.body = replace_loop(kernel.program.body, loop, loops::block(std::move(made)));
  return result;
}

}  // namespace twinloom::steps
