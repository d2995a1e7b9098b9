// See heads.h.
#include "frontends/onnx/heads.h"

namespace twinloom::onnx {

using index::Expr;

Tensor split_heads(const Call& call, const Tensor& x, std::int64_t heads) {
  if (heads < 1) call.fail("needs the number of heads, above 0, given ", heads);
  const Expr size = index::floor_div(x.size(2), Expr(heads));
  call.builder().graph().require_equal(size * heads, x.size(2),
                                       cat("the last axis must be a multiple of ", heads, " heads"));
  return graph::transpose(graph::reshape(x, {x.size(0), x.size(1), heads, size}), 1, 2);
}

Tensor join_heads(const Tensor& x) {
  return graph::reshape(graph::transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

}  // namespace twinloom::onnx
