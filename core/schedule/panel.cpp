// Panels: rows in lock-step whose vectors are walked side by side inside the loops of a reduction, so that
// memory is read and written in longer runs than one vector. Chains of one unit, then totals of units, wait
// in arrays for their neighbours:
//   for j1 { for j2 vector { total over i of x[i*n + 64*j1 + j2]; y[64*j1 + j2] = total } }
//   ->  scratch chains[lanes*64*j1s], units[count*64*j1s]:
//       for i0 { for i2 { for j1 { for j2 vector { chain over i1; chains[i2, j] = chain } } }
//                for j1 { for j2 vector { unit of chains[.., j]; units[i0, j] = unit } } }
//       for j1 { for j2 vector { total of units[.., j]; y[64*j1 + j2] = total } }
#include <algorithm>
#include <bit>

#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;

namespace {

std::string why_not_columns(const Plan& plan) {
  const Scope& common = plan.common;
  if (common.order.size() < 2 || !in_lockstep(common)) return "no serial loop around a vector of rows";
  const Turn &vector = common.order.back(), &serial = common.order[common.order.size() - 2];
  const Piece& columns = common.piece(serial);
  if (common.piece(vector).bind != loops::Bind::vector || columns.bind != loops::Bind::serial)
    return "no serial loop around a vector of rows";
  if (serial.axis != vector.axis || columns.step != common.piece(vector).turns || columns.turns < 1)
    return cat("the turns of ", columns.symbol, " are not a constant number of vectors");
  // Vectors past the end of the columns are masked or left out.
  for (std::size_t number = 0; number < common.axes.size(); ++number) {
    const AxisPlan& axis = common.axes[number];
    const bool masked = number == serial.axis && axis.tail == Tail::mask;
    if (axis.tail != Tail::exact && !masked)
      return cat("the last iterations of ", axis.axis, " are no whole ones");
  }
  return "";
}

bool is_computed(const Stmt& stmt) { return std::holds_alternative<loops::Let>(stmt.node); }
bool is_stored(const Stmt& stmt) {
  const auto* store = std::get_if<loops::Store>(&stmt.node);
  return store != nullptr && store->update == loops::Update::replace;
}

std::string why_not_rows(const Plan& plan) {
  const std::vector<const loops::Sibling*> siblings = siblings_of(plan.shape);
  if (siblings.size() != 1 || plan.siblings.front().reach != Reach::canonical)
    return "there is not one sibling alone, with totals in the canonical order";
  const Scope& scope = plan.siblings.front();
  const AxisPlan& axis = scope.axes.front();
  const auto units = turns_of(axis, axis.pieces.front());
  const bool whole = axis.tail == Tail::exact || (axis.tail == Tail::remainder && axis.shorts.empty());
  if (scope.axes.size() != 1 || !whole || axis.pieces.front().step != loops::UNIT || !units)
    return cat("the rows of ", axis.axis, " are no constant number of units");
  constexpr std::int64_t MOST_UNITS = 64;  // in the array
  if (*units > MOST_UNITS)
    return cat("an array of ", *units, " units for each column is more than ", MOST_UNITS);
  if (scope.order.size() < 3 || scope.piece(scope.order[1]).step >= loops::LANES ||
      scope.piece(scope.order[2]).step < loops::LANES)
    return "there is not one loop of lanes between the units and a chain";
  const Piece& lanes = scope.piece(scope.order[1]);
  const std::int64_t rest = *index::constant_of(axis.extent) % loops::UNIT;
  if (rest != 0 && rest <= (lanes.turns - 1) * lanes.step)
    return cat("the ", rest, " rows of the last unit leave some of ", lanes.turns, " lanes without any");
  for (const Ref<Stmt>& stmt : siblings.front()->inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&stmt->node);
    if (accumulate != nullptr ? accumulate->values.size() != 1 : !is_computed(*stmt) && !is_stored(*stmt))
      return "the sibling does more than to add numbers up and to store elements";
  }
  for (const loops::Item& item : plan.shape.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt == nullptr) break;
    if (!std::holds_alternative<loops::Start>((*stmt)->node) && !is_computed(**stmt))
      return "more than values is computed before the sibling";
  }
  return "";
}

}  // namespace

