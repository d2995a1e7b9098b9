// See symbols.h.
#include "core/lower/symbols.h"

#include <functional>
#include <map>

#include "core/loops/rewrite.h"
#include "core/lower/names.h"

namespace twinloom::lower {

using namespace loops;

namespace {

void for_each_symbol(const Stmt& stmt, const std::function<void(const index::Symbol&)>& visit) {
  const auto in_expr = [&](const index::Expr& expr) {
    for (const index::Symbol& symbol : index::symbols_of(expr)) visit(symbol);
  };
  const auto in_mask = [&](const index::Condition& mask) {
    for (const index::Symbol& symbol : index::symbols_of(mask)) visit(symbol);
  };
  for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* loop = std::get_if<Loop>(&inner.node)) in_expr(loop->extent);
    if (const auto* index = std::get_if<Index>(&inner.node)) {
      in_expr(index->bound);
      in_mask(index->mask);
    }
    if (const auto* store = std::get_if<Store>(&inner.node)) {
      in_expr(store->offset);
      in_mask(store->mask);
    }
    if (const auto* accumulate = std::get_if<Accumulate>(&inner.node)) in_expr(accumulate->place);
    if (const auto* scan = std::get_if<Scan>(&inner.node)) in_expr(scan->place);
    if (const auto* call = std::get_if<Call>(&inner.node))
      for (const index::Expr& size : call->sizes) in_expr(size);
  });
  for_each_value(stmt, [&](const Value& value) {
    if (const auto* count = std::get_if<Count>(&value.node)) in_expr(count->expr);
    if (const auto* load = std::get_if<Load>(&value.node)) {
      in_expr(load->offset);
      in_mask(load->mask);
    }
  });
}

std::set<index::Symbol> bound_symbols(const Stmt& body) {
  std::set<index::Symbol> bound;
  for_each_stmt(body, [&](const Stmt& inner) {
    if (const auto* loop = std::get_if<Loop>(&inner.node)) bound.insert(loop->axis);
    if (const auto* index = std::get_if<Index>(&inner.node)) bound.insert(index->symbol);
    if (const auto* call = std::get_if<Call>(&inner.node))
      for (const Slot& slot : call->slots) bound.insert(slot.at.begin(), slot.at.end());
  });
  return bound;
}

// The short names, by the names in use.
std::map<index::Symbol, index::Symbol> short_names(const Nest& nest) {
  const std::set<index::Symbol> taken = free_symbols(nest);
  Names i(taken), r(taken), x(taken);
  std::map<index::Symbol, index::Symbol> names;
  for (const NestLoop& loop : nest.common) names[loop.axis] = i.symbol("i");
  const auto name_index = [&](const Ref<Stmt>& stmt) {
    if (const auto* index = std::get_if<Index>(&stmt->node)) names[index->symbol] = x.symbol("x");
  };
  for (const Item& item : nest.items) {
    if (const auto* stmt = std::get_if<Ref<Stmt>>(&item)) {
      name_index(*stmt);
      continue;
    }
    for (const NestLoop& loop : std::get<Sibling>(item).loops) names[loop.axis] = r.symbol("r");
    for (const Ref<Stmt>& inner : std::get<Sibling>(item).inner) name_index(inner);
  }
  return names;
}

Nest renamed(const Nest& nest, const Renaming& renaming) {
  index::Substitution substitution;
  for (const auto& [from, to] : renaming.symbols) substitution.emplace(from, index::Expr(to));
  const auto rename_loops = [&](std::vector<NestLoop> loops) {
    for (NestLoop& loop : loops)
      loop = {renaming.symbols.at(loop.axis), index::substitute(loop.extent, substitution)};
    return loops;
  };
  Nest result{rename_loops(nest.common), {}};
  for (const Item& item : nest.items) {
    if (const auto* stmt = std::get_if<Ref<Stmt>>(&item)) {
      result.items.emplace_back(rename(*stmt, renaming));
      continue;
    }
    Sibling sibling{rename_loops(std::get<Sibling>(item).loops), {}};
    for (const Ref<Stmt>& inner : std::get<Sibling>(item).inner)
      sibling.inner.push_back(rename(inner, renaming));
    result.items.emplace_back(std::move(sibling));
  }
  return result;
}

}  // namespace

std::set<index::Symbol> free_symbols(const Nest& nest) {
  const Ref<Stmt> body = put_together(nest);
  const std::set<index::Symbol> bound = bound_symbols(*body);
  std::set<index::Symbol> free;
  for_each_symbol(*body, [&](const index::Symbol& symbol) {
    if (!bound.contains(symbol)) free.insert(symbol);
  });
  return free;
}

Nest with_short_names(const Nest& nest) {
  return renamed(nest, {.symbols = short_names(nest), .temps = {}, .buffers = {}});
}

}  // namespace twinloom::lower
