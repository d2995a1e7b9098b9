// What a Call has, and the meaning of each Routine, as loops.h words it. See state.h.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/loops/state.h"

namespace twinloom::loops {

CallSizes call_sizes(const Call& call) {
  return {call.sizes[0], call.sizes[1], call.sizes.size() == 3 ? call.sizes[2] : index::Expr(1)};
}

bool has_starts(const Call& sort) { return sort.operands.size() == 2; }

const Slot* epilogue_of(const Call& call) {
  return call.routine == Routine::stable_sort && call.slots.size() == 2 ? &call.slots.back() : nullptr;
}

std::span<const Buffer> made_by(const Call& call) {
  const std::span<const Buffer> all = call.operands;
  switch (call.routine) {
    case Routine::stable_sort:
      return all;
    case Routine::sums_by_key:
      return all.first(1);
  }
  return {};
}

std::vector<index::Expr> slot_extents(const Call& call, const Slot& slot) {
  const CallSizes sizes = call_sizes(call);
  if (slot.at.size() == 2) return {sizes.rows, sizes.n};
  return {sizes.rows * sizes.n};
}

const Call* routine_of(const Program& program) {
  const Stmt* body = program.body.get();
  if (const auto* block = std::get_if<Block>(&body->node); block != nullptr && block->stmts.size() == 1)
    body = block->stmts.front().get();
  return std::get_if<Call>(&body->node);
}

std::vector<std::int64_t> stable_order(const std::vector<std::int64_t>& keys) {
  std::vector<std::int64_t> order(keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {},
                           [&](std::int64_t element) { return keys[static_cast<std::size_t>(element)]; });
  return order;
}

Sorted stable_sort(const std::vector<std::int64_t>& keys, std::int64_t bound) {
  CHECK(bound >= 0, "a sort by keys below ", bound);
  const auto key = [&](std::int64_t element) { return keys[static_cast<std::size_t>(element)]; };
  Sorted sorted{stable_order(keys), {}};
  std::erase_if(sorted.order,
                [&](std::int64_t element) { return key(element) < 0 || key(element) >= bound; });
  for (std::int64_t k = 0; k <= bound; ++k) {
    const auto first = std::ranges::lower_bound(sorted.order, k, {}, key);
    sorted.starts.push_back(first - sorted.order.begin());
  }
  sorted.order.resize(keys.size(), -1);
  return sorted;
}

void KeyedSums::add(std::int64_t key, const ops::Number& value) {
  const auto bound = static_cast<std::int64_t>(values_.size());
  CHECK(key >= 0 && key < bound, "the key ", key, " of a row, below ", bound);
  values_[static_cast<std::size_t>(key)].push_back(value);
}

ops::Number KeyedSums::sum(std::int64_t key) const {
  Reduction reduction;
  std::int64_t place = 0;
  for (const ops::Number& value : values_[static_cast<std::size_t>(key)])
    reduction.add(combine_, place++, {value});
  return place == 0 ? combine_.identity()[0] : reduction.result(combine_)[0];
}

}  // namespace twinloom::loops
