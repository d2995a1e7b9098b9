// Totals of columns beside those of rows. A block may hand over only nodes of the canonical tree: of the rows
// of a unit, lane l is rows l, l + 256, l + 512, l + 768 in a chain, and lanes that are LANES / L apart make
// one node when they are combined by halves. So a block takes unit u and residue r and walks L lanes, those
// first that are combined first; what waits for a lane that comes later waits in an array:
//   for u block { for r < 256/L block {                      L = 4, bits of a lane's number
//     for b0 < 2 { for b1 < 2 { chain = nothing
//                               for c < 4 { row 1024*u + r + 64*(b0 + 2*b1) + 256*c; chain += .. }
//                               level1 = b1 == 0 ? chain : level1 with chain }
//                  level0 = b0 == 0 ? level1 : level0 with level1 }
//     part[u, r] = level0 } }
// A lane without rows adds the identity. The second program, columns_finish.cpp, combines the parts.
#include <algorithm>
#include <bit>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;
using loops::Place;

namespace {

std::string why_bad_numbers(const ColumnsPlan& columns) {
  if (!is_power_of_two(columns.lanes) || columns.lanes > loops::LANES)
    return cat("the lanes of a block are a power of two up to ", loops::LANES);
  if (!is_side_by_side(columns.width) || !is_side_by_side(columns.units))
    return cat("what threads take side by side is a power of two up to ", MOST_THREADS);
  return columns.place == Place::memory ? "totals wait in registers or scratch" : "";
}

std::string why_bad_sibling(const Plan& plan, std::size_t number) {
  const loops::Sibling& sibling = *siblings_of(plan.shape)[number];
  const Expr row = plan.common.axes.front().axis;
  for (const Ref<Stmt>& inner : sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr || !loops::is_of_columns(plan.shape, accumulate->total)) continue;
    if (plan.siblings[number].reach == Reach::scan) return "a scan walks the columns";
    if (accumulate->values.size() != 1) return "a total of several parts";
    if (!plan.facts.proves_equal(accumulate->place, row))
      return cat("the place ", accumulate->place, " of a total is not the counter of ", row);
    if (has_threads(plan.siblings[number])) continue;
    if (plan.columns->place == Place::scratch) return "only registers hold the totals of one thread";
    if (std::ranges::any_of(plan.siblings, has_threads))
      return "a block's threads walk other rows, and one thread alone walks their totals";
  }
  return "";
}

}  // namespace

std::string why_bad_columns(const Plan& plan) {
  if (!plan.columns && !plan.shape.columns) return "";
  const std::string words = "columns: ";
  if (!plan.shape.columns) return words + "the nest has no totals of columns";
  if (!plan.columns) return words + "the schedule does not say how their totals are cut into parts";
  if (std::string reason = why_bad_numbers(*plan.columns); !reason.empty()) return words + reason;
  const Scope& common = plan.common;
  if (common.order.size() != 1 || common.piece(common.order.front()).bind != Bind::block)
    return words + "the common loops are not one loop over blocks, of a row each";
  const auto width = index::constant_of(plan.shape.columns->loop.extent);
  if (!width || *width < 1) return words + "their number is not a constant above 0";
  for (std::size_t number = 0; number < plan.siblings.size(); ++number)
    if (std::string reason = why_bad_sibling(plan, number); !reason.empty()) return words + reason;
  return "";
}

