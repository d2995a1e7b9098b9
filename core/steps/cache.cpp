// A copy of what an iteration reads or sums up, nearer and denser than the original.
//   cache b at j in scratch   for j < n { for k < 8 { s += a[k] * b[k*n + j] } }
//                         ->  for j < n { scratch b_cache[8] { for k < 8 { b_cache[k] = b[k*n + j] }
//                                                             for k < 8 { s += a[k] * b_cache[k] } } }
// The array has a dimension for each loop inside that the place depends on, in the order of the loops.
//   cache s at k.0 in registers   start s copies (i); for k.0 < m { for k.1 < 8 { for i < 4 { s += x } } }
//                             ->  start s copies (i)
//                                 for k.0 < m { start c copies (i); for k.1 < 8 { for i < 4 { c += x } }
//                                               for i < 4 { s += c } }
#include <algorithm>

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

struct Array {
  std::vector<loops::Loop> dimensions;
  index::Expr place = 0;
  std::int64_t count = 1;
};

std::variant<Array, std::string> array_of(const Kernel& kernel, const Loaded& loaded) {
  Array array;
  for (const loops::Loop& loop : loaded.loops) {
    if (!index::mentions(loaded.load->offset, loop.axis)) continue;
    const auto extent = most(kernel, loop.extent);
    if (!extent) return cat("no bound is known of the extent ", loop.extent, " of ", loop.axis);
    array.dimensions.push_back(loop);
    array.place = array.place * *extent + loop.axis;
    array.count *= *extent;
    constexpr std::int64_t MOST_ELEMENTS = std::int64_t{1} << 20;
    if (array.count > MOST_ELEMENTS)
      return cat("the array would have more than ", MOST_ELEMENTS, " elements");
  }
  return array;
}

Result cache_buffer(const Kernel& kernel, const Cache& cache, const loops::Loop& at, loops::Buffer buffer) {
  const loops::BufferInfo& info = kernel.program.buffers[buffer.index];
  const Loaded loaded = load_in(*at.body, buffer);
  if (!loaded.reason.empty()) return loaded.reason;
  const auto shaped = array_of(kernel, loaded);
  if (const auto* reason = std::get_if<std::string>(&shaped)) return *reason;
  const Array& array = std::get<Array>(shaped);
  Kernel result = kernel;
  const loops::Buffer copy{static_cast<std::uint32_t>(kernel.program.buffers.size())};
  result.program.buffers.push_back({.name = fresh_buffer_name(kernel.program, cat(info.name, "_cache")),
                                    .dtype = info.dtype,
                                    .count = array.count,
                                    .local = true});
  const Ref<loops::Value> original = std::make_shared<const loops::Value>(loops::Value{*loaded.load});
  const Ref<Stmt> fill = in_loops(
      array.dimensions, loops::stmt(loops::Store{copy, array.place, {}, original, loops::Update::replace}));
  const Ref<Stmt> body = loops::rewrite_values(at.body, [&](const Ref<loops::Value>& value) {
    const auto* load = std::get_if<loops::Load>(&value->node);
    if (load == nullptr || load->buffer != buffer) return value;
    return loops::load(copy, array.place, {}, load->otherwise);
  });
  const Ref<Stmt> inside =
      loops::stmt(loops::Scratch{copy, array.count, cache.place, loops::block({fill, body})});
  result.program.body = replace_loop(kernel.program.body, at, in_loops({at}, inside));
  return result;
}

Result cache_accumulator(const Kernel& kernel, const Cache& cache, const loops::Loop& at,
                         const loops::Start& start) {
  if (!start.free && ops::order(start.monoid, start.element) != ops::Order::any)
    return cat(cache.what, " has the canonical order, whose parts are not its to choose");
  if (cache.place != loops::Place::registers) return cat(cache.what, " is kept in registers");
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
  if (buffer && kernel.program.buffers[buffer->index].written) return cat(cache.what, " is written");
  const auto paths = paths_to(*kernel.program.body, cache.at);
  if (paths.empty()) return cat("there is no loop over ", cache.at);
  for (const std::vector<loops::Loop>& path : paths) {
    const Stmt& body = *path.back().body;
    if (buffer && load_in(body, *buffer).load) return cache_buffer(kernel, cache, path.back(), *buffer);
    if (start && accumulated_in(body, start->total))
      return cache_accumulator(kernel, cache, path.back(), *start);
  }
  return cat(cache.what, buffer ? " is not loaded inside " : " is not accumulated inside ", cache.at);
}

}  // namespace twinloom::steps
