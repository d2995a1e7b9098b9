// See siblings.h.
#include "core/fuse/siblings.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/fuse/items.h"
#include "core/index/simplify.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// What the statements need from other items: temps and symbols.
struct Needs {
  std::set<Temp> temps;
  std::set<index::Symbol> symbols;
};
Needs needs_of(const Item& item) {
  Needs needs;
  const auto in_expr = [&](const index::Expr& expr) { needs.symbols.merge(index::symbols_of(expr)); };
  const auto in_mask = [&](const index::Condition& mask) { needs.symbols.merge(index::symbols_of(mask)); };
  if (const auto* sibling = std::get_if<Sibling>(&item))
    for (const NestLoop& loop : sibling->loops) in_expr(loop.extent);
  std::vector<Ref<Value>> values;
  for (const Ref<Stmt>& stmt : statements_in(item)) {
    for (Ref<Value>& value : lower::values_of(*stmt)) values.push_back(std::move(value));
    if (const auto* store = std::get_if<Store>(&stmt->node)) {
      in_expr(store->offset);
      in_mask(store->mask);
    }
    if (const auto* index = std::get_if<Index>(&stmt->node)) in_mask(index->mask);
    if (const auto* total = std::get_if<Accumulate>(&stmt->node)) needs.temps.insert(total->total);
    if (const auto* scan = std::get_if<Scan>(&stmt->node)) needs.temps.insert(scan->total);
  }
  lower::for_each_distinct(values, [&](const Value& value) {
    if (const auto* read = std::get_if<Read>(&value.node)) needs.temps.insert(read->temp);
    if (const auto* count = std::get_if<Count>(&value.node)) in_expr(count->expr);
    if (const auto* load = std::get_if<Load>(&value.node)) {
      in_expr(load->offset);
      in_mask(load->mask);
    }
  });
  return needs;
}

// Temps that the item gives values to, and symbols that it binds for items after it.
Needs gives_of(const Item& item) {
  Needs gives;
  if (const auto* sibling = std::get_if<Sibling>(&item)) {
    for (const Ref<Stmt>& stmt : sibling->inner)
      if (const auto* total = std::get_if<Accumulate>(&stmt->node)) gives.temps.insert(total->total);
    return gives;
  }
  const Stmt& stmt = *std::get<Ref<Stmt>>(item);
  if (const auto* start = std::get_if<Start>(&stmt.node)) gives.temps.insert(start->total);
  if (const auto* index = std::get_if<Index>(&stmt.node)) gives.symbols.insert(index->symbol);
  return gives;
}

template <class Name>
bool meet(const std::set<Name>& a, const std::set<Name>& b) {
  return std::ranges::any_of(a, [&](const Name& name) { return b.contains(name); });
}

// Items after `first` and before `second` that `second` needs, also through others.
std::set<std::size_t> needed_between(const Nest& nest, std::size_t first, std::size_t second) {
  Needs needs = needs_of(nest.items[second]);
  std::set<std::size_t> needed;
  for (std::size_t k = second; k-- > first;) {
    const Needs gives = gives_of(nest.items[k]);
    if (!meet(gives.temps, needs.temps) && !meet(gives.symbols, needs.symbols)) continue;
    needed.insert(k);
    Needs more = needs_of(nest.items[k]);
    needs.temps.merge(more.temps);
    needs.symbols.merge(more.symbols);
  }
  return needed;
}

Sibling renamed(const Sibling& sibling, const std::map<Axis, Axis>& names) {
  lower::Transformer move = substituting(by_names(names));
  Sibling result{sibling.loops, {}};
  for (NestLoop& loop : result.loops) loop.axis = names.at(loop.axis);
  for (const Ref<Stmt>& stmt : sibling.inner) result.inner.push_back(move(stmt));
  return result;
}

