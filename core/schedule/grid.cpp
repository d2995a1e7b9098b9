// A reduction cut over blocks. A part holds an aligned run of 2^k units, which is a node of the canonical
// tree, so parts combine as units do.
//   program 1:  for p < parts block { total of the elements of part p; partial[p] = total }
//   program 2:  for p < parts { total += partial[p] at 1024*p }; everything after the reduction
// Threads gather as many neighbours side by side:
//   program 2:  for p.0 { for p.1 thread { total += partial[p] at 1024*p } }; ...
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;

bool is_harmless(const Stmt& stmt) {
  return std::holds_alternative<loops::Let>(stmt.node) || std::holds_alternative<loops::Index>(stmt.node) ||
         std::holds_alternative<loops::Start>(stmt.node);
}

std::optional<index::Symbol> unknown_in(const loops::Program& nest, const Expr& extent) {
  for (const index::Symbol& symbol : index::symbols_of(extent))
    if (std::ranges::find(nest.sizes, symbol, &loops::SizeInfo::symbol) == nest.sizes.end()) return symbol;
  return std::nullopt;
}

std::string why_unlawful(const Plan& plan, const GridSplit& grid) {
  const std::string words = cat("grid ", grid.axis, ": ");
  if (plan.shape.columns) return words + "the rows of totals of columns are cut into parts already";
  if (!is_power_of_two(grid.units)) return words + "the units of a part are a power of two";
  if (!is_side_by_side(grid.threads))
    return words + cat("the threads that gather are a power of two up to ", MOST_THREADS);
  if (grid.threads > 1 && in_lockstep(plan.common) && !plan.outermost_fastest)
    return words + "a vector of rows has totals that no other threads gather";
  if (plan.siblings.empty()) return words + "there is no reduction";
  const Scope& scope = plan.siblings.front();
  if (scope.axes.size() != 1 || scope.axes.front().axis.name() != grid.axis) {
    return words + "it is not the only axis of the first sibling";
  }
  if (scope.reach != Reach::any && scope.reach != Reach::canonical)
    return words + "the first sibling has no totals";
  if (const auto symbol = unknown_in(plan.nest, scope.axes.front().extent))
    return words + cat("the number of parts depends on ", *symbol, ", which only the kernel knows");
  for (const loops::Item& item : plan.shape.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt == nullptr) break;
    if (!is_harmless(**stmt)) return words + "a store before the reduction would be done twice";
  }
  const AxisPlan& axis = scope.axes.front();
  if (axis.pieces.front().turns == 0 && axis.pieces.front().copied) {
    return words + cat("the lanes of ", axis.pieces.front().symbol, " need a constant extent");
  }
  return "";
}

Parts::Parts(const Plan& plan, const std::map<Temp, loops::Start>& starts, Names& names)
    : plan_(plan), elements_(plan.grid->units * loops::UNIT) {
  count_ = ceil_div(plan.siblings.front().axes.front().extent, elements_);
  rows_ = rows_of(plan.common);
  for (const Ref<Stmt>& inner : siblings_of(plan.shape).front()->inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) continue;
    const loops::Start& start = starts.at(accumulate->total);
    const auto same = [&](const Partial& known) { return known.start.total == start.total; };
    if (std::any_of(partials_.begin(), partials_.end(), same)) continue;
    partials_.push_back({start, tuple_buffers(names, start, "partial", count_ * rows_, false)});
  }
}

Scope Parts::scope_of(const index::Symbol& at) const {
  Scope scope = plan_.siblings.front();
  AxisPlan& axis = scope.axes.front();
  axis.base = Expr(at) * elements_;
  axis.extent = least(elements_, axis.extent - axis.base);
  axis.most = std::min(elements_, axis.most.value_or(elements_));
  return scope;
}

Expr Parts::place(const Expr& at, const Surroundings& around) const {
  return at * rows_ + row_of(plan_.common, around);
}

Ref<Stmt> Parts::store(const index::Symbol& at, const Surroundings& around) const {
  std::vector<Ref<Stmt>> stmts;
  const index::Condition mask = ends_of_all(around);
  for (const Partial& partial : partials_)
    store_all(partial.buffers, place(at, around), mask, partial.start.total, stmts);
  return loops::block(std::move(stmts));
}

Ref<Stmt> Parts::gather(const Surroundings& around, Names& names) const {
  const std::int64_t threads = plan_.grid->threads;
  const index::Symbol at = names.symbol("part"), member = names.symbol("member");
  const Expr part = threads == 1 ? Expr(at) : Expr(at) * threads + Expr(member);
  std::vector<Ref<Stmt>> stmts, steps;
  for (const Partial& partial : partials_) {
    stmts.push_back(loops::stmt(partial.start));
    steps.push_back(accumulate_part(partial, part, around, names));
  }
  Ref<Stmt> loop = loops::block(std::move(steps));
  if (threads > 1) loop = loops::stmt(loops::Loop{member, threads, loops::Bind::thread, std::move(loop)});
  stmts.push_back(loops::stmt(loops::Loop{at, ceil_div(count_, threads), gathering_bind(), std::move(loop)}));
  return loops::block(std::move(stmts));
}

// Written out, the loads of all parts are on their way before the first is needed; where threads walk vectors
// of totals, which no other threads can gather for them.
loops::Bind Parts::gathering_bind() const {
  constexpr std::int64_t MOST_WRITTEN_OUT = 64;
  const bool few = at_most(plan_.facts, count_, MOST_WRITTEN_OUT) && index::constant_of(count_);
  return few && in_lockstep(plan_.common) ? loops::Bind::unroll : loops::Bind::serial;
}

// The total of one part, if there is such a part and such a row, as the node of a unit.
Ref<Stmt> Parts::accumulate_part(const Partial& partial, const Expr& part, const Surroundings& around,
                                 const Names& names) const {
  index::Condition mask = ends_of_all(around);
  if (plan_.grid->threads > 1) mask.all.push_back({part, count_});
  auto values = load_all(names, partial.buffers, place(part, around), mask);
  return loops::stmt(
      loops::Accumulate{partial.start.total, std::move(values), part * loops::UNIT, std::move(mask)});
}

}  // namespace twinloom::schedule
