// See convolution.h.
#include "core/graph/convolution.h"

#include <numeric>

#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using index::Expr;

bool may_be_negative(const Expr& expr) {
  const auto known = index::constant_of(expr);
  return !known || *known < 0;
}

// Batch and channels; then the axes that are convolved begin.
constexpr std::size_t SPATIAL = 2;

// `least` elements along each axis of the result.
void check(const Tensor& x, const Tensor& filters, const Convolution& convolution, int least) {
  Builder& builder = x.builder();
  const auto axes = static_cast<int>(convolution.taps.size() + SPATIAL);
  if (x.rank() != axes || filters.rank() != axes)
    fail(builder, convolution.name, "needs tensors of ", axes, " axes, given ", print_shape(x.shape()),
         " and ", print_shape(filters.shape()));
  const std::string what = cat(subject(builder, convolution.name), ": ");
  require_sizes(builder, at_most(1, convolution.groups), cat(what, "there must be at least 1 group"));
  builder.graph().require_equal(
      index::floor_mod(filters.size(0), convolution.groups), 0,
      cat(what, filters.size(0), " filters are no multiple of ", convolution.groups, " groups"));
  for (std::size_t d = 0; d < convolution.taps.size(); ++d) {
    const Taps& taps = convolution.taps[d];
    const auto needs = [&](const Expr& given, std::string_view name) {
      require_sizes(builder, at_most(1, given), cat(what, "the ", name, " ", given, " must be at least 1"));
    };
    needs(taps.stride, "stride");
    needs(taps.dilation, "dilation");
    needs(filters.size(static_cast<int>(d + SPATIAL)), "size of filters");
    require_sizes(
        builder, at_most(least, taps.count),
        cat(what, "filters of ", print_shape(filters.shape()), " do not fit ", print_shape(x.shape())));
  }
}

// Shapes of two factors and the sum of their products, all of whose axes are [batch, group, filter, channel,
// element..., tap...]; 1 where a factor has none.
struct Factors {
  Shape x, filters;
  Axes taps;  // their axes
};
Factors factors_of(const std::vector<Taps>& taps, const Shape& sizes) {
  Factors factors;
  for (const Taps& along : taps) {
    factors.x.push_back(along.count);
    factors.filters.emplace_back(1);
  }
  factors.x.insert(factors.x.end(), sizes.begin(), sizes.end());
  factors.filters.insert(factors.filters.end(), sizes.begin(), sizes.end());
  factors.taps.resize(sizes.size());
  std::iota(factors.taps.begin(), factors.taps.end(), -static_cast<int>(sizes.size()));
  return factors;
}

Shape joined(Shape front, const Shape& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Shape sizes_of(const Shape& filters) { return {filters.begin() + SPATIAL, filters.end()}; }

Shape result_shape(const Expr& batch, const Expr& channels, const std::vector<Taps>& taps) {
  Shape shape = {batch, channels};
  for (const Taps& along : taps) shape.push_back(along.count);
  return shape;
}

// Elements i = (o + before - k*dilation) / stride, where that is whole: [batch, channels, count..., size...].
Tensor spread_over(const Tensor& x, const std::vector<Taps>& taps, const Shape& sizes) {
  View map;
  map.fill = 0;
  map.source = {new_axis(map, x.size(0)), new_axis(map, x.size(1))};
  for (const Taps& along : taps) map.source.push_back(new_axis(map, along.count) + along.before);
  for (std::size_t d = 0; d < taps.size(); ++d) {
    Expr& at = map.source[d + SPATIAL];
    const Expr from = at - new_axis(map, sizes[d]) * taps[d].dilation;
    at = index::floor_div(from, taps[d].stride);
    map.inside = map.inside && index::Condition{{{-1, at},
                                                 {at, x.size(static_cast<int>(d + SPATIAL))},
                                                 {index::floor_mod(from, taps[d].stride), 1}}};
  }
  return view(x, std::move(map));
}

}  // namespace

