// See parts.h.
#include "core/loops/parts.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/loops/rewrite.h"

namespace twinloom::loops {

namespace {

// What ties statements together.
struct Names {
  std::set<Temp> temps;
  std::set<index::Symbol> indices;  // that the statement looks up
  std::set<index::Symbol> symbols;  // that it mentions
};

Names names_in(const Stmt& stmt) {
  Names names;
  for_each_temp(stmt, [&](Temp temp) { names.temps.insert(temp); });
  for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* index = std::get_if<Index>(&inner.node)) names.indices.insert(index->symbol);
  });
  names.symbols = symbols_of(stmt);
  return names;
}

template <class Item>
bool have_in_common(const std::set<Item>& a, const std::set<Item>& b) {
  return std::ranges::any_of(a, [&](const Item& item) { return b.contains(item); });
}

Ref<Stmt> in_common(const std::vector<NestLoop>& loops, Ref<Stmt> body) {
  for (std::size_t at = loops.size(); at-- > 0;)
    body = stmt(Loop{loops[at].axis, loops[at].extent, Bind::serial, std::move(body)});
  return body;
}

}  // namespace

bool has_parts(const Program& nest) {
  bool found = false;
  for_each_stmt(*nest.body, [&](const Stmt& stmt) { found |= std::holds_alternative<Scratch>(stmt.node); });
  return found;
}

std::vector<std::vector<Ref<Stmt>>> independent_groups(const std::vector<Ref<Stmt>>& stmts) {
  std::vector<Names> names;
  for (const Ref<Stmt>& stmt : stmts) names.push_back(names_in(*stmt));
  std::vector<std::vector<Ref<Stmt>>> groups;
  for (std::size_t at = 0, end = 0; at < stmts.size(); ++at) {
    if (at == end) groups.emplace_back();
    end = std::max(end, at + 1);
    groups.back().push_back(stmts[at]);
    for (std::size_t later = at + 1; later < stmts.size(); ++later)
      if (have_in_common(names[at].temps, names[later].temps) ||
          have_in_common(names[at].indices, names[later].symbols))
        end = std::max(end, later + 1);
  }
  return groups;
}

Parts parts_of(const Program& nest) {
  Parts parts;
  std::vector<Ref<Stmt>> stmts = stmts_of(nest.body);
  while (stmts.size() == 1) {
    if (const auto* loop = std::get_if<Loop>(&stmts.front()->node); loop != nullptr && parts.arrays.empty()) {
      CHECK(loop->bind == Bind::serial, "loop ", loop->axis, " of a nest is bound");
      parts.common.push_back({loop->axis, loop->extent});
      stmts = stmts_of(Ref<Stmt>(loop->body));
    } else if (const auto* array = std::get_if<Scratch>(&stmts.front()->node)) {
      CHECK(array->place == Place::scratch, "an array of a nest is in ", name(array->place));
      parts.arrays.push_back(*array);
      stmts = stmts_of(Ref<Stmt>(array->body));
    } else {
      break;
    }
  }
  CHECK(!parts.common.empty() && !parts.arrays.empty(), "a nest of parts has no common loops or no arrays");
  parts.parts = independent_groups(stmts);
  CHECK(parts.parts.size() > 1, "a nest with arrays has one part");
  for (std::size_t part = 0; part < parts.parts.size(); ++part) take_apart(nest_of(nest, parts, part));
  return parts;
}

Ref<Stmt> put_together(const Parts& parts) {
  std::vector<Ref<Stmt>> stmts;
  for (const std::vector<Ref<Stmt>>& part : parts.parts) stmts.insert(stmts.end(), part.begin(), part.end());
  Ref<Stmt> body = block(std::move(stmts));
  for (std::size_t at = parts.arrays.size(); at-- > 0;) {
    Scratch array = parts.arrays[at];
    array.body = std::move(body);
    body = stmt(std::move(array));
  }
  return in_common(parts.common, std::move(body));
}

Program nest_of(const Program& nest, const Parts& parts, std::size_t part) {
  Program alone = nest;
  alone.body = in_common(parts.common, block(parts.parts[part]));
  return alone;
}

Ref<Stmt> move_accesses(const Ref<Stmt>& stmt, Buffer from, Buffer to,
                        const std::function<index::Expr(const index::Expr&)>& place) {
  const Ref<Stmt> loaded = rewrite_values(stmt, [&](const Ref<Value>& value) {
    const auto* old = std::get_if<Load>(&value->node);
    if (old == nullptr || old->buffer != from) return value;
    return load(to, place(old->offset), old->mask, old->otherwise);
  });
  return rewrite_stmts(loaded, [&](const Ref<Stmt>& inner) {
    const auto* store = std::get_if<Store>(&inner->node);
    if (store == nullptr || store->buffer != from) return inner;
    Store there = *store;
    there.buffer = to;
    there.offset = place(store->offset);
    return loops::stmt(std::move(there));
  });
}

}  // namespace twinloom::loops
