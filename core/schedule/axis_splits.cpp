// See axis_splits.h.
#include "core/schedule/axis_splits.h"

#include <algorithm>
#include <numeric>

#include "core/base/integers.h"
#include "core/loops/rewrite.h"

namespace twinloom::schedule {

using loops::NestLoop;

std::int64_t members(const Situation& situation, const NestLoop& loop, std::int64_t each,
                     std::int64_t wanted) {
  const auto most = situation.most(loop);
  if (!most) return wanted;
  return std::min(wanted, next_power_of_two(std::max<std::int64_t>(ceil_div(*most, each), 1)));
}

std::int64_t packed_elements(const Situation& situation, const NestLoop& loop) {
  const std::int64_t lanes = situation.packed_along(loop.axis);
  return lanes == 1 ? 1 : std::min(lanes, situation.parameters.most_packed());
}

Tail tail_of(const Situation& situation, std::int64_t step, const NestLoop& loop) {
  return situation.divides(step, loop) ? Tail::exact : Tail::mask;
}

std::int64_t over_all_blocks(const Situation& situation, std::int64_t rows) {
  const double each = situation.rows() / situation.machine.multiprocessors;
  const std::int64_t fewer = power_of_two_below(static_cast<std::int64_t>(each));
  return std::min(rows, std::max(fewer, rows / situation.parameters.row_warps()));
}

std::int64_t bytes_along(const Situation& situation, const NestLoop& loop) {
  std::int64_t bytes = 1;
  for (const Access& access : situation.accesses)
    if (index::mentions(access.offset, loop.axis)) bytes = std::max<std::int64_t>(bytes, access.bytes);
  return bytes;
}

std::int64_t lanes_of_few(const Situation& situation, const NestLoop& loop, std::int64_t lanes) {
  const double elements = situation.rows();
  const auto blocks = [&] { return elements / static_cast<double>(lanes * machine::BLOCK_THREADS); };
  while (lanes > 1 && lanes * bytes_along(situation, loop) > LEAST_BYTES &&
         blocks() < situation.machine.multiprocessors)
    lanes /= 2;
  return lanes;
}

namespace {

// Of inputs as large as the nest. What lies at a fixed distance from another is the same to memory.
std::size_t large_loads(const Situation& situation) {
  std::vector<const Access*> large;
  for (const Access& access : situation.accesses) {
    const bool is_large = std::ranges::all_of(situation.shape.common, [&](const NestLoop& loop) {
      return index::mentions(access.offset, loop.axis);
    });
    const bool is_near = std::ranges::any_of(large, [&](const Access* other) {
      return other->buffer == access.buffer && index::constant_of(other->offset - access.offset);
    });
    if (!access.store && is_large && !is_near) large.push_back(&access);
  }
  return large.size();
}

// Two of few loads are on their way together, and two of long chains hide each other's latencies: of four
// loads and 150 instructions (haversine_f32) an H200 took 188 us by one, 165 by two.
bool pays_twice(const Situation& situation) {
  return large_loads(situation) <= 2 || situation.has_long_work();
}

// Of BLOCK_THREADS, as the machine counts them.
double blocks_of(const Situation& situation, const std::vector<AxisSplit>& splits) {
  double blocks = 1.0 / machine::BLOCK_THREADS;
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const std::int64_t own = splits[i].threads * splits[i].lanes;
    blocks *= static_cast<double>(splits[i].threads);
    blocks *= static_cast<double>(ceil_div(situation.usual(situation.shape.common[i]), own));
  }
  return blocks;
}

// Blocks enough are left where each takes twice as much.
bool is_enough_for_two(const Situation& situation, const std::vector<AxisSplit>& splits, std::size_t fast) {
  const AxisSplit& split = splits[fast];
  return situation.usual(situation.shape.common[fast]) >=
             std::min(ENOUGH_FOR_TWO, BLOCKS_OF_A_ROW * split.threads * split.lanes) &&
         blocks_of(situation, splits) >= 2.0 * situation.machine.blocks_at_once;
}

// So often that a thread moves enough at once, where blocks enough are left.
std::int64_t rows_of_thread(const Situation& situation, const std::vector<AxisSplit>& splits,
                            std::size_t fast) {
  const std::int64_t bytes = bytes_along(situation, situation.shape.common[fast]) * splits[fast].lanes;
  const bool looks_up = loops::looks_up_indices(*situation.nest.body);
  std::int64_t times = std::min(MOST_ROWS, BYTES_OF_THREAD * (looks_up ? 2 : 1) / bytes);
  while (times > 1 && blocks_of(situation, splits) <
                          static_cast<double>(times * ROUNDS * situation.machine.blocks_at_once))
    times /= 2;
  return times;
}

// Along the innermost axis that no thread walks yet; what is left, along those that threads walk.
void repeat_rows(const Situation& situation, std::size_t fast, std::int64_t times,
                 std::vector<AxisSplit>& splits) {
  for (const bool walked : {false, true}) {
    for (std::size_t i = splits.size(); i-- > 0 && times > 1;) {
      if (i == fast || (splits[i].threads > 1) != walked) continue;
      splits[i].times = members(situation, situation.shape.common[i], splits[i].threads, times);
      times /= splits[i].times;
    }
  }
}

}  // namespace

