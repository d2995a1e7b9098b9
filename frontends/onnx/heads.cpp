// See heads.h.
#include "frontends/onnx/heads.h"

#include "core/graph/composites.h"

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

Tensor heads_product(const Call& call, const Tensor& a, const Tensor& b) {
  if (a.size(1) == b.size(1)) return graph::matrix_product(a, b);
  const Expr heads = b.size(1);
  if (heads == Expr(0)) call.fail("there are no heads of keys and values");
  const Expr each = index::floor_div(a.size(1), heads);
  call.builder().graph().require_equal(
      each * heads, a.size(1),
      cat("the heads of queries must be a multiple of those of keys, given ", a.size(1), " and ", heads));
  const Tensor grouped = graph::reshape(a, {a.size(0), heads, each, a.size(2), a.size(3)});
  const Tensor product = graph::matrix_product(grouped, graph::unsqueeze(b, 2));
  return graph::reshape(product, {product.size(0), a.size(1), a.size(2), b.size(3)});
}

}  // namespace twinloom::onnx
