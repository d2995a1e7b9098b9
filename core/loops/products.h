// What a contraction is to a library: a matrix product, or a convolution.
#pragma once

#include <optional>
#include <vector>

#include "core/loops/contraction.h"

namespace twinloom::loops {

// out[b, i, j] = sum over k of left[b, i, k] * right[b, k, j], for all b. Along a batch axis one factor may
// stay where it is: its step is 0.
struct MatrixProduct {
  std::vector<Contraction::Axis> batch;
  Contraction::Axis rows, columns, depth;  // i, j, k
};
// Nothing where windows are read, or where what is summed up is no one axis of both factors.
std::optional<MatrixProduct> matrix_product_of(const Contraction& contraction);

// out[n, g, o, x..] = sum over c, r.. of left[n, g, c, (stride x + dilation r - before)..] * right[g, o, c,
// r..]
struct Convolution {
  struct Dimension {
    std::int64_t extent = 1, step = 1;       // of left; outside of it is 0
    std::int64_t results = 1, out_step = 0;  // x
    std::vector<std::int64_t> operand_steps = {};
    std::int64_t taps = 1, right_step = 0;   // r
    std::int64_t stride = 1, dilation = 1, before = 0;
    // What is read behind the last element; below 0 where elements behind it are not read.
    std::int64_t after() const {
      return (results - 1) * stride + (taps - 1) * dilation + 1 - extent - before;
    }
  };
  Contraction::Axis batch, groups, results, inputs;  // n, g, o, c
  std::vector<Dimension> dimensions;                 // outermost in left first; 1 to 3
  std::int64_t left_begin = 0;                       // that is to be added to the contraction's
};
// Nothing where it is not of that form with known sizes. A dimension that no window reads becomes one where
// axes of a factor are not neighbours in memory.
std::optional<Convolution> convolution_of(const Contraction& contraction);

// The kept axes from outermost to innermost as the result lies best in memory: channels-last, the axes of the
// right factor alone as neighbours, where windows are read, and where the factor with more axes has those
// that are summed over as neighbours; else as the nest walks them.
std::vector<std::size_t> result_order(const Contraction& contraction);

// The same with its factors the other way round; there must be no windows.
Contraction swapped(const Contraction& contraction);

// The same over a copy of `left` without gaps, whose axes are those of the result that it has, then those
// that are summed over: they are one axis in it. There must be no windows.
struct Copied {
  struct Axis {
    index::Expr extent, step, copy_step;  // of the buffer and of its copy
  };
  Contraction contraction;
  std::vector<Axis> axes;
};
Copied with_left_copied(const Contraction& contraction);

}  // namespace twinloom::loops
