// Sorted elements, and where they were. Elements of every type are ordered: truths as 0 and 1, NaN above all
// numbers, both zeros equal. Sorting is stable, also where PyTorch leaves it open: of equal elements the one
// with the lowest offset comes first, ascending as descending. A tensor without axes is one element along
// axis 0 or -1. Wrong axes and numbers are Errors, or requirements where only a run can tell.
#pragma once

#include "core/graph/reductions.h"

namespace twinloom::graph {

enum class Direction : std::uint8_t { ascending, descending };

// The values, and their offsets along the axis (i64).
struct Sorted {
  Tensor values, offsets;
};
Sorted sort(const Tensor& x, int axis, Direction direction = Direction::ascending);
Tensor argsort(const Tensor& x, int axis, Direction direction = Direction::ascending);
// The first `count` of these: 0 <= count <= size of the axis.
Sorted top(const Tensor& x, const index::Expr& count, int axis, Direction direction = Direction::descending);
// The element that `number - 1` others stand before: 1 <= number <= size of the axis.
Extreme kth_value(const Tensor& x, const index::Expr& number, int axis, bool keep = false);

// The lower one of the two in the middle. Of a row with a NaN its first NaN, or where they are ignored the
// median of its numbers.
enum class Nans : std::uint8_t { win, ignored };
Extreme median(const Tensor& x, int axis, bool keep = false, Nans nans = Nans::win);
// Of all elements; of none NaN, which integers have not.
Tensor median(const Tensor& x, Nans nans = Nans::win);

}  // namespace twinloom::graph
