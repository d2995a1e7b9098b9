// See sort.h.
#include "backends/cuda/sort.h"

#include <algorithm>
#include <bit>

namespace twinloom::cuda {

namespace {

constexpr std::int64_t WORD = sizeof(emit::Integer);
// Of a segment: an element is numbered in half a word, and the first place of each key is an array.
constexpr std::int64_t MOST_SORTED = std::int64_t{1} << 31, MOST_KEYS = std::int64_t{1} << 48;
constexpr std::int64_t MOST_ORDERED_KEYS = (std::int64_t{1} << 32) + 1;

// Neither is negative.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t bits_of(std::int64_t most) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
}

}  // namespace

SortPlan::SortPlan(const SortSizes& sizes, const SortMachine& machine, const SortShape& shape,
                   const OrderShape& order)
    : sizes_(sizes), warps_(shape.warps()), most_passes_(order.most_passes()) {
  if (sizes.has_starts)
    plan(machine, shape);
  else
    plan_order(machine, order);
}

void SortPlan::refuse(std::int64_t size, std::int64_t keys, std::int64_t most_keys) {
  if (size < MOST_SORTED && keys < most_keys) return;
  refusal_ = "a sort of " + std::to_string(size) + " elements by keys below " + std::to_string(keys) +
             "; on a GPU there are less than " + std::to_string(MOST_SORTED) + " and " +
             std::to_string(most_keys);
}

void SortPlan::plan(const SortMachine& machine, const SortShape& shape) {
  step_.rows_each = std::clamp<std::int64_t>(choose_rows(shape), 1, std::max<std::int64_t>(sizes_.rows, 1));
  step_.segments = std::max<std::int64_t>(ceil_div(sizes_.rows, step_.rows_each), 1);
  const std::int64_t size = step_.rows_each * sizes_.n, keys = step_.rows_each * sizes_.bound;
  refuse(size, keys, MOST_KEYS);
  if (!refusal_.empty()) return;
  // Keys out of range count as `keys`; of several segments there are none. Where a word holds a part of a
  // key, it is a bit of their own that tells them from others.
  step_.is_whole = bits_of(keys) <= shape.key_bits ? 1 : 0;
  step_.outside = step_.is_whole == 1 ? keys : std::int64_t{1} << bits_of(keys);
  const bool has_outside = step_.segments == 1 || step_.is_whole == 0;
  const std::int64_t bits = std::max(bits_of(has_outside ? step_.outside : keys - 1), std::int64_t{1});
  if (!choose_ranges(size, bits, machine, shape)) choose_passes(size, bits, machine, shape);
}

// Rows that a block holds are as many a block as it has threads for, unless multiprocessors would have none.
void SortPlan::plan_order(const SortMachine& machine, const OrderShape& shape) {
  const auto& [rows, n, bound, has_starts] = sizes_;
  refuse(n, bound, MOST_ORDERED_KEYS);
  if (!refusal_.empty() || is_empty()) return;
  if (n <= shape.at_once()) {
    step_.task = SortTask::rows;
    step_.row_bits = bits_of(ceil_div(n, shape.items) - 1);
    step_.rows_each = std::clamp<std::int64_t>(ceil_div(rows * SORT_BLOCKS_EACH, machine.blocks), 1,
                                               shape.threads >> step_.row_bits);
    step_.segments = ceil_div(rows, step_.rows_each);
    return;
  }
  step_.task = SortTask::tiles;
  step_.segments = rows;
  step_.tiles = ceil_div(n, shape.at_once());
  step_.blocks =
      std::clamp<std::int64_t>(ORDER_BLOCKS_EACH / SORT_BLOCKS_EACH * machine.blocks / rows, 1, step_.tiles);
  step_.each = ceil_div(step_.tiles, step_.blocks) * shape.at_once();
  step_.bits = shape.bits;
  step_.passes = std::max<std::int64_t>(ceil_div(bits_of(bound - 1), shape.bits), 1);
  clearing_blocks_ = std::clamp<std::int64_t>(said() / shape.at_once(), 1, machine.blocks);
}

// Rows that are shorter than an iteration share one, as long as words hold their keys. Where there are no
// places, nothing is sorted.
std::int64_t SortPlan::choose_rows(const SortShape& shape) const {
  const auto& [rows, n, bound, has_starts] = sizes_;
  if (n == 0 || bound == 0) return rows;
  const std::int64_t held = (std::int64_t{1} << shape.key_bits) - 1;
  return std::min(ceil_div(shape.at_once(), n), held / bound);
}

// As few passes as there can be, with digits of equal width.
void SortPlan::choose_digits(std::int64_t bits, const SortShape& shape) {
  step_.passes = ceil_div(bits, shape.bits);
  step_.bits = ceil_div(bits, step_.passes);
}

