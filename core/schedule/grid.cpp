// A reduction cut over blocks. A part holds an aligned run of 2^k units, which is a node of the canonical
// tree, so parts combine as units do: pushed onto a stack in order, then folded.
//   program 1:  for p < parts block { total of the elements of part p; partial[p] = total }
//   program 2:  for p < parts { push partial[p] }; fold; everything after the reduction
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;

namespace {

bool is_harmless(const Stmt& stmt) {
  return std::holds_alternative<loops::Let>(stmt.node) || std::holds_alternative<loops::Index>(stmt.node) ||
         std::holds_alternative<loops::Start>(stmt.node);
}

}  // namespace

std::string why_unlawful(const Plan& plan, const GridSplit& grid) {
  const std::string words = cat("grid ", grid.axis, ": ");
  if (grid.last_block) return words + "finishing in the last block needs blocks that see each other's stores";
  if (grid.units < 1 || !is_power_of_two(grid.units)) return words + "the units of a part are a power of two";
  if (plan.siblings.empty()) return words + "there is no reduction";
  const Scope& scope = plan.siblings.front();
  if (scope.axes.size() != 1 || scope.axes.front().axis.name() != grid.axis) {
    return words + "it is not the only axis of the first sibling";
  }
  if (scope.reach != Reach::any && scope.reach != Reach::canonical)
    return words + "the first sibling has no totals";
  for (const loops::Item& item : plan.shape.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt == nullptr) break;
    if (!is_harmless(**stmt)) return words + "a store before the reduction would be done twice";
  }
  const loops::Sibling& sibling = *siblings_of(plan.shape).front();
  if (std::any_of(sibling.inner.begin(), sibling.inner.end(), [](const Ref<Stmt>& stmt) {
        return std::holds_alternative<loops::Index>(stmt->node) ||
               std::holds_alternative<loops::Store>(stmt->node);
      })) {
    return words + "the reduction also stores or checks indices";
  }
  for (const Turn& turn : plan.common.order) {
    const Piece& piece = plan.common.piece(turn);
    if (piece.bind == loops::Bind::vector)
      return words + cat("a vector of rows (", piece.symbol, ") holds several totals");
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
  rows_ = 1;
  for (const AxisPlan& axis : plan.common.axes) rows_ = rows_ * axis.extent;
  for (const Ref<Stmt>& inner : siblings_of(plan.shape).front()->inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) continue;
    const loops::Start& start = starts.at(accumulate->total);
    const auto same = [&](const Partial& known) { return known.start.total == start.total; };
    if (std::any_of(partials_.begin(), partials_.end(), same)) continue;
    partials_.push_back({start, {}});
    for (int part = 0; part < ops::parts(start.monoid); ++part) {
      const ops::DType dtype = ops::part_type(start.monoid, start.element, part);
      partials_.back().buffers.push_back(names.buffer({"partial", dtype, count_ * rows_, true, false}));
    }
  }
}

Scope Parts::scope_of(const index::Symbol& at) const {
  Scope scope = plan_.siblings.front();
  AxisPlan& axis = scope.axes.front();
  axis.base = Expr(at) * elements_;
  axis.extent = least(elements_, axis.extent - axis.base);
  return scope;
}

Expr Parts::place(const Expr& at, const Surroundings& around) const {
  Expr row;
  for (const AxisPlan& axis : plan_.common.axes) row = row * axis.extent + around.axes.at(axis.axis);
  return at * rows_ + row;
}

Ref<Stmt> Parts::store(const index::Symbol& at, const Surroundings& around) const {
  std::vector<Ref<Stmt>> stmts;
  index::Condition mask;
  for (const auto& [axis, end] : around.ends) mask.all.push_back(end);
  for (const Partial& partial : partials_) {
    for (std::size_t part = 0; part < partial.buffers.size(); ++part) {
      stmts.push_back(loops::stmt(loops::Store{partial.buffers[part], place(at, around), mask,
                                               loops::read(partial.start.total, static_cast<int>(part)),
                                               loops::Update::replace}));
    }
  }
  return loops::block(std::move(stmts));
}

Ref<Stmt> Parts::gather(const Surroundings& around, Names& names) const {
  std::vector<Ref<Stmt>> before, inside, after;
  const index::Symbol at = names.symbol("part");
  for (const Partial& partial : partials_) {
    std::vector<Ref<loops::Value>> values;
    for (const loops::Buffer& buffer : partial.buffers) {
      const ops::DType dtype = names.buffers()[buffer.index].dtype;
      values.push_back(loops::load(buffer, place(at, around), {}, {ops::cast(ops::Number(0), dtype), dtype}));
    }
    const Temp unit = names.temp(), stack = names.temp();
    constexpr int DEPTH = 40;
    before.push_back(loops::stmt(start_like(partial.start, stack, {}, DEPTH)));
    inside.push_back(loops::stmt(start_like(partial.start, unit, {})));
    inside.push_back(loops::stmt(loops::Merge{unit, std::move(values), {}}));
    inside.push_back(loops::stmt(loops::Push{stack, unit, at, {}}));
    after.push_back(loops::stmt(loops::Fold{partial.start.total, stack, count_}));
  }
  before.push_back(
      loops::stmt(loops::Loop{at, count_, loops::Bind::serial, loops::block(std::move(inside))}));
  before.insert(before.end(), after.begin(), after.end());
  return loops::block(std::move(before));
}

}  // namespace twinloom::schedule
