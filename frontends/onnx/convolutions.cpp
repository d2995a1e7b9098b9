// See convolutions.h.
#include "frontends/onnx/convolutions.h"

namespace twinloom::onnx {

using graph::Shape;
using index::Expr;

Tensor convolution(const Call& call, const Tensor& x, const Tensor& weights) {
  if (x.rank() < 3 || weights.rank() != x.rank())
    call.fail("needs weights of as many axes as the input, 3 or more; given ", weights.rank(), " and ",
              x.rank());
  check_kernel_shape(call, weights);
  const Shape shape = weights.shape();
  const auto windows = windows_of(call, x, {shape.begin() + 2, shape.end()});
  return graph::convolve(x, weights, {call.name(), taps_of(windows), groups_of(call)});
}

Expr groups_of(const Call& call) {
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1) call.fail("attribute 'group' must be at least 1, it is ", groups);
  return groups;
}

}  // namespace twinloom::onnx
