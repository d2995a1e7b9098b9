// See tree.h.
#include "core/steps/tree.h"

#include <algorithm>

#include "core/index/simplify.h"

namespace twinloom::steps {

namespace {

void walk(const Stmt& stmt, std::vector<loops::Loop>& around, const Visit& visit) {
  if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const Ref<Stmt>& inner : block->stmts) walk(*inner, around, visit);
    return;
  }
  visit(stmt, around);
  if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) walk(*scratch->body, around, visit);
  if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
    around.push_back(*loop);
    walk(*loop->body, around, visit);
    around.pop_back();
  }
}

}  // namespace

void for_each_in_loops(const Stmt& body, const Visit& visit) {
  std::vector<loops::Loop> around;
  walk(body, around, visit);
}

std::vector<std::vector<loops::Loop>> paths_to(const Stmt& body, std::string_view axis) {
  std::vector<std::vector<loops::Loop>> found;
  for_each_in_loops(body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    const auto* loop = std::get_if<loops::Loop>(&stmt.node);
    if (loop == nullptr || loop->axis.name() != axis) return;
    found.push_back(around);
    found.back().push_back(*loop);
  });
  return found;
}

std::vector<loops::Loop> path_to(const Stmt& body, std::string_view axis) {
  std::vector<std::vector<loops::Loop>> found = paths_to(body, axis);
  return found.size() == 1 ? std::move(found.front()) : std::vector<loops::Loop>();
}

Ref<Stmt> replace_loop(const Ref<Stmt>& body, const loops::Loop& loop, const Ref<Stmt>& made) {
  return loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) {
    const auto* other = std::get_if<loops::Loop>(&stmt->node);
    return other != nullptr && other->axis == loop.axis && other->body == loop.body ? made : stmt;
  });
}

Ref<Stmt> replace_loops(const Ref<Stmt>& body, const loops::Axis& axis,
                        const std::function<Ref<Stmt>(const loops::Loop&)>& change) {
  return loops::rewrite_stmts(body, [&](const Ref<Stmt>& stmt) {
    const auto* loop = std::get_if<loops::Loop>(&stmt->node);
    return loop != nullptr && loop->axis == axis ? change(*loop) : stmt;
  });
}

std::vector<Accumulated> all_accumulated_in(const Stmt& body, loops::Temp total) {
  std::vector<Accumulated> found;
  for_each_in_loops(body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    const auto* step = std::get_if<loops::Accumulate>(&stmt.node);
    if (step != nullptr && step->total == total) found.push_back({*step, around});
  });
  return found;
}

std::optional<Accumulated> accumulated_in(const Stmt& body, loops::Temp total) {
  std::vector<Accumulated> found = all_accumulated_in(body, total);
  return found.empty() ? std::nullopt : std::optional(std::move(found.back()));
}

Ref<Stmt> in_loops(const std::vector<loops::Loop>& loops, Ref<Stmt> body) {
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop)
    body = loops::stmt(loops::Loop{loop->axis, loop->extent, loop->bind, std::move(body)});
  return body;
}

std::optional<std::int64_t> most(const Kernel& kernel, const index::Expr& extent) {
  return kernel.facts.range(index::simplify(extent, kernel.facts)).high;
}

std::optional<loops::Start> start_named(const loops::Program& program, std::string_view name) {
  std::optional<loops::Start> found;
  loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt.node);
    if (start != nullptr && cat("t", start->total.index) == name) found = *start;
  });
  return found;
}

bool has_copies_along(const loops::Program& program, const std::vector<loops::Loop>& loops) {
  bool found = false;
  loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt.node);
    if (start == nullptr) return;
    for (const loops::Loop& loop : loops)
      found |= std::ranges::find(start->copies, loop.axis) != start->copies.end();
  });
  return found;
}

loops::Buffer add_array(Kernel& kernel, const std::string& name, ops::DType dtype, std::int64_t count) {
  const loops::Buffer array{static_cast<std::uint32_t>(kernel.program.buffers.size())};
  kernel.program.buffers.push_back({.name = fresh_buffer_name(kernel.program.buffers, name),
                                    .dtype = dtype,
                                    .count = count,
                                    .local = true});
  return array;
}

std::set<index::Symbol> symbols_in(const loops::Program& program) {
  std::set<index::Symbol> symbols;
  for (const loops::SizeInfo& size : program.sizes) symbols.insert(size.symbol);
  loops::for_each_stmt(*program.body, [&](const Stmt& stmt) {
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) symbols.insert(loop->axis);
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) symbols.insert(index->symbol);
  });
  return symbols;
}

namespace {

// Axes that accumulators which are started outside of the statement have copies along.
std::set<index::Symbol> copied_outside(const Stmt& body, const Stmt& stmt) {
  std::set<index::Symbol> axes;
  std::set<loops::Temp> inside;
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    if (const auto* start = std::get_if<loops::Start>(&inner.node)) inside.insert(start->total);
  });
  loops::for_each_stmt(body, [&](const Stmt& inner) {
    const auto* start = std::get_if<loops::Start>(&inner.node);
    if (start != nullptr && !inside.contains(start->total))
      axes.insert(start->copies.begin(), start->copies.end());
  });
  return axes;
}

}  // namespace

Ref<Stmt> second_copy(Kernel& kernel, const Ref<Stmt>& stmt) {
  std::set<index::Symbol> taken = symbols_in(kernel.program);
  for (const auto& [symbol, about] : kernel.facts.symbols()) taken.insert(symbol);
  std::uint32_t next = loops::next_temp(kernel.program).index;
  const std::set<index::Symbol> shared = copied_outside(*kernel.program.body, *stmt);
  const Ref<Stmt> copy = with_fresh_names(
      stmt, {[&] { return loops::Temp{next++}; },
             [&](std::string_view stem) {
               const index::Symbol same(stem);
               return shared.contains(same) ? same : fresh_symbol(stem, taken);
             },
             [&](loops::Buffer like) {
               loops::BufferInfo info = kernel.program.buffers[like.index];
               info.name = fresh_buffer_name(kernel.program.buffers, info.name);
               kernel.program.buffers.push_back(std::move(info));
               return loops::Buffer{static_cast<std::uint32_t>(kernel.program.buffers.size() - 1)};
             }});
  loops::for_each_stmt(*copy, [&](const Stmt& inner) {
    if (const auto* loop = std::get_if<loops::Loop>(&inner.node))
      kernel.facts.assume_below(loop->axis, index::simplify(loop->extent, kernel.facts));
    if (const auto* index = std::get_if<loops::Index>(&inner.node))
      kernel.facts.assume_below(index->symbol, index->bound);
  });
  return copy;
}

}  // namespace twinloom::steps