void repeat_far_apart(const Situation& situation, std::size_t fast, std::int64_t threads,
                      std::vector<AxisSplit>& splits) {
  AxisSplit& split = splits[fast];
  const std::int64_t wanted = situation.parameters.times();
  if (wanted != 0) {
    if (split.is_split())
      split.times = members(situation, situation.shape.common[fast], split.threads * split.lanes, wanted);
    repeat_rows(situation, fast, wanted / split.times, splits);
  } else if (!pays_twice(situation)) {
    return;
  } else if (split.threads == threads && is_enough_for_two(situation, splits, fast)) {
    split.times = 2;
  } else {
    repeat_rows(situation, fast, rows_of_thread(situation, splits, fast), splits);
  }
}

namespace {

// Bytes that a load moves along all other axes; 0 of what moves along this one, or of a place that is found.
double repeated_bytes(const Situation& situation, const Access& access, std::size_t axis) {
  const auto& loops = situation.shape.common;
  if (access.store || access.local || access.found || index::mentions(access.offset, loops[axis].axis))
    return 0;
  double bytes = access.bytes;
  for (const NestLoop& loop : loops)
    if (index::mentions(access.offset, loop.axis)) bytes *= static_cast<double>(situation.usual(loop));
  if (access.sibling >= 0)
    for (const NestLoop& loop : situation.siblings[static_cast<std::size_t>(access.sibling)]->loops)
      if (index::mentions(access.offset, loop.axis)) bytes *= static_cast<double>(situation.usual(loop));
  return bytes;
}

// Of what the last cache has not room for beside as much that is loaded and stored.
std::optional<std::size_t> axis_of_repeats(const Situation& situation) {
  double most = static_cast<double>(machine::cache_bytes(situation.machine)) / REPEATED_SHARE;
  std::optional<std::size_t> found;
  for (std::size_t axis = 0; axis + 1 < situation.shape.common.size(); ++axis)
    for (const Access& access : situation.accesses)
      if (const double bytes = repeated_bytes(situation, access, axis); bytes >= most)
        most = bytes, found = axis;
  return found;
}

}  // namespace

std::vector<std::size_t> order_of_blocks(const Situation& situation) {
  std::vector<std::size_t> order(situation.shape.common.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto last = axis_of_repeats(situation);
  if (last && situation.parameters.repeats_last())
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(*last),
                order.begin() + static_cast<std::ptrdiff_t>(*last) + 1, order.end());
  return order;
}

}  // namespace twinloom::schedule
