// Reductions, scans and the statistics made of them. See reductions.h.
#include "core/graph/reductions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// The shape with the reduced axes put back with size 1.
Tensor with_axes_kept(const Tensor& reduced, const Axes& axes) {
  Tensor result = reduced;
  for (const int axis : axes) result = unsqueeze(result, axis);
  return result;
}

// How many elements lie along the axes.
index::Expr count_along(const Tensor& x, const Axes& axes) {
  index::Expr count = 1;
  for (const int axis : axes) count = count * x.size(axis);
  return count;
}

Axes axes_for(const Tensor& x, const Axes& axes, std::string_view what) {
  return axes_of(axes, x.rank(), subject(x.builder(), what));
}

// A tensor without axes, of which -1 and 0 name the only element.
bool is_single(const Tensor& x, int axis, std::string_view what) {
  if (x.rank() > 0) return false;
  axis_of(axis, 1, subject(x.builder(), what));
  return true;
}

Tensor truth(const Tensor& x) { return x.dtype() == ops::DType::b8 ? x : ne(x, 0); }

// max(0, count - correction) as a number of the type.
Tensor degrees_of_freedom(Builder& builder, const index::Expr& count, double correction, ops::DType dtype) {
  const bool whole = correction == std::floor(correction) && std::abs(correction) < 1e9;
  if (whole) {
    const index::Expr left = count - static_cast<std::int64_t>(correction);
    const auto known = index::constant_of(left);
    return builder.size(known ? index::Expr(std::max<std::int64_t>(0, *known)) : index::greatest(0, left),
                        dtype);
  }
  return maximum(builder.size(count, dtype) - correction, 0.0);
}

void needs_real(const Tensor& x, std::string_view what) {
  if (!ops::is_floating(x.dtype()))
    fail(x.builder(), what, "needs elements of a floating type, given ", ops::name(x.dtype()));
}

// The mean of a tensor in its compute type, with the axes kept.
Tensor mean_of_wide(const Tensor& x, const Axes& axes) {
  const Tensor count = x.builder().size(count_along(x, axes), x.dtype());
  return sum(x, axes, true) / count;
}

Extreme extreme(ops::Monoid monoid, const Tensor& x, int axis, bool keep) {
  if (is_single(x, axis, ops::name(monoid))) return {x, x.builder().constant(0, ops::DType::i64)};
  const Axes axes{axis_of(axis, x.rank(), subject(x.builder(), ops::name(monoid)))};
  return {reduce(monoid, x, axes, keep, 0), reduce(monoid, x, axes, keep, 1)};
}

Tensor place_of(ops::Monoid monoid, const Tensor& x, std::optional<int> axis, bool keep) {
  if (axis) return extreme(monoid, x, *axis, keep).place;
  if (x.rank() == 0) return x.builder().constant(0, ops::DType::i64);
  return reduce(monoid, x, {}, keep, 1);
}

Tensor scan(ops::Monoid monoid, const Tensor& x, int axis, ScanOptions options, int component) {
  const int along = axis_of(axis, x.rank(), subject(x.builder(), ops::name(monoid)));
  return x.builder().add(Scan{monoid, along, options.exclusive, options.backwards, component}, {x});
}

Extreme running_extreme(ops::Monoid monoid, const Tensor& x, int axis) {
  if (is_single(x, axis, ops::name(monoid))) return {x, x.builder().constant(0, ops::DType::i64)};
  return {scan(monoid, x, axis, {}, 0), scan(monoid, x, axis, {}, 1)};
}

Tensor reduced_by(Reduce reduction, const Tensor& x, const Axes& axes, bool keep) {
  reduction.axes = axes_for(x, axes, ops::name(reduction.monoid));
  if (reduction.axes.empty()) return x;
  const Tensor result = x.builder().add(reduction, {x});
  return keep ? with_axes_kept(result, reduction.axes) : result;
}

}  // namespace

Tensor reduce(ops::Monoid monoid, const Tensor& x, const Axes& axes, bool keep, int component) {
  return reduced_by({monoid, {}, component, false}, x, axes, keep);
}

Tensor amax_or_lowest(const Tensor& x, const Axes& axes, bool keep) {
  return reduced_by({ops::Monoid::max, {}, 0, true}, x, axes, keep);
}
Tensor amin_or_highest(const Tensor& x, const Axes& axes, bool keep) {
  return reduced_by({ops::Monoid::min, {}, 0, true}, x, axes, keep);
}

