// Inside of the component: windows that move over the axes behind batch and channels, as pooling and
// convolutions have them.
#pragma once

#include <vector>

#include "core/graph/convolution.h"
#include "frontends/onnx/call.h"

namespace twinloom::onnx {

// Along one axis: window o holds the elements o*stride - before + k*dilation for k < size, for o < count.
struct Window {
  index::Expr size;
  std::int64_t stride = 1, dilation = 1;
  index::Expr before = 0, after = 0;  // elements of padding
  index::Expr count = 0;
};

// From strides, dilations, pads, auto_pad and ceil_mode, one for each of the axes behind the first two. Error
// where these do not fit x.
std::vector<Window> windows_of(const Call& call, const Tensor& x, const graph::Shape& sizes);
// The sizes that attribute kernel_shape says, which must be there.
graph::Shape kernel_shape(const Call& call, const Tensor& x);
// Error where attribute kernel_shape is there and says other sizes than those of the weights behind the first
// two.
void check_kernel_shape(const Call& call, const Tensor& weights);
// As many numbers as there are axes behind the first two; `otherwise` each where the attribute is missing.
Integers spatial(const Call& call, const Tensor& x, std::string_view attribute, std::int64_t otherwise);

// The same for core/graph/convolution.h.
std::vector<graph::Taps> taps_of(const std::vector<Window>& windows);

// [batch, channels, count..., size...]: the elements of each window, `fill` where these lie outside.
Tensor unfolded(const Tensor& x, const std::vector<Window>& windows, ops::Number fill);
// The last axes, as many as there are windows.
graph::Axes window_axes(const std::vector<Window>& windows);

}  // namespace twinloom::onnx
