// See threads.h.
#include "core/emit/threads.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/loops/rewrite.h"

namespace twinloom::emit {

bool combine_together(const loops::Combine& one, const loops::Combine& other) {
  return one.across == other.across && one.pairing == other.pairing;
}

Threads::Threads(const loops::Program& program) : outermost_fastest_(program.outermost_fastest) {
  if (outermost_fastest_) {
    walk_from_outside(*program.body, 1);
    find_exchanged(program);
    for (const auto& [axis, width] : widths_)
      CHECK(width == 1 || extents_.at(axis) * width == count_, "a thread loop over ", axis, " of ",
            extents_.at(axis), " members beside ", count_, " threads");
  } else {
    count_ = walk(*program.body);
    find_exchanged(program);
    check_waits(*program.body, count_, std::nullopt);
  }
  find_again(*program.body, false);
  if (are_of_cluster()) check_cluster(program);
}

void Threads::find_exchanged(const loops::Program& program) {
  std::map<loops::Temp, const loops::Start*> starts;
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    if (const auto* start = std::get_if<loops::Start>(&stmt.node)) starts[start->total] = start;
    const auto* prefix = std::get_if<loops::Prefix>(&stmt.node);
    if (prefix == nullptr || outermost_fastest_ || !widths_.contains(prefix->across)) return;
    const loops::Start& start = *starts.at(prefix->total);
    const bool one_each =
        std::ranges::all_of(start.copies, [&](const loops::Axis& axis) { return widths_.contains(axis); });
    const std::int64_t extent = extents_.at(prefix->across);
    if (start.free && ops::parts(start.monoid) == 1 && one_each && widths_.at(prefix->across) == 1 &&
        is_power_of_two(extent) && extent > 1)
      exchanged_.insert({prefix->total, prefix->across});
  });
}

void Threads::check_cluster(const loops::Program& program) const {
  CHECK(!outermost_fastest_, program.name, ": ", count_,
        " threads of several blocks, the outermost the fastest");
  loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
    const auto* scratch = std::get_if<loops::Scratch>(&stmt.node);
    const bool shares = scratch != nullptr && scratch->place == loops::Place::scratch;
    const bool waits = std::holds_alternative<loops::Sync>(stmt.node) ||
                       std::holds_alternative<loops::Prefix>(stmt.node) ||
                       std::holds_alternative<loops::LastBlock>(stmt.node);
    CHECK(!shares && !waits, program.name, ": ", count_, " threads of several blocks share more than totals");
  });
}

std::int64_t Threads::width(loops::Axis axis) const {
  const auto found = widths_.find(axis);
  CHECK(found != widths_.end(), "no thread loop over ", axis);
  return found->second;
}

// The threads that a statement asks for: those of the outermost thread loops in it count for the others.
std::int64_t Threads::walk(const loops::Stmt& stmt) {
  std::int64_t most = 1;
  loops::for_each_stmt(stmt, [&](const loops::Stmt& inner) {
    const auto* loop = std::get_if<loops::Loop>(&inner.node);
    if (loop == nullptr || loop->bind != loops::Bind::thread) return;
    const auto extent = index::constant_of(loop->extent);
    CHECK(extent && *extent > 0, "a thread loop over ", loop->axis, " of extent ", loop->extent);
    extents_[loop->axis] = *extent;
    std::int64_t& width = widths_[loop->axis];
    if (width == 0) width = walk(*loop->body);
    most = std::max(most, *extent * width);
  });
  return most;
}

void Threads::walk_from_outside(const loops::Stmt& stmt, std::int64_t around) {
  if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const loops::Ref<loops::Stmt>& inner : block->stmts) walk_from_outside(*inner, around);
  } else if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) {
    walk_from_outside(*scratch->body, around);
  } else if (const auto* last = std::get_if<loops::LastBlock>(&stmt.node)) {
    walk_from_outside(*last->body, around);
  } else if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
    if (loop->bind != loops::Bind::thread) return walk_from_outside(*loop->body, around);
    const auto extent = index::constant_of(loop->extent);
    CHECK(extent && *extent > 0, "a thread loop over ", loop->axis, " of extent ", loop->extent);
    const std::int64_t known = widths_.emplace(loop->axis, around).first->second;
    CHECK(known == around, "a thread loop over ", loop->axis, " inside ", known, " members and inside ",
          around);
    extents_[loop->axis] = *extent;
    count_ = std::max(count_, around * *extent);
    walk_from_outside(*loop->body, around * *extent);
  }
}

