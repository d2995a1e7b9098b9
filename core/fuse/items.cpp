// See items.h.
#include "core/fuse/items.h"

#include <algorithm>

#include "core/fuse/forward.h"

namespace twinloom::fuse {

using namespace loops;

std::vector<Ref<Stmt>> statements_in(const Item& item) {
  if (const auto* sibling = std::get_if<Sibling>(&item)) return sibling->inner;
  return {std::get<Ref<Stmt>>(item)};
}

std::vector<Ref<Stmt>> statements_in(const Nest& nest) {
  std::vector<Ref<Stmt>> all;
  for (const Item& item : nest.items)
    for (Ref<Stmt>& stmt : statements_in(item)) all.push_back(std::move(stmt));
  return all;
}

std::vector<Load> loads_in(const Nest& nest) {
  std::vector<Load> loads;
  for (const Ref<Stmt>& stmt : statements_in(nest))
    for (Load& load : loads_of(*stmt)) loads.push_back(std::move(load));
  return loads;
}

void change_statements(Nest& nest, lower::Transformer change) {
  for (Item& item : nest.items) {
    if (auto* sibling = std::get_if<Sibling>(&item))
      for (Ref<Stmt>& stmt : sibling->inner) stmt = change(stmt);
    else
      item = change(std::get<Ref<Stmt>>(item));
  }
}

lower::Transformer substituting(const index::Substitution& symbols, const index::Facts* facts) {
  return lower::Transformer(
      lower::Change{.symbols = symbols, .reads = {}, .mask = {}, .load = {}, .facts = facts});
}

index::Substitution by_names(const std::map<Axis, Axis>& names) {
  index::Substitution symbols;
  for (const auto& [from, to] : names) symbols.emplace(from, index::Expr(to));
  return symbols;
}

std::vector<NestLoop> axes_not_in(const std::vector<NestLoop>& loops, const std::map<Axis, Axis>& matched) {
  std::vector<NestLoop> left;
  for (const NestLoop& loop : loops)
    if (!matched.contains(loop.axis)) left.push_back(loop);
  return left;
}

std::vector<Item> under(const Nest& nest, const std::vector<NestLoop>& left) {
  if (left.empty()) return nest.items;
  Sibling sibling{left, {}};
  for (const Item& item : nest.items) sibling.inner.push_back(std::get<Ref<Stmt>>(item));
  return {Item{std::move(sibling)}};
}

Nest renamed(const Nest& nest, const std::map<Axis, Axis>& names) {
  const index::Substitution symbols = by_names(names);
  Nest result{nest.common, nest.items};
  for (NestLoop& loop : result.common)
    if (names.contains(loop.axis)) loop.axis = names.at(loop.axis);
  for (Item& item : result.items)
    if (auto* sibling = std::get_if<Sibling>(&item))
      for (NestLoop& loop : sibling->loops) loop.extent = index::substitute(loop.extent, symbols);
  change_statements(result, substituting(symbols));
  return result;
}

std::vector<Item> without_stores(const std::vector<Item>& items, const std::set<Buffer>& dropped) {
  const auto goes = [&](const Ref<Stmt>& stmt) {
    const auto* store = std::get_if<Store>(&stmt->node);
    return store != nullptr && dropped.contains(store->buffer);
  };
  std::vector<Item> kept;
  for (const Item& item : items) {
    if (const auto* sibling = std::get_if<Sibling>(&item)) {
      Sibling copy{sibling->loops, {}};
      std::ranges::remove_copy_if(sibling->inner, std::back_inserter(copy.inner), goes);
      if (!copy.inner.empty()) kept.emplace_back(std::move(copy));
    } else if (!goes(std::get<Ref<Stmt>>(item))) {
      kept.push_back(item);
    }
  }
  return kept;
}

}  // namespace twinloom::fuse
