// See align.h.
#include "core/fuse/align.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/fuse/items.h"
#include "core/index/divisors.h"
#include "core/index/simplify.h"
#include "core/lower/share.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

bool mentions_any(const index::Expr& expr, const std::vector<NestLoop>& axes) {
  const std::set<index::Symbol> symbols = index::symbols_of(expr);
  return std::ranges::any_of(axes, [&](const NestLoop& loop) { return symbols.contains(loop.axis); });
}

// How far apart in memory the axis's turns are; nothing where it is not in steps.
std::optional<index::Expr> step_of(const Reach& reach, Axis axis) {
  const auto linear = index::linear_in(reach.offset, axis);
  if (!linear || linear->scale == index::Expr(0) || mentions_any(linear->scale, reach.axes))
    return std::nullopt;
  return linear->scale;
}

void replace_loop(std::vector<NestLoop>& loops, Axis axis, const Cut& cut) {
  for (std::size_t k = 0; k < loops.size(); ++k) {
    if (loops[k].axis != axis) continue;
    loops[k] = cut.outer;
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(k) + 1, cut.inner);
    return;
  }
}

std::optional<index::Expr> extent_of(const Nest& nest, Axis axis) {
  const auto in = [&](const std::vector<NestLoop>& loops) -> std::optional<index::Expr> {
    for (const NestLoop& loop : loops)
      if (loop.axis == axis) return loop.extent;
    return std::nullopt;
  };
  if (auto found = in(nest.common)) return found;
  for (const Item& item : nest.items) {
    if (const auto* sibling = std::get_if<Sibling>(&item))
      if (auto found = in(sibling->loops)) return found;
  }
  return std::nullopt;
}

void cut_in_reach(Reach& reach, Axis axis, const Cut& cut, const index::Facts& facts) {
  replace_loop(reach.axes, axis, cut);
  reach.offset = index::simplify(index::substitute(reach.offset, cut.by), facts);
}

// One step of align(): true when something was matched or cut.
class Aligner {
 public:
  Aligner(Side& first, Reach& first_reach, Side& second, Reach& second_reach, lower::Names& names)
      : first_(first),
        first_reach_(first_reach),
        second_(second),
        second_reach_(second_reach),
        names_(names) {}

  Alignment run() {
    while (step()) {
    }
    return std::move(result_);
  }

 private:
  bool step() {
    for (const NestLoop& a : first_reach_.axes) {
      if (result_.second_by_first.contains(a.axis)) continue;
      const auto step_a = step_of(first_reach_, a.axis);
      if (!step_a) continue;
      for (const NestLoop& b : second_reach_.axes) {
        if (result_.first_by_second.contains(b.axis) || step_of(second_reach_, b.axis) != step_a) continue;
        if (match_or_cut(NestLoop(a), NestLoop(b))) return true;
      }
    }
    return false;
  }

  bool match_or_cut(const NestLoop& a, const NestLoop& b) {
    if (a.extent == b.extent || first_.facts.proves_equal(a.extent, b.extent)) {
      result_.second_by_first.emplace(a.axis, b.axis);
      result_.first_by_second.emplace(b.axis, a.axis);
      return true;
    }
    if (index::exact_quotient(b.extent, a.extent, second_.facts)) {
      cut_in_reach(second_reach_, b.axis, cut_axis(second_, b.axis, a.extent, names_), second_.facts);
      return true;
    }
    if (index::exact_quotient(a.extent, b.extent, first_.facts)) {
      cut_in_reach(first_reach_, a.axis, cut_axis(first_, a.axis, b.extent, names_), first_.facts);
      return true;
    }
    return false;
  }

  Side& first_;
  Reach& first_reach_;
  Side& second_;
  Reach& second_reach_;
  lower::Names& names_;
  Alignment result_;
};

std::vector<index::Expr> all_offsets(const Nest& nest) {
  std::vector<index::Expr> offsets;
  std::vector<Ref<Value>> values;
  for (const Ref<Stmt>& stmt : statements_in(nest)) {
    if (const auto* store = std::get_if<Store>(&stmt->node)) offsets.push_back(store->offset);
    for (Ref<Value>& value : lower::values_of(*stmt)) values.push_back(std::move(value));
  }
  lower::for_each_distinct(values, [&](const Value& value) {
    if (const auto* load = std::get_if<Load>(&value.node)) offsets.push_back(load->offset);
  });
  return offsets;
}

