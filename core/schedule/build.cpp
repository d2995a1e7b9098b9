// Names, masks and loops: the mechanics that every sort of sibling shares. See build.h.
#include "core/schedule/build.h"

#include <algorithm>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/steps/fresh.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

Names::Names(const Plan& plan)
    : next_temp_(loops::next_temp(plan.nest).index), buffers_(plan.nest.buffers), facts_(plan.facts) {
  for (const auto& [symbol, about] : facts_.symbols()) taken_.insert(symbol);
  for (const loops::SizeInfo& size : plan.nest.sizes) taken_.insert(size.symbol);
  take_pieces(plan.common);
  for (const Scope& sibling : plan.siblings) take_pieces(sibling);
}

void Names::take_pieces(const Scope& scope) {
  for (const Turn& turn : scope.order) taken_.insert(scope.piece(turn).symbol);
}

index::Symbol Names::symbol(std::string_view stem) { return steps::fresh_symbol(stem, taken_); }

loops::Buffer Names::buffer(loops::BufferInfo info) {
  info.name = steps::fresh_buffer_name(buffers_, info.name);
  buffers_.push_back(std::move(info));
  return loops::Buffer{static_cast<std::uint32_t>(buffers_.size() - 1)};
}

Ref<Stmt> Names::freshen(const Ref<Stmt>& stmt) {
  return steps::with_fresh_names(stmt,
                                 {[&] { return temp(); }, [&](std::string_view stem) { return symbol(stem); },
                                  [&](loops::Buffer like) { return buffer(buffers_[like.index]); }});
}

namespace {

bool is_steady(const Surroundings& around, const index::Symbol& found, const index::Symbol& axis) {
  const auto steady = around.steady.find(axis);
  return steady != around.steady.end() && steady->second.contains(found);
}

bool uses(const loops::Load& load, const index::Symbol& axis, const Surroundings& around) {
  std::set<index::Symbol> used = index::symbols_of(load.offset);
  used.merge(index::symbols_of(load.mask));
  return std::ranges::any_of(used, [&](const index::Symbol& symbol) {
    return symbol == axis || (around.found.contains(symbol) && !is_steady(around, symbol, axis));
  });
}

// Whether the load may be moved to the last place of the axis where it lies past the end.
bool has_last(const loops::Load& load, const index::Symbol& axis, const Surroundings& around) {
  if (!around.last.contains(axis) || !around.inputs.contains(load.buffer)) return false;
  std::set<index::Symbol> used = index::symbols_of(load.offset);
  used.merge(index::symbols_of(load.mask));
  return std::ranges::none_of(used, [&](const index::Symbol& symbol) {
    return around.found.contains(symbol) && !is_steady(around, symbol, axis);
  });
}

Ref<loops::Value> mask_loads(const Ref<loops::Value>& value, const Surroundings& around) {
  if (around.ends.empty()) return value;
  return loops::rewrite(value, [&](const Ref<loops::Value>& inner) {
    const auto* load = std::get_if<loops::Load>(&inner->node);
    if (load == nullptr) return inner;
    index::Condition mask = load->mask;
    index::Substitution moved;
    for (const auto& [axis, end] : around.ends) {
      if (!uses(*load, axis, around)) continue;
      if (has_last(*load, axis, around))
        moved.emplace(axis, around.last.at(axis));
      else
        mask = mask && index::Condition{{end}};
    }
    if (moved.empty() && mask == load->mask) return inner;
    return loops::load(load->buffer, index::substitute(load->offset, moved), index::substitute(mask, moved),
                       load->otherwise);
  });
}

}  // namespace

bool has_elements(const AxisPlan& axis, const index::Facts& facts) {
  const Bind outermost = axis.pieces.front().bind;
  const bool ends = axis.tail == Tail::mask && (outermost == Bind::block || outermost == Bind::serial);
  return ends || facts.proves_less(0, axis.extent);
}

Surroundings with_last_rows(const Plan& plan, Surroundings here) {
  for (std::uint32_t buffer = 0; buffer < plan.nest.buffers.size(); ++buffer)
    if (!plan.nest.buffers[buffer].written) here.inputs.insert(loops::Buffer{buffer});
  for (const AxisPlan& axis : plan.common.axes) {
    const auto end = here.ends.find(axis.axis);
    if (end == here.ends.end() || !axis.has(Bind::thread) || !has_elements(axis, plan.facts)) continue;
    // A vector is moved as a whole, where all of it lies inside or all outside.
    const Expr lane = here.axes.at(axis.axis) - end->second.a;
    if (axis.has(Bind::vector) && lane == Expr(0)) continue;
    const std::int64_t lanes = axis.has(Bind::vector) ? axis.pieces.back().turns : 1;
    here.last.insert_or_assign(axis.axis, least(end->second.a, end->second.b - lanes) + lane);
  }
  return here;
}