Tensor windows_over(const Tensor& x, const std::vector<Taps>& taps, const Shape& sizes, ops::Number fill) {
  View map;
  map.fill = fill;
  map.source = {new_axis(map, x.size(0)), new_axis(map, x.size(1))};
  for (const Taps& along : taps)
    map.source.push_back(new_axis(map, along.count) * along.stride - along.before);
  for (std::size_t d = 0; d < taps.size(); ++d) {
    const Taps& along = taps[d];
    const Expr size = x.size(static_cast<int>(d + SPATIAL));
    Expr& at = map.source[d + SPATIAL];
    at = at + new_axis(map, sizes[d]) * along.dilation;
    const Expr last = (along.count - 1) * along.stride - along.before + (sizes[d] - 1) * along.dilation;
    if (may_be_negative(-along.before)) map.inside = map.inside && at_most(0, at);
    if (may_be_negative(size - 1 - last)) map.inside = map.inside && index::Condition{{{at, size}}};
  }
  return view(x, std::move(map));
}

Tensor convolve(const Tensor& x, const Tensor& filters, const Convolution& convolution) {
  check(x, filters, convolution, 1);
  const Shape shape = filters.shape(), sizes = sizes_of(shape);
  const Expr channels = shape[1], groups = convolution.groups, outputs = index::floor_div(shape[0], groups);
  x.builder().graph().require_equal(
      channels * groups, x.size(1),
      cat(subject(x.builder(), convolution.name), ": filters of ", channels, " channels in ", groups,
          " groups do not fit an input of ", x.size(1)));
  Factors factors = factors_of(convolution.taps, sizes);
  const Tensor elements = reshape(windows_over(x, convolution.taps, sizes, 0),
                                  joined({x.size(0), groups, 1, channels}, factors.x));
  const Tensor weights = reshape(filters, joined({groups, outputs, channels}, factors.filters));
  factors.taps.push_back(3);
  return reshape(sum(elements * weights, factors.taps), result_shape(x.size(0), shape[0], convolution.taps));
}

Tensor convolve_transposed(const Tensor& x, const Tensor& filters, const Convolution& convolution) {
  check(x, filters, convolution, 0);
  const Shape shape = filters.shape(), sizes = sizes_of(shape);
  const Expr groups = convolution.groups, outputs = index::floor_div(shape[0], groups), channels = shape[1];
  x.builder().graph().require_equal(shape[0], x.size(1),
                                    cat(subject(x.builder(), convolution.name), ": ", shape[0],
                                        " filters do not fit an input of ", x.size(1), " channels"));
  Factors factors = factors_of(convolution.taps, sizes);
  const Tensor elements =
      reshape(spread_over(x, convolution.taps, sizes), joined({x.size(0), groups, outputs, 1}, factors.x));
  const Tensor weights = reshape(filters, joined({groups, outputs, channels}, factors.filters));
  factors.taps.push_back(2);
  return reshape(sum(elements * weights, factors.taps),
                 result_shape(x.size(0), channels * groups, convolution.taps));
}

Tensor convolve_filters(const Tensor& gradient, const Tensor& x, const Shape& filters,
                        const Convolution& convolution) {
  const Shape sizes = sizes_of(filters);
  const Expr groups = convolution.groups, outputs = index::floor_div(filters[0], groups),
             channels = filters[1];
  const Factors factors = factors_of(convolution.taps, sizes);
  Shape counts = {gradient.size(0), groups, outputs, 1};
  for (const Taps& along : convolution.taps) counts.push_back(along.count);
  counts.resize(counts.size() + sizes.size(), 1);
  const Tensor elements = reshape(windows_over(x, convolution.taps, sizes, 0),
                                  joined({x.size(0), groups, 1, channels}, factors.x));
  Axes summed = {0};
  for (std::size_t d = 0; d < sizes.size(); ++d) summed.push_back(static_cast<int>(d) + 4);
  return reshape(sum(elements * reshape(gradient, counts), summed), filters);
}

Tensor beside_channels(const Tensor& channels, int rank) {
  Shape shape(static_cast<std::size_t>(rank) - 1, 1);
  shape[0] = channels.size(0);
  return reshape(channels, shape);
}

}  // namespace twinloom::graph
