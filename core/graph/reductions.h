// Reductions and scans, and the statistics made of them. Empty `axes` are all axes; with `keep` a
// reduced axis stays with size 1. Means and variances of f16 and bf16 are computed in f32 and rounded
// once. Over nothing: sum 0, product 1, mean NaN; max, min and their places are an Error or a Require.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

Tensor reduce(ops::Monoid monoid, const Tensor& x, const Axes& axes = {}, bool keep = false,
              int component = 0);
Tensor sum(const Tensor& x, const Axes& axes = {}, bool keep = false);
Tensor prod(const Tensor& x, const Axes& axes = {}, bool keep = false);
Tensor amax(const Tensor& x, const Axes& axes = {}, bool keep = false);
// amax that is the type's lowest value over nothing: the shift of softmax and logsumexp. And amin.
Tensor amax_or_lowest(const Tensor& x, const Axes& axes, bool keep);
Tensor amin_or_highest(const Tensor& x, const Axes& axes, bool keep);
Tensor amin(const Tensor& x, const Axes& axes = {}, bool keep = false);
Tensor any(const Tensor& x, const Axes& axes = {}, bool keep = false);  // b8; x of another type is x != 0
Tensor all(const Tensor& x, const Axes& axes = {}, bool keep = false);

// The value found and its place along the axis (i64).
struct Extreme {
  Tensor value, place;
};
Extreme max_with_place(const Tensor& x, int axis, bool keep = false);
Extreme min_with_place(const Tensor& x, int axis, bool keep = false);
// Places (i64); without an axis, of the flattened tensor.
Tensor argmax(const Tensor& x, std::optional<int> axis = {}, bool keep = false);
Tensor argmin(const Tensor& x, std::optional<int> axis = {}, bool keep = false);

Tensor mean(const Tensor& x, const Axes& axes = {}, bool keep = false);
// sum((x - mean)^2) / max(0, N - correction)
struct Moments {
  Tensor variance, mean;
};
Moments var_mean(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keep = false);
Tensor var(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keep = false);
Tensor standard_deviation(const Tensor& x, const Axes& axes = {}, double correction = 1, bool keep = false);
Tensor logsumexp(const Tensor& x, const Axes& axes = {}, bool keep = false);
// (sum |x|^p)^(1/p), with p of 0, 1, 2 and inf in their own forms.
Tensor vector_norm(const Tensor& x, double p, const Axes& axes = {}, bool keep = false);

struct ScanOptions {
  bool exclusive = false;
  bool backwards = false;
};
Tensor cumsum(const Tensor& x, int axis, ScanOptions options = {});
Tensor cumprod(const Tensor& x, int axis, ScanOptions options = {});
Extreme cummax(const Tensor& x, int axis);
Extreme cummin(const Tensor& x, int axis);

}  // namespace twinloom::graph
