// See symbols.h.
#include "core/lower/symbols.h"

#include <map>

#include "core/loops/rewrite.h"
#include "core/lower/names.h"

namespace twinloom::lower {

using namespace loops;

namespace {

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

std::set<index::Symbol> free_symbols(const Nest& nest) { return free_symbols(*put_together(nest)); }

std::set<index::Symbol> free_symbols(const Stmt& body) {
  std::set<index::Symbol> free = loops::symbols_of(body);
  for (const index::Symbol& symbol : bound_symbols(body)) free.erase(symbol);
  return free;
}

Nest with_short_names(const Nest& nest) {
  return renamed(nest, {.symbols = short_names(nest), .temps = {}, .buffers = {}});
}

}  // namespace twinloom::lower
