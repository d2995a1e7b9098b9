// Tiles of an input whose neighbours lie along another axis than those of the result, turned over in the
// scratch of a block of threads:
//   for i.0, j.0 block { for i.1 { for i.2, j.1 thread { y[i*n + j] = x[j*m + i] } } }
//   ->  for i.0, j.0 block { scratch x_tile[64*65]:
//         for s { for b, a thread { x_tile[(4*s + b)*65 + a] = x[...] } }; sync;
//         for i.1 { for i.2, j.1 thread { y[i*n + j] = x_tile[j*65 + i] } } }
// A warp then reads whole lines of x, and each column of the tile from as many banks as it has elements,
// since rows are padded. Neighbours need to be such in what a block covers of the axis only, which may be
// several that are walked as one; its rows may lie anywhere. Where x is masked, as in a padded image, so is
// what fills the tile.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/parts.h"
#include "core/schedule/accesses.h"
#include "core/schedule/build.h"
#include "core/schedule/constants.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

namespace {

// One side of a tile: what a block covers of an axis.
struct Side {
  const AxisPlan* axis;
  std::int64_t count;
};
struct Sides {
  Side neighbours;  // along which the input's elements are neighbours
  Side rows;
};

bool is_block(const Piece& piece) { return piece.bind == Bind::block; }

// Of an axis whose first piece is a block's: how much of it a block covers.
std::optional<Side> side_of(const AxisPlan& axis) {
  if (axis.pieces.size() < 2 || !is_block(axis.pieces.front())) return std::nullopt;
  return Side{&axis, axis.pieces.front().step};
}

// Whether the block loops alone say what is loaded, but for both sides.
bool is_fixed_in_block(const Plan& plan, const loops::Load& load, const Sides& sides) {
  std::set<index::Symbol> known;
  for (const loops::SizeInfo& size : plan.nest.sizes) known.insert(size.symbol);
  for (const AxisPlan& axis : plan.common.axes) {
    const bool side = &axis == sides.neighbours.axis || &axis == sides.rows.axis;
    if (side || (axis.pieces.size() == 1 && is_block(axis.pieces.front()))) known.insert(axis.axis);
  }
  std::set<index::Symbol> needed = index::symbols_of(load.offset);
  needed.merge(index::symbols_of(load.mask));
  return std::ranges::includes(known, needed);
}

// The two axes of which a block covers a part: the one with the shorter steps, if they are near, and the
// other.
std::optional<Sides> sides_of(const Plan& plan, loops::Buffer buffer, const Expr& offset) {
  struct Found {
    Side side;
    std::int64_t step;  // 0: not near
  };
  std::vector<Found> found;
  const int bytes = ops::size_of(plan.nest.buffers[buffer.index].dtype);
  for (const AxisPlan& axis : plan.common.axes) {
    const auto side = side_of(axis);
    if (!side || !index::mentions(offset, axis.axis)) continue;
    const std::int64_t step = step_along(offset, axis.axis, side->count, plan.facts);
    found.push_back({*side, is_near(step, bytes) ? step : 0});
  }
  if (found.size() != 2) return std::nullopt;
  if (found[0].step == 0 || (found[1].step != 0 && found[1].step < found[0].step))
    std::swap(found[0], found[1]);
  const Side &neighbours = found[0].side, &rows = found[1].side;
  if (found[0].step == 0 || neighbours.axis == &plan.common.axes[plan.common.order.back().axis])
    return std::nullopt;
  return Sides{neighbours, rows};
}

Expr block_base(const AxisPlan& axis) {
  const Piece& block = axis.pieces.front();
  return Expr(block.symbol) * block.step;
}

}  // namespace

std::variant<Staged, std::string> stage_block_tile(const Plan& plan, const TempPlan& temp,
                                                   loops::Buffer buffer) {
  const std::string words = cat("stage ", temp.buffer, ": ");
  if (!siblings_of(plan.shape).empty() || temp.inside != TASK)
    return words + "a tile of a block is for all of a task without siblings";
  const auto load = only_load(own_stmts(plan.shape), buffer);
  if (!load) return words + "it is not loaded at one place, under one mask";
  const auto sides = sides_of(plan, buffer, load->offset);
  if (!sides || !is_fixed_in_block(plan, *load, *sides))
    return words + "a block covers no rectangle of it, with neighbours along another than the innermost loop";
  for (const Side& side : {sides->neighbours, sides->rows}) {
    if (side.axis->tail != Tail::exact && side.axis->tail != Tail::mask)
      return words + "the axes of a tile end by exact or mask";
  }
  for (const Turn& turn : plan.common.order) {
    const Piece& piece = plan.common.piece(turn);
    if (piece.bind == Bind::thread && piece.turns != 0 && !is_power_of_two(piece.turns))
      return words + cat("loop ", piece.symbol, " has ", piece.turns, " threads, which is no power of two");
  }
  Staged staged;
  staged.buffer = buffer;
  staged.place = loops::Place::scratch;
  staged.count = sides->rows.count * (sides->neighbours.count + temp.pad);
  staged.pad = temp.pad;
  staged.of_task = true;
  return staged;
}

