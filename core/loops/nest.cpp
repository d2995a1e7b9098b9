// Takes a nest apart by its shape and puts it together again. See nest.h.
#include "core/loops/nest.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

std::vector<Ref<Stmt>> statements_of(const Ref<Stmt>& stmt) {
  const Ref<Stmt> flat = block({stmt});
  if (const auto* many = std::get_if<Block>(&flat->node)) return many->stmts;
  return {flat};
}

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
    stmts = statements_of(Ref<Stmt>(loop->body));
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

void check_totals_are_items(const Nest& nest) {
  std::set<Temp> started;
  const auto check = [&](Temp total) {
    CHECK(started.contains(total), "t", total.index, " is not started among the items before it");
  };
  for (const Item& item : nest.items) {
    if (const auto* stmt = std::get_if<Ref<Stmt>>(&item)) {
      if (const auto* start = std::get_if<Start>(&(*stmt)->node)) started.insert(start->total);
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
    for (const Slot& slot : call->slots)
      for (const Axis& axis : slot.at) facts.assume_below(axis, call->sizes.front());
  }
}

}  // namespace

Nest take_apart(const Program& program) {
  Nest nest;
  std::vector<Ref<Stmt>> items = statements_of(program.body);
  if (items.size() == 1 && std::holds_alternative<Call>(items.front()->node)) {
    nest.items.emplace_back(items.front());
    return nest;
  }
  enter_loops(items, nest.common);
  for (const Ref<Stmt>& stmt : items) nest.items.push_back(item_of(stmt));
  check_totals_are_items(nest);
  return nest;
}

Ref<Stmt> put_together(const Nest& nest) {
  std::vector<Ref<Stmt>> items;
  for (const Item& item : nest.items) {
    const auto* sibling = std::get_if<Sibling>(&item);
    items.push_back(sibling == nullptr ? std::get<Ref<Stmt>>(item) : enclose(sibling->loops, sibling->inner));
  }
  return enclose(nest.common, std::move(items));
}

index::Facts facts_of(const Program& program) {
  index::Facts facts;
  for (const SizeInfo& size : program.sizes) facts.assume(size.symbol, size.range, size.divisor);
  for_each_stmt(*program.body, [&](const Stmt& stmt) { assume(stmt, facts); });
  return facts;
}

}  // namespace twinloom::loops
