// See sort.h.
#include "backends/cuda/sort.h"

#include <algorithm>
#include <bit>

namespace twinloom::cuda {

namespace {

constexpr std::int64_t WORD = sizeof(emit::Integer);
// Of a segment: an element is numbered in half a word, and the first place of each key is an array.
constexpr std::int64_t MOST_SORTED = std::int64_t{1} << 31, MOST_KEYS = std::int64_t{1} << 48;

// Neither is negative.
std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::int64_t bits_of(std::int64_t most) {
  return static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
}

}  // namespace

SortPlan::SortPlan(std::int64_t rows, std::int64_t n, std::int64_t bound, const SortMachine& machine,
                   const SortShape& shape)
    : elements_(rows * n), warps_(shape.warps()) {
  // Rows that are shorter than an iteration share one, as long as words hold their keys; where there are no
  // places, nothing is sorted.
  const std::int64_t together = n == 0 || bound == 0 ? rows : ceil_div(shape.at_once(), n);
  const std::int64_t held = (std::int64_t{1} << shape.key_bits) - 1;
  step_.rows_each = std::clamp<std::int64_t>(std::min(together, held / std::max<std::int64_t>(bound, 1)), 1,
                                             std::max<std::int64_t>(rows, 1));
  step_.segments = std::max<std::int64_t>(ceil_div(rows, step_.rows_each), 1);
  const std::int64_t size = step_.rows_each * n, keys = step_.rows_each * bound;
  if (size >= MOST_SORTED || keys >= MOST_KEYS) {
    refusal_ = "a sort of " + std::to_string(size) + " elements by keys below " + std::to_string(keys) +
               "; on a GPU there are less than " + std::to_string(MOST_SORTED) + " and " +
               std::to_string(MOST_KEYS);
    return;
  }
  // Keys out of range count as `keys`; of several segments there are none. Where a word holds a part of a
  // key, it is a bit of their own that tells them from others.
  const bool is_whole = bits_of(keys) <= shape.key_bits;
  step_.outside = is_whole ? keys : std::int64_t{1} << bits_of(keys);
  const bool is_alone = step_.segments == 1 || !is_whole;
  const std::int64_t bits = std::max(bits_of(is_alone ? step_.outside : keys - 1), std::int64_t{1});
  if (!choose_ranges(size, bits, machine, shape)) choose_passes(size, bits, machine, shape);
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
  step_.passes = ceil_div(bits, shape.bits);
  step_.bits = ceil_div(bits, step_.passes);
  marking_blocks_ =
      std::clamp<std::int64_t>(machine.blocks / step_.segments, 1, ceil_div(size + 1, shape.threads));
}

std::int64_t SortPlan::workspace_bytes() const {
  const std::int64_t totals = step_.task == SortTask::range ? 0 : step_.segments * digits();
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
  if (step_.task == SortTask::range) {
    add(SortTask::range, grid);
    return launches;
  }
  for (; step.pass < step.passes; ++step.pass) {
    add(SortTask::count, grid);
    if (step.blocks > MOST_UNSCANNED) add(SortTask::scan, ceil_div(step.segments * digits(), warps_));
    add(SortTask::move, grid);
  }
  if (step.passes > 1) {
    step.blocks = marking_blocks_;
    add(SortTask::mark, step.segments * step.blocks);
  }
  return launches;
}

}  // namespace twinloom::cuda
