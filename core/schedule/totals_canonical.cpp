// Siblings with accumulators in the canonical order: see schedule.h for the pieces. Lanes outside the chain
// close a chain in each iteration.
//   start stack
//   for k.0 { start unit copies k.3, k.4
//             for k.3, k.4 { start chain copies k.2; for k.1, k.2 { merge chain }; combine; merge unit
//             (chain) } combine unit across k.3, k.4; push stack, unit, k.0 }
//   fold m = stack
// Units that threads walk side by side, so many at a time, are neighbours of the tree:
//   for k.0 { start group copies k.1
//             for k.1 thread { start unit ..; combine unit ..; merge group (unit) }
//             combine group across k.1 neighbours; push stack, group, k.0 }
// A last unit of at most 8 or 64 elements, where the split says so, is walked by as many lanes, each with an
// element or none; the lanes of the others would be missing, so its node of the tree is the same:
//   for k.0 { .. } for k.0t { .. (more than 64) }
//   for ks8 < (1 to 8 are left) { start unit copies ks8.0; for ks8.0 { merge unit }; combine; push stack,
//   unit } for ks64 < (9 to 64 are left) { .. }
#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/schedule/totals.h"

namespace twinloom::schedule {

using loops::Axis;
using loops::Bind;

namespace {

Ref<Stmt> enclosed(std::vector<Ref<Stmt>> before, Ref<Stmt> loops, const std::vector<Ref<Stmt>>& after) {
  before.push_back(std::move(loops));
  before.insert(before.end(), after.begin(), after.end());
  return loops::block(std::move(before));
}

std::vector<Temp> every(const std::vector<SiblingTotal>& totals, Temp SiblingTotal::*which) {
  std::vector<Temp> temps;
  for (const SiblingTotal& total : totals) temps.push_back(total.*which);
  return temps;
}

// The loops inside a unit: lanes outside the chain, which close one in each of their iterations, the chain,
// and lanes inside it.
class UnitLoops {
 public:
  // From position `first` of the order inwards.
  UnitLoops(const Scope& scope, std::size_t first) : scope_(scope), first_(first), chain_at_(first) {
    while (chain_at_ < scope_.order.size() && step_at(chain_at_) < loops::LANES) ++chain_at_;
    if (chain_at_ == scope_.order.size()) chain_at_ = lower_lanes_end();
    outer_ = lanes_of(scope_, first_, chain_at_);
    inner_ = lanes_of(scope_, chain_at_, scope_.order.size());
  }

  // What the innermost statements merge into, once the units have their names.
  void name_lanes(std::vector<SiblingTotal>& totals, Names& names) const {
    for (SiblingTotal& total : totals) total.lanes = outer_.empty() ? total.unit : names.temp();
  }

  // Totals started before and closed behind the loops from position `at` of the order inwards.
  Ref<Stmt> wrap(std::size_t at, Ref<Stmt> loops, const std::vector<SiblingTotal>& totals) const {
    if (at == chain_at_ && !outer_.empty()) loops = close_chain(std::move(loops), totals);
    return at == first_ ? close_unit(std::move(loops), totals) : loops;
  }

 private:
  std::int64_t step_at(std::size_t at) const { return scope_.piece(scope_.order[at]).step; }

  // Without a chain: where loops over lower lanes end and all that follow walk higher ones, which may then be
  // combined in each iteration of the lower.
  std::size_t lower_lanes_end() const {
    for (std::size_t end = first_ + 1; end < scope_.order.size(); ++end) {
      std::int64_t highest = 0, lowest = loops::UNIT;
      for (std::size_t at = first_; at < end; ++at) highest = std::max(highest, step_at(at));
      for (std::size_t at = end; at < scope_.order.size(); ++at) lowest = std::min(lowest, step_at(at));
      if (highest < lowest) return end;
    }
    return first_;
  }

  Ref<Stmt> close_chain(Ref<Stmt> loops, const std::vector<SiblingTotal>& totals) const {
    std::vector<Ref<Stmt>> before, after;
    combine_all(after, every(totals, &SiblingTotal::lanes), inner_);
    for (const SiblingTotal& total : totals) {
      before.push_back(loops::stmt(start_like(total.start, total.lanes, inner_)));
      after.push_back(merge_total(total.unit, total.lanes, total.start));
    }
    return enclosed(std::move(before), std::move(loops), after);
  }

