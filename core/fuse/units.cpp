// See units.h. The order is that of Pearce and Kelly (A dynamic topological sort algorithm, 2006): only what
// lies between the two that are fused, and depends on them, gets other places.
#include "core/fuse/units.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "core/base/error.h"

namespace twinloom::fuse {

Units::Units(const lower::Lowered& lowered, const Limits& limits)
    : lowered_(lowered),
      around_(fuse::around(lowered_, limits)),
      order_(lowered.units.size()),
      marks_(lowered.units.size(), 0) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

// With repetition, until visit(slot) returns true. What adds to a value is both a reader and a writer of it.
template <class Visit>
void Units::for_each_neighbour(std::size_t slot, Towards towards, const Visit& visit) const {
  const lower::Unit& unit = lowered_.units[slot];
  const bool written = towards == Towards::later;
  const auto& others = written ? around_.readers : around_.writers;
  const auto visit_all = [&](lower::ValueId id) {
    return std::ranges::any_of(others[id.index],
                               [&](std::size_t other) { return other != slot && visit(other); });
  };
  for (std::size_t k = 0; k < unit.arguments.size(); ++k)
    if (unit.nest.buffers[k].written == written && visit_all(unit.arguments[k])) return;
  for (std::size_t k = 0; !written && k < unit.updates.size(); ++k)
    if (visit_all(unit.updates[k])) return;
}

// Whether this search has not met the slot before.
bool Units::mark(std::size_t slot) const { return std::exchange(marks_[slot], search_) != search_; }

// Whether a way of more than one step leads there; nothing where `most` units were looked at without an
// answer.
std::optional<bool> Units::reaches(std::size_t from, std::size_t to, Towards towards,
                                   std::int64_t most) const {
  ++search_;
  std::vector<std::size_t> open{from};
  bool found = false, first = true;
  while (!open.empty() && !found) {
    const std::size_t slot = open.back();
    open.pop_back();
    for_each_neighbour(slot, towards, [&](std::size_t next) {
      ++visited_;
      if (--most < 0) return true;
      if (next == to) return found = !first;
      const bool within = towards == Towards::later ? order_[next] < order_[to] : order_[next] > order_[to];
      if (within && mark(next)) open.push_back(next);
      return false;
    });
    if (most < 0 && !found) return std::nullopt;
    first = false;
  }
  return found;
}

// From both ends by turns: a value that many read ends a search from its writer late, one that needs many
// ends that from its reader late.
bool Units::has_between(std::size_t first, std::size_t second) const {
  constexpr std::int64_t FEW = 16;  // units that the first search looks at; the next twice as many
  for (std::int64_t most = FEW;; most *= 2) {
    for (const Towards towards : {Towards::earlier, Towards::later}) {
      const bool back = towards == Towards::earlier;
      if (const auto found = reaches(back ? second : first, back ? first : second, towards, most))
        return *found;
    }
  }
}

// What needs `from` (or is needed by it) and stands before (behind) the limit, without `from` itself.
std::vector<std::size_t> Units::reached(std::size_t from, std::size_t limit, Towards towards) const {
  ++search_;
  mark(from);
  std::vector<std::size_t> open{from}, all;
  while (!open.empty()) {
    const std::size_t slot = open.back();
    open.pop_back();
    for_each_neighbour(slot, towards, [&](std::size_t next) {
      ++visited_;
      const bool within =
          towards == Towards::later ? order_[next] < order_[limit] : order_[next] > order_[limit];
      if (!within || !mark(next)) return false;
      open.push_back(next);
      all.push_back(next);
      return false;
    });
  }
  return all;
}

// The first slot gets a place behind all that either needs, and before all that needs either.
void Units::order_as_one(std::size_t first, std::size_t second) {
  bool needs_later = false, needed_earlier = false;
  for_each_neighbour(second, Towards::earlier,
                     [&](std::size_t slot) { return needs_later = order_[slot] > order_[first]; });
  if (!needs_later) return;
  for_each_neighbour(first, Towards::later, [&](std::size_t slot) {
    return needed_earlier = slot != second && order_[slot] < order_[second];
  });
  if (!needed_earlier) {
    std::swap(order_[first], order_[second]);
    return;
  }
  std::vector<std::size_t> before = reached(second, first, Towards::earlier);
  std::vector<std::size_t> behind = reached(first, second, Towards::later);
  const auto by_order = [&](std::size_t a, std::size_t b) { return order_[a] < order_[b]; };
  std::ranges::sort(before, by_order);
  std::ranges::sort(behind, by_order);
  std::vector<std::size_t> slots = std::move(before);
  slots.push_back(first);
  slots.insert(slots.end(), behind.begin(), behind.end());
  slots.push_back(second);
  std::vector<std::size_t> places;
  for (const std::size_t slot : slots) places.push_back(order_[slot]);
  std::ranges::sort(places);
  for (std::size_t k = 0; k < slots.size(); ++k) order_[slots[k]] = places[k];
}

void Units::replace(std::size_t first, std::size_t second, lower::Unit unit) {
  order_as_one(first, second);
  count_touches(around_, lowered_.units[first], first, false);
  count_touches(around_, lowered_.units[second], second, false);
  put(first, std::move(unit));
  put(second, {});
}

void Units::change(std::size_t slot, lower::Unit unit) {
  count_touches(around_, lowered_.units[slot], slot, false);
  put(slot, std::move(unit));
}

// In a slot that nothing is counted of.
void Units::put(std::size_t slot, lower::Unit unit) {
  lowered_.units[slot] = std::move(unit);
  const bool is_empty = lowered_.units[slot].nest.body == nullptr;
  around_.bodies[slot] = is_empty ? Body{} : body_of(lowered_.units[slot].nest);
  if (slot < around_.seconds.size()) around_.seconds[slot] = {};
  if (!is_empty) count_touches(around_, lowered_.units[slot], slot, true);
}

Units::Ordered Units::take() {
  std::vector<std::size_t> needs(slots(), 0), order;
  for (std::size_t slot = 0; slot < slots(); ++slot)
    for_each_neighbour(slot, Towards::earlier, [&](std::size_t) {
      ++needs[slot];
      return false;
    });
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  std::size_t count = 0;
  for (std::size_t slot = 0; slot < slots(); ++slot) {
    if (lowered_.units[slot].nest.body == nullptr) continue;
    ++count;
    if (needs[slot] == 0) ready.push(slot);
  }
  while (!ready.empty()) {
    const std::size_t slot = ready.top();
    ready.pop();
    order.push_back(slot);
    for_each_neighbour(slot, Towards::later, [&](std::size_t next) {
      if (--needs[next] == 0) ready.push(next);
      return false;
    });
  }
  CHECK(order.size() == count, "fused units wait for each other");
  Ordered ordered{{}, std::vector<std::size_t>(slots())};
  std::vector<lower::Unit> units;
  for (const std::size_t slot : order) {
    ordered.position[slot] = units.size();
    units.push_back(std::move(lowered_.units[slot]));
  }
  lowered_.units = std::move(units);
  ordered.lowered = std::move(lowered_);
  return ordered;
}

}  // namespace twinloom::fuse
