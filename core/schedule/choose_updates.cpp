// Atomic updates of places that are looked up, many of each: a block adds up in shared memory what it has for
// all places of a row, and then adds that to memory, once a place.
//   i.0 tasks { j.0 tasks { y[row] -> array; j.1 { j.2 threads x j.3 vector }; array -> y[row] } }
// The estimate weighs several lengths of j.0.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// A nest that does nothing but update places of one buffer, which depend on the outer loops and on what is
// looked up, not on the inner loops.
struct Updates {
  std::string buffer;
  std::vector<std::string> outer, inner;
  double elements = 1;      // of the inner loops
  std::int64_t places = 1;  // that the inner loops look up
  std::size_t looked_up = 0;
};

// The only store of the nest, if it is an atomic update.
const loops::Store* only_update(const loops::Program& nest) {
  const loops::Store* update = nullptr;
  bool others = false;
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    const auto* store = std::get_if<loops::Store>(&stmt.node);
    if (store == nullptr) return;
    others |= update != nullptr || store->update == loops::Update::replace;
    update = store;
  });
  return others ? nullptr : update;
}

std::optional<Updates> find_updates(const loops::Program& nest) {
  const loops::Store* update = only_update(nest);
  if (update == nullptr) return std::nullopt;
  const loops::Nest shape = loops::take_apart(nest);
  if (shape.columns) return std::nullopt;
  const index::Facts facts = loops::facts_of(nest);
  Updates found;
  found.buffer = nest.buffers[update->buffer.index].name;
  for (const loops::Item& item : shape.items) {
    const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item);
    if (stmt == nullptr) return std::nullopt;
    const auto* index = std::get_if<loops::Index>(&(*stmt)->node);
    if (index == nullptr || !index::mentions(update->offset, index->symbol)) continue;
    const auto bound = facts.range(index->bound).high;
    if (!bound || *bound < 1 || *bound > MOST_UPDATED / found.places) return std::nullopt;
    found.places *= *bound;
    ++found.looked_up;
  }
  const index::Values sizes = usual_sizes(nest);
  for (const loops::NestLoop& loop : shape.common) {
    const bool is_outer = index::mentions(update->offset, loop.axis);
    if (is_outer && !found.inner.empty()) return std::nullopt;
    (is_outer ? found.outer : found.inner).emplace_back(loop.axis.name());
    if (!is_outer) found.elements *= static_cast<double>(usual_extent(loop, sizes));
  }
  return found.looked_up == 0 || found.inner.empty() ? std::nullopt : std::optional(found);
}

Schedule by_blocks(const Updates& of, std::int64_t length) {
  using loops::Bind;
  Schedule schedule;
  const auto add = [&](auto step) { schedule.steps.push_back({std::move(step)}); };
  const std::string walked = of.inner.size() == 1 ? of.inner.front() : "walked";
  if (of.inner.size() > 1) add(steps::Fuse{of.inner, walked});
  std::vector<std::string> fill;
  for (std::size_t number = 0; number < of.looked_up; ++number) fill.push_back(cat("place", number));
  add(steps::Split{
      walked, {length, UPDATING_THREADS * UPDATED_TOGETHER, UPDATED_TOGETHER}, steps::Tail::mask});
  add(steps::Cache{of.buffer, walked + ".0", loops::Place::scratch, fill});
  add(steps::Split{fill.back(), {UPDATING_THREADS}, steps::Tail::mask});
  for (const std::string& axis : of.outer) add(steps::BindLoop{axis, Bind::block});
  add(steps::BindLoop{walked + ".0", Bind::block});
  add(steps::BindLoop{walked + ".2", Bind::thread});
  add(steps::BindLoop{walked + ".3", Bind::vector});
  add(steps::BindLoop{fill.back() + ".1", Bind::thread});
  return schedule;
}

}  // namespace

std::vector<Schedule> choose_updates(const loops::Program& nest, const machine::Machine& machine) {
  if (machine.max_threads == 1) return {};
  const auto found = find_updates(nest);
  if (!found) return {};
  std::vector<Schedule> schedules;
  const std::int64_t together = UPDATING_THREADS * UPDATED_TOGETHER;
  for (const std::int64_t rounds : {4, 16, 64, 256}) {
    const auto length = static_cast<double>(rounds * together);
    if (std::min(length, found->elements) < LEAST_UPDATES * static_cast<double>(found->places)) continue;
    schedules.push_back(by_blocks(*found, rounds * together));
    if (length >= found->elements) break;
  }
  return schedules;
}

}  // namespace twinloom::schedule
