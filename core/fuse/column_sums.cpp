// See column_sums.h.
#include "core/fuse/column_sums.h"

#include <algorithm>

#include "core/fuse/forward.h"
#include "core/loops/rewrite.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// Whether a later loop over the column reads what an earlier one has left.
bool depends_on_earlier(const ColumnSums& parts) {
  std::set<Temp> left;
  for (const Start& start : parts.totals) left.insert(start.total);
  for (const Ref<Stmt>& stmt : parts.after)
    if (const auto* let = std::get_if<Let>(&stmt->node)) left.insert(let->temp);
  return std::ranges::any_of(parts.siblings, [&](const Sibling& sibling) {
    return std::ranges::any_of(temps_read(sibling.inner), [&](Temp temp) { return left.contains(temp); });
  });
}

bool mentions_any(const Load& load, const std::vector<NestLoop>& loops) {
  return std::ranges::any_of(loops,
                             [&](const NestLoop& loop) { return index::mentions(load.offset, loop.axis); });
}
bool are_neighbours(const Load& load, const NestLoop& loop) {
  const auto linear = index::linear_in(load.offset, loop.axis);
  return linear && index::constant_of(linear->scale) == 1;
}

}  // namespace

Nest nest_by_value(const lower::Unit& unit) {
  Renaming renaming;
  for (std::uint32_t k = 0; k < unit.arguments.size(); ++k)
    renaming.buffers[Buffer{k}] = Buffer{unit.arguments[k].index};
  return take_apart({unit.nest.name, {}, {}, rename(unit.nest.body, renaming)});
}

std::set<Temp> temps_read(const std::vector<Ref<Stmt>>& stmts) {
  std::set<Temp> temps;
  for (const Ref<Stmt>& stmt : stmts)
    for_each_value(*stmt, [&](const Value& value) {
      if (const auto* read = std::get_if<Read>(&value.node)) temps.insert(read->temp);
    });
  return temps;
}

ColumnSums column_sums(const Nest& nest) {
  ColumnSums parts;
  for (const Item& item : nest.items) {
    if (const auto* sibling = std::get_if<Sibling>(&item)) {
      parts.siblings.push_back(*sibling);
      continue;
    }
    const Ref<Stmt>& stmt = std::get<Ref<Stmt>>(item);
    const bool first = parts.siblings.empty();
    if (const auto* start = std::get_if<Start>(&stmt->node))
      parts.totals.push_back(*start);
    else if (std::holds_alternative<Index>(stmt->node) ||
             (first && std::holds_alternative<Store>(stmt->node)))
      parts.refused = "a column does more than to sum up";
    else
      (first ? parts.before : parts.after).push_back(stmt);
  }
  if (parts.totals.empty()) parts.refused = "the columns have no totals";
  if (depends_on_earlier(parts)) parts.refused = "the columns are walked again with their totals";
  for (const Start& start : parts.totals)
    if (ops::parts(start.monoid) != 1) parts.refused = "a total of a column has several parts";
  for (const Sibling& sibling : parts.siblings)
    for (const Ref<Stmt>& stmt : sibling.inner)
      if (std::holds_alternative<Scan>(stmt->node)) parts.refused = "a scan walks the columns";
  return parts;
}

bool sums_columns(const lower::Unit& unit) {
  const Nest nest = take_apart(unit.nest);
  const ColumnSums parts = column_sums(nest);
  int columns = 0;
  if (nest.common.empty() || nest.columns) return false;
  for (const Sibling& sibling : parts.siblings) {
    for (const Ref<Stmt>& stmt : sibling.inner) {
      for (const Load& load : loads_of(*stmt)) {
        if (!mentions_any(load, nest.common) || !mentions_any(load, sibling.loops)) continue;
        columns += are_neighbours(load, nest.common.back()) ? 1 : 0;
        columns -= are_neighbours(load, sibling.loops.back()) ? 1 : 0;
      }
    }
  }
  return columns > 0;
}

}  // namespace twinloom::fuse
