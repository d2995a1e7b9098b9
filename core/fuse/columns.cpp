// See columns.h. The elements of the columns are first taken for a matrix of their own, which is stored
// element by element, so that what puts any such store into a frame puts this one into that of the rows; then
// each store becomes a step of a total.
#include "core/fuse/columns.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/fuse/column_sums.h"
#include "core/fuse/forward.h"
#include "core/loops/rewrite.h"
#include "core/lower/realize.h"
#include "core/lower/share.h"

namespace twinloom::fuse {

using namespace loops;
using lower::ValueId;

namespace {

index::Expr extent_of(const std::vector<NestLoop>& loops) {
  index::Expr extent = 1;
  for (const NestLoop& loop : loops) extent = extent * loop.extent;
  return extent;
}

// The number of a turn, row-major.
index::Expr number_of(const std::vector<NestLoop>& loops) {
  index::Expr number;
  for (const NestLoop& loop : loops) number = number * loop.extent + index::Expr(loop.axis);
  return number;
}

// Whether the unit reads what is made of totals.
bool reads_any(const lower::Unit& unit, const std::vector<Ref<Stmt>>& of_totals) {
  return std::ranges::any_of(of_totals, [&](const Ref<Stmt>& stmt) {
    const auto* store = std::get_if<Store>(&stmt->node);
    return store != nullptr &&
           std::ranges::find(unit.arguments, ValueId{store->buffer.index}) != unit.arguments.end();
  });
}

class Folder {
 public:
  Folder(const Around& around, std::size_t rows, std::size_t columns, lower::Names& names)
      : around_(around),
        rows_(rows),
        columns_(columns),
        names_(names),
        nest_(nest_by_value(around.lowered.units[columns])),
        parts_(column_sums(nest_)) {}

  Combined run() {
    if (reads_any(around_.lowered.units[rows_], parts_.after))
      return refuse("the rows need the totals of columns");
    if (const std::string words = why_not_worth_it(); !words.empty()) return refuse(words);
    if (!parts_.refused.empty()) return refuse(parts_.refused);
    lowered_.values = around_.lowered.values;
    lowered_.facts = around_.lowered.facts;
    lowered_.units.resize(around_.lowered.units.size());
    Around near{lowered_, around_.limits, around_.readers, around_.writers, around_.bodies};
    for (const std::size_t number : {rows_, columns_})
      count_touches(near, around_.lowered.units[number], number, false);
    put(near, rows_, without_totals(around_.lowered.units[rows_]));
    if (earlier_ && reads_any(around_.lowered.units[columns_], earlier_->inner))
      return refuse("the columns need the totals of others");
    for (std::size_t k = 0; k < parts_.siblings.size(); ++k)
      put(near, number_of_loop(k), storing_elements(parts_.siblings[k]));
    for (std::size_t k = 0; k < parts_.siblings.size(); ++k)
      if (const std::string words = put_beside_rows(near, number_of_loop(k)); !words.empty())
        return refuse(words);
    const lower::Unit& rows = lowered_.units[rows_];
    Nest nest = nest_by_value(rows);
    if (const std::string words = sum_up(nest, rows); !words.empty()) return refuse(words);
    return {lower::packed(nest, rows.nodes, around_.lowered), Reason::mixed_order, {}};
  }

 private:
  static Combined refuse(std::string words) { return {std::nullopt, Reason::mixed_order, std::move(words)}; }

  std::string why_not_worth_it() const {
    const Limits& limits = around_.limits;
    if (!limits.one_pass) return "one pass over both pays only where blocks have threads";
    const auto width = index::constant_of(extent_of(nest_.common));
    const bool ragged = width && !is_power_of_two(*width);
    const std::int64_t most =
        ragged ? std::min(limits.most_ragged_columns, limits.most_columns) : limits.most_columns;
    if (width && *width >= 1 && *width <= most) return "";
    return cat("one pass over both keeps totals of at most ", most, " columns",
               ragged ? " that are no power of two" : "");
  }

  // The unit that stands for a loop over the columns: the first is in the place of their own.
  std::size_t number_of_loop(std::size_t k) const {
    return k == 0 ? columns_ : around_.lowered.units.size() + k - 1;
  }
  // In a place that nothing is counted of.
  void put(Around& near, std::size_t number, lower::Unit unit) {
    if (number == lowered_.units.size()) lowered_.units.emplace_back();
    lowered_.units[number] = std::move(unit);
    near.readers.resize(lowered_.values.size());
    near.writers.resize(lowered_.values.size());
    near.bodies.resize(lowered_.units.size(), around_.bodies[columns_]);
    count_touches(near, lowered_.units[number], number, true);
  }

  // Has the rows store the elements of one loop over the columns, or says why not.
  std::string put_beside_rows(Around& near, std::size_t number) {
    Combined combined =
        feeds_rows(number) ? combine(near, number, rows_, names_) : combine(near, rows_, number, names_);
    if (!combined.unit) return combined.words;
    for (const std::size_t taken : {rows_, number}) count_touches(near, lowered_.units[taken], taken, false);
    lowered_.units[number] = {};
    put(near, rows_, std::move(*combined.unit));
    return "";
  }