Ref<Stmt> settle(const Ref<Stmt>& stmt, const Surroundings& around) {
  Ref<Stmt> masked = stmt;
  const auto* index = std::get_if<loops::Index>(&stmt->node);
  index::Condition all;
  for (const auto& [axis, end] : around.ends)
    if (index == nullptr || !is_steady(around, index->symbol, axis)) all.all.push_back(end);
  if (const auto* let = std::get_if<loops::Let>(&stmt->node)) {
    masked = loops::stmt(loops::Let{let->temp, mask_loads(let->value, around)});
  } else if (index != nullptr) {
    loops::Index copy = *index;
    copy.value = mask_loads(copy.value, around);
    copy.mask = copy.mask && all;
    masked = loops::stmt(std::move(copy));
  } else if (const auto* store = std::get_if<loops::Store>(&stmt->node)) {
    loops::Store copy = *store;
    copy.value = mask_loads(copy.value, around);
    copy.mask = copy.mask && all;
    masked = loops::stmt(std::move(copy));
  }
  return loops::substitute(masked, around.axes);
}

std::vector<Ref<loops::Value>> settle(const std::vector<Ref<loops::Value>>& values,
                                      const Surroundings& around) {
  std::vector<Ref<loops::Value>> result;
  for (const auto& value : values)
    result.push_back(loops::substitute(mask_loads(value, around), around.axes));
  return result;
}

index::Condition ends_of(const Surroundings& around, const Scope& scope) {
  index::Condition result;
  for (const AxisPlan& axis : scope.axes) {
    const auto end = around.ends.find(axis.axis);
    if (end != around.ends.end()) result.all.push_back(end->second);
  }
  return result;
}

index::Condition ends_of_all(const Surroundings& around) {
  index::Condition mask;
  for (const auto& [axis, end] : around.ends) mask.all.push_back(end);
  return mask;
}

Expr row_of(const Scope& common, const Surroundings& around) {
  Expr row;
  for (const AxisPlan& axis : common.axes) row = row * axis.extent + around.axes.at(axis.axis);
  return row;
}

Expr rows_of(const Scope& common) {
  Expr rows = 1;
  for (const AxisPlan& axis : common.axes) rows = rows * axis.extent;
  return rows;
}

Ref<loops::Value> load_of(const Names& names, loops::Buffer buffer, const Expr& at,
                          const index::Condition& mask) {
  const ops::DType dtype = names.buffers()[buffer.index].dtype;
  return loops::load(buffer, at, mask, {ops::cast(ops::Number(0), dtype), dtype});
}

Buffers tuple_buffers(Names& names, const loops::Start& start, std::string_view name, const Expr& count,
                      bool local) {
  Buffers buffers;
  for (int part = 0; part < ops::parts(start.monoid); ++part)
    buffers.push_back(names.buffer(
        {std::string(name), ops::part_type(start.monoid, start.element, part), count, true, local}));
  return buffers;
}

std::vector<Ref<loops::Value>> load_all(const Names& names, const Buffers& buffers, const Expr& at,
                                        const index::Condition& mask) {
  std::vector<Ref<loops::Value>> values;
  for (const loops::Buffer buffer : buffers) values.push_back(load_of(names, buffer, at, mask));
  return values;
}

void store_all(const Buffers& buffers, const Expr& at, const index::Condition& mask, Temp accumulator,
               std::vector<Ref<Stmt>>& stmts) {
  for (std::size_t part = 0; part < buffers.size(); ++part)
    stmts.push_back(loops::stmt(loops::Store{
        buffers[part], at, mask, loops::read(accumulator, static_cast<int>(part)), loops::Update::replace}));
}

Ref<Stmt> Walk::run(const Innermost& innermost, const Wrap& wrap) {
  innermost_ = &innermost;
  wrap_ = &wrap;
  State state;
  for (const AxisPlan& axis : scope_.axes) {
    if (axis.tail == Tail::mask) state.masked.insert(axis.axis);
  }
  return from(0, state);
}

Ref<Stmt> Walk::run_from(std::size_t at, const State& state, const Innermost& innermost, const Wrap& wrap) {
  innermost_ = &innermost;
  wrap_ = &wrap;
  return from(at, state);
}

