// Convolutions over the axes behind batch and channels, and their gradients, as sums of products of elements:
// a View of all windows, and a Reduce. Operands of 16 bits are handed in widened, so that only results are
// rounded to their type.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// Along one axis: element o of the result, o < count, is made of the elements o*stride - before + k*dilation,
// for k < the filter's size.
struct Taps {
  index::Expr stride = 1, dilation = 1, before = 0, count = 0;
};
struct Convolution {
  std::string name;  // of the operator, for messages
  std::vector<Taps> taps;
  index::Expr groups = 1;  // of channels, each with filters of its own
};

// [batch, channels, count..., size...]: what each element of the result is made of; `fill` outside of x.
Tensor windows_over(const Tensor& x, const std::vector<Taps>& taps, const Shape& sizes, ops::Number fill);

// x: [batch, channels, ...], filters: [outputs, channels/groups, size...]; [batch, outputs, count...]. Error
// where these do not fit each other.
Tensor convolve(const Tensor& x, const Tensor& filters, const Convolution& convolution);

// Its gradient for x, for one of its result; so the transposed convolution. x: [batch, outputs, ...],
// filters: [outputs, channels/groups, size...], `count` the sizes of what is given: [batch, channels,
// count...].
Tensor convolve_transposed(const Tensor& x, const Tensor& filters, const Convolution& convolution);

// Its gradient for the filters, of the shape that they have.
Tensor convolve_filters(const Tensor& gradient, const Tensor& x, const Shape& filters,
                        const Convolution& convolution);

// [channels] beside [batch, channels, ...] of so many axes: a bias.
Tensor beside_channels(const Tensor& channels, int rank);

}  // namespace twinloom::graph
