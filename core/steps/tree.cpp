// See tree.h.
#include "core/steps/tree.h"

#include <algorithm>

#include "core/index/simplify.h"

namespace twinloom::steps {

std::vector<Ref<Stmt>> stmts_of(const Ref<Stmt>& stmt) {
  if (const auto* block = std::get_if<loops::Block>(&stmt->node)) return block->stmts;
  return {stmt};
}

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

std::string fresh_buffer_name(const loops::Program& program, std::string_view stem) {
  std::string name(stem);
  for (int number = 1; buffer_named(program, name); ++number) name = cat(stem, "_", number);
  return name;
}

}  // namespace twinloom::steps