Expr Walk::base_of(const AxisPlan& axis, std::int64_t step, const State& state) const {
  Expr base;
  for (const Piece& piece : axis.pieces) {
    if (piece.step < step) break;
    const auto fixed = state.pieces.find(piece.symbol);
    base = base + (fixed != state.pieces.end() ? fixed->second : Expr(piece.symbol)) * piece.step;
  }
  return base;
}

Ref<Stmt> Walk::from(std::size_t at, const State& state) {
  Ref<Stmt> inside = at == scope_.order.size() ? (*innermost_)(surroundings(state)) : turn(at, state);
  return *wrap_ ? (*wrap_)(at, state, std::move(inside)) : inside;
}

Ref<Stmt> Walk::turn(std::size_t at, const State& state) {
  const Turn& turn = scope_.order[at];
  if (scope_.axes[turn.axis].cut == static_cast<int>(turn.piece)) return cut_turn(at, state);
  return loop(at, extent_of(at, state), state);
}

Ref<Stmt> Walk::loop(std::size_t at, const Expr& extent, const State& state) {
  const Piece& piece = scope_.piece(scope_.order[at]);
  const Expr turns = index::simplify(extent, names_.facts());
  const bool plain = (piece.bind == Bind::serial || piece.bind == Bind::unroll) && !piece.copied;
  if (plain && index::constant_of(turns) == 1) {
    State inside = state;
    inside.pieces[piece.symbol] = 0;
    return from(at + 1, inside);
  }
  names_.facts().assume_below(piece.symbol, turns);
  // What runs once for what is left is not worth being written out.
  const Bind bind = state.in_tail && piece.bind == Bind::unroll ? Bind::serial : piece.bind;
  return loops::stmt(loops::Loop{piece.symbol, turns, bind, from(at + 1, state)});
}

// The whole turns without a mask, then the one that is begun and not ended, if there is one.
Ref<Stmt> Walk::cut_turn(std::size_t at, const State& state) {
  const Turn& turn = scope_.order[at];
  const AxisPlan& axis = scope_.axes[turn.axis];
  const Piece& piece = axis.pieces[turn.piece];
  const Expr whole = index::simplify(turns_left(axis, turn.piece, state, false), names_.facts());
  // A short one is walked elsewhere: totals.cpp.
  const Expr begun =
      index::simplify(axis.shorts.empty() ? turns_left(axis, turn.piece, state, true)
                                          : ceil_div(axis.extent - axis.shorts.back(), piece.step),
                      names_.facts());
  const Expr rest = index::simplify(begun - whole, names_.facts());
  const auto rests = index::constant_of(rest);
  if (rests == 0) return loop(at, whole, state);
  State last = state;
  last.pieces[piece.symbol] = whole;
  last.masked.insert(axis.axis);
  if (rests == 1 && index::constant_of(whole) == 0) return from(at + 1, last);
  last.in_tail = true;
  Ref<Stmt> main = loop(at, whole, state);
  Ref<Stmt> tail = names_.freshen(from(at + 1, last));
  if (rests != 1) {
    tail =
        loops::stmt(loops::Loop{names_.symbol(cat(piece.symbol, "t")), rest, Bind::serial, std::move(tail)});
  }
  return loops::block({std::move(main), std::move(tail)});
}

Expr Walk::turns_left(const AxisPlan& axis, std::size_t number, const State& state, bool begun) const {
  const Piece& piece = axis.pieces[number];
  const Expr left = axis.extent - base_of(axis, piece.step + 1, state);
  const Expr turns = begun ? ceil_div(left, piece.step) : floor_div(left, piece.step);
  return piece.turns == 0 ? turns : least(piece.turns, turns);
}

// Masked turns may stop where the axis ends, as long as every larger piece encloses the loop, the largest
// outermost, and stops there too.
bool Walk::ends_early(std::size_t at) const {
  const Turn& turn = scope_.order[at];
  std::size_t piece = 0;
  for (std::size_t outer = 0; outer <= at; ++outer) {
    const Turn& other = scope_.order[outer];
    if (other.axis != turn.axis) continue;
    const Piece& walked = scope_.piece(other);
    const bool plain = (walked.bind == Bind::serial || walked.bind == Bind::block) && !walked.copied;
    if (!plain || other.piece != piece++) return false;
  }
  return true;
}

