// A copy of what an iteration reads or sums up, nearer and denser than the original.
//   cache b at j in scratch   for j < n { for k < 8 { s += a[k] * b[k*n + j] } }
//                         ->  for j < n { scratch b_cache[8] { for k < 8 { b_cache[k] = b[k*n + j] }
//                                                             for k < 8 { s += a[k] * b_cache[k] } } }
// The array has a dimension for each loop inside that the place depends on, in the order of the loops. The
// loops that fill it are those that read it, walked alike, or have names of their own.
//   cache s at k.0 in registers   start s copies (i); for k.0 < m { for k.1 < 8 { for i < 4 { s += x } } }
//                             ->  start s copies (i)
//                                 for k.0 < m { start c copies (i); for k.1 < 8 { for i < 4 { c += x } }
//                                               for i < 4 { s += c } }
#include <algorithm>

#include "core/steps/arrays.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The only load of the buffer inside, and the loops around it.
struct Loaded {
  std::optional<loops::Load> load;
  std::vector<loops::Loop> loops;
  std::string reason;
};

Loaded load_in(const Stmt& body, loops::Buffer buffer) {
  Loaded found;
  for_each_in_loops(body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    // What stands inside is visited on its own.
    if (std::holds_alternative<loops::Loop>(stmt.node) || std::holds_alternative<loops::Scratch>(stmt.node))
      return;
    loops::for_each_value(stmt, [&](const loops::Value& value) {
      const auto* load = std::get_if<loops::Load>(&value.node);
      if (load == nullptr || load->buffer != buffer) return;
      const bool alike =
          !found.load || (found.load->offset == load->offset && found.load->mask == load->mask);
      if (!alike) found.reason = "it is loaded at two places";
      found.load = *load;
      found.loops = around;
    });
  });
  return found;
}

std::variant<Array, std::string> array_of(const Kernel& kernel, const Loaded& loaded, std::int64_t pad) {
  std::vector<loops::Loop> dimensions;
  for (const loops::Loop& loop : loaded.loops)
    if (index::mentions(loaded.load->offset, loop.axis)) dimensions.push_back(loop);
  return array_over(kernel, std::move(dimensions), pad);
}

// By loops with the names that the step gives them, if it does.
std::variant<Ref<Stmt>, std::string> fill_of(Kernel& kernel, const Cache& cache, const Array& array,
                                             loops::Buffer copy, const loops::Load& load) {
  const Ref<loops::Value> original = std::make_shared<const loops::Value>(loops::Value{load});
  const Ref<Stmt> store = loops::stmt(loops::Store{copy, array.place, {}, original, loops::Update::replace});
  if (cache.fill.empty()) return in_loops(array.dimensions, store);
  const auto filling = filling_of(kernel, cache, array);
  if (const auto* reason = std::get_if<std::string>(&filling)) return *reason;
  const auto& [loops, names] = std::get<Filling>(filling);
  return in_loops(loops, loops::substitute(store, names));
}

// Whether a symbol of the load is looked up inside.
bool is_looked_up(const Stmt& body, const loops::Load& load) {
  bool found = false;
  loops::for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* index = std::get_if<loops::Index>(&stmt.node))
      found |=
          index::mentions(load.offset, index->symbol) || index::symbols_of(load.mask).contains(index->symbol);
  });
  return found;
}

Result cache_buffer(const Kernel& kernel, const Cache& cache, const loops::Loop& at, loops::Buffer buffer) {
  const loops::BufferInfo& info = kernel.program.buffers[buffer.index];
  const Loaded loaded = load_in(*at.body, buffer);
  if (!loaded.reason.empty()) return loaded.reason;
  if (is_looked_up(*at.body, *loaded.load)) return cat("the place in ", info.name, " is looked up inside");
  const auto shaped = array_of(kernel, loaded, cache.pad);
  if (const auto* reason = std::get_if<std::string>(&shaped)) return *reason;
  const Array& array = std::get<Array>(shaped);
  Kernel result = kernel;
  const loops::Buffer copy = add_array(result, cat(info.name, "_cache"), info.dtype, array.count);
  const auto fill = fill_of(result, cache, array, copy, *loaded.load);
  if (const auto* reason = std::get_if<std::string>(&fill)) return *reason;
  const Ref<Stmt> body = loops::rewrite_values(at.body, [&](const Ref<loops::Value>& value) {
    const auto* load = std::get_if<loops::Load>(&value->node);
    if (load == nullptr || load->buffer != buffer) return value;
    return loops::load(copy, array.place, {}, load->otherwise);
  });
  const Ref<Stmt> inside = loops::stmt(
      loops::Scratch{copy, array.count, cache.place, loops::block({std::get<Ref<Stmt>>(fill), body})});
  result.program.body = replace_loop(kernel.program.body, at, in_loops({at}, inside));
  return result;
}