  // Whether the rows read what the unit stores.
  bool feeds_rows(std::size_t number) const {
    const lower::Unit &rows = lowered_.units[rows_], &columns = lowered_.units[number];
    for (std::size_t k = 0; k < columns.arguments.size(); ++k)
      if (columns.nest.buffers[k].written &&
          std::ranges::find(rows.arguments, columns.arguments[k]) != rows.arguments.end())
        return true;
    return false;
  }

  // A matrix of elements for each total of one loop over the columns.
  lower::Unit storing_elements(const Sibling& sibling) {
    std::vector<NestLoop> loops = sibling.loops;
    loops.insert(loops.end(), nest_.common.begin(), nest_.common.end());
    lower::Draft draft{Nest{loops, {}}, around_.lowered.units[columns_].nodes};
    for (const Ref<Stmt>& stmt : parts_.before) draft.nest.items.emplace_back(stmt);
    for (const Ref<Stmt>& stmt : sibling.inner) {
      const auto* accumulate = std::get_if<Accumulate>(&stmt->node);
      if (accumulate == nullptr) {
        draft.nest.items.emplace_back(stmt);
        continue;
      }
      const index::Expr place = accumulate->place * extent_of(nest_.common) + number_of(nest_.common);
      const auto start = std::ranges::find(parts_.totals, accumulate->total, &Start::total);
      const Buffer elements = add_matrix(loops, *start);
      draft.nest.items.emplace_back(loops::stmt(Store{elements, place, {}, accumulate->values.front()}));
    }
    return lower::finish(draft, lowered_);
  }

  // Rows that have totals of columns already store the elements of these too, until all are summed up.
  lower::Unit without_totals(const lower::Unit& unit) {
    Nest rows = nest_by_value(unit);
    if (!rows.columns) return unit;
    earlier_ = *std::exchange(rows.columns, std::nullopt);
    Renaming fresh;  // no temporary of the columns' unit has the name of one of these
    std::uint32_t next =
        std::max(next_temp(unit.nest).index, next_temp(around_.lowered.units[columns_].nest).index);
    for (const Start& start : earlier_->totals) fresh.temps[start.total] = Temp{next++};
    for (Item& item : rows.items) {
      auto* sibling = std::get_if<Sibling>(&item);
      if (sibling == nullptr) continue;
      if (sibling->loops == std::vector{earlier_->loop})
        walk_along({names_.symbol("r"), earlier_->loop.extent}, *sibling);
      for (Ref<Stmt>& stmt : sibling->inner) {
        const auto* step = std::get_if<Accumulate>(&stmt->node);
        const auto start = step == nullptr ? earlier_->totals.end()
                                           : std::ranges::find(earlier_->totals, step->total, &Start::total);
        if (start == earlier_->totals.end()) continue;
        std::vector<NestLoop> loops = rows.common;
        loops.push_back(sibling->loops.front());
        const index::Expr place = step->place * earlier_->loop.extent + index::Expr(loops.back().axis);
        Start total = *start;
        total.total = fresh.temps.at(start->total);
        stmt = loops::stmt(Store{add_matrix(loops, total), place, {}, step->values.front()});
      }
    }
    for (Ref<Stmt>& stmt : earlier_->inner) stmt = rename(stmt, fresh);
    return lower::packed(rows, unit.nodes, lowered_);
  }

  Buffer add_matrix(const std::vector<NestLoop>& loops, const Start& start) {
    lower::Value value;
    value.name = cat("elements", lowered_.values.size());
    value.node = around_.lowered.units[columns_].nodes.front();
    value.dtype = ops::part_type(start.monoid, start.element, 0);
    for (const NestLoop& loop : loops) value.shape.push_back(loop.extent);
    value.strides = index::contiguous_strides(value.shape);
    value.count = extent_of(loops);
    const Buffer buffer{static_cast<std::uint32_t>(lowered_.values.size())};
    totals_.emplace(buffer, start);
    lowered_.values.push_back(std::move(value));
    return buffer;
  }

  // Every store to a matrix becomes a step of its total, or it is said why not.
  std::string sum_up(Nest& nest, const lower::Unit& unit) {
    next_temp_ = next_temp(unit.nest).index;
    const index::Facts facts = lower::facts_of(nest, around_.lowered.facts);
    for (Item& item : nest.items) {
      auto* sibling = std::get_if<Sibling>(&item);
      if (sibling == nullptr) continue;
      if (has_elements(*sibling) && nest.columns) walk_along(nest.columns->loop, *sibling);
      for (Ref<Stmt>& stmt : sibling->inner) {
        if (std::holds_alternative<Scan>(stmt->node)) return "a scan walks the rows";
        const auto* store = std::get_if<Store>(&stmt->node);
        if (store == nullptr || !totals_.contains(store->buffer)) continue;
        if (std::string words = why_other_place(*store, *sibling, nest, facts); !words.empty()) return words;
        Start start = totals_.at(store->buffer);
        const Temp total{next_temp_++};
        renamed_.emplace(start.total, total);
        start.total = total;
        start.copies = {sibling->loops.front().axis};
        if (!nest.columns) nest.columns = Columns{{}, sibling->loops.front(), {}};
        nest.columns->totals.push_back(start);
        stmt = loops::stmt(Accumulate{total, {store->value}, number_of(nest.common)});
      }
    }
    if (renamed_.size() != totals_.size()) return "a column's elements are not walked along the row";
    return add_rest(nest);
  }