  Ref<Stmt> close_unit(Ref<Stmt> loops, const std::vector<SiblingTotal>& totals) const {
    std::vector<Ref<Stmt>> before, after;
    const std::vector<Axis>& lanes = outer_.empty() ? inner_ : outer_;
    combine_all(after, every(totals, &SiblingTotal::unit), lanes);
    for (const SiblingTotal& total : totals)
      before.push_back(loops::stmt(start_like(total.start, total.unit, lanes)));
    return enclosed(std::move(before), std::move(loops), after);
  }

  const Scope& scope_;
  std::size_t first_;                // of the loops inside the unit
  std::size_t chain_at_;             // of the first loop of the chain
  std::vector<Axis> outer_, inner_;  // lanes outside and inside the chain
};

// The statements inside all loops, which merge into the lanes of these totals.
Walk::Innermost merges_into(const SiblingSource& source, const std::vector<SiblingTotal>& totals) {
  return [&](const Surroundings& here) {
    return merge_inner(source, here, [&](Temp total) {
      const auto same = [&](const SiblingTotal& known) { return known.start.total == total; };
      return std::find_if(totals.begin(), totals.end(), same)->lanes;
    });
  };
}

// The last unit of a list where it has at most `length` elements. Lanes that are neighbours are a vector's
// where the list is walked by one; else few of them are written out, far from each other.
Scope scope_of_short(const Scope& scope, std::int64_t length) {
  constexpr std::int64_t WRITTEN_OUT = 8;
  const AxisPlan& axis = scope.axes.front();
  const index::Expr before = floor_div(axis.extent, loops::UNIT) * loops::UNIT;
  std::int64_t vector = 1;
  for (const Piece& piece : axis.pieces)
    if (piece.bind == Bind::vector) vector = std::min(piece.turns, length);
  const std::int64_t far = std::min(WRITTEN_OUT, length / vector), near = length / vector / far;
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
  add(vector, near, Bind::serial);
  add(1, vector, Bind::vector);
  const std::size_t pieces = part.axes.front().pieces.size();
  for (std::size_t piece = far == 1 ? 0 : 1; piece < pieces; ++piece) part.order.push_back({0, piece});
  if (far > 1) part.order.insert(near == 1 ? part.order.begin() : part.order.end(), {0, 0});
  return part;
}

class Canonical {
 public:
  Canonical(const SiblingSource& source, const Surroundings& around, Names& names)
      : source_(source),
        scope_(source.scope),
        axis_(source.scope.axes.front()),
        around_(around),
        names_(names),
        walk_(scope_, around, names),
        totals_(totals_of(source)),
        unit_at_(first_inside_units(scope_)),
        loops_(scope_, unit_at_) {
    grouped_ = unit_at_ > 0 && scope_.piece(scope_.order[unit_at_ - 1]).bind == loops::Bind::thread;
    pushed_at_ = grouped_ ? unit_at_ - 1 : unit_at_;
    if (grouped_) pushed_ = loops::UNIT * units_side_by_side();
    const index::Range range = source.plan.facts.range(axis_.extent);
    stacked_ = pushed_at_ > 0 || !range.low || *range.low < 1;
    for (SiblingTotal& total : totals_) {
      if (stacked_) total.group = names.temp(), total.stack = names.temp();
      total.unit = grouped_ ? names.temp() : total.group;
    }
    loops_.name_lanes(totals_, names);
  }

  Ref<Stmt> build() {
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      loops = loops_.wrap(at, std::move(loops), totals_);
      if (at == unit_at_ && grouped_) loops = merge_units(std::move(loops));
      if (at == unit_at_ && !grouped_ && stacked_) loops = push(state, std::move(loops));
      if (at == pushed_at_ && grouped_) loops = close_group(state, std::move(loops));
      return at == 0 && stacked_ ? close_stack(add_shorts(std::move(loops))) : loops;
    };
    return walk_.run(merges_into(source_, totals_), wrap);
  }

 private:
  static std::size_t first_inside_units(const Scope& scope) {
    std::size_t at = 0;
    while (at < scope.order.size() && scope.piece(scope.order[at]).step >= loops::UNIT) ++at;
    return at;
  }
  std::int64_t units_side_by_side() const {
    const auto turns = turns_of(axis_, scope_.piece(scope_.order[unit_at_ - 1]));
    return next_power_of_two(*turns);  // the law asks for a constant
  }