// Each block reads all of a segment, and nobody waits for another: of few elements one launch takes less than
// those of passes do; so does one range of each of many segments.
bool SortPlan::choose_ranges(std::int64_t size, std::int64_t bits, const SortMachine& machine,
                             const SortShape& shape) {
  const std::int64_t wanted = std::max<std::int64_t>(machine.blocks / SORT_BLOCKS_EACH / step_.segments, 1);
  step_.bits = std::min<std::int64_t>(bits, shape.bits);
  while (step_.bits > 1 && std::int64_t{1} << (bits - step_.bits + 1) <= wanted) --step_.bits;
  step_.blocks = std::int64_t{1} << (bits - step_.bits);
  const std::int64_t most = MOST_RANGES_EACH * std::max(machine.blocks, step_.segments);
  step_.task = SortTask::range;
  const bool alone = step_.blocks == 1 && step_.segments >= machine.blocks;
  return alone || (size <= shape.most_in_ranges() && step_.segments * step_.blocks <= most);
}

void SortPlan::choose_passes(std::int64_t size, std::int64_t bits, const SortMachine& machine,
                             const SortShape& shape) {
  // What is written between and behind its neighbours stays in the cache until lines are whole.
  const std::int64_t cached =
      ceil_div(2 * machine.blocks * size * WORD, std::max<std::int64_t>(machine.cache_bytes, 1));
  const std::int64_t wanted = std::max(machine.blocks / step_.segments, std::min(cached, machine.blocks));
  const std::int64_t iterations = ceil_div(size, shape.at_once());  // none of an empty segment
  step_.task = SortTask::count;
  step_.blocks = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(iterations, 1));
  step_.each = ceil_div(iterations, step_.blocks) * shape.at_once();
  choose_digits(bits, shape);
  marking_blocks_ =
      std::clamp<std::int64_t>(machine.blocks / step_.segments, 1, ceil_div(size + 1, shape.threads));
}

// Of a sort for the order alone: what digits are counted in, and what tiles say in one pass.
std::int64_t SortPlan::digit_counts() const { return step_.passes * step_.segments * digits(); }
std::int64_t SortPlan::said() const { return step_.segments * step_.tiles * digits(); }

std::int64_t SortPlan::counts() const {
  if (is_one_launch() || is_empty()) return 0;
  if (sizes_.has_starts) return step_.segments * digits() * step_.blocks;
  return ceil_div(most_passes_ + digit_counts() + 2 * said(), 2);
}

std::int64_t SortPlan::workspace_bytes() const {
  const bool has_totals = sizes_.has_starts && !is_one_launch();
  return (spare() + counts() + (has_totals ? step_.segments * digits() : 0)) * WORD;
}

std::vector<SortLaunch> SortPlan::launches(void* workspace) const {
  SortStep step = step_;
  step.spare = static_cast<emit::Integer*>(workspace);
  step.counts = step.spare + spare();
  step.totals = step.counts + counts();
  std::vector<SortLaunch> launches;
  if (sizes_.has_starts)
    add(launches, step);
  else if (!is_empty())
    add_order(launches, step);
  return launches;
}

void SortPlan::add(std::vector<SortLaunch>& launches, SortStep step) const {
  const auto add = [&](SortTask task, std::int64_t blocks) {
    step.task = task;
    launches.push_back({step, blocks});
  };
  const std::int64_t grid = step.segments * step.blocks;
  if (is_one_launch()) return add(step_.task, grid);
  for (; step.pass < step.passes; ++step.pass) {
    add(SortTask::count, grid);
    if (step.blocks > MOST_UNSCANNED) add(SortTask::scan, ceil_div(step.segments * digits(), warps_));
    add(SortTask::move, grid);
  }
  if (step.passes == 1) return;
  step.blocks = marking_blocks_;
  add(SortTask::mark, step.segments * step.blocks);
}

void SortPlan::add_order(std::vector<SortLaunch>& launches, SortStep step) const {
  const auto add = [&](SortTask task, std::int64_t blocks) {
    step.task = task;
    launches.push_back({step, blocks});
  };
  if (is_one_launch()) return add(step_.task, step.segments);
  step.next_tile = reinterpret_cast<unsigned*>(step.counts);
  step.having_digit = step.next_tile + most_passes_;
  unsigned* const said_by_turns[2] = {step.having_digit + digit_counts(),
                                      step.having_digit + digit_counts() + said()};
  step.cleared = most_passes_ + digit_counts() + said();
  add(SortTask::clear, clearing_blocks_);
  add(SortTask::digits, step.segments * step.blocks);
  for (; step.pass < step.passes; ++step.pass, ++step.next_tile) {
    step.said = said_by_turns[step.pass % 2];
    step.said_next = step.pass + 1 < step.passes ? said_by_turns[(step.pass + 1) % 2] : nullptr;
    add(SortTask::tiles, step.segments * step.tiles);
    step.having_digit += step.segments * digits();
  }
}

}  // namespace twinloom::cuda