std::string why_no_panel(const Plan& plan) {
  std::string reason = why_not_columns(plan);
  if (reason.empty()) reason = why_not_rows(plan);
  if (reason.empty() && plan.grid) reason = "a grid split has the sibling in another program";
  return reason.empty() ? "" : "panel: " + reason;
}

Panel::Panel(const Plan& plan, const loops::Nest& shape, const std::map<Temp, loops::Start>& starts,
             Names& names)
    : plan_(plan), sibling_(*siblings_of(shape).front()), names_(names), scope_(plan.siblings.front()) {
  const Scope& common = plan.common;
  const Turn& serial = common.order[common.order.size() - 2];
  axis_ = &common.axes[serial.axis];
  turns_ = &common.piece(serial);
  vectors_ = *turns_of(*axis_, *turns_);
  width_ = vectors_ * turns_->step;
  const AxisPlan& rows = scope_.axes.front();
  units_ = *turns_of(rows, rows.pieces.front());
  lanes_ = scope_.piece(scope_.order[1]).turns;
  take_values(shape);
  for (const Ref<Stmt>& inner : sibling_.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    if (accumulate == nullptr) continue;
    const Temp total = accumulate->total;
    if (std::ranges::any_of(totals_, [&](const Total& known) { return known.start.total == total; }))
      continue;
    const loops::Start& start = starts.at(total);
    const ops::DType dtype = ops::part_type(start.monoid, start.element, 0);
    const auto array = [&](const char* name, std::int64_t count) {
      return names.buffer({name, dtype, count * width_, true, true});
    };
    totals_.push_back({start, array("chains", lanes_), array("units", units_), names.temp(), names.temp()});
    renamed_.temps.emplace(total, totals_.back().chain);
  }
  for (Ref<Stmt>& inner : sibling_.inner) inner = loops::rename(inner, renamed_);
}

// What is computed before the sibling, for each vector of the panel once more.
void Panel::take_values(const loops::Nest& shape) {
  for (const loops::Item& item : shape.items) {
    const auto* stmt = std::get_if<Ref<Stmt>>(&item);
    if (stmt == nullptr) break;
    const auto* let = std::get_if<loops::Let>(&(*stmt)->node);
    if (let == nullptr) continue;
    renamed_.temps.emplace(let->temp, names_.temp());
    values_.push_back(loops::rename(*stmt, renamed_));
  }
}

// Of the iteration; a loop of a single one is left out.
Expr Panel::number_of(const Turn& loop, const State& state) const {
  const index::Symbol& symbol = scope_.piece(loop).symbol;
  const auto fixed = state.pieces.find(symbol);
  return fixed != state.pieces.end() ? fixed->second : Expr(symbol);
}

// The vectors of the panel as loops of their own.
Panel::Columns Panel::columns(const Walk& walk, const State& state) const {
  Columns result{
      names_.symbol(turns_->symbol.name()), names_.symbol(cat(turns_->symbol.name(), "v")), vectors_, {}, {}};
  result.place = Expr(result.turn) * turns_->step + Expr(result.lane);
  for (const AxisPlan& axis : plan_.common.axes) {
    const bool inside = &axis == axis_;
    const Expr start = axis.base + walk.base_of(axis, inside ? turns_->step + 1 : 1, state);
    const Expr place = inside ? start + result.place : start;
    result.around.axes.insert_or_assign(axis.axis, place);
    if (axis.tail != Tail::mask) continue;
    const Expr end = axis.base + axis.extent;
    result.around.ends.insert_or_assign(axis.axis, index::Less{place, end});
    result.vectors = index::simplify(least(vectors_, ceil_div(end - start, turns_->step)), names_.facts());
  }
  names_.facts().assume_below(result.turn, result.vectors);
  return result;
}
Ref<Stmt> Panel::over(const Columns& columns, std::vector<Ref<Stmt>> body) const {
  const Ref<Stmt> vector = loops::stmt(
      loops::Loop{columns.lane, turns_->step, loops::Bind::vector, loops::block(std::move(body))});
  return loops::stmt(loops::Loop{columns.turn, columns.vectors, loops::Bind::serial, vector});
}

