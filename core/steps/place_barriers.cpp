// Where threads of a block share an array they wait for each other: behind what fills it, and, where it is
// filled again in the next iteration of a loop around, behind what reads it.
//   for k { scratch s[32] { for u < 32 thread { s[u] = x }; for v < 32 thread { y = s[31 - v] } } }
//     -> for k { scratch s[32] { for u < 32 thread { s[u] = x }; sync; for v < 32 thread { y = s[31 - v] };
//     sync } }
#include <algorithm>

#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

bool has_threads(const Stmt& stmt) {
  bool found = false;
  loops::for_each_stmt(stmt, [&](const Stmt& inner) {
    const auto* loop = std::get_if<loops::Loop>(&inner.node);
    found |= loop != nullptr && loop->bind == loops::Bind::thread;
  });
  return found;
}

Ref<Stmt> with_barriers(const loops::Scratch& array, bool is_filled_again) {
  std::vector<Ref<Stmt>> stmts;
  for (const Ref<Stmt>& stmt : stmts_of(array.body)) {
    stmts.push_back(stmt);
    if (loops::stores_to(*stmt, array.buffer)) stmts.push_back(loops::stmt(loops::Sync{}));
  }
  if (is_filled_again) stmts.push_back(loops::stmt(loops::Sync{}));
  loops::Scratch changed = array;
  changed.body = loops::block(std::move(stmts));
  return loops::stmt(std::move(changed));
}

}  // namespace

Result place_barriers(const Kernel& kernel) {
  std::string reason;
  std::map<loops::Buffer, bool> shared;  // whether it is filled again
  for_each_in_loops(*kernel.program.body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    const auto* array = std::get_if<loops::Scratch>(&stmt.node);
    if (array == nullptr) return;
    const std::string& name = kernel.program.buffers[array->buffer.index].name;
    const bool in_threads =
        std::ranges::any_of(around, [](const loops::Loop& loop) { return loop.bind == loops::Bind::thread; });
    if (in_threads && array->place == loops::Place::scratch)
      reason = cat("the array ", name, " is shared by a block and stands in a loop over its threads");
    if (!has_threads(*array->body)) return;
    if (array->place == loops::Place::registers)
      reason = cat("the array ", name, " is in the registers of each thread and stands around their loops");
    shared[array->buffer] =
        std::ranges::any_of(around, [](const loops::Loop& loop) { return loop.bind != loops::Bind::block; });
  });
  if (!reason.empty()) return reason;
  Kernel result = kernel;
  result.program.body = loops::rewrite_stmts(kernel.program.body, [&](const Ref<Stmt>& stmt) {
    const auto* array = std::get_if<loops::Scratch>(&stmt->node);
    if (array == nullptr || !shared.contains(array->buffer)) return stmt;
    return with_barriers(*array, shared.at(array->buffer));
  });
  return result;
}

}  // namespace twinloom::steps
