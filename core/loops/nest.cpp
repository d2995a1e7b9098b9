// Takes a nest apart by its shape and puts it together again. See nest.h.
#include "core/loops/nest.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// The loop that is all of these statements, or null.
const Loop* only_loop(const std::vector<Ref<Stmt>>& stmts) {
  return stmts.size() == 1 ? std::get_if<Loop>(&stmts.front()->node) : nullptr;
}

template <class... Kinds>
bool is_one_of(const Stmt& stmt) {
  return (std::holds_alternative<Kinds>(stmt.node) || ...);
}

// Moves the perfectly nested loops of `stmts` to `loops`; what they enclose is left in `stmts`.
void enter_loops(std::vector<Ref<Stmt>>& stmts, std::vector<NestLoop>& loops) {
  while (const Loop* loop = only_loop(stmts)) {
    CHECK(loop->bind == Bind::serial, "loop ", loop->axis, " of a nest is bound");
    loops.push_back({loop->axis, loop->extent});
    stmts = stmts_of(Ref<Stmt>(loop->body));
  }
}

Sibling sibling_of(const Ref<Stmt>& loop) {
  Sibling sibling;
  sibling.inner = {loop};
  enter_loops(sibling.inner, sibling.loops);
  for (const Ref<Stmt>& inner : sibling.inner) {
    CHECK((is_one_of<Let, Index, Store, Accumulate, Scan>(*inner)), "loop ", sibling.loops.front().axis,
          " of a nest holds a statement that belongs outside it");
    CHECK(!std::holds_alternative<Scan>(inner->node) || sibling.loops.size() == 1,
          "a scan stands in more than one loop: ", sibling.loops.front().axis, " and those inside it");
  }
  return sibling;
}

Item item_of(const Ref<Stmt>& stmt) {
  if (std::holds_alternative<Loop>(stmt->node)) return sibling_of(stmt);
  CHECK((is_one_of<Let, Index, Store, Start>(*stmt)), "a statement does not belong among a nest's items");
  return stmt;
}

bool is_column_total(const Stmt& stmt) {
  const auto* start = std::get_if<Start>(&stmt.node);
  return start != nullptr && !start->copies.empty();
}

// Moves what stands around the common loops out of `items`.
std::optional<Columns> columns_of(std::vector<Ref<Stmt>>& items) {
  if (items.empty() || !is_column_total(*items.front())) return std::nullopt;
  Columns columns;
  while (!items.empty() && is_column_total(*items.front())) {
    columns.totals.push_back(std::get<Start>(items.front()->node));
    items.erase(items.begin());
  }
  const Loop* last = items.size() == 2 ? std::get_if<Loop>(&items.back()->node) : nullptr;
  CHECK(last != nullptr, "totals of columns have no loop of theirs after that of the rows");
  CHECK(last->bind == Bind::serial, "loop ", last->axis, " of a nest is bound");
  columns.loop = {last->axis, last->extent};
  columns.inner = stmts_of(last->body);
  for (const Ref<Stmt>& inner : columns.inner)
    CHECK((is_one_of<Let, Store>(*inner)), "the loop over columns holds a statement that belongs elsewhere");
  for (const Start& start : columns.totals)
    CHECK(start.copies == std::vector{columns.loop.axis}, "t", start.total.index,
          " has copies along other loops than that of the columns");
  items.pop_back();
  return columns;
}

// Of each total the sibling that accumulates it walks the columns, and nothing but these.
void check_columns(const Nest& nest) {
  CHECK(!nest.common.empty(), "totals of columns without rows");
  for (const Item& item : nest.items) {
    const auto* sibling = std::get_if<Sibling>(&item);
    if (sibling == nullptr) continue;
    for (const Ref<Stmt>& inner : sibling->inner) {
      const auto* accumulate = std::get_if<Accumulate>(&inner->node);
      CHECK(accumulate == nullptr || !is_of_columns(nest, accumulate->total) ||
                sibling->loops == std::vector{nest.columns->loop},
            "t", accumulate->total.index, " is accumulated in other loops than that of the columns");
    }
  }
}