Ref<Stmt> Panel::store(loops::Buffer array, const Expr& place, Temp total) const {
  return loops::stmt(loops::Store{array, place, {}, loops::read(total, 0), loops::Update::replace});
}

// The chains of one turn of the unit's lanes, for all columns.
Ref<Stmt> Panel::chains(const Columns& columns, const State& state, Ref<Stmt> loops) const {
  std::vector<Ref<Stmt>> body, after;
  for (const Ref<Stmt>& stmt : values_) body.push_back(settle(stmt, columns.around));
  const Expr place = number_of(scope_.order[1], state) * width_ + columns.place;
  for (const Total& total : totals_) {
    body.push_back(loops::stmt(start_like(total.start, total.chain, {})));
    after.push_back(store(total.chains, place, total.chain));
  }
  body.push_back(std::move(loops));
  body.insert(body.end(), after.begin(), after.end());
  return over(columns, std::move(body));
}

// The total of a unit from its chains.
Ref<Stmt> Panel::unit(const Columns& columns, const Expr& number) const {
  const Piece& lanes = scope_.piece(scope_.order[1]);
  const index::Symbol lane = names_.symbol(lanes.symbol.name());
  std::vector<Ref<Stmt>> body, steps, after;
  for (const Total& total : totals_) {
    const auto chain = load_of(names_, total.chains, Expr(lane) * width_ + columns.place);
    body.push_back(loops::stmt(start_like(total.start, total.unit, {})));
    steps.push_back(loops::stmt(loops::Accumulate{total.unit, {chain}, Expr(lane) * lanes.step}));
    after.push_back(store(total.units, number * width_ + columns.place, total.unit));
  }
  body.push_back(loops::stmt(loops::Loop{lane, lanes_, loops::Bind::serial, loops::block(std::move(steps))}));
  body.insert(body.end(), after.begin(), after.end());
  return over(columns, std::move(body));
}

Ref<Stmt> Panel::fill(const Walk& walk, const State& state) const {
  const Columns inner = columns(walk, state), outer = columns(walk, state);
  Walk rows(scope_, inner.around, names_);
  const SiblingSource source{plan_, scope_, sibling_, {}};
  const auto innermost = [&](const Surroundings& here) { return settle_inner(source, 0, here); };
  const auto wrap = [&](std::size_t at, const State& at_loop, Ref<Stmt> loops) {
    if (at == 2) return chains(inner, at_loop, std::move(loops));
    if (at == 1) return loops::block({std::move(loops), unit(outer, number_of(scope_.order[0], at_loop))});
    return loops;
  };
  return rows.run(innermost, wrap);
}

Ref<Stmt> Panel::gather() const {
  const Piece& vector = plan_.common.piece(plan_.common.order.back());
  const Expr column = Expr(turns_->symbol) * turns_->step + Expr(vector.symbol);
  const index::Symbol number = names_.symbol("unit");
  std::vector<Ref<Stmt>> stmts, steps;
  for (const Total& total : totals_) {
    const auto unit = load_of(names_, total.units, Expr(number) * width_ + column);
    stmts.push_back(loops::stmt(total.start));
    steps.push_back(loops::stmt(loops::Accumulate{total.start.total, {unit}, Expr(number) * loops::UNIT}));
  }
  stmts.push_back(
      loops::stmt(loops::Loop{number, units_, loops::Bind::serial, loops::block(std::move(steps))}));
  return loops::block(std::move(stmts));
}

// The arrays around what fills and what reads them.
Ref<Stmt> Panel::in_arrays(Ref<Stmt> filled, Ref<Stmt> loops) const {
  Ref<Stmt> result = loops::block({std::move(filled), std::move(loops)});
  for (const Total& total : totals_) {
    result = loops::stmt(loops::Scratch{total.chains, lanes_ * width_, loops::Place::registers, result});
    result = loops::stmt(loops::Scratch{total.units, units_ * width_, loops::Place::registers, result});
  }
  return result;
}

}  // namespace twinloom::schedule