bool Threads::combine_through_scratch(loops::Axis across) const {
  const auto width = widths_.find(across);
  return width != widths_.end() && extents_.at(across) * width->second > WARP_THREADS;
}

int Threads::waits_in(const loops::Stmt& body) const {
  if (std::holds_alternative<loops::Sync>(body.node)) return 1;
  if (const auto* loop = std::get_if<loops::Loop>(&body.node))
    return loop->bind == loops::Bind::serial ? 0 : waits_in(*loop->body);
  if (const auto* scratch = std::get_if<loops::Scratch>(&body.node)) return waits_in(*scratch->body);
  if (const auto* combine = std::get_if<loops::Combine>(&body.node))
    return combine_through_scratch(combine->across) ? 1 : 0;
  if (const auto* prefix = std::get_if<loops::Prefix>(&body.node))
    return widths_.contains(prefix->across) && !prefix_in_warp(prefix->total, prefix->across) ? 1 : 0;
  const auto* block = std::get_if<loops::Block>(&body.node);
  if (block == nullptr) return 0;
  int waits = 0;
  const loops::Combine* before = nullptr;
  for (const loops::Ref<loops::Stmt>& inner : block->stmts) {
    const auto* combine = std::get_if<loops::Combine>(&inner->node);
    const bool together = combine != nullptr && before != nullptr && combine_together(*before, *combine);
    if (!together) waits += waits_in(*inner);
    before = combine;
  }
  return waits;
}

// Two waits a turn, each after its own arrays were written: whoever writes the one's again has come through
// the other, and so has every thread that read them.
void Threads::find_again(const loops::Stmt& stmt, bool again) {
  if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
    find_again(*loop->body, loop->bind == loops::Bind::serial ? waits_in(*loop->body) < 2 : again);
  } else if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const loops::Ref<loops::Stmt>& inner : block->stmts) find_again(*inner, again);
  } else if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) {
    find_again(*scratch->body, again);
  } else if (const auto* last = std::get_if<loops::LastBlock>(&stmt.node)) {
    find_again(*last->body, again);
  } else if (const auto* combine = std::get_if<loops::Combine>(&stmt.node)) {
    if (again) again_.insert({combine->total, combine->across});
  } else if (const auto* prefix = std::get_if<loops::Prefix>(&stmt.node)) {
    if (again) again_.insert({prefix->total, prefix->across});
  }
}

void Threads::check_waits(const loops::Stmt& stmt, std::int64_t span,
                          std::optional<std::int64_t> present) const {
  if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) {
    if (loop->bind != loops::Bind::thread) return check_waits(*loop->body, span, present);
    const std::int64_t members = extents_.at(loop->axis) * width(loop->axis);
    if (members != span) present = std::min(members, present.value_or(members));
    check_waits(*loop->body, width(loop->axis), present);
  } else if (const auto* block = std::get_if<loops::Block>(&stmt.node)) {
    for (const loops::Ref<loops::Stmt>& inner : block->stmts) check_waits(*inner, span, present);
  } else if (const auto* scratch = std::get_if<loops::Scratch>(&stmt.node)) {
    check_waits(*scratch->body, span, present);
  } else if (const auto* last = std::get_if<loops::LastBlock>(&stmt.node)) {
    check_waits(*last->body, span, present);
  } else if (const auto* combine = std::get_if<loops::Combine>(&stmt.node)) {
    check_wait(combine->across, present, false);
  } else if (const auto* prefix = std::get_if<loops::Prefix>(&stmt.node)) {
    check_wait(prefix->across, present, !prefix_in_warp(prefix->total, prefix->across));
  } else if (std::holds_alternative<loops::Sync>(stmt.node)) {
    CHECK(!present, "a sync where only ", *present, " threads of the block are");
  }
}

void Threads::check_wait(loops::Axis across, std::optional<std::int64_t> present, bool in_scratch) const {
  if (!widths_.contains(across) || !present) return;
  const std::int64_t together = extents_.at(across) * width(across);
  CHECK(!in_scratch && together <= WARP_THREADS, "threads combine across ", across, " where only ", *present,
        " of them are, and would wait for the block");
  CHECK(together == 1 || *present % WARP_THREADS == 0, "threads combine across ", across, " where only ",
        *present, " of a warp are");
}

}  // namespace twinloom::emit