void check_totals_are_items(const Nest& nest) {
  std::set<Temp> started;
  if (nest.columns)
    for (const Start& start : nest.columns->totals) started.insert(start.total);
  const auto check = [&](Temp total) {
    CHECK(started.contains(total), "t", total.index, " is not started among the items before it");
  };
  for (const Item& item : nest.items) {
    if (const auto* stmt = std::get_if<Ref<Stmt>>(&item)) {
      if (const auto* start = std::get_if<Start>(&(*stmt)->node)) {
        CHECK(start->copies.empty(), "t", start->total.index, " of a turn has copies");
        started.insert(start->total);
      }
      continue;
    }
    for (const Ref<Stmt>& inner : std::get<Sibling>(item).inner) {
      if (const auto* accumulate = std::get_if<Accumulate>(&inner->node)) check(accumulate->total);
      if (const auto* scan = std::get_if<Scan>(&inner->node)) check(scan->total);
    }
  }
}

Ref<Stmt> enclose(const std::vector<NestLoop>& loops, std::vector<Ref<Stmt>> inner) {
  Ref<Stmt> body = block(std::move(inner));
  for (std::size_t i = loops.size(); i-- > 0;)
    body = stmt(Loop{loops[i].axis, loops[i].extent, Bind::serial, std::move(body)});
  return body;
}

void assume(const Stmt& stmt, index::Facts& facts) {
  if (const auto* loop = std::get_if<Loop>(&stmt.node)) facts.assume_below(loop->axis, loop->extent);
  if (const auto* index = std::get_if<Index>(&stmt.node)) facts.assume_below(index->symbol, index->bound);
  if (const auto* call = std::get_if<Call>(&stmt.node)) {
    for (const Slot& slot : call->slots) {
      const std::vector<index::Expr> extents = slot_extents(*call, slot);
      for (std::size_t k = 0; k < extents.size(); ++k) facts.assume_below(slot.at[k], extents[k]);
    }
  }
}

}  // namespace

Nest take_apart(const Program& program) {
  Nest nest;
  std::vector<Ref<Stmt>> items = stmts_of(program.body);
  if (items.size() == 1 && std::holds_alternative<Call>(items.front()->node)) {
    nest.items.emplace_back(items.front());
    return nest;
  }
  nest.columns = columns_of(items);
  enter_loops(items, nest.common);
  for (const Ref<Stmt>& stmt : items) nest.items.push_back(item_of(stmt));
  check_totals_are_items(nest);
  if (nest.columns) check_columns(nest);
  return nest;
}

Ref<Stmt> put_together(const Nest& nest) {
  std::vector<Ref<Stmt>> items;
  for (const Item& item : nest.items) {
    const auto* sibling = std::get_if<Sibling>(&item);
    items.push_back(sibling == nullptr ? std::get<Ref<Stmt>>(item) : enclose(sibling->loops, sibling->inner));
  }
  const Ref<Stmt> rows = enclose(nest.common, std::move(items));
  if (!nest.columns) return rows;
  std::vector<Ref<Stmt>> stmts;
  for (const Start& start : nest.columns->totals) stmts.push_back(stmt(start));
  stmts.push_back(rows);
  stmts.push_back(enclose({nest.columns->loop}, nest.columns->inner));
  return block(std::move(stmts));
}

bool is_of_columns(const Nest& nest, Temp total) {
  return nest.columns &&
         std::ranges::any_of(nest.columns->totals, [&](const Start& start) { return start.total == total; });
}

index::Facts facts_of(const Program& program) {
  index::Facts facts;
  for (const SizeInfo& size : program.sizes) facts.assume(size.symbol, size.range, size.divisor);
  for_each_stmt(*program.body, [&](const Stmt& stmt) { assume(stmt, facts); });
  return facts;
}

}  // namespace twinloom::loops
