// See products.h.
#include "frontends/onnx/products.h"

#include "core/graph/composites.h"
#include "core/graph/reductions.h"

namespace twinloom::onnx {

using graph::Axes;
using graph::Shape;
using index::Expr;

Tensor matrix_product(const Call& call, Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0) call.fail("needs tensors with axes");
  const bool is_row = a.rank() == 1, is_column = b.rank() == 1;
  if (is_row) a = graph::unsqueeze(a, 0);
  if (is_column) b = graph::unsqueeze(b, 1);
  call.builder().graph().require_equal(
      a.size(-1), b.size(-2),
      cat("matrices of ", a.size(-1), " columns and ", b.size(-2), " rows do not fit together"));
  Tensor product = graph::matrix_product(a, b);
  if (is_column) product = graph::select(product, -1, 0);
  return is_row ? graph::select(product, is_column ? -1 : -2, 0) : product;
}

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