// Turns until all that is left is masked, as far as the serial loops around tell.
Expr Walk::turns_not_past(std::size_t at, const State& state) const {
  const Turn& turn = scope_.order[at];
  const AxisPlan& axis = scope_.axes[turn.axis];
  Expr base;
  for (std::size_t outer = 0; outer < at; ++outer) {
    const Piece& piece = scope_.piece(scope_.order[outer]);
    if (scope_.order[outer].axis != turn.axis) continue;
    if (piece.bind != Bind::serial && piece.bind != Bind::block) continue;
    const auto fixed = state.pieces.find(piece.symbol);
    base = base + (fixed != state.pieces.end() ? fixed->second : Expr(piece.symbol)) * piece.step;
  }
  const Piece& piece = axis.pieces[turn.piece];
  return greatest(0, least(piece.turns, ceil_div(axis.extent - base, piece.step)));
}

// Units of the masked turn that have any elements, as many as combine: the threads of the others would
// compute for nothing. Where the threads of a unit are more than a warp they wait for the whole block; and of
// the lanes of a unit all threads stay, since they exchange totals by whole warps.
Expr Walk::members_left(const Turn& turn, const State& state) const {
  const AxisPlan& axis = scope_.axes[turn.axis];
  const Piece& units = axis.pieces[turn.piece];
  std::int64_t of_unit = 1;
  for (const Piece& piece : axis.pieces)
    if (piece.bind == Bind::thread && piece.step < units.step) of_unit *= piece.turns;
  return units.step < loops::UNIT || of_unit > WARP_THREADS ? Expr(units.turns) : copies_left(turn, state);
}

// Of accumulators in any order what is left needs no more copies than there are elements for.
Expr Walk::copies_left(const Turn& turn, const State& state) const {
  const AxisPlan& axis = scope_.axes[turn.axis];
  const Piece& copies = axis.pieces[turn.piece];
  const auto left =
      index::constant_of(index::simplify(turns_left(axis, turn.piece, state, true), names_.facts()));
  return left ? next_power_of_two(std::max<std::int64_t>(*left, 1)) : copies.turns;
}

Expr Walk::extent_of(std::size_t at, const State& state) const {
  const Turn& turn = scope_.order[at];
  const AxisPlan& axis = scope_.axes[turn.axis];
  const Piece& piece = axis.pieces[turn.piece];
  switch (axis.tail) {
    case Tail::exact:
      return piece.turns != 0 ? Expr(piece.turns) : floor_div(axis.extent, piece.step);
    case Tail::clip:
      return turns_left(axis, turn.piece, state, true);
    case Tail::remainder:
      if (static_cast<int>(turn.piece) < axis.cut) return turns_left(axis, turn.piece, state, true);
      if (!state.masked.contains(axis.axis)) return piece.turns;
      break;
    case Tail::mask:
      break;
  }
  if (ends_early(at)) return turns_left(axis, turn.piece, state, true);
  if (piece.turns != 0 && piece.bind == Bind::serial && !piece.copied) return turns_not_past(at, state);
  if (piece.turns != 0 && piece.bind == Bind::thread && state.in_tail) return members_left(turn, state);
  if (piece.turns != 0 && piece.bind == Bind::unroll && state.in_tail && scope_.reach == Reach::any)
    return copies_left(turn, state);
  if (piece.turns != 0) return piece.turns;
  const auto most = turns_of(axis, piece);
  if (!most || !(is_wide(piece.bind) || piece.copied)) return ceil_div(axis.extent, piece.step);
  const bool rounded = piece.copied || piece.bind != Bind::unroll;
  return rounded ? next_power_of_two(*most) : *most;
}

Surroundings Walk::surroundings(const State& state) const {
  Surroundings result = around_;
  for (const auto& [piece, at] : state.pieces) result.fixed.insert_or_assign(piece, at);
  for (const AxisPlan& axis : scope_.axes) {
    const Expr place = axis.base + base_of(axis, 1, state);
    result.axes.insert_or_assign(axis.axis, place);
    if (state.masked.contains(axis.axis))
      result.ends.insert_or_assign(axis.axis, index::Less{place - lane_of(axis), axis.base + axis.extent});
  }
  return result;
}

// The lane of a vector whose lanes are all inside the axis or all outside: asked of threads, which go by
// branches; masked instructions of a CPU do not care.
Expr Walk::lane_of(const AxisPlan& axis) const {
  const Piece& last = axis.pieces.back();
  if (!axis.has(Bind::thread) || last.bind != Bind::vector || last.turns == 0) return 0;
  const bool together = names_.facts().proves_equal(floor_mod(axis.extent, last.turns), 0) &&
                        names_.facts().proves_equal(floor_mod(axis.base, last.turns), 0);
  return together ? Expr(last.symbol) : Expr(0);
}

}  // namespace twinloom::schedule