ColumnParts::ColumnParts(const Plan& plan, loops::Nest& shape, Names& names)
    : plan_(plan),
      names_(names),
      rows_(plan.common.axes.front()),
      residues_(loops::LANES / plan.columns->lanes),
      width_(*index::constant_of(plan.shape.columns->loop.extent)),
      unit_(names.symbol("unit")),
      residue_(names.symbol("residue")),
      chain_turn_(names.symbol("chain")) {
  const int levels = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(plan.columns->lanes))) - 1;
  for (int level = 0; level < levels; ++level) bits_.push_back(names.symbol("lane"));
  std::size_t number = 0;
  for (loops::Item& item : shape.items) {
    auto* sibling = std::get_if<loops::Sibling>(&item);
    if (sibling == nullptr) continue;
    std::vector<Ref<Stmt>> inner;
    for (const Ref<Stmt>& stmt : sibling->inner) {
      const auto* accumulate = std::get_if<loops::Accumulate>(&stmt->node);
      if (accumulate == nullptr || !loops::is_of_columns(shape, accumulate->total)) {
        inner.push_back(stmt);
        continue;
      }
      const auto start = std::ranges::find(shape.columns->totals, accumulate->total, &loops::Start::total);
      const ops::DType dtype = ops::part_type(start->monoid, start->element, 0);
      ColumnTotal total{*start, number, names.buffer({"chain", dtype, width_, true, true}), {}, {}};
      for (int level = 0; level < levels; ++level)
        total.levels.push_back(names.buffer({"level", dtype, width_, true, true}));
      const Expr parts = ceil_div(rows_.extent, loops::UNIT) * residues_;
      total.parts = names.buffer({"partial", dtype, parts * width_, true, false});
      totals_.push_back(total);
      const Expr column = sibling->loops.front().axis;
      const std::vector<Ref<Stmt>> steps = add(total, total.chain, column, accumulate->values.front());
      inner.insert(inner.end(), steps.begin(), steps.end());
    }
    sibling->inner = std::move(inner);
    ++number;
  }
}

// Chains are added to with every row.
Place ColumnParts::place_of(const ColumnTotal& total, loops::Buffer array) const {
  return array == total.chain ? Place::registers : plan_.columns->place;
}

Expr ColumnParts::place(const ColumnTotal& total, loops::Buffer array, const Expr& column) const {
  const AxisPlan& axis = plan_.siblings[total.sibling].axes.front();
  return place_in_row(plan_, axis, {place_of(total, array), width_}, column).offset;
}

Ref<loops::Value> ColumnParts::load(const ColumnTotal& total, loops::Buffer array, const Expr& column,
                                    index::Condition mask) const {
  const ops::DType dtype = names_.buffers()[array.index].dtype;
  const ops::Number nothing = ops::identity(total.start.monoid, total.start.element)[0];
  return loops::load(array, place(total, array, column), std::move(mask), {nothing, dtype});
}

std::vector<Ref<Stmt>> ColumnParts::add(const ColumnTotal& total, loops::Buffer array, const Expr& column,
                                        Ref<loops::Value> value, index::Condition mask) {
  const Temp known = names_.temp(), added = names_.temp(), both = names_.temp();
  return {loops::stmt(loops::Let{known, load(total, array, column, std::move(mask))}),
          loops::stmt(loops::Let{added, std::move(value)}),
          loops::stmt(start_like(total.start, both, {})),
          loops::stmt(loops::Merge{both, {loops::read(known)}, {}}),
          loops::stmt(loops::Merge{both, {loops::read(added)}, {}}),
          loops::stmt(loops::Store{array, place(total, array, column), {}, loops::read(both)})};
}

// The steps of each total in the loops that accumulate it.
Ref<Stmt> ColumnParts::over_columns(const Surroundings& around, const Step& step) {
  std::vector<Ref<Stmt>> result;
  for (std::size_t number = 0; number < plan_.siblings.size(); ++number) {
    loops::Sibling sibling{siblings_of(plan_.shape)[number]->loops, {}};
    for (const ColumnTotal& total : totals_) {
      if (total.sibling != number) continue;
      const std::vector<Ref<Stmt>> steps = step(total, sibling.loops.front().axis);
      sibling.inner.insert(sibling.inner.end(), steps.begin(), steps.end());
    }
    if (!sibling.inner.empty())
      result.push_back(build_loops({plan_, plan_.siblings[number], sibling, {}}, around, names_));
  }
  return loops::block(std::move(result));
}

// Which turn of its block a row has.
Expr ColumnParts::turn() const {
  Expr turn;
  for (const index::Symbol& bit : bits_) turn = turn * 2 + Expr(bit);
  return turn * loops::CHAIN + Expr(chain_turn_);
}

Expr ColumnParts::row_at(const Expr& turn) const {
  Expr lane;
  for (std::size_t level = 0; level < bits_.size(); ++level) {
    const std::int64_t turns = loops::CHAIN << (bits_.size() - 1 - level);  // of one value of the bit
    lane = lane + floor_mod(floor_div(turn, turns), 2) * (std::int64_t{1} << level);
  }
  return row_of(lane) + floor_mod(turn, loops::CHAIN) * loops::LANES;
}

// The first row of a lane of the block.
Expr ColumnParts::row_of(const Expr& lane) const {
  return Expr(unit_) * loops::UNIT + Expr(residue_) + lane * residues_;
}