  Ref<Stmt> merge_units(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> after;
    for (const SiblingTotal& total : totals_)
      after.push_back(merge_total(total.group, total.unit, total.start));
    return enclosed({}, std::move(loops), after);
  }

  // A unit past the end adds nothing to its group: all of its elements are masked.
  Ref<Stmt> close_group(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    const Axis units = scope_.piece(scope_.order[pushed_at_]).symbol;
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.group, {units})));
      after.push_back(loops::stmt(loops::Combine{total.group, units, loops::Pairing::neighbours}));
    }
    loops = enclosed(std::move(before), std::move(loops), after);
    return stacked_ ? push(state, std::move(loops)) : loops;
  }

  Ref<Stmt> push(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> after;
    const index::Expr base = walk_.base_of(axis_, pushed_, state);
    // What lies past the end is not pushed: it may come where several pieces walk units, where a loop that is
    // written out has as many iterations for all lengths, or where the axis is empty.
    index::Condition mask;
    const bool ends = pushed_at_ == 1 && !is_wide(scope_.piece(scope_.order.front()).bind);
    if (axis_.tail == Tail::mask && !ends) mask.all.push_back({base, axis_.extent});
    if (pushed_at_ == 0) mask.all = {{0, axis_.extent}};
    for (const SiblingTotal& total : totals_)
      after.push_back(loops::stmt(loops::Push{total.stack, total.group, floor_div(base, pushed_), mask}));
    return enclosed({}, std::move(loops), after);
  }

  Ref<Stmt> add_shorts(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> stmts = {std::move(loops)};
    std::int64_t less = 0;
    for (const std::int64_t length : axis_.shorts) {
      // 1 where more than `less` elements are left, and at most `length`.
      const index::Expr turns = index::simplify(
          ceil_div(axis_.extent - less, loops::UNIT) - ceil_div(axis_.extent - length, loops::UNIT),
          names_.facts());
      less = length;
      if (turns == index::Expr(0)) continue;
      Ref<Stmt> unit = names_.freshen(short_unit(length));
      if (turns != index::Expr(1))
        unit = loops::stmt(
            loops::Loop{names_.symbol(cat(axis_.axis, "s", length)), turns, Bind::serial, std::move(unit)});
      stmts.push_back(std::move(unit));
    }
    return loops::block(std::move(stmts));
  }

  Ref<Stmt> short_unit(std::int64_t length) const {
    const Scope scope = scope_of_short(scope_, length);
    const UnitLoops loops(scope, 0);
    std::vector<SiblingTotal> totals = totals_;
    std::vector<Ref<Stmt>> pushes;
    for (SiblingTotal& total : totals) {
      total.unit = names_.temp();
      pushes.push_back(
          loops::stmt(loops::Push{total.stack, total.unit, floor_div(axis_.extent, loops::UNIT), {}}));
    }
    loops.name_lanes(totals, names_);
    const auto wrap = [&](std::size_t at, const State&, Ref<Stmt> inside) {
      inside = loops.wrap(at, std::move(inside), totals);
      return at == 0 ? enclosed({}, std::move(inside), pushes) : inside;
    };
    return Walk(scope, around_, names_).run(merges_into(source_, totals), wrap);
  }

  Ref<Stmt> close_stack(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    const index::Expr count = ceil_div(axis_.extent, pushed_);
    const int depth = stack_depth(count, source_.plan.facts);
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.stack, {}, depth)));
      after.push_back(loops::stmt(loops::Fold{total.start.total, total.stack, count}));
    }
    return enclosed(std::move(before), std::move(loops), after);
  }

  const SiblingSource& source_;
  const Scope& scope_;
  const AxisPlan& axis_;
  const Surroundings& around_;
  Names& names_;
  Walk walk_;
  std::vector<SiblingTotal> totals_;
  std::size_t unit_at_;  // of the first loop inside the units
  UnitLoops loops_;
  std::size_t pushed_at_ = 0;          // of the first loop inside what is pushed: a unit, or a group of them
  std::int64_t pushed_ = loops::UNIT;  // elements of it
  bool grouped_ = false;               // threads walk several units side by side
  bool stacked_ = false;               // else there is exactly one unit
};

}  // namespace

Ref<Stmt> build_canonical(const SiblingSource& source, const Surroundings& around, Names& names) {
  return Canonical(source, around, names).build();
}

}  // namespace twinloom::schedule
