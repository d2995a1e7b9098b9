// Rows that the threads of a block walk together and keep:
//   registers   each thread its own elements, one after the other as it walks them, so that an array of few
//               elements with constant places stays in registers
//   scratch     the whole row, for each of the block's rows
// Either way a thread reads what it stored itself, so nobody waits. In scratch a row whose last reader fills
// another, element by element, lends it its room:
//   for k { x_row[k] = x[k] }; for k { kept[k] = exp(x_row[k]) }; for k { y[k] = kept[k] / s }
//   ->  for k { x_row[k] = x[k] }; for k { x_row[k] = exp(x_row[k]) }; for k { y[k] = x_row[k] / s }
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/parts.h"
#include "core/schedule/build.h"

namespace twinloom::schedule {

using index::Expr;
using loops::Bind;

namespace {

bool same_walk(const AxisPlan& a, const AxisPlan& b) {
  return std::ranges::equal(a.pieces, b.pieces, [](const Piece& one, const Piece& other) {
    return one.step == other.step && one.turns == other.turns && one.bind == other.bind;
  });
}

std::vector<Turn> thread_turns(const Scope& scope) {
  std::vector<Turn> turns;
  for (const Turn& turn : scope.order)
    if (scope.piece(turn).bind == Bind::thread) turns.push_back(turn);
  return turns;
}

// Element k of a row among those of the thread that walks it.
RowPlace place_in_thread(const AxisPlan& axis, const Expr& k) {
  RowPlace place{1, 0};
  for (std::size_t at = axis.pieces.size(); at-- > 0;) {
    const Piece& piece = axis.pieces[at];
    if (piece.bind == Bind::thread) continue;
    const std::int64_t turns = *most_turns_of(axis, piece);
    const Expr number = floor_div(k, piece.step);
    place.offset = place.offset + (at == 0 ? number : floor_mod(number, turns)) * place.count;
    place.count *= turns;
  }
  return place;
}

}  // namespace

BlockRows block_rows(const Scope& common) {
  BlockRows rows;
  for (const Turn& turn : common.order) {
    const Piece& piece = common.piece(turn);
    if (piece.bind != Bind::thread) continue;
    const std::int64_t turns = next_power_of_two(*turns_of(common.axes[turn.axis], piece));
    rows.count *= turns;
    rows.number = rows.number * turns + Expr(piece.symbol);
  }
  return rows;
}

std::vector<std::size_t> users_of(const loops::Nest& shape, loops::Buffer array) {
  std::vector<std::size_t> users;
  const auto siblings = siblings_of(shape);
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const bool uses = std::ranges::any_of(siblings[number]->inner, [&](const Ref<Stmt>& stmt) {
      return loops::stores_to(*stmt, array) || loops::loads_from(*stmt, array);
    });
    if (uses) users.push_back(number);
  }
  return users;
}

bool has_threads(const Scope& scope) { return !thread_turns(scope).empty(); }

std::string why_not_by_threads(const Plan& plan, const std::vector<std::size_t>& siblings) {
  const Scope& first = plan.siblings[siblings.front()];
  if (first.axes.size() != 1) return "it has several axes";
  if (!has_threads(first)) return cat("sibling ", siblings.front(), " walks it without the block's threads");
  if (!first.axes.front().most) return "its size has no bound";
  for (const std::size_t number : siblings) {
    const Scope& scope = plan.siblings[number];
    if (scope.axes.size() != 1 || !same_walk(first.axes.front(), scope.axes.front()) ||
        thread_turns(first) != thread_turns(scope))
      return cat("siblings ", siblings.front(), " and ", number, " walk it by different threads");
  }
  return "";
}

RowPlace place_in_row(const Plan& plan, const AxisPlan& axis, const KeptRow& row, const Expr& k) {
  if (row.place == loops::Place::registers) {
    return axis.has(Bind::thread) ? place_in_thread(axis, k) : RowPlace{row.count, k};
  }
  const BlockRows rows = block_rows(plan.common);
  return {rows.count * row.count, rows.number * row.count + k};
}

namespace {

// Whether the sibling loads the array `from` at its own place alone, and never after it has stored to `to`,
// which it does there too.
bool hands_over(const loops::Sibling& sibling, loops::Buffer from, loops::Buffer to) {
  const index::Expr here = sibling.loops.back().axis;
  bool stored = false, clean = true;
  for (const Ref<Stmt>& stmt : sibling.inner) {
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load != nullptr && load->buffer == from) clean = clean && !stored && load->offset == here;
    });
    const auto* store = std::get_if<loops::Store>(&stmt->node);
    if (store == nullptr || store->buffer != to) continue;
    clean = clean && store->offset == here;
    stored = true;
  }
  return clean && stored;
}

void share_room(const Names& names, StagedNest& nest) {
  const auto dtype = [&](const loops::Scratch& array) { return names.buffers()[array.buffer.index].dtype; };
  for (std::size_t later = 1; later < nest.arrays.size(); ++later) {
    const loops::Scratch kept = nest.arrays[later];
    const auto lender = std::find_if(
        nest.arrays.begin(), nest.arrays.begin() + static_cast<std::ptrdiff_t>(later),
        [&](const loops::Scratch& array) {
          const auto before = users_of(nest.shape, array.buffer), after = users_of(nest.shape, kept.buffer);
          return array.place == loops::Place::scratch && kept.place == array.place &&
                 array.count == kept.count && dtype(array) == dtype(kept) && !before.empty() &&
                 !after.empty() && before.back() == after.front() &&
                 hands_over(*siblings_of(nest.shape)[after.front()], array.buffer, kept.buffer);
        });
    if (lender == nest.arrays.begin() + static_cast<std::ptrdiff_t>(later)) continue;
    for (loops::Item& item : nest.shape.items)
      if (auto* sibling = std::get_if<loops::Sibling>(&item))
        for (Ref<Stmt>& stmt : sibling->inner)
          stmt = loops::move_accesses(stmt, kept.buffer, lender->buffer, std::identity());
    nest.arrays.erase(nest.arrays.begin() + static_cast<std::ptrdiff_t>(later--));
  }
}

}  // namespace

void lay_out_rows(const Plan& plan, Names& names, StagedNest& nest) {
  share_room(names, nest);
  for (loops::Scratch& array : nest.arrays) {
    const KeptRow row{array.place, *index::constant_of(array.count)};
    std::size_t number = 0;
    for (loops::Item& item : nest.shape.items) {
      auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      const AxisPlan& axis = plan.siblings[number++].axes.back();
      for (Ref<Stmt>& stmt : sibling->inner) {
        const Ref<Stmt> before = stmt;
        stmt = loops::move_accesses(stmt, array.buffer, array.buffer,
                                    [&](const Expr& k) { return place_in_row(plan, axis, row, k).offset; });
        if (stmt != before) array.count = place_in_row(plan, axis, row, 0).count;
      }
    }
    names.set_count(array.buffer, array.count);
  }
}

}  // namespace twinloom::schedule
