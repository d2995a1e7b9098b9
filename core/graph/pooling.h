// Pooling: what windows that move over the last axes of a tensor hold, as one View of all windows and a
// Reduce over their elements. What windows reach outside of the tensor is -inf to a maximum and 0 to a sum.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// Along one axis: window o holds the elements o*stride - padding + k*dilation for k < size.
struct Window {
  index::Expr size, stride, padding = 0, dilation = 1;
};
struct Pooling {
  std::string name;             // of the operator, for messages
  std::vector<Window> windows;  // of the last axes
  bool partial = false;         // the last window may reach past the padding, if it begins before that
};

// A NaN is the largest; of equals the first counts. `place` is the position inside the window, row by row
// (i64), and never that of an element outside of x.
Tensor max_pool(const Tensor& x, const Pooling& pooling);
Tensor max_pool_place(const Tensor& x, const Pooling& pooling);
// Positions in the plane that the windows move over, row by row, from positions inside windows.
Tensor places_in_plane(const Tensor& places, const std::vector<Window>& windows, const Shape& plane);
// Each gradient goes to the element of its window at `places`, a position in the plane.
Tensor max_pool_backward(const Tensor& gradient, const Tensor& places, const Shape& x,
                         const Pooling& pooling);

// What the sum of a window is divided by: the number, or how many elements the window holds, with those in
// the padding or without.
struct Divisor {
  std::optional<std::int64_t> number;
  bool counts_padding = true;
};
// The quotient of integers is cut.
Tensor average_pool(const Tensor& x, const Pooling& pooling, const Divisor& divisor);
Tensor average_pool_backward(const Tensor& gradient, const Shape& x, const Pooling& pooling,
                             const Divisor& divisor);
// Over axes in place of the last ones, which `sizes` windows share: window o of n begins with element
// o*size/n and ends before (o + 1)*size/n, rounded down and up.
Tensor adaptive_average_pool(const Tensor& x, const Shape& sizes, const std::string& name);
// `axes`: over how many axes windows move.
Tensor adaptive_average_pool_backward(const Tensor& gradient, const Shape& x, std::size_t axes,
                                      const std::string& name);

}  // namespace twinloom::graph
