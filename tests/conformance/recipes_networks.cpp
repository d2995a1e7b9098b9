// What networks are made of: products of matrices, convolutions, pooling, norms, and what is sorted.
#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/composites.h"
#include "core/graph/convolution.h"
#include "core/graph/pooling.h"
#include "core/graph/sorting.h"
#include "core/graph/views.h"
#include "tests/conformance/recipes.h"

namespace twinloom::tests {

namespace {

using graph::Shape;
using graph::Tensor;
using index::Expr;
using ops::DType;

bool is_number(DType dtype) { return dtype != DType::b8; }

// A result of the widened elements of `x`, rounded once, with something pointwise behind it most of the time.
Drawn finished(Draw& draw, const Tensor& wide, const Drawn& x, const Drawn& other, Feature feature) {
  const Drawn result = with(graph::cast(wide, x.tensor.dtype(), true), {&x, &other}, {feature});
  return draw.random.chance(60) ? draw.calmed(result) : result;
}

// The left operand: a few rows of any length, or of a length around a border of the canonical order.
Drawn left_operand(Draw& draw) {
  const auto is_matrix = [](const Tensor& x) { return x.rank() >= 2 && is_number(x.dtype()); };
  if (draw.random.chance(45)) return draw.pick(is_matrix);
  DType dtype = draw.dtype();
  while (!is_number(dtype)) dtype = draw.dtype();
  if (draw.random.chance(50)) return draw.input(dtype, {draw.random.between(1, 3), draw.long_size()});
  Shape shape;
  for (std::int64_t batches = draw.random.below(3); batches > 0; --batches)
    shape.emplace_back(draw.random.between(1, 3));
  shape.insert(shape.end(), {draw.small_size(), draw.small_size()});
  return draw.input(dtype, shape);
}

// Batches that broadcast with those of the left operand: some of size 1 or missing, some where that has 1.
Shape broadcast_batches(Draw& draw, const Tensor& left) {
  Shape batches = left.shape();
  batches.resize(batches.size() - 2);
  for (Expr& size : batches) {
    if (draw.random.chance(30))
      size = 1;
    else if (size == Expr(1) && draw.random.chance(50))
      size = draw.random.between(2, 3);
  }
  const auto missing = draw.random.below(static_cast<std::int64_t>(batches.size()) + 1);
  batches.erase(batches.begin(), batches.begin() + missing);
  return batches;
}

std::vector<Drawn> product(Draw& draw) {
  Drawn left = left_operand(draw);
  if (draw.random.chance(30)) left = draw.calmed(left);
  const Expr depth = left.tensor.size(left.tensor.rank() - 1);
  const Expr columns = draw.count({depth}) > 200 ? draw.random.between(1, 3) : draw.small_size();
  const bool transposed = draw.random.chance(40);
  Shape shape = broadcast_batches(draw, left.tensor);
  shape.insert(shape.end(), {transposed ? columns : depth, transposed ? depth : columns});
  Drawn right = draw.input(left.tensor.dtype(), shape);
  if (transposed) right.tensor = graph::transpose(right.tensor, -1, -2);
  const Tensor y = graph::matrix_product(graph::widened(left.tensor), graph::widened(right.tensor));
  return {finished(draw, y, left, right, Feature::product)};
}

// Rows of x with each other: both operands are one value.
std::vector<Drawn> product_with_itself(Draw& draw) {
  const Drawn x =
      draw.pick([](const Tensor& value) { return value.rank() >= 2 && is_number(value.dtype()); });
  const Tensor wide = graph::widened(x.tensor);
  return {
      finished(draw, graph::matrix_product(wide, graph::transpose(wide, -1, -2)), x, x, Feature::product)};
}

// [batch, channels, ...] of one to three axes more: a value of the pool, or an input.
Drawn image(Draw& draw, std::size_t most_axes) {
  const auto fits = [&](const Tensor& x) {
    return x.rank() >= 1 && x.rank() <= static_cast<int>(most_axes) + 2 && ops::is_floating(x.dtype());
  };
  if (draw.random.chance(50)) {
    if (auto found = draw.find(fits)) {
      while (found->tensor.rank() < 3) found->tensor = graph::unsqueeze(found->tensor, 0);
      return *found;
    }
  }
  const auto axes = draw.random.between(1, static_cast<std::int64_t>(most_axes));
  Shape shape = {draw.random.between(1, 2), draw.random.pick(std::array<std::int64_t, 5>{1, 2, 3, 4, 6})};
  for (std::int64_t axis = 0; axis < axes; ++axis) shape.emplace_back(draw.random.between(1, 9 - 2 * axes));
  return draw.input(draw.real_dtype(), shape);
}

Shape spatial(const Tensor& x) {
  const Shape shape = x.shape();
  return {shape.begin() + 2, shape.end()};
}

// Divides what is given for all sizes of a run.
Expr some_groups(Draw& draw, const Expr& channels) {
  const auto known = index::constant_of(channels);
  if (!known || *known < 1) return draw.holds({{{0, channels}}}) && draw.random.chance(30) ? channels : 1;
  std::vector<std::int64_t> divisors;
  for (std::int64_t groups = 1; groups <= *known; ++groups)
    if (*known % groups == 0) divisors.push_back(groups);
  return draw.random.chance(50) ? 1 : draw.random.pick(divisors);
}

// Filters of 1 to 3 elements along each axis, and how they move.
struct Moved {
  Shape sizes;
  std::vector<graph::Taps> taps;
};
Moved moved(Draw& draw, const Shape& over) {
  Moved result;
  for (const Expr& size : over) {
    graph::Taps taps;
    taps.stride = draw.random.between(1, 3);
    taps.dilation = draw.random.chance(70) ? 1 : 2;
    taps.before = draw.random.below(3);
    const std::int64_t room = draw.smallest(size + taps.before * 2);
    if (room < 1) throw Inapplicable{"no filter fits"};
    const Expr count =
        std::min(draw.random.between(1, 3), (room - 1) / *index::constant_of(taps.dilation) + 1);
    taps.count = index::floor_div(size + taps.before * 2 - taps.dilation * (count - 1) - 1, taps.stride) + 1;
    result.sizes.push_back(count);
    result.taps.push_back(taps);
  }
  return result;
}

Shape joined(Shape front, const Shape& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Tensor with_bias(Draw& draw, const Tensor& y, DType dtype) {
  if (draw.random.chance(50)) return y;
  const Drawn bias = draw.input(dtype, {y.size(1)});
  return y + graph::beside_channels(graph::widened(bias.tensor), y.rank());
}

std::vector<Drawn> convolution(Draw& draw) {
  const Drawn x = image(draw, 3);
  const Expr channels = x.tensor.size(1), groups = some_groups(draw, channels);
  const Moved filters_over = moved(draw, spatial(x.tensor));
  const Expr inner = groups == channels ? Expr(1) : index::floor_div(channels, groups);
  const Shape shape = joined({groups * draw.random.between(1, 3), inner}, filters_over.sizes);
  const Drawn filters = draw.input(x.tensor.dtype(), shape);
  const Tensor wide = graph::widened(x.tensor), weights = graph::widened(filters.tensor);
  const graph::Convolution convolution{"convolution", filters_over.taps, groups};
  const Tensor y = with_bias(draw, graph::convolve(wide, weights, convolution), x.tensor.dtype());
  return {finished(draw, y, x, filters, Feature::convolution)};
}

// What a convolution's filters change by, for a gradient of its result.
std::vector<Drawn> convolution_filters(Draw& draw) {
  const Drawn x = image(draw, 2);
  const Expr channels = x.tensor.size(1), groups = some_groups(draw, channels);
  const Moved filters_over = moved(draw, spatial(x.tensor));
  const Expr outputs = groups * draw.random.between(1, 2);
  const Expr inner = groups == channels ? Expr(1) : index::floor_div(channels, groups);
  Shape result = {x.tensor.size(0), outputs};
  for (const graph::Taps& taps : filters_over.taps) result.push_back(taps.count);
  const Drawn gradient = draw.input(x.tensor.dtype(), result);
  const Tensor y = graph::convolve_filters(graph::widened(gradient.tensor), graph::widened(x.tensor),
                                           joined({outputs, inner}, filters_over.sizes),
                                           {"convolution", filters_over.taps, groups});
  return {finished(draw, y, x, gradient, Feature::convolution_filters)};
}

std::vector<Drawn> convolution_transposed(Draw& draw) {
  const Drawn x = image(draw, 3);
  const Expr filter_count = x.tensor.size(1), groups = some_groups(draw, filter_count);
  Moved filters_over;
  for (const Expr& size : spatial(x.tensor)) {
    if (draw.smallest(size) < 1) throw Inapplicable{"no element"};
    graph::Taps taps;
    taps.stride = draw.random.between(1, 3);
    taps.dilation = draw.random.chance(70) ? 1 : 2;
    const std::int64_t count = draw.random.between(1, 3);
    const Expr reach = taps.dilation * (count - 1) + 1;
    taps.before = count > 1 ? draw.random.below(2) : 0;
    taps.count = (size - 1) * taps.stride - taps.before * 2 + reach + draw.random.below(2);
    if (draw.smallest(taps.count) < 1) throw Inapplicable{"padding takes all"};
    filters_over.sizes.push_back(count);
    filters_over.taps.push_back(taps);
  }
  const Shape shape = joined({filter_count, draw.random.between(1, 2)}, filters_over.sizes);
  const Drawn filters = draw.input(x.tensor.dtype(), shape);
  const Tensor wide = graph::widened(x.tensor), weights = graph::widened(filters.tensor);
  const graph::Convolution convolution{"convolution", filters_over.taps, groups};
  const Tensor y = with_bias(draw, graph::convolve_transposed(wide, weights, convolution), x.tensor.dtype());
  return {finished(draw, y, x, filters, Feature::convolution_transposed)};
}

// Windows over the last one to three axes of x that hold an element for all sizes.
graph::Pooling pooling(Draw& draw, const Tensor& x, bool dilated) {
  graph::Pooling result{"pool", {}, draw.random.chance(30)};
  const auto axes = draw.random.between(1, std::min(x.rank(), 3));
  for (std::int64_t axis = x.rank() - axes; axis < x.rank(); ++axis) {
    const std::int64_t room = draw.smallest(x.size(static_cast<int>(axis)));
    if (room < 1) throw Inapplicable{"no window fits"};
    const std::int64_t size = std::min<std::int64_t>(draw.random.between(1, 3), room);
    const bool apart = dilated && size > 1 && (size - 1) * 2 < room && draw.random.chance(30);
    const std::int64_t dilation = apart ? 2 : 1;
    const std::int64_t reach = (size - 1) * dilation + 1;
    result.windows.push_back({size, draw.random.between(1, 3),
                              draw.random.below(std::min<std::int64_t>(reach / 2, 2) + 1), dilation});
  }
  return result;
}

Drawn pooled(Draw& draw, const std::function<bool(DType)>& wanted) {
  const auto fits = [&](const Tensor& x) { return x.rank() > 0 && wanted(x.dtype()); };
  return draw.random.chance(50) ? draw.pick(fits) : image(draw, 3);
}

std::vector<Drawn> max_pool(Draw& draw) {
  Drawn x = pooled(draw, is_number);
  if (draw.random.chance(50)) x = draw.calmed(x);
  const graph::Pooling windows = pooling(draw, x.tensor, true);
  const Drawn most = with(graph::max_pool(x.tensor, windows), {&x}, {Feature::max_pool});
  if (draw.random.chance(30)) return {draw.calmed(most)};
  const Shape shape = x.tensor.shape();
  const Shape plane(shape.end() - static_cast<std::ptrdiff_t>(windows.windows.size()), shape.end());
  const Tensor places =
      graph::places_in_plane(graph::max_pool_place(x.tensor, windows), windows.windows, plane);
  return {most, with(places, {&x}, {Feature::max_pool})};
}

std::vector<Drawn> max_pool_backward(Draw& draw) {
  const Drawn x = pooled(draw, ops::is_floating);
  const graph::Pooling windows = pooling(draw, x.tensor, true);
  const Shape shape = x.tensor.shape();
  const Shape plane(shape.end() - static_cast<std::ptrdiff_t>(windows.windows.size()), shape.end());
  const Tensor inside = graph::max_pool_place(x.tensor, windows);
  const Drawn gradient = draw.input(x.tensor.dtype(), inside.shape());
  const Tensor places = graph::places_in_plane(inside, windows.windows, plane);
  return {with(graph::max_pool_backward(gradient.tensor, places, shape, windows), {&x, &gradient},
               {Feature::max_pool})};
}

std::vector<Drawn> average_pool(Draw& draw) {
  const auto has_averages = [](DType dtype) { return ops::is_floating(dtype) || dtype == DType::i64; };
  const Drawn x = pooled(draw, has_averages);
  if (draw.random.chance(25)) {
    if (draw.smallest(x.tensor.size(x.tensor.rank() - 1)) < 1) throw Inapplicable{"no window fits"};
    const Expr windows = draw.random.between(1, 4);
    return {with(graph::adaptive_average_pool(x.tensor, {windows}, "pool"), {&x}, {Feature::average_pool})};
  }
  const graph::Pooling windows = pooling(draw, x.tensor, false);
  graph::Divisor divisor{{}, draw.random.chance(50)};
  if (draw.random.chance(20)) divisor.number = draw.random.between(1, 5);
  return {with(graph::average_pool(x.tensor, windows, divisor), {&x}, {Feature::average_pool})};
}

Drawn with_channels(Draw& draw) {
  const Drawn x = image(draw, 3);
  return draw.random.chance(50) ? draw.calmed(x) : x;
}

std::optional<Tensor> maybe_input(Draw& draw, const Drawn& x) {
  if (draw.random.chance(30)) return std::nullopt;
  return draw.input(x.tensor.dtype(), {x.tensor.size(1)}).tensor;
}

std::vector<Drawn> group_norm(Draw& draw) {
  const Drawn x = with_channels(draw);
  const Expr groups = some_groups(draw, x.tensor.size(1));
  const auto weight = maybe_input(draw, x), bias = maybe_input(draw, x);
  const graph::Normalized y = graph::group_norm(x.tensor, weight, bias, groups, 1e-5);
  return {with(y.value, {&x}, {Feature::group_norm}), with(y.rstd, {&x}, {Feature::group_norm})};
}

std::vector<Drawn> batch_norm(Draw& draw) {
  const Drawn x = with_channels(draw);
  const auto weight = maybe_input(draw, x), bias = maybe_input(draw, x);
  if (draw.random.chance(50)) {
    const graph::BatchNormalized y = graph::batch_norm_training(x.tensor, weight, bias, 1e-5);
    return {with(y.value, {&x}, {Feature::batch_norm}), with(y.variance, {&x}, {Feature::batch_norm})};
  }
  const Shape channels = {x.tensor.size(1)};
  const Drawn mean = draw.input(x.tensor.dtype(), channels), other = draw.input(x.tensor.dtype(), channels);
  const Tensor y = graph::batch_norm(x.tensor, mean.tensor, graph::abs(other.tensor), weight, bias, 1e-5);
  return {with(y, {&x, &mean, &other}, {Feature::batch_norm})};
}

// Ranks are of short axes, each element beside each: a long axis, or one of few elements.
Draw::Line sortable(Draw& draw) {
  if (draw.random.chance(30)) return draw.line(true, [](DType) { return true; });
  Draw::Line line{draw.pick([](const Tensor& x) { return x.rank() > 0; }), {}};
  line.axes.push_back(draw.random.axis(line.value.tensor.rank()));
  return line;
}

graph::Direction direction(Draw& draw) {
  return draw.random.chance(50) ? graph::Direction::ascending : graph::Direction::descending;
}

std::vector<Drawn> sort(Draw& draw) {
  const Draw::Line line = sortable(draw);
  const graph::Sorted sorted = graph::sort(line.value.tensor, line.axes[0], direction(draw));
  return {with(sorted.values, {&line.value}, {Feature::sort}),
          with(sorted.offsets, {&line.value}, {Feature::sort})};
}

std::vector<Drawn> top(Draw& draw) {
  const Draw::Line line = sortable(draw);
  const std::int64_t most = draw.smallest(line.value.tensor.size(line.axes[0]));
  const Expr count = draw.random.below(std::min<std::int64_t>(most, 5) + 1);
  const graph::Sorted sorted = graph::top(line.value.tensor, count, line.axes[0], direction(draw));
  return {with(sorted.values, {&line.value}, {Feature::top}),
          with(sorted.offsets, {&line.value}, {Feature::top})};
}

constexpr std::array recipes = {Recipe{20, product},
                                Recipe{4, product_with_itself},
                                Recipe{16, convolution},
                                Recipe{6, convolution_filters},
                                Recipe{9, convolution_transposed},
                                Recipe{9, max_pool},
                                Recipe{4, max_pool_backward},
                                Recipe{9, average_pool},
                                Recipe{7, group_norm},
                                Recipe{8, batch_norm},
                                Recipe{8, sort},
                                Recipe{8, top}};

}  // namespace

std::span<const Recipe> network_recipes() { return recipes; }

}  // namespace twinloom::tests
