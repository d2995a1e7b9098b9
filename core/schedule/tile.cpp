// Tiles of an input whose neighbours lie along another axis than the vector's are turned over in an array:
//   for j1 { for i { for j2 vector { y[i*n + 8*j1 + j2] = x[(8*j1 + j2)*m + i] } } }
//   ->  for j1 { scratch x_tile[8*m]: for i0, i1 < 8, j2 vector { x_tile[8*(8*i0 + i1) + j2] = x[...] }
//                for i { for j2 vector { y[i*n + 8*j1 + j2] = x_tile[8*i + j2] } } }
// Each line of x is then loaded once and whole, and no two lines need the same place of a cache at once,
// which rows a power of two apart would. Emission knows squares that are only turned over.
#include <algorithm>
#include <set>

#include "core/index/simplify.h"
#include "core/loops/parts.h"
#include "core/schedule/accesses.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;

namespace {

// The two innermost common loops, by their positions in the order.
struct Axes {
  const AxisPlan* turns;  // of the serial loop
  const AxisPlan* lanes;  // of the vector
  std::int64_t turn_count, lane_count;
};
std::optional<Axes> axes_of(const Scope& common) {
  if (common.order.size() < 2) return std::nullopt;
  const Turn& inner = common.order.back();
  const Turn& outer = common.order[common.order.size() - 2];
  const Piece &vector = common.piece(inner), &serial = common.piece(outer);
  if (vector.bind != loops::Bind::vector || serial.bind != loops::Bind::serial || serial.step != 1)
    return std::nullopt;
  const AxisPlan& turns = common.axes[outer.axis];
  const auto count = index::constant_of(turns.extent) ? turns_of(turns, serial) : std::nullopt;
  if (inner.axis == outer.axis || !count || *count < 1 || vector.turns == 0 || vector.step != 1)
    return std::nullopt;
  return Axes{&common.axes[outer.axis], &common.axes[inner.axis], *count, vector.turns};
}

std::string why_not_turned(const Plan& plan, const Axes& axes, const Expr& offset) {
  std::set<index::Symbol> known;
  for (const loops::NestLoop& common : plan.shape.common) known.insert(common.axis);
  for (const loops::SizeInfo& size : plan.nest.sizes) known.insert(size.symbol);
  for (const index::Symbol& symbol : index::symbols_of(offset))
    if (!known.contains(symbol)) return cat("its offset depends on ", symbol);
  const auto along = index::linear_in(offset, axes.turns->axis);
  if (!along || along->scale != Expr(1)) return "its neighbours do not lie along the serial loop";
  const auto across = index::linear_in(offset, axes.lanes->axis);
  return across && across->scale != Expr(0) && across->scale != Expr(1)
             ? ""
             : "the vector does not walk rows of it";
}

}  // namespace

std::variant<Staged, std::string> stage_tile(const Plan& plan, const TempPlan& temp, loops::Buffer buffer) {
  const std::string words = cat("stage ", temp.buffer, ": ");
  const auto axes = axes_of(plan.common);
  if (!axes || axes->turns->pieces.back().symbol.name() != temp.inside)
    return cat(words, temp.inside, " is not the one serial loop around the vector");
  const Tail tail = axes->turns->tail;
  if (tail != Tail::exact && tail != Tail::clip)
    return cat(words, "the last turns of ", temp.inside, " are masked");
  const auto load = only_unmasked_load(own_stmts(plan.shape), buffer);
  if (!load) return words + "it is not loaded at one place without a mask";
  if (const std::string reason = why_not_turned(plan, *axes, load->offset); !reason.empty())
    return words + reason;
  Staged staged;
  staged.buffer = buffer;
  staged.count = axes->turn_count;
  staged.lanes = axes->lane_count;
  return staged;
}

