// An array that holds what one iteration of an outer loop stores to it, in place of one that is made for each
// iteration of the loops between:
//   store_at s at i.0 in scratch
//     for i.0 { for i.1 < 8 { scratch s[n] { for j < n { s[j] = x }; .. } } }
//     ->  for i.0 { scratch s[8*n] { for i.1 < 8 { for j < n { s[n*i.1 + j] = x }; .. } } }
// Every iteration of the loops between has elements of its own, as it had arrays.
#include <algorithm>

#include "core/loops/parts.h"
#include "core/steps/rows.h"
#include "core/steps/tree.h"

namespace twinloom::steps {

namespace {

// The array, and the loops around it.
struct Declared {
  std::optional<loops::Scratch> array;
  std::vector<loops::Loop> loops;
};

Declared declared(const Stmt& body, loops::Buffer buffer) {
  Declared found;
  for_each_in_loops(body, [&](const Stmt& stmt, const std::vector<loops::Loop>& around) {
    const auto* array = std::get_if<loops::Scratch>(&stmt.node);
    if (array != nullptr && array->buffer == buffer) found = {*array, around};
  });
  return found;
}

// Where the elements of an iteration of the loops begin, and how many all iterations have.
struct Room {
  index::Expr first = 0;
  std::int64_t count = 1;
};

std::variant<Room, std::string> room_of(const Kernel& kernel, const std::vector<loops::Loop>& between,
                                        const loops::Scratch& array) {
  const auto own = index::constant_of(array.count);
  if (!own) return cat("its ", array.count, " elements are no constant number");
  Room room;
  for (const loops::Loop& loop : between) {
    const auto extent = most(kernel, loop.extent);
    if (!extent) return cat("no bound is known of the extent ", loop.extent, " of ", loop.axis);
    room.first = room.first * *extent + loop.axis;
    room.count *= *extent;
    if (room.count * *own > MOST_ELEMENTS)
      return cat("the array would have more than ", MOST_ELEMENTS, " elements");
  }
  room.first = room.first * *own;
  room.count *= *own;
  return room;
}

Ref<Stmt> moved(const Ref<Stmt>& body, loops::Buffer buffer, const index::Expr& first) {
  const Ref<Stmt> stored =
      loops::move_accesses(body, buffer, buffer, [&](const index::Expr& offset) { return offset + first; });
  return loops::rewrite_stmts(stored, [&](const Ref<Stmt>& stmt) {
    const auto* array = std::get_if<loops::Scratch>(&stmt->node);
    return array != nullptr && array->buffer == buffer ? array->body : stmt;
  });
}

}  // namespace

Result apply_store_at(const Kernel& kernel, const StoreAt& wanted) {
  const auto buffer = loops::buffer_named(kernel.program, wanted.what);
  const Declared found = buffer ? declared(*kernel.program.body, *buffer) : Declared{};
  if (!found.array) return cat("there is no array ", wanted.what);
  const auto at = std::ranges::find_if(
      found.loops, [&](const loops::Loop& loop) { return loop.axis.name() == wanted.at; });
  if (at == found.loops.end()) return cat("the loop over ", wanted.at, " does not stand around it");
  const std::vector<loops::Loop> between(at + 1, found.loops.end());
  for (const loops::Loop& loop : between)
    if (loop.bind != loops::Bind::serial) return cat("the loop over ", loop.axis, " is bound already");
  const auto shaped = room_of(kernel, between, *found.array);
  if (const auto* reason = std::get_if<std::string>(&shaped)) return *reason;
  const Room& room = std::get<Room>(shaped);
  Kernel result = kernel;
  result.program.buffers[buffer->index].count = room.count;
  const Ref<Stmt> inside =
      loops::stmt(loops::Scratch{*buffer, room.count, wanted.place, moved(at->body, *buffer, room.first)});
  result.program.body = replace_loop(kernel.program.body, *at, in_loops({*at}, inside));
  return result;
}

}  // namespace twinloom::steps
