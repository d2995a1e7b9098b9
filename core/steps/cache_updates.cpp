// What an iteration adds to a buffer is added up nearer than memory first:
//   cache y at i.0 in scratch filled by u
//     for i.0 < n { for i.1 < 64 { index f = k[64*i.0 + i.1] below 9; y[f] atomic_add x[64*i.0 + i.1] } }
//  -> for i.0 < n { scratch y_cache[9] { for u < 9 { y_cache[u] = none }
//                                        for i.1 < 64 { index f = ..; y_cache[f] atomic_add x[..] }
//                                        for u < 9 { y[u] atomic_add y_cache[u] } } }
// The array has a dimension for each Index and each loop inside that the place depends on, those that are
// looked up first. Where nothing was added -0.0 is, which changes nothing.
#include <algorithm>

#include "core/steps/arrays.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The only store to the buffer inside, what its place depends on there, and all that changes inside.
struct Updated {
  std::optional<loops::Store> store;
  std::vector<loops::Loop> dimensions;
  std::set<index::Symbol> inside;
  std::string reason;
};

Updated updates_in(const loops::Loop& at, loops::Buffer buffer) {
  Updated found;
  std::vector<loops::Loop> looked_up, walked;
  for_each_in_loops(*at.body, [&](const Stmt& stmt, const std::vector<loops::Loop>&) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) walked.push_back(*loop);
    if (const auto* index = std::get_if<loops::Index>(&stmt.node))
      looked_up.push_back({index->symbol, index->bound, loops::Bind::serial, nullptr});
    const auto* store = std::get_if<loops::Store>(&stmt.node);
    if (store == nullptr || store->buffer != buffer) return;
    if (found.store) found.reason = "it is stored at two places";
    if (store->update == loops::Update::replace) found.reason = "not only atomics store it";
    found.store = *store;
  });
  if (loops::loads_from(*at.body, buffer)) found.reason = "it is loaded too";
  if (!found.store || !found.reason.empty()) return found;
  for (const auto* symbols : {&looked_up, &walked})
    for (const loops::Loop& dimension : *symbols) {
      found.inside.insert(dimension.axis);
      if (index::mentions(found.store->offset, dimension.axis)) found.dimensions.push_back(dimension);
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
          std::ranges::find(updated.dimensions, symbol, &loops::Loop::axis) != updated.dimensions.end();
      of_element |= is_dimension;
      of_others |= !is_dimension && updated.inside.contains(symbol);
    }
    if (of_element && of_others) return "its mask depends on more than the place";
    if (!of_others) mask.all.push_back(less);
  }
  return mask;
}

// Filled, updated in place of the buffer, and added to it.
Ref<Stmt> with_array(const loops::Loop& at, const loops::Store& store, const index::Condition& mask,
                     const Array& array, const Filling& filling, const loops::Literal& none,
                     loops::Buffer copy) {
  const index::Expr filled = index::substitute(array.place, filling.names);
  const Ref<Stmt> fill = loops::stmt(
      loops::Store{copy, filled, {}, loops::literal(none.value, none.dtype), loops::Update::replace});
  const Ref<Stmt> body = loops::rewrite_stmts(at.body, [&](const Ref<Stmt>& stmt) {
    const auto* old = std::get_if<loops::Store>(&stmt->node);
    if (old == nullptr || old->buffer != store.buffer) return stmt;
    return loops::stmt(loops::Store{copy, array.place, old->mask, old->value, old->update});
  });
  const Ref<Stmt> add = loops::stmt(loops::Store{store.buffer, index::substitute(store.offset, filling.names),
                                                 index::substitute(mask, filling.names),
                                                 loops::load(copy, filled, {}, none), store.update});
  return loops::block({in_loops(filling.loops, fill), body, in_loops(filling.loops, add)});
}

}  // namespace

Result cache_updates(const Kernel& kernel, const Cache& cache, const loops::Loop& at, loops::Buffer buffer) {
  const loops::BufferInfo& info = kernel.program.buffers[buffer.index];
  const Updated updated = updates_in(at, buffer);
  if (!updated.reason.empty()) return updated.reason;
  if (updated.dimensions.empty()) return cat("the place in ", info.name, " is the same inside ", cache.at);
  for (const loops::Loop& dimension : updated.dimensions)
    for (const index::Symbol& symbol : index::symbols_of(dimension.extent))
      if (updated.inside.contains(symbol))
        return cat("the extent of ", dimension.axis, " changes inside ", cache.at);
  const auto shaped = array_over(kernel, updated.dimensions, cache.pad);
  if (const auto* reason = std::get_if<std::string>(&shaped)) return *reason;
  const Array& array = std::get<Array>(shaped);
  Kernel result = kernel;
  const auto filling = filling_of(result, cache, array);
  if (const auto* reason = std::get_if<std::string>(&filling)) return *reason;
  const auto mask = mask_of_element(updated);
  if (const auto* reason = std::get_if<std::string>(&mask)) return *reason;
  const loops::Store& store = *updated.store;
  const bool adds = store.update == loops::Update::atomic_add;
  const loops::Literal none = {ops::identity(adds ? ops::Monoid::sum : ops::Monoid::max, info.dtype)[0],
                               info.dtype};
  const loops::Buffer copy = add_array(result, cat(info.name, "_cache"), info.dtype, array.count);
  const Ref<Stmt> made =
      with_array(at, store, std::get<index::Condition>(mask), array, std::get<Filling>(filling), none, copy);
  result.program.body =
      replace_loop(kernel.program.body, at,
                   in_loops({at}, loops::stmt(loops::Scratch{copy, array.count, cache.place, made})));
  return result;
}

}  // namespace twinloom::steps
