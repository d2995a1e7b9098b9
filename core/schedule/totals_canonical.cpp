// Siblings with totals in the canonical order: see schedule.h for the pieces. Lanes outside the chain close a
// chain each turn.
//   start stack
//   for k.0 { start unit copies k.3, k.4
//             for k.3, k.4 { start chain copies k.2; for k.1, k.2 { merge chain }; combine; merge unit
//             (chain) } combine unit across k.3, k.4; push stack, unit, k.0 }
//   fold m = stack
// Units that threads walk side by side, so many at a time, are neighbours of the tree:
//   for k.0 { start group copies k.1
//             for k.1 thread { start unit ..; combine unit ..; merge group (unit) }
//             combine group across k.1 neighbours; push stack, group, k.0 }
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/totals.h"

namespace twinloom::schedule {

using loops::Axis;

namespace {

class Canonical {
 public:
  Canonical(const SiblingSource& source, const Surroundings& around, Names& names)
      : source_(source),
        scope_(source.scope),
        axis_(source.scope.axes.front()),
        walk_(scope_, around, names),
        totals_(totals_of(source)) {
    while (unit_at_ < scope_.order.size() && step_at(unit_at_) >= loops::UNIT) ++unit_at_;
    chain_at_ = unit_at_;
    while (chain_at_ < scope_.order.size() && step_at(chain_at_) < loops::LANES) ++chain_at_;
    if (chain_at_ == scope_.order.size()) chain_at_ = lower_lanes_end();
    grouped_ = unit_at_ > 0 && scope_.piece(scope_.order[unit_at_ - 1]).bind == loops::Bind::thread;
    pushed_at_ = grouped_ ? unit_at_ - 1 : unit_at_;
    if (grouped_) pushed_ = loops::UNIT * units_side_by_side();
    outer_ = lanes_of(scope_, unit_at_, chain_at_);
    inner_ = lanes_of(scope_, chain_at_, scope_.order.size());
    const index::Range range = source.plan.facts.range(axis_.extent);
    stacked_ = pushed_at_ > 0 || !range.low || *range.low < 1;
    for (SiblingTotal& total : totals_) {
      if (stacked_) total.group = names.temp(), total.stack = names.temp();
      total.unit = grouped_ ? names.temp() : total.group;
      total.lanes = outer_.empty() ? total.unit : names.temp();
    }
  }

  Ref<Stmt> build() {
    const auto innermost = [&](const Surroundings& here) {
      return merge_inner(source_, here, [&](Temp total) {
        const auto same = [&](const SiblingTotal& known) { return known.start.total == total; };
        return std::find_if(totals_.begin(), totals_.end(), same)->lanes;
      });
    };
    const auto wrap = [&](std::size_t at, const State& state, Ref<Stmt> loops) {
      if (at == chain_at_ && !outer_.empty()) loops = close_chain(std::move(loops));
      if (at == unit_at_) loops = close_unit(std::move(loops));
      if (at == unit_at_ && !grouped_ && stacked_) loops = push(state, std::move(loops));
      if (at == pushed_at_ && grouped_) loops = close_group(state, std::move(loops));
      return at == 0 && stacked_ ? close_stack(std::move(loops)) : loops;
    };
    return walk_.run(innermost, wrap);
  }

 private:
  std::int64_t step_at(std::size_t at) const { return scope_.piece(scope_.order[at]).step; }
  std::vector<Temp> every(Temp SiblingTotal::*which) const {
    std::vector<Temp> temps;
    for (const SiblingTotal& total : totals_) temps.push_back(total.*which);
    return temps;
  }
  std::int64_t units_side_by_side() const {
    const auto turns = turns_of(axis_, scope_.piece(scope_.order[unit_at_ - 1]));
    return next_power_of_two(*turns);  // the law asks for a constant
  }