Tensor sum(const Tensor& x, const Axes& axes, bool keep) { return reduce(ops::Monoid::sum, x, axes, keep); }
Tensor prod(const Tensor& x, const Axes& axes, bool keep) { return reduce(ops::Monoid::prod, x, axes, keep); }
Tensor amax(const Tensor& x, const Axes& axes, bool keep) { return reduce(ops::Monoid::max, x, axes, keep); }
Tensor amin(const Tensor& x, const Axes& axes, bool keep) { return reduce(ops::Monoid::min, x, axes, keep); }
Tensor any(const Tensor& x, const Axes& axes, bool keep) {
  return reduce(ops::Monoid::any, truth(x), axes, keep);
}
Tensor all(const Tensor& x, const Axes& axes, bool keep) {
  return reduce(ops::Monoid::all, truth(x), axes, keep);
}

Extreme max_with_place(const Tensor& x, int axis, bool keep) {
  return extreme(ops::Monoid::argmax, x, axis, keep);
}
Extreme min_with_place(const Tensor& x, int axis, bool keep) {
  return extreme(ops::Monoid::argmin, x, axis, keep);
}
Tensor argmax(const Tensor& x, std::optional<int> axis, bool keep) {
  return place_of(ops::Monoid::argmax, x, axis, keep);
}
Tensor argmin(const Tensor& x, std::optional<int> axis, bool keep) {
  return place_of(ops::Monoid::argmin, x, axis, keep);
}

Tensor mean(const Tensor& x, const Axes& axes, bool keep) {
  needs_real(x, "mean");
  const CompositeScope scope(x.builder(), "mean");
  const Axes reduced = axes_for(x, axes, "mean");
  const Tensor wide = widened(x);
  const Tensor count = x.builder().size(count_along(x, reduced), wide.dtype());
  return cast(sum(wide, reduced, keep) / count, x.dtype(), true);
}

Moments var_mean(const Tensor& x, const Axes& axes, double correction, bool keep) {
  needs_real(x, "var");
  const CompositeScope scope(x.builder(), "var_mean");
  const Axes reduced = axes_for(x, axes, "var");
  const Tensor wide = widened(x);
  const Tensor average = mean_of_wide(wide, reduced);
  const Tensor deviation = wide - average;
  const Tensor count = degrees_of_freedom(x.builder(), count_along(x, reduced), correction, wide.dtype());
  const Tensor variance = sum(deviation * deviation, reduced, keep) / count;
  const Tensor mean_as_asked = keep || reduced.empty() ? average : squeeze(average, reduced);
  return {cast(variance, x.dtype(), true), cast(mean_as_asked, x.dtype(), true)};
}

Tensor var(const Tensor& x, const Axes& axes, double correction, bool keep) {
  return var_mean(x, axes, correction, keep).variance;
}

Tensor standard_deviation(const Tensor& x, const Axes& axes, double correction, bool keep) {
  const CompositeScope scope(x.builder(), "std");
  return cast(sqrt(var(widened(x), axes, correction, keep)), x.dtype(), true);
}

Tensor logsumexp(const Tensor& x, const Axes& axes, bool keep) {
  needs_real(x, "logsumexp");
  const CompositeScope scope(x.builder(), "logsumexp");
  const Axes reduced = axes_for(x, axes, "logsumexp");
  const Tensor wide = widened(x);
  const Tensor highest = amax_or_lowest(wide, reduced, true);
  const Tensor m = where(isinf(highest), 0.0, highest);
  const Tensor result = log(sum(exp(wide - m), reduced, true)) + m;
  return cast(keep || reduced.empty() ? result : squeeze(result, reduced), x.dtype(), true);
}

Tensor vector_norm(const Tensor& x, double p, const Axes& axes, bool keep) {
  needs_real(x, "vector_norm");
  const CompositeScope scope(x.builder(), "vector_norm");
  const Tensor wide = widened(x);
  const auto rounded = [&](const Tensor& result) { return cast(result, x.dtype(), true); };
  if (p == 0) return rounded(sum(cast(ne(wide, 0.0), wide.dtype()), axes, keep));
  const Tensor size = abs(wide);
  if (p == 1) return rounded(sum(size, axes, keep));
  if (p == 2) return rounded(sqrt(sum(wide * wide, axes, keep)));
  if (std::isinf(p)) return rounded(p > 0 ? amax(size, axes, keep) : amin(size, axes, keep));
  return rounded(pow(sum(pow(size, p), axes, keep), 1 / p));
}

Tensor cumsum(const Tensor& x, int axis, ScanOptions options) {
  return !options.exclusive && is_single(x, axis, "cumsum") ? x : scan(ops::Monoid::sum, x, axis, options, 0);
}
Tensor cumprod(const Tensor& x, int axis, ScanOptions options) {
  return !options.exclusive && is_single(x, axis, "cumprod") ? x
                                                             : scan(ops::Monoid::prod, x, axis, options, 0);
}
Extreme cummax(const Tensor& x, int axis) { return running_extreme(ops::Monoid::argmax_last, x, axis); }
Extreme cummin(const Tensor& x, int axis) { return running_extreme(ops::Monoid::argmin_last, x, axis); }

}  // namespace twinloom::graph
