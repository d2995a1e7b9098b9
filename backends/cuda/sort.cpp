// See sort.h.
#include "backends/cuda/sort.h"

#include <algorithm>
#include <bit>

namespace twinloom::cuda {

namespace {

constexpr std::int64_t WORD = sizeof(emit::Integer), WORD_BITS = 8 * WORD;
// Of a segment: an element is numbered in half a word, and the first place of each key is an array.
constexpr std::int64_t MOST_SORTED = std::int64_t{1} << 31, MOST_KEYS = std::int64_t{1} << 48;

// Neither is negative.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t bits_of(std::int64_t most) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
}

}  // namespace

SortPlan::SortPlan(const SortSizes& sizes, const SortMachine& machine, const SortShape& shape)
    : sizes_(sizes), warps_(shape.warps()) {
  step_.rows_each =
      std::clamp<std::int64_t>(choose_rows(machine, shape), 1, std::max<std::int64_t>(sizes.rows, 1));
  step_.segments = std::max<std::int64_t>(ceil_div(sizes.rows, step_.rows_each), 1);
  const std::int64_t size = step_.rows_each * sizes.n, keys = step_.rows_each * sizes.bound;
  if (size >= MOST_SORTED || keys >= MOST_KEYS) {
    refusal_ = "a sort of " + std::to_string(size) + " elements by keys below " + std::to_string(keys) +
               "; on a GPU there are less than " + std::to_string(MOST_SORTED) + " and " +
               std::to_string(MOST_KEYS);
    return;
  }
  // Keys out of range count as `keys`; of several segments there are none. Where a word holds a part of a
  // key, it is a bit of their own that tells them from others.
  step_.is_whole = bits_of(sizes.has_starts ? keys : keys - 1) <= shape.key_bits ? 1 : 0;
  if (sizes.has_starts) step_.outside = step_.is_whole == 1 ? keys : std::int64_t{1} << bits_of(keys);
  const bool has_outside = sizes.has_starts && (step_.segments == 1 || step_.is_whole == 0);
  const std::int64_t bits = std::max(bits_of(has_outside ? step_.outside : keys - 1), std::int64_t{1});
  if (!choose_block(size, bits, shape) && !choose_ranges(size, bits, machine, shape))
    choose_passes(size, bits, machine, shape);
}

// Rows that are shorter than an iteration share one: whole ones in one block, where there is a segment for
// each block; else as long as words hold their keys. Where there are no places, nothing is sorted.
std::int64_t SortPlan::choose_rows(const SortMachine& machine, const SortShape& shape) const {
  const auto& [rows, n, bound, has_starts] = sizes_;
  if (n == 0 || bound == 0) return rows;
  if (!has_starts && n <= shape.at_once())
    return std::min(shape.at_once() / n, ceil_div(rows, std::max<std::int64_t>(machine.blocks, 1)));
  const std::int64_t held = (std::int64_t{1} << shape.key_bits) - 1;
  return std::min(ceil_div(shape.at_once(), n), held / bound);
}

// As few passes as there can be, with digits of equal width.
void SortPlan::choose_digits(std::int64_t bits, const SortShape& shape) {
  step_.passes = ceil_div(bits, shape.bits);
  step_.bits = ceil_div(bits, step_.passes);
}

bool SortPlan::choose_block(std::int64_t size, std::int64_t bits, const SortShape& shape) {
  if (sizes_.has_starts || size > shape.at_once() || bits + shape.position_bits() >= WORD_BITS) return false;
  step_.task = SortTask::block;
  choose_digits(bits, shape);
  return true;
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
  return alone || (ceil_div(size, shape.at_once()) <= shape.walked && step_.segments * step_.blocks <= most);
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

std::int64_t SortPlan::workspace_bytes() const {
  const std::int64_t totals = is_one_launch() ? 0 : step_.segments * digits();
  return (spare() + counts() + totals) * WORD;
}

std::vector<SortLaunch> SortPlan::launches(void* workspace) const {
  SortStep step = step_;
  step.spare = static_cast<emit::Integer*>(workspace);
  step.counts = step.spare + spare();
  step.totals = step.counts + counts();
  std::vector<SortLaunch> launches;
  const auto add = [&](SortTask task, std::int64_t blocks) {
    step.task = task;
    launches.push_back({step, blocks});
  };
  const std::int64_t grid = step.segments * step.blocks;
  if (is_one_launch()) {
    add(step_.task, grid);
    return launches;
  }
  for (; step.pass < step.passes; ++step.pass) {
    add(SortTask::count, grid);
    if (step.blocks > MOST_UNSCANNED) add(SortTask::scan, ceil_div(step.segments * digits(), warps_));
    add(SortTask::move, grid);
  }
  if (step.passes > 1 && sizes_.has_starts) {
    step.blocks = marking_blocks_;
    add(SortTask::mark, step.segments * step.blocks);
  }
  return launches;
}

}  // namespace twinloom::cuda
