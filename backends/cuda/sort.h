// How a sort of a GPU is launched: which kernels one after the other, with how many blocks. See
// device/sort.h, and device/order.h for one whose order is all that is asked for. Exported sources have this
// file too, so it includes nothing of the library but plain structs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cuda/device/sort_step.h"

namespace twinloom::cuda {

struct SortLaunch {
  SortStep step;
  std::int64_t blocks;  // of the grid
};

// What of a GPU a sort is planned for.
struct SortMachine {
  std::int64_t blocks;       // that it runs at once
  std::int64_t cache_bytes;  // of its L2
};

// `rows` rows of n elements, each sorted by keys below `bound`.
struct SortSizes {
  std::int64_t rows, n, bound;
  bool has_starts = true;  // the first place of each key is found too; else no key is out of range
};

class SortPlan {
 public:
  SortPlan(const SortSizes& sizes, const SortMachine& machine, const SortShape& shape = SORT_SHAPE,
           const OrderShape& order = ORDER_SHAPE);

  // Why it cannot be launched, in words: a row has 2^31 elements, or 2^48 keys. Empty where it can.
  const std::string& refusal() const { return refusal_; }
  std::int64_t workspace_bytes() const;  // beside the results; may be 0
  std::vector<SortLaunch> launches(void* workspace) const;

 private:
  std::int64_t choose_rows(const SortShape& shape) const;
  void choose_digits(std::int64_t bits, const SortShape& shape);
  bool choose_ranges(std::int64_t size, std::int64_t bits, const SortMachine& machine,
                     const SortShape& shape);
  void choose_passes(std::int64_t size, std::int64_t bits, const SortMachine& machine,
                     const SortShape& shape);
  void refuse(std::int64_t size, std::int64_t keys, std::int64_t most_keys);
  void plan(const SortMachine& machine, const SortShape& shape);
  void plan_order(const SortMachine& machine, const OrderShape& shape);
  void add(std::vector<SortLaunch>& launches, SortStep step) const;
  void add_order(std::vector<SortLaunch>& launches, SortStep step) const;
  std::int64_t digits() const { return std::int64_t{1} << step_.bits; }
  std::int64_t spare() const { return step_.passes > 1 && !is_one_launch() ? sizes_.rows * sizes_.n : 0; }
  bool is_one_launch() const { return step_.task == SortTask::rows || step_.task == SortTask::range; }
  bool is_empty() const { return sizes_.rows * sizes_.n == 0; }
  std::int64_t counts() const;
  std::int64_t digit_counts() const;
  std::int64_t said() const;

  SortSizes sizes_;
  std::int64_t warps_;
  std::int64_t marking_blocks_ = 1;  // of a segment
  std::int64_t clearing_blocks_ = 1;
  std::int64_t most_passes_;  // of a sort for the order alone
  SortStep step_;
  std::string refusal_;
};

}  // namespace twinloom::cuda