namespace {

// Elements that a thread loads at once: those of a word, which lies in one bank.
std::int64_t packed(const Plan& plan, const Side& neighbours, const loops::Load& load) {
  const auto runs = runs_along(load.offset, neighbours.axis->axis, neighbours.count, plan.facts);
  const bool masked = index::symbols_of(load.mask).contains(neighbours.axis->axis);
  std::int64_t lanes = WORD_BYTES / ops::size_of(plan.nest.buffers[load.buffer.index].dtype);
  const auto is_packed = [&] {
    const bool whole = neighbours.axis->tail != Tail::mask ||
                       plan.facts.proves_equal(floor_mod(neighbours.axis->extent, lanes), 0);
    return whole && !masked && runs->stride == Expr(1) && neighbours.count % lanes == 0 &&
           runs->facts.proves_equal(floor_mod(runs->first, lanes), 0);
  };
  while (lanes > 1 && !is_packed()) lanes /= 2;
  return std::max<std::int64_t>(lanes, 1);
}

// tile[row, neighbour] = x[..], by all threads of the block: those of a warp along the neighbours.
Ref<Stmt> fill(const Plan& plan, const Staged& staged, const Sides& sides, const loops::Load& load,
               loops::Buffer array, Names& names) {
  const std::int64_t threads = threads_of(plan.common);
  const std::int64_t lanes = packed(plan, sides.neighbours, load);
  const std::int64_t across = std::min(threads, sides.neighbours.count / lanes);
  const std::int64_t down = std::min(threads / across, sides.rows.count);
  const std::string& name = plan.nest.buffers[staged.buffer.index].name;
  const index::Symbol turn = names.symbol(cat(name, "_turn")), step = names.symbol(cat(name, "_step")),
                      row = names.symbol(cat(name, "_row")), at = names.symbol(cat(name, "_at")),
                      lane = names.symbol(cat(name, "_lane"));
  const Expr rows = Expr(turn) * down + Expr(row), first = (Expr(step) * across + Expr(at)) * lanes,
             neighbours = lanes > 1 ? first + Expr(lane) : first;
  index::Substitution places;
  index::Condition mask;
  const auto put = [&](const Side& side, const Expr& local, const Expr& first_lane) {
    const Expr base = block_base(*side.axis);
    places.insert_or_assign(side.axis->axis, base + local);
    if (side.axis->tail == Tail::mask) mask.all.push_back({base + first_lane, side.axis->extent});
  };
  for (const AxisPlan& axis : plan.common.axes)
    if (axis.pieces.size() == 1) places.insert_or_assign(axis.axis, Expr(axis.pieces.front().symbol));
  put(sides.rows, rows, rows);
  put(sides.neighbours, neighbours, first);
  mask = mask && index::substitute(load.mask, places);
  const auto value = loops::load(load.buffer, index::substitute(load.offset, places), mask, load.otherwise);
  const Expr place = rows * (sides.neighbours.count + staged.pad) + neighbours;
  Ref<Stmt> stmt = loops::stmt(loops::Store{array, place, {}, value, loops::Update::replace});
  const auto around = [&](const index::Symbol& axis, std::int64_t extent, Bind bind) {
    names.facts().assume_below(axis, extent);
    stmt = loops::stmt(loops::Loop{axis, extent, bind, std::move(stmt)});
  };
  if (lanes > 1) around(lane, lanes, Bind::vector);
  around(at, across, Bind::thread);
  around(row, down, Bind::thread);
  around(step, sides.neighbours.count / (across * lanes), Bind::serial);
  around(turn, sides.rows.count / down, Bind::serial);
  return loops::block({std::move(stmt), loops::stmt(loops::Sync{})});
}

}  // namespace

loops::Scratch put_block_tile(const Plan& plan, const Staged& staged, Names& names, loops::Nest& shape) {
  const loops::BufferInfo& info = plan.nest.buffers[staged.buffer.index];
  const loops::Load load = *only_load(own_stmts(plan.shape), staged.buffer);
  const Sides sides = *sides_of(plan, load.buffer, load.offset);
  const loops::Buffer array = names.buffer({info.name + "_tile", info.dtype, staged.count, true, true});
  const Expr place =
      floor_mod(Expr(sides.rows.axis->axis), sides.rows.count) * (sides.neighbours.count + staged.pad) +
      floor_mod(Expr(sides.neighbours.axis->axis), sides.neighbours.count);
  for (loops::Item& item : shape.items)
    item = loops::move_accesses(std::get<Ref<Stmt>>(item), staged.buffer, array,
                                [&](const Expr&) { return place; });
  return {array, staged.count, loops::Place::scratch, fill(plan, staged, sides, load, array, names)};
}

}  // namespace twinloom::schedule