  // Without a chain: where loops over lower lanes end and all that follow walk higher ones, which may then be
  // combined in each turn of the lower.
  std::size_t lower_lanes_end() const {
    for (std::size_t end = unit_at_ + 1; end < scope_.order.size(); ++end) {
      std::int64_t highest = 0, lowest = loops::UNIT;
      for (std::size_t at = unit_at_; at < end; ++at) highest = std::max(highest, step_at(at));
      for (std::size_t at = end; at < scope_.order.size(); ++at) lowest = std::min(lowest, step_at(at));
      if (highest < lowest) return end;
    }
    return unit_at_;
  }

  Ref<Stmt> close_chain(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    combine_all(after, every(&SiblingTotal::lanes), inner_);
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.lanes, inner_)));
      after.push_back(merge_total(total.unit, total.lanes, total.start));
    }
    return around(std::move(before), std::move(loops), after);
  }

  Ref<Stmt> close_unit(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    const std::vector<Axis>& lanes = outer_.empty() ? inner_ : outer_;
    combine_all(after, every(&SiblingTotal::unit), lanes);
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.unit, lanes)));
      if (grouped_) after.push_back(merge_total(total.group, total.unit, total.start));
    }
    return around(std::move(before), std::move(loops), after);
  }

  // A unit past the end adds nothing to its group: all of its elements are masked.
  Ref<Stmt> close_group(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    const Axis units = scope_.piece(scope_.order[pushed_at_]).symbol;
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.group, {units})));
      after.push_back(loops::stmt(loops::Combine{total.group, units, loops::Pairing::neighbours}));
    }
    loops = around(std::move(before), std::move(loops), after);
    return stacked_ ? push(state, std::move(loops)) : loops;
  }

  Ref<Stmt> push(const State& state, Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> after;
    const index::Expr base = walk_.base_of(axis_, pushed_, state);
    // What lies past the end is not pushed: it may come where several pieces walk units, or the axis is
    // empty.
    index::Condition mask;
    if (axis_.tail == Tail::mask && pushed_at_ != 1) mask.all.push_back({base, axis_.extent});
    if (pushed_at_ == 0) mask.all = {{0, axis_.extent}};
    for (const SiblingTotal& total : totals_)
      after.push_back(loops::stmt(loops::Push{total.stack, total.group, floor_div(base, pushed_), mask}));
    return around({}, std::move(loops), after);
  }

  Ref<Stmt> close_stack(Ref<Stmt> loops) const {
    std::vector<Ref<Stmt>> before, after;
    const index::Expr count = ceil_div(axis_.extent, pushed_);
    const int depth = stack_depth(count, source_.plan.facts);
    for (const SiblingTotal& total : totals_) {
      before.push_back(loops::stmt(start_like(total.start, total.stack, {}, depth)));
      after.push_back(loops::stmt(loops::Fold{total.start.total, total.stack, count}));
    }
    return around(std::move(before), std::move(loops), after);
  }

  static Ref<Stmt> around(std::vector<Ref<Stmt>> before, Ref<Stmt> loops,
                          const std::vector<Ref<Stmt>>& after) {
    before.push_back(std::move(loops));
    before.insert(before.end(), after.begin(), after.end());
    return loops::block(std::move(before));
  }

  const SiblingSource& source_;
  const Scope& scope_;
  const AxisPlan& axis_;
  Walk walk_;
  std::vector<SiblingTotal> totals_;
  std::size_t unit_at_ = 0;            // of the first loop inside the units
  std::size_t pushed_at_ = 0;          // of the first loop inside what is pushed: a unit, or a group of them
  std::int64_t pushed_ = loops::UNIT;  // elements of it
  bool grouped_ = false;               // threads walk several units side by side
  std::size_t chain_at_ = 0;           // of the first loop of the chain
  std::vector<Axis> outer_, inner_;    // lanes outside and inside the chain
  bool stacked_ = false;               // else there is exactly one unit
};

}  // namespace

Ref<Stmt> build_canonical(const SiblingSource& source, const Surroundings& around, Names& names) {
  return Canonical(source, around, names).build();
}

}  // namespace twinloom::schedule