Surroundings ColumnParts::later(const Surroundings& here, std::int64_t turns) const {
  Surroundings there = here;
  there.axes.insert_or_assign(rows_.axis, row_at(turn() + turns));
  return there;
}

index::Condition ColumnParts::has_later(std::int64_t turns) const {
  return {{{turn() + turns, plan_.columns->lanes * loops::CHAIN}}};
}

// The rows of one lane.
Ref<Stmt> ColumnParts::chain(const Walk::Innermost& row, const Surroundings& outside) {
  Expr lane;
  for (std::size_t level = 0; level < bits_.size(); ++level)
    lane = lane + Expr(bits_[level]) * (std::int64_t{1} << level);
  const Expr first = row_of(lane);
  const bool whole = plan_.facts.proves_equal(floor_mod(rows_.extent, loops::UNIT), 0);
  const Expr left = ceil_div(rows_.extent - first, loops::LANES);
  const Expr turns = whole ? Expr(loops::CHAIN) : least(loops::CHAIN, greatest(0, left));
  names_.facts().assume_below(chain_turn_, loops::CHAIN);
  Surroundings here = outside;
  here.axes.insert_or_assign(rows_.axis, first + Expr(chain_turn_) * loops::LANES);
  const Ref<Stmt> nothing = over_columns(outside, [&](const ColumnTotal& total, const Expr& column) {
    const ops::Number identity = ops::identity(total.start.monoid, total.start.element)[0];
    const ops::DType dtype = names_.buffers()[total.chain.index].dtype;
    return std::vector{loops::stmt(
        loops::Store{total.chain, place(total, total.chain, column), {}, loops::literal(identity, dtype)})};
  });
  return loops::block({nothing, loops::stmt(loops::Loop{chain_turn_, turns, Bind::serial, row(here)})});
}

// All lanes whose numbers differ in the bits from this level on.
Ref<Stmt> ColumnParts::lanes(std::size_t level, const Walk::Innermost& row, const Surroundings& outside) {
  if (level == bits_.size()) return chain(row, outside);
  names_.facts().assume_below(bits_[level], 2);
  const Ref<Stmt> inside = lanes(level + 1, row, outside);
  const Ref<Stmt> taken = over_columns(outside, [&](const ColumnTotal& total, const Expr& column) {
    const loops::Buffer from = level + 1 == bits_.size() ? total.chain : total.levels[level + 1];
    return add(total, total.levels[level], column, load(total, from, column), {{{0, Expr(bits_[level])}}});
  });
  return loops::stmt(loops::Loop{bits_[level], 2, Bind::serial, loops::block({inside, taken})});
}

Ref<Stmt> ColumnParts::in_arrays(Ref<Stmt> stmt) const {
  for (const ColumnTotal& total : totals_) {
    const AxisPlan& axis = plan_.siblings[total.sibling].axes.front();
    std::vector<loops::Buffer> arrays = total.levels;
    arrays.push_back(total.chain);
    for (const loops::Buffer array : arrays) {
      const Expr count = place_in_row(plan_, axis, {place_of(total, array), width_}, 0).count;
      names_.set_count(array, count);
      stmt = loops::stmt(loops::Scratch{array, count, place_of(total, array), std::move(stmt)});
    }
  }
  return stmt;
}

Ref<Stmt> ColumnParts::walk(const Walk::Innermost& row, const Surroundings& outside) {
  const Expr units = ceil_div(rows_.extent, loops::UNIT);
  names_.facts().assume_below(unit_, units);
  names_.facts().assume_below(residue_, residues_);
  const Ref<Stmt> rows = lanes(0, row, outside);
  const Ref<Stmt> stored = over_columns(outside, [&](const ColumnTotal& total, const Expr& column) {
    const loops::Buffer from = bits_.empty() ? total.chain : total.levels.front();
    const Expr part = Expr(unit_) * residues_ + Expr(residue_);
    return std::vector{
        loops::stmt(loops::Store{total.parts, part * width_ + column, {}, load(total, from, column)})};
  });
  Ref<Stmt> block = in_arrays(loops::block({rows, stored}));
  block = loops::stmt(loops::Loop{residue_, residues_, Bind::block, std::move(block)});
  return loops::stmt(loops::Loop{unit_, units, Bind::block, std::move(block)});
}

}  // namespace twinloom::schedule