Tile put_tile(const Plan& plan, const Staged& staged, Names& names, loops::Nest& shape) {
  const loops::BufferInfo& info = plan.nest.buffers[staged.buffer.index];
  const Axes axes = *axes_of(plan.common);
  const loops::Load load = *only_unmasked_load(own_stmts(plan.shape), staged.buffer);
  const Expr count = staged.count * staged.lanes;
  const loops::Buffer array = names.buffer({info.name + "_tile", info.dtype, count, true, true});
  const Expr place = staged.lanes * floor_mod(Expr(axes.turns->axis), staged.count) +
                     floor_mod(Expr(axes.lanes->axis), staged.lanes);
  for (loops::Item& item : shape.items)
    item = loops::move_accesses(std::get<Ref<Stmt>>(item), staged.buffer, array,
                                [&](const Expr&) { return place; });
  return {{array, count, loops::Place::registers, nullptr}, load, staged.lanes};
}

namespace {

// Rows of a tile: from `first` on, so many, by squares whose rows are written out or one by one.
struct Rows {
  Expr first, count;
  bool squares;
};

// x_tile[..] = x[..] for these rows; the load speaks of `row` and `lane`.
Ref<Stmt> fill(const Tile& tile, const loops::Load& load, const index::Symbol& row, const index::Symbol& lane,
               const Rows& which, Names& names) {
  const auto& [first, count, squares] = which;
  const std::string at(names.symbol(row.name()).name());
  const index::Symbol outer(cat(at, ".0")), inner(cat(at, ".1")), vector(cat(lane, ".0"));
  const std::int64_t side = squares ? tile.lanes : 1;
  const Expr turns = index::simplify(floor_div(count, side), names.facts());
  const bool once = turns == Expr(1);
  const Expr here = first + (once ? Expr(0) : Expr(outer)) * side + (squares ? Expr(inner) : Expr(0));
  const index::Substitution places = {{row, here}, {lane, Expr(vector)}};
  const auto value = loops::load(load.buffer, index::substitute(load.offset, places),
                                 index::substitute(load.mask, places), load.otherwise);
  Ref<Stmt> stmt = loops::stmt(
      loops::Store{tile.array.buffer, tile.lanes * here + Expr(vector), {}, value, loops::Update::replace});
  const auto around = [&](const index::Symbol& axis, const Expr& extent, loops::Bind bind) {
    names.facts().assume_below(axis, extent);
    stmt = loops::stmt(loops::Loop{axis, extent, bind, std::move(stmt)});
  };
  around(vector, tile.lanes, loops::Bind::vector);
  if (squares) around(inner, side, loops::Bind::unroll);
  if (!once) around(outer, turns, loops::Bind::serial);
  return stmt;
}

}  // namespace

Ref<Stmt> in_tile(const Plan& plan, const Tile& tile, const Walk& walk, const State& state, Names& names,
                  Ref<Stmt> loops) {
  const Scope& common = plan.common;
  const Axes axes = *axes_of(common);
  const index::Symbol row = names.symbol(cat(axes.turns->axis, "_at")),
                      lane = names.symbol(cat(axes.lanes->axis, "_at"));
  index::Substitution places;
  index::Condition mask;
  for (const AxisPlan& axis : common.axes) {
    const bool turns = &axis == axes.turns, inside = turns || &axis == axes.lanes;
    const Expr start = axis.base + walk.base_of(axis, inside ? 2 : 1, state);
    const Expr place = inside ? start + Expr(turns ? row : lane) : start;
    places.insert_or_assign(axis.axis, place);
    if (state.masked.contains(axis.axis)) mask.all.push_back({place, axis.base + axis.extent});
  }
  loops::Load load = tile.load;
  load.offset = index::substitute(load.offset, places);
  load.mask = mask;
  const Expr turns = walk.extent_of(common.order.size() - 2, state);
  const bool squares = mask.all.empty() && tile.lanes <= LARGEST_SQUARE;
  const Expr whole = squares ? tile.lanes * floor_div(turns, tile.lanes) : Expr(0);
  std::vector<Ref<Stmt>> stmts;
  for (const Rows& rows : {Rows{0, whole, true}, Rows{whole, turns - whole, false}})
    if (rows.count != Expr(0)) stmts.push_back(fill(tile, load, row, lane, rows, names));
  stmts.push_back(std::move(loops));
  loops::Scratch array = tile.array;
  array.body = loops::block(std::move(stmts));
  return loops::stmt(std::move(array));
}

}  // namespace twinloom::schedule
