// See attention.h. Tests: tests/frontends/fx_attention_test.cpp.
#include "core/graph/attention.h"

#include <cmath>
#include <limits>

#include "core/graph/build_error.h"
#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using index::Expr;

constexpr double lowest = -std::numeric_limits<double>::infinity();

struct Softmax {
  Tensor weights, logsumexp;  // the latter keeps the axis with size 1
};
// With the greatest element taken as 0 and the sum as 1 in a row of -inf alone.
Softmax softmax_of(const Tensor& x, int axis) {
  const Tensor greatest = amax_or_lowest(x, {axis}, true);
  const Tensor m = where(eq(greatest, lowest), 0.0, greatest);
  const Tensor e = exp(x - m), total = sum(e, {axis}, true);
  const Tensor s = where(eq(total, 0.0), 1.0, total);
  return {e / s, log(s) + m};
}

Tensor scaled(const AttentionInputs& inputs, const Tensor& x) {
  if (inputs.scale) return *inputs.scale == 1 ? x : x * *inputs.scale;
  // Products over no elements are 0 by any finite factor.
  const Expr size = index::greatest(inputs.queries.size(-1), Expr(1));
  if (const auto known = index::constant_of(size)) return x * (1 / std::sqrt(static_cast<double>(*known)));
  const Tensor root = sqrt(x.builder().size(size, ops::DType::f64));
  return x * cast(1.0 / root, x.dtype());
}

void check_mask(const Tensor& scores, const Tensor& mask) {
  if (mask.rank() > scores.rank())
    fail(scores.builder(), "attention", "the mask has ", mask.rank(), " axes, the scores have ",
         scores.rank());
  for (int axis = -1; axis >= -mask.rank(); --axis) {
    if (mask.size(axis) == Expr(1)) continue;
    scores.builder().graph().require_equal(
        mask.size(axis), scores.size(axis),
        cat("axis ", axis, " of the mask must be 1 or ", scores.size(axis), ", it is ", mask.size(axis)));
  }
}

Tensor masked(const AttentionInputs& inputs, Tensor scores) {
  if (inputs.mask) {
    check_mask(scores, *inputs.mask);
    scores = inputs.mask->dtype() == ops::DType::b8 ? where(*inputs.mask, scores, lowest)
                                                    : scores + cast(*inputs.mask, scores.dtype(), true);
  }
  if (!inputs.is_causal) return scores;
  Builder& builder = scores.builder();
  const Tensor query = builder.iota({scores.size(-2), 1}, 0), key = builder.iota({1, scores.size(-1)}, 1);
  return where(le(key, query), scores, lowest);
}

Tensor product(const AttentionInputs& inputs, const Tensor& a, const Tensor& b) {
  return inputs.is_grouped ? grouped_product(a, b) : matrix_product(a, b);
}

Tensor transposed(const Tensor& matrices) { return transpose(matrices, -1, -2); }

Tensor scores_of(const AttentionInputs& inputs) {
  const Tensor products = product(inputs, widened(inputs.queries), transposed(widened(inputs.keys)));
  return masked(inputs, scaled(inputs, products));
}

// Of [..., heads, n, m] the sums over the heads that belong to each of the fewer.
Tensor sum_of_groups(const Tensor& x, const Expr& heads) {
  if (x.size(-3) == heads) return x;
  Shape shape = x.shape();
  const auto at = shape.end() - 3;
  const Expr each = index::floor_div(*at, heads);
  *at = each;
  shape.insert(shape.end() - 3, heads);
  return sum(reshape(x, shape), {-3});
}

// Summed over the axes along which a tensor of that shape was broadcast.
Tensor summed_to(Tensor x, const Shape& shape) {
  Axes before, ones;
  const int more = x.rank() - static_cast<int>(shape.size());
  for (int axis = 0; axis < more; ++axis) before.push_back(axis);
  if (!before.empty()) x = sum(x, before);
  for (int axis = 0; axis < x.rank(); ++axis)
    if (shape[static_cast<std::size_t>(axis)] == Expr(1) && x.size(axis) != Expr(1)) ones.push_back(axis);
  return ones.empty() ? x : sum(x, ones, true);
}

}  // namespace

Tensor safe_softmax(const Tensor& x, int axis) {
  if (!ops::is_floating(x.dtype()))
    fail(x.builder(), "safe_softmax", "needs elements of a floating type, given ", ops::name(x.dtype()));
  const CompositeScope scope(x.builder(), "safe_softmax");
  return cast(softmax_of(widened(x), axis).weights, x.dtype(), true);
}

Tensor grouped_product(const Tensor& a, const Tensor& b) {
  if (a.size(-3) == b.size(-3)) return matrix_product(a, b);
  const Expr heads = b.size(-3), all = a.size(-3);
  if (heads == Expr(0)) fail(a.builder(), "attention", "there are no heads of keys and values");
  const Expr each = index::floor_div(all, heads);
  a.builder().graph().require_equal(
      each * heads, all,
      cat("the heads of queries must be a multiple of those of keys and values, given ", all, " and ",
          heads));
  Shape shape = a.shape();
  *(shape.end() - 3) = each;
  shape.insert(shape.end() - 3, heads);
  const Tensor products = matrix_product(reshape(a, shape), unsqueeze(b, -3));
  Shape result = products.shape();
  result.erase(result.end() - 4);
  *(result.end() - 3) = all;
  return reshape(products, result);
}

Attention attention(const AttentionInputs& inputs) {
  const CompositeScope scope(inputs.queries.builder(), "attention");
  const Softmax softmax = softmax_of(scores_of(inputs), -1);
  const Tensor value = product(inputs, softmax.weights, widened(inputs.values));
  return {cast(value, inputs.queries.dtype(), true), softmax.weights, squeeze(softmax.logsumexp, {-1})};
}

// p = exp(scores - logsumexp); of the scores: p * (g v^T - sum(g * result))
AttentionGradients attention_backward(const AttentionInputs& inputs, const Tensor& gradient,
                                      const Tensor& result, const Tensor& logsumexp) {
  const CompositeScope scope(inputs.queries.builder(), "attention_backward");
  const Tensor q = widened(inputs.queries), k = widened(inputs.keys), v = widened(inputs.values);
  const Tensor g = widened(gradient), scores = scores_of(inputs);
  const Tensor p = exp(scores - cast(unsqueeze(logsumexp, -1), scores.dtype()));
  const Tensor of_p = product(inputs, g, transposed(v)), share = sum(g * widened(result), {-1}, true);
  const Tensor of_scores = p * (of_p - share);
  const Tensor of_q = scaled(inputs, product(inputs, of_scores, k));
  const Tensor of_k = scaled(inputs, sum_of_groups(matrix_product(transposed(of_scores), q), k.size(-3)));
  const Tensor of_v = sum_of_groups(matrix_product(transposed(p), g), v.size(-3));
  const auto rounded = [](const Tensor& x, const Tensor& as) { return cast(x, as.dtype(), true); };
  AttentionGradients gradients{rounded(of_q, inputs.queries), rounded(of_k, inputs.keys),
                               rounded(of_v, inputs.values), std::nullopt};
  if (inputs.mask && inputs.mask->dtype() != ops::DType::b8)
    gradients.mask = rounded(summed_to(of_scores, inputs.mask->shape()), *inputs.mask);
  return gradients;
}

}  // namespace twinloom::graph