std::vector<Axis> all_axes(const Nest& nest) {
  std::vector<Axis> axes;
  for (const NestLoop& loop : nest.common) axes.push_back(loop.axis);
  for (const Item& item : nest.items) {
    if (const auto* sibling = std::get_if<Sibling>(&item)) {
      const bool scans = std::ranges::any_of(
          sibling->inner, [](const Ref<Stmt>& stmt) { return std::holds_alternative<Scan>(stmt->node); });
      if (scans) continue;  // a scan has one loop
      for (const NestLoop& loop : sibling->loops) axes.push_back(loop.axis);
    }
  }
  return axes;
}

bool refine_once(Side& side, lower::Names& names) {
  const std::vector<index::Expr> offsets = all_offsets(side.draft.nest);
  for (const Axis axis : all_axes(side.draft.nest)) {
    std::vector<index::Expr> divisors;
    for (const index::Expr& offset : offsets) index::add_divisors(offset, axis, divisors);
    for (const index::Expr& divisor : divisors) {
      if (!index::exact_quotient(*extent_of(side.draft.nest, axis), divisor, side.facts)) continue;
      cut_axis(side, axis, divisor, names);
      return true;
    }
  }
  return false;
}

}  // namespace

Cut cut_axis(Side& side, Axis axis, const index::Expr& inner, lower::Names& names) {
  const auto extent = extent_of(side.draft.nest, axis);
  CHECK(extent.has_value(), "axis ", axis, " is not of the nest");
  const auto outer = index::exact_quotient(*extent, inner, side.facts);
  CHECK(outer.has_value(), inner, " does not divide the extent of ", axis);
  Cut cut{{names.symbol("a"), *outer}, {names.symbol("a"), inner}, {}};
  cut.by.emplace(axis, inner * cut.outer.axis + cut.inner.axis);
  lower::assume_axis(side.facts, cut.outer.axis, cut.outer.extent);
  lower::assume_axis(side.facts, cut.inner.axis, cut.inner.extent);
  Nest& nest = side.draft.nest;
  replace_loop(nest.common, axis, cut);
  for (Item& item : nest.items)
    if (auto* sibling = std::get_if<Sibling>(&item)) replace_loop(sibling->loops, axis, cut);
  change_statements(nest, substituting(cut.by, &side.facts));
  return cut;
}

bool refine(Side& side, lower::Names& names) {
  bool changed = false;
  while (refine_once(side, names)) changed = true;
  return changed;
}

Alignment align(Side& first, Reach& first_reach, Side& second, Reach& second_reach, lower::Names& names) {
  return Aligner(first, first_reach, second, second_reach, names).run();
}

std::optional<index::Substitution> invert(const index::Expr& stored, const std::vector<NestLoop>& axes,
                                          const index::Expr& offset, const index::Facts& facts) {
  index::Substitution zero;
  for (const NestLoop& loop : axes) zero.emplace(loop.axis, index::Expr(0));
  index::Expr rest = index::simplify(offset - index::substitute(stored, zero), facts);
  if (axes.empty() && rest != index::Expr(0)) return std::nullopt;
  // Nothing is stored where a loop has no turns.
  if (std::ranges::any_of(axes, [](const NestLoop& loop) { return loop.extent == index::Expr(0); }))
    return std::nullopt;
  std::vector<NestLoop> left = axes;
  const Reach reach{stored, axes};
  index::Expr step = 1;
  index::Substitution values;
  while (!left.empty()) {
    const auto next =
        std::ranges::find_if(left, [&](const NestLoop& loop) { return step_of(reach, loop.axis) == step; });
    if (next == left.end()) return std::nullopt;
    const NestLoop loop = *next;
    left.erase(next);
    values[loop.axis] = left.empty() ? rest : index::simplify(index::floor_mod(rest, loop.extent), facts);
    rest = index::simplify(index::floor_div(rest, loop.extent), facts);
    step = step * loop.extent;
  }
  return values;
}

}  // namespace twinloom::fuse