std::set<std::pair<Buffer, std::string>> loads_of(const Sibling& sibling, const index::Facts& facts) {
  std::vector<Ref<Value>> values;
  for (const Ref<Stmt>& stmt : sibling.inner)
    for (Ref<Value>& value : lower::values_of(*stmt)) values.push_back(std::move(value));
  std::set<std::pair<Buffer, std::string>> loads;
  lower::for_each_distinct(values, [&](const Value& value) {
    const auto* load = std::get_if<Load>(&value.node);
    if (load == nullptr) return;
    // What every turn of the sibling loads at one place is no reason to walk together.
    const std::set<index::Symbol> symbols = index::symbols_of(load->offset);
    const bool walks =
        std::ranges::any_of(sibling.loops, [&](const NestLoop& loop) { return symbols.contains(loop.axis); });
    if (walks) loads.emplace(load->buffer, index::print(index::simplify(load->offset, facts)));
  });
  return loads;
}

// The renaming of second's axes that makes the two load most in common; nothing where that is nothing.
std::optional<std::map<Axis, Axis>> best_match(const Sibling& first, const Sibling& second,
                                               const index::Facts& facts) {
  constexpr std::size_t most_loops = 5;  // every order of them is tried
  if (first.loops.size() != second.loops.size() || first.loops.size() > most_loops) return std::nullopt;
  const auto known = loads_of(first, facts);
  std::vector<std::size_t> order(first.loops.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<std::map<Axis, Axis>> best;
  std::size_t most = 0;
  do {
    std::map<Axis, Axis> names;
    bool fits = true;
    for (std::size_t k = 0; k < order.size(); ++k) {
      fits = fits && second.loops[k].extent == first.loops[order[k]].extent;
      names[second.loops[k].axis] = first.loops[order[k]].axis;
    }
    if (!fits) continue;
    std::size_t common = 0;
    for (const auto& load : loads_of(renamed(second, names), facts)) common += known.contains(load) ? 1U : 0U;
    if (common <= most) continue;
    most = common;
    best = std::move(names);
  } while (std::ranges::next_permutation(order).found);
  return best;
}

template <class Kind>
bool holds(const Sibling& sibling) {
  return std::ranges::any_of(sibling.inner,
                             [](const Ref<Stmt>& stmt) { return std::holds_alternative<Kind>(stmt->node); });
}

std::optional<Nest> merge_one(const Nest& nest, const index::Facts& facts) {
  for (std::size_t i = 0; i < nest.items.size(); ++i) {
    const auto* first = std::get_if<Sibling>(&nest.items[i]);
    if (first == nullptr) continue;
    for (std::size_t j = i + 1; j < nest.items.size(); ++j) {
      const auto* second = std::get_if<Sibling>(&nest.items[j]);
      if (second == nullptr) continue;
      const auto names = best_match(*first, *second, facts);
      if (!names) continue;
      if (auto merged = join(nest, i, j, *names)) return merged;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Nest> join(const Nest& nest, std::size_t first, std::size_t second,
                         const std::map<Axis, Axis>& first_by_second) {
  const std::set<std::size_t> needed = needed_between(nest, first, second);
  const bool needs_a_sibling = std::ranges::any_of(
      needed, [&](std::size_t k) { return std::holds_alternative<Sibling>(nest.items[k]); });
  if (needs_a_sibling) return std::nullopt;
  Nest result{nest.common, {}};
  for (std::size_t k = 0; k < nest.items.size(); ++k) {
    if (k == second || needed.contains(k)) continue;
    if (k != first) {
      result.items.push_back(nest.items[k]);
      continue;
    }
    for (const std::size_t earlier : needed) result.items.push_back(nest.items[earlier]);
    Sibling both = std::get<Sibling>(nest.items[first]);
    const Sibling more = renamed(std::get<Sibling>(nest.items[second]), first_by_second);
    // A total counts its elements in the order of its loops; what is only stored has none.
    if (holds<Accumulate>(more) && more.loops != both.loops) {
      if (holds<Accumulate>(both)) return std::nullopt;
      both.loops = more.loops;
    }
    both.inner.insert(both.inner.end(), more.inner.begin(), more.inner.end());
    if (holds<Scan>(both) && holds<Accumulate>(both)) return std::nullopt;
    result.items.emplace_back(std::move(both));
  }
  return result;
}

Nest merge_siblings(Nest nest, const index::Facts& facts) {
  while (auto merged = merge_one(nest, facts)) nest = std::move(*merged);
  return nest;
}

}  // namespace twinloom::fuse