  bool has_elements(const Sibling& sibling) const {
    return std::ranges::any_of(sibling.inner, [&](const Ref<Stmt>& stmt) {
      const auto* store = std::get_if<Store>(&stmt->node);
      return store != nullptr && totals_.contains(store->buffer);
    });
  }
  // All that sum up elements of columns walk one axis.
  static void walk_along(const NestLoop& columns, Sibling& sibling) {
    if (sibling.loops.size() != 1 || sibling.loops.front().extent != columns.extent) return;
    const index::Substitution axis = {{sibling.loops.front().axis, index::Expr(columns.axis)}};
    sibling.loops = {columns};
    for (Ref<Stmt>& stmt : sibling.inner) stmt = substitute(stmt, axis);
  }

  std::string why_other_place(const Store& store, const Sibling& sibling, const Nest& nest,
                              const index::Facts& facts) const {
    if (sibling.loops.size() != 1) return "the columns are several axes";
    if (nest.columns && sibling.loops.front() != nest.columns->loop)
      return "the totals of columns are summed up in different loops";
    const index::Expr place =
        number_of(nest.common) * sibling.loops.front().extent + index::Expr(sibling.loops.front().axis);
    return store.mask.all.empty() && facts.proves_equal(store.offset, place)
               ? ""
               : "the rows are not in the order in which the columns sum them up";
  }

  // What the columns' unit does with its totals.
  std::string add_rest(Nest& nest) {
    std::vector<Ref<Stmt>> rest = parts_.before;
    rest.insert(rest.end(), parts_.after.begin(), parts_.after.end());
    for (std::size_t at = rest.size(); at-- > 0;) {
      const auto* let = std::get_if<Let>(&rest[at]->node);
      const std::vector<Ref<Stmt>> behind(rest.begin() + static_cast<std::ptrdiff_t>(at) + 1, rest.end());
      if (let != nullptr && !temps_read(behind).contains(let->temp))
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
    }
    if (earlier_)
      add_rest(nest, earlier_->inner, {{earlier_->loop.axis, index::Expr(nest.columns->loop.axis)}});
    add_rest(nest, rest, axes_by(nest.columns->loop.axis));
    const std::set<ValueId> stored = lower::touched_by(nest).stored;
    for (const Ref<Stmt>& stmt : nest.columns->inner)
      for (const Load& load : loads_of(*stmt))
        if (stored.contains(ValueId{load.buffer.index})) return "the columns need what the rows store";
    return "";
  }
  void add_rest(Nest& nest, const std::vector<Ref<Stmt>>& rest, const index::Substitution& columns) {
    Renaming renaming;
    renaming.temps = renamed_;
    for (const Ref<Stmt>& stmt : rest)
      if (const auto* let = std::get_if<Let>(&stmt->node)) renaming.temps[let->temp] = Temp{next_temp_++};
    for (const Ref<Stmt>& stmt : rest)
      nest.columns->inner.push_back(substitute(rename(stmt, renaming), columns));
  }

  // The columns' axes by the number of the column.
  index::Substitution axes_by(Axis column) const {
    index::Substitution axes;
    index::Expr inside = 1;
    for (std::size_t at = nest_.common.size(); at-- > 0;) {
      const NestLoop& loop = nest_.common[at];
      const index::Expr from_here = floor_div(index::Expr(column), inside);
      axes.emplace(loop.axis, at == 0 ? from_here : floor_mod(from_here, loop.extent));
      inside = inside * loop.extent;
    }
    return axes;
  }

  const Around& around_;
  std::size_t rows_, columns_;
  lower::Names& names_;
  Nest nest_;  // of the columns
  ColumnSums parts_;
  lower::Lowered lowered_;          // with the matrices
  std::map<Buffer, Start> totals_;  // by the matrix of their elements
  std::map<Temp, Temp> renamed_;    // totals
  std::optional<Columns> earlier_;  // that the rows had before
  std::uint32_t next_temp_ = 0;
};

}  // namespace

bool has_columns(const lower::Unit& unit) { return take_apart(unit.nest).columns.has_value(); }

Combined in_one_pass(const Around& around, std::size_t first, std::size_t second, lower::Names& names) {
  if (sums_columns(around.lowered.units[second])) return Folder(around, first, second, names).run();
  if (sums_columns(around.lowered.units[first])) return Folder(around, second, first, names).run();
  return {std::nullopt, Reason::mixed_order, "no columns are neighbours in memory"};
}

}  // namespace twinloom::fuse