Result cache_accumulator(const Kernel& kernel, const Cache& cache, const loops::Loop& at,
                         const loops::Start& start) {
  if (!start.free && ops::order(start.monoid, start.element) != ops::Order::any)
    return cat(cache.what, " has the canonical order, whose parts are not its to choose");
  if (cache.place != loops::Place::registers) return cat(cache.what, " is kept in registers");
  if (!cache.fill.empty() || cache.pad != 0) return cat(cache.what, " is no array");
  bool starts_inside = false;
  loops::for_each_stmt(*at.body, [&](const Stmt& stmt) {
    const auto* inner = std::get_if<loops::Start>(&stmt.node);
    starts_inside |= inner != nullptr && inner->total == start.total;
  });
  if (starts_inside) return cat(cache.what, " is started inside ", cache.at, " already");
  const Accumulated found = *accumulated_in(*at.body, start.total);
  std::vector<loops::Loop> copies;
  index::Substitution first;
  for (const loops::Loop& loop : found.loops) {
    if (std::ranges::find(start.copies, loop.axis) != start.copies.end())
      copies.push_back(loop);
    else
      first[loop.axis] = 0;
  }
  loops::Start own = start;
  own.total = loops::next_temp(kernel.program);
  own.copies.clear();
  for (const loops::Loop& loop : copies) own.copies.push_back(loop.axis);
  std::vector<Ref<loops::Value>> parts;
  for (int part = 0; part < ops::parts(start.monoid); ++part) parts.push_back(loops::read(own.total, part));
  const Ref<Stmt> add =
      in_loops(copies, loops::stmt(loops::Accumulate{start.total, std::move(parts),
                                                     index::substitute(found.step.place, first)}));
  const Ref<Stmt> body = loops::rewrite_stmts(at.body, [&](const Ref<Stmt>& stmt) {
    const auto* step = std::get_if<loops::Accumulate>(&stmt->node);
    if (step == nullptr || step->total != start.total) return stmt;
    return loops::stmt(loops::Accumulate{own.total, step->values, step->place, step->mask});
  });
  Kernel result = kernel;
  result.program.body =
      replace_loop(kernel.program.body, at, in_loops({at}, loops::block({loops::stmt(own), body, add})));
  return result;
}

}  // namespace

Result apply_cache(const Kernel& kernel, const Cache& cache) {
  const auto buffer = loops::buffer_named(kernel.program, cache.what);
  const auto start = start_named(kernel.program, cache.what);
  if (!buffer && !start) return cat("there is no buffer and no accumulator ", cache.what);
  const auto paths = paths_to(*kernel.program.body, cache.at);
  if (paths.empty()) return cat("there is no loop over ", cache.at);
  for (const std::vector<loops::Loop>& path : paths) {
    const Stmt& body = *path.back().body;
    if (buffer && loops::stores_to(body, *buffer)) return cache_updates(kernel, cache, path.back(), *buffer);
    if (buffer && kernel.program.buffers[buffer->index].written) return cat(cache.what, " is written");
    if (buffer && load_in(body, *buffer).load) return cache_buffer(kernel, cache, path.back(), *buffer);
    if (start && accumulated_in(body, start->total))
      return cache_accumulator(kernel, cache, path.back(), *start);
  }
  return cat(cache.what, buffer ? " is not loaded inside " : " is not accumulated inside ", cache.at);
}

}  // namespace twinloom::steps
