// What an iteration adds to a buffer is added up nearer than memory first:
//   cache y at i.0 in scratch filled by u
//     for i.0 < n { for i.1 < 64 { index f = k[64*i.0 + i.1] below 9; y[f] atomic_add x[64*i.0 + i.1] } }
//  -> for i.0 < n { scratch y_cache[9] { for u < 9 { y_cache[u] = none }
//                                        for i.1 < 64 { index f = ..; y_cache[f] atomic_add x[..] }
//                                        for u < 9 { y[u] atomic_add y_cache[u] } } }
// The array has a dimension for each Index and each loop inside that the place depends on, those that are
// looked up first. Where nothing was added -0.0 is, which changes nothing.
#include <algorithm>

#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

struct Dimension {
  index::Symbol symbol;
  index::Expr extent;
};

// The only store to the buffer inside, what its place depends on there, and all that changes inside.
struct Updated {
  std::optional<loops::Store> store;
  std::vector<Dimension> dimensions;
  std::set<index::Symbol> inside;
  std::string reason;
};

Updated updates_in(const loops::Loop& at, loops::Buffer buffer) {
  Updated found;
  std::vector<Dimension> looked_up, walked;
  for_each_in_loops(*at.body, [&](const Stmt& stmt, const std::vector<loops::Loop>&) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) walked.push_back({loop->axis, loop->extent});
    if (const auto* index = std::get_if<loops::Index>(&stmt.node))
      looked_up.push_back({index->symbol, index->bound});
    const auto* store = std::get_if<loops::Store>(&stmt.node);
    if (store == nullptr || store->buffer != buffer) return;
    if (found.store) found.reason = "it is stored at two places";
    if (store->update == loops::Update::replace) found.reason = "not only atomics store it";
    found.store = *store;
  });
  if (loops::loads_from(*at.body, buffer)) found.reason = "it is loaded too";
  if (!found.store || !found.reason.empty()) return found;
  for (const auto* symbols : {&looked_up, &walked})
    for (const Dimension& dimension : *symbols) {
      found.inside.insert(dimension.symbol);
      if (index::mentions(found.store->offset, dimension.symbol)) found.dimensions.push_back(dimension);
    }
  return found;
}

// What of the mask holds for an element of the array whatever else happens inside.
std::variant<index::Condition, std::string> mask_of_element(const Updated& updated) {
  index::Condition mask;
  for (const index::Less& less : updated.store->mask.all) {
    bool of_element = false, of_others = false;
    for (const index::Symbol& symbol : index::symbols_of(index::Condition{{less}})) {
      const bool is_dimension =
          std::ranges::find(updated.dimensions, symbol, &Dimension::symbol) != updated.dimensions.end();
      of_element |= is_dimension;
      of_others |= !is_dimension && updated.inside.contains(symbol);
    }
    if (of_element && of_others) return "its mask depends on more than the place";
    if (!of_others) mask.all.push_back(less);
  }
  return mask;
}

// The loops that fill it and that add it to the buffer, and the place of an element by the symbols of each.
struct Array {
  std::vector<loops::Loop> loops;
  index::Substitution names;
  index::Expr inside = 0, filled = 0;
  std::int64_t count = 1;
};

std::variant<Array, std::string> array_of(const Kernel& kernel, const Cache& cache, const Updated& updated) {
  if (cache.fill.size() != updated.dimensions.size())
    return cat("the array has ", updated.dimensions.size(), " dimensions, and ", cache.fill.size(),
               " loops fill it");
  Array array;
  std::set<index::Symbol> taken = symbols_in(kernel.program);
  for (std::size_t number = 0; number < cache.fill.size(); ++number) {
    const auto& [symbol, extent] = updated.dimensions[number];
    const loops::Axis axis(cache.fill[number]);
    if (!taken.insert(axis).second) return cat("the name ", axis, " is taken");
    const auto bound = most(kernel, extent);
    if (!bound) return cat("no bound is known of the extent ", extent, " of ", symbol);
    for (const index::Symbol& other : index::symbols_of(extent))
      if (updated.inside.contains(other)) return cat("the extent of ", symbol, " changes inside ", cache.at);
    const std::int64_t width = *bound + (number + 1 == cache.fill.size() ? cache.pad : 0);
    array.inside = array.inside * width + index::Expr(symbol);
    array.filled = array.filled * width + index::Expr(axis);
    array.count *= width;
    if (array.count > MOST_ELEMENTS)
      return cat("the array would have more than ", MOST_ELEMENTS, " elements");
    array.names.emplace(symbol, axis);
    array.loops.push_back({axis, extent, loops::Bind::serial, nullptr});
  }
  return array;
}

// Filled, updated in place of the buffer, and added to it.
Ref<Stmt> with_array(const loops::Loop& at, const Updated& updated, const Array& array, loops::Buffer copy,
                     const index::Condition& mask, ops::DType dtype) {
  const loops::Store& store = *updated.store;
  const ops::Monoid monoid = store.update == loops::Update::atomic_add ? ops::Monoid::sum : ops::Monoid::max;
  const ops::Number none = ops::identity(monoid, dtype)[0];
  const Ref<Stmt> fill =
      loops::stmt(loops::Store{copy, array.filled, {}, loops::literal(none, dtype), loops::Update::replace});
  const Ref<Stmt> body = loops::rewrite_stmts(at.body, [&](const Ref<Stmt>& stmt) {
    const auto* old = std::get_if<loops::Store>(&stmt->node);
    if (old == nullptr || old->buffer != store.buffer) return stmt;
    return loops::stmt(loops::Store{copy, array.inside, old->mask, old->value, old->update});
  });
  const Ref<Stmt> add = loops::stmt(loops::Store{
      store.buffer, index::substitute(store.offset, array.names), index::substitute(mask, array.names),
      loops::load(copy, array.filled, {}, {none, dtype}), store.update});
  return loops::block({in_loops(array.loops, fill), body, in_loops(array.loops, add)});
}

}  // namespace

Result cache_updates(const Kernel& kernel, const Cache& cache, const loops::Loop& at, loops::Buffer buffer) {
  const loops::BufferInfo& info = kernel.program.buffers[buffer.index];
  const Updated updated = updates_in(at, buffer);
  if (!updated.reason.empty()) return updated.reason;
  if (updated.dimensions.empty()) return cat("the place in ", info.name, " is the same inside ", cache.at);
  const auto shaped = array_of(kernel, cache, updated);
  if (const auto* reason = std::get_if<std::string>(&shaped)) return *reason;
  const auto mask = mask_of_element(updated);
  if (const auto* reason = std::get_if<std::string>(&mask)) return *reason;
  const Array& array = std::get<Array>(shaped);
  Kernel result = kernel;
  const loops::Buffer copy = add_array(result, cat(info.name, "_cache"), info.dtype, array.count);
  for (const loops::Loop& loop : array.loops) result.facts.assume_below(loop.axis, loop.extent);
  const Ref<Stmt> made = loops::stmt(
      loops::Scratch{copy, array.count, cache.place,
                     with_array(at, updated, array, copy, std::get<index::Condition>(mask), info.dtype)});
  result.program.body = replace_loop(kernel.program.body, at, in_loops({at}, made));
  return result;
}

}  // namespace twinloom::steps
