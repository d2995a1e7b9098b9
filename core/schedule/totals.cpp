// Siblings with accumulators: the loops, and in them Accumulates at their places, which
// steps::lower_reductions writes out. A last unit of at most 8 or 64 elements, where the split says so, is
// walked by as many lanes, each with an element or none; the lanes of the others would be missing, so its
// node of the tree is the same:
//   for k.0 { .. } for k.0t { .. (more than 64) }
//   for ks8 < (1 where 1 to 8 are left) { for ks8.0 { t += x } } for ks64 < (1 where 9 to 64 are left) { .. }
#include <algorithm>

#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using loops::Bind;

Ref<Stmt> settle_inner(const SiblingSource& source, const index::Expr& base, const Surroundings& around) {
  std::vector<Ref<Stmt>> result;
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) {
      result.push_back(settle(inner, around));
      continue;
    }
    const AxisPlan& axis = source.scope.axes.front();
    const bool has_place = source.scope.reach == Reach::canonical;
    result.push_back(loops::stmt(loops::Accumulate{accumulate->total, settle(accumulate->values, around),
                                                   has_place ? around.axes.at(axis.axis) - base : 0,
                                                   ends_of(around, source.scope)}));
  }
  return loops::block(std::move(result));
}

namespace {

// The last unit of a list where it has at most `length` elements. Lanes that are neighbours are a vector's
// and threads' where these walk the list; else few of them are written out, far from each other.
Scope scope_of_short(const Scope& scope, std::int64_t length) {
  constexpr std::int64_t WRITTEN_OUT = 8;
  const AxisPlan& axis = scope.axes.front();
  const index::Expr before = floor_div(axis.extent, loops::UNIT) * loops::UNIT;
  std::int64_t vector = 1, threads = 1;
  for (const Piece& piece : axis.pieces) {
    if (piece.bind == Bind::vector) vector = std::min(piece.turns, length);
    if (piece.bind == Bind::thread) threads = piece.turns;
  }
  const std::int64_t each = length / vector / threads, far = std::min(WRITTEN_OUT, each), near = each / far;
  Scope part{
      {{axis.axis, axis.extent - before, length, Tail::mask, {}, -1, axis.base + before}}, {}, scope.reach};
  const std::string stem = cat(axis.axis, "s", length, ".");
  std::int64_t above = 0;
  const auto add = [&](std::int64_t step, std::int64_t turns, Bind bind) {
    std::vector<Piece>& pieces = part.axes.front().pieces;
    if (turns == 1) return;
    pieces.push_back({index::Symbol(cat(stem, pieces.size())), step, above == 0 ? 0 : turns, bind, true});
    above = step;
  };
  add(length / far, far, Bind::unroll);
  add(vector * threads, near, Bind::serial);
  add(vector, threads, Bind::thread);
  add(1, vector, Bind::vector);
  const std::size_t pieces = part.axes.front().pieces.size();
  for (std::size_t piece = far == 1 ? 0 : 1; piece < pieces; ++piece) part.order.push_back({0, piece});
  if (far > 1) part.order.insert(near == 1 ? part.order.begin() : part.order.end(), {0, 0});
  return part;
}

Ref<Stmt> walk(const SiblingSource& source, const index::Expr& base, const Surroundings& around,
               Names& names) {
  return Walk(source.scope, around, names)
      .run([&](const Surroundings& here) { return settle_inner(source, base, here); }, {});
}

// The last unit as loops of their own, for each length; no more than one of them is walked.
void add_shorts(const SiblingSource& source, const Surroundings& around, Names& names,
                std::vector<Ref<Stmt>>& stmts) {
  const AxisPlan& axis = source.scope.axes.front();
  std::int64_t less = 0;
  for (const std::int64_t length : axis.shorts) {
    // 1 where more than `less` elements are left, and at most `length`.
    const index::Expr turns = index::simplify(
        ceil_div(axis.extent - less, loops::UNIT) - ceil_div(axis.extent - length, loops::UNIT),
        names.facts());
    less = length;
    if (turns == index::Expr(0)) continue;
    const Scope scope = scope_of_short(source.scope, length);
    const SiblingSource part{source.plan, scope, source.sibling, source.starts};
    Ref<Stmt> unit = names.freshen(walk(part, axis.base, around, names));
    if (turns != index::Expr(1))
      unit = loops::stmt(
          loops::Loop{names.symbol(cat(axis.axis, "s", length)), turns, Bind::serial, std::move(unit)});
    stmts.push_back(std::move(unit));
  }
}

}  // namespace

Ref<Stmt> build_loops(const SiblingSource& source, const Surroundings& around, Names& names) {
  return walk(source, source.scope.axes.front().base, around, names);
}

Ref<Stmt> build_totals(const SiblingSource& source, const Surroundings& around, Names& names) {
  std::vector<Ref<Stmt>> stmts;
  std::set<Temp> started;
  for (const Ref<Stmt>& inner : source.sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate != nullptr && started.insert(accumulate->total).second)
      stmts.push_back(loops::stmt(source.starts.at(accumulate->total)));
  }
  stmts.push_back(build_loops(source, around, names));
  add_shorts(source, around, names, stmts);
  return loops::block(std::move(stmts));
}

}  // namespace twinloom::schedule
