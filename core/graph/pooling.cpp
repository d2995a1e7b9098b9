// Pooling and its gradients. See pooling.h.
#include "core/graph/pooling.h"

#include <algorithm>
#include <limits>

#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/reductions.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using index::Expr;
using ops::DType;

constexpr double BELOW_ALL = -std::numeric_limits<double>::infinity();  // of integers the smallest

// From the first element of a window to the one behind its last.
Expr reach(const Window& window) { return window.dilation * (window.size - 1) + 1; }

std::size_t rank_of(const Tensor& x) { return static_cast<std::size_t>(x.rank()); }

bool pads(const Window& window) { return window.padding != Expr(0); }

// How many windows there are along an axis.
Expr count_of(const Window& window, const Expr& size, bool partial) {
  const Expr room = size + window.padding * 2 - reach(window);
  if (!partial) return index::floor_div(room, window.stride) + 1;
  // A window that begins behind the elements is left out.
  return index::least(index::ceil_div(room, window.stride) + 1,
                      index::ceil_div(size + window.padding, window.stride));
}

void check(Builder& builder, const Window& window, const Expr& size, const Pooling& pooling) {
  const std::string what = cat(subject(builder, pooling.name), ": ");
  const auto needs = [&](const Expr& least, const Expr& given, const auto&... words) {
    require_sizes(builder, at_most(least, given), cat(what, words...));
  };
  needs(1, window.size, "windows have the size ", window.size);
  needs(1, window.stride, "the stride ", window.stride, " must be at least 1");
  needs(1, window.dilation, "the dilation ", window.dilation, " must be at least 1");
  needs(0, window.padding, "the padding ", window.padding, " is negative");
  needs(window.padding * 2, reach(window), "the padding ", window.padding,
        " is more than half of windows of ", reach(window));
  needs(1, size, "there are no elements along an axis");
  needs(reach(window), size + window.padding * 2 + (pooling.partial ? window.stride - 1 : Expr(0)),
        "windows of ", reach(window), " do not fit ", size, " elements with ", window.padding,
        " more at each end");
}

// The axes that windows move over begin here; there are so many.
std::size_t first_axis(Builder& builder, const Shape& shape, std::size_t axes, const std::string& name) {
  if (shape.size() < axes) fail(builder, name, "needs at least ", axes, " axes, given ", print_shape(shape));
  return shape.size() - axes;
}

// The shape of the result for one of x.
Shape pooled_shape(Builder& builder, const Shape& x, const Pooling& pooling) {
  const std::size_t first = first_axis(builder, x, pooling.windows.size(), pooling.name);
  Shape shape = x;
  for (std::size_t d = 0; d < pooling.windows.size(); ++d) {
    check(builder, pooling.windows[d], x[first + d], pooling);
    shape[first + d] = count_of(pooling.windows[d], x[first + d], pooling.partial);
  }
  return shape;
}

// Over the axes behind the first `kept`, of which there may be none.
Tensor reduced_behind(std::size_t kept, ops::Monoid monoid, const Tensor& x, int component = 0) {
  Axes axes;
  for (auto axis = static_cast<int>(kept); axis < x.rank(); ++axis) axes.push_back(axis);
  if (!axes.empty()) return reduce(monoid, x, axes, false, component);
  return component == 0 ? x : x.builder().constant(0, DType::i64, x.shape());
}

// The windows along axes in place of the axes of x, and then the elements of each along an axis more for each
// along which they hold several.
Tensor windows_of(const Tensor& x, const Pooling& pooling, double outside) {
  const Shape shape = x.shape();
  View map;
  map.fill = outside;
  for (const Expr& size : pooled_shape(x.builder(), shape, pooling))
    map.source.push_back(new_axis(map, size));
  const std::size_t first = shape.size() - pooling.windows.size();
  for (std::size_t d = 0; d < pooling.windows.size(); ++d) {
    const Window& window = pooling.windows[d];
    Expr& at = map.source[first + d];
    at = at * window.stride - window.padding;
    if (window.size != Expr(1)) at = at + new_axis(map, window.size) * window.dilation;
    if (pads(window)) map.inside = map.inside && at_most(0, at);
    if (pads(window) || pooling.partial)
      map.inside = map.inside && index::Condition{{{at, shape[first + d]}}};
  }
  return view(x, std::move(map));
}

// For each element of a tensor of the shape `x` the windows that may hold it, of a tensor with an element for
// each window, along axes more. The windows that hold element i are among the (reach - 1)/stride + 1 that
// begin last before it.
Tensor windows_around(const Tensor& pooled, const Shape& x, const Pooling& pooling, double outside) {
  View map;
  map.fill = outside;
  for (const Expr& size : x) map.source.push_back(new_axis(map, size));
  const std::size_t first = x.size() - pooling.windows.size();
  for (std::size_t d = 0; d < pooling.windows.size(); ++d) {
    const Window& window = pooling.windows[d];
    const Expr element = map.source[first + d] + window.padding;
    const Expr candidates = index::ceil_div(reach(window), window.stride);
    Expr& at = map.source[first + d];
    at = index::floor_div(element, window.stride);
    if (candidates != Expr(1)) at = at - new_axis(map, candidates);
    map.inside = map.inside && at_most(0, at) && index::Condition{{{at, pooled.shape()[first + d]}}};
    // Of windows whose reach is a multiple of the stride all candidates hold the element.
    if (index::floor_mod(reach(window), window.stride) != Expr(0))
      map.inside = map.inside && index::Condition{{{element - at * window.stride, reach(window)}}};
  }
  return view(pooled, std::move(map));
}

// The position along axis `d` of those that windows move over, of a shape that broadcasts to all of them.
Tensor position(Builder& builder, const Expr& size, std::size_t d, std::size_t axes) {
  Shape shape(axes, 1);
  shape[d] = size;
  return builder.iota(std::move(shape), static_cast<int>(d));
}

// Of each window the position inside it of its first element that is not in the padding.
std::optional<Tensor> first_places(Builder& builder, const Shape& pooled, const Pooling& pooling) {
  std::optional<Tensor> place;
  const std::size_t axes = pooling.windows.size();
  Expr inner = 1;
  for (std::size_t d = axes; d-- > 0;) {
    const Window& window = pooling.windows[d];
    if (pads(window)) {
      const Tensor start =
          position(builder, pooled[pooled.size() - axes + d], d, axes) * builder.size(window.stride) -
          builder.size(window.padding);
      const Tensor left = -start + builder.size(window.dilation - 1);
      const Tensor first = maximum(div_floor(left, builder.size(window.dilation)), 0) * builder.size(inner);
      place = place ? *place + first : first;
    }
    inner = inner * window.size;
  }
  return place;
}

// How many elements each window holds, of a shape that broadcasts to one element for each window.
Tensor counts(Builder& builder, const Shape& pooled, const Shape& x, const Pooling& pooling,
              bool counts_padding) {
  const std::size_t axes = pooling.windows.size(), leading = x.size() - axes;
  Expr known = 1;
  std::optional<Tensor> count;
  for (std::size_t d = 0; d < axes; ++d) {
    const Window& window = pooling.windows[d];
    if (!pooling.partial && (counts_padding || !pads(window))) {
      known = known * window.size;
      continue;
    }
    const Expr size = x[leading + d];
    const Expr padding = counts_padding ? window.padding : Expr(0);
    const Tensor start = position(builder, pooled[leading + d], d, axes) * builder.size(window.stride) -
                         builder.size(window.padding);
    const Tensor end = minimum(start + builder.size(window.size), builder.size(size + padding));
    const Tensor along = end - maximum(start, -builder.size(padding));
    count = count ? *count * along : along;
  }
  if (!count) return builder.size(known);
  return known == Expr(1) ? *count : *count * builder.size(known);
}

// Of integers cut.
Tensor quotient(const Tensor& sums, const Tensor& counts) {
  const Tensor by = cast(counts, sums.dtype(), true);
  return ops::is_floating(sums.dtype()) ? sums / by : div_trunc(sums, by);
}

// The sums of windows, or the gradients of their averages, divided.
Tensor divided(const Tensor& sums, const Shape& x, const Pooling& pooling, const Divisor& divisor) {
  Builder& builder = sums.builder();
  if (divisor.number == 0) fail(builder, pooling.name, "the divisor is 0");
  const Tensor by = divisor.number ? builder.constant(*divisor.number, DType::i64)
                                   : counts(builder, sums.shape(), x, pooling, divisor.counts_padding);
  return quotient(sums, by);
}

// The windows that share the last axes of x where all hold the same number of elements.
std::optional<Pooling> equal_windows(Builder& builder, const Shape& x, const Shape& sizes,
                                     const std::string& name) {
  Pooling pooling{name, {}};
  const std::size_t first = first_axis(builder, x, sizes.size(), name);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    require_sizes(builder, at_most(1, sizes[d]),
                  cat(subject(builder, name), ": ", sizes[d], " windows along an axis"));
    const Expr every = index::floor_div(x[first + d], sizes[d]);
    if (every * sizes[d] != x[first + d]) return std::nullopt;
    pooling.windows.push_back({every, every});
  }
  return pooling;
}

// The elements of windows that share the last axes of x: each window along axes more, of which it may hold
// less than all.
Tensor shared_windows(const Tensor& x, const Shape& sizes) {
  const Shape shape = x.shape();
  View map;
  const std::size_t first = shape.size() - sizes.size();
  for (std::size_t k = 0; k < shape.size(); ++k)
    map.source.push_back(new_axis(map, k < first ? shape[k] : sizes[k - first]));
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Expr size = shape[first + d], window = map.source[first + d];
    const Expr most = index::ceil_div(size + sizes[d] - 1, sizes[d]);
    Expr& at = map.source[first + d];
    at = index::floor_div(window * size, sizes[d]) + new_axis(map, most);
    const Expr end = index::ceil_div((window + 1) * size, sizes[d]);
    map.inside = map.inside && index::Condition{{{at, end}, {at, size}}};
  }
  return view(x, std::move(map));
}
// How many elements such a window holds.
Tensor shared_counts(Builder& builder, const Shape& x, const Shape& sizes) {
  std::optional<Tensor> count;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const Tensor window = position(builder, sizes[d], d, sizes.size());
    const Tensor size = builder.size(x[x.size() - sizes.size() + d]), all = builder.size(sizes[d]);
    const Tensor end = div_floor((window + 1) * size + builder.size(sizes[d] - 1), all);
    const Tensor along = end - div_floor(window * size, all);
    count = count ? *count * along : along;
  }
  return *count;
}

void needs_type_of_averages(const Tensor& x, const std::string& name) {
  if (!ops::is_floating(x.dtype()) && x.dtype() != DType::i64)
    fail(x.builder(), name, "needs elements of a floating type or i64, given ", ops::name(x.dtype()));
}
void needs_numbers(const Tensor& x, const Pooling& pooling) {
  if (x.dtype() == DType::b8) fail(x.builder(), pooling.name, "needs numbers, given b8");
}

void needs_shape(const Tensor& given, const Shape& expected, const std::string& name) {
  Builder& builder = given.builder();
  const Shape shape = given.shape();
  const std::string words = cat(subject(builder, name), ": windows give ", print_shape(expected),
                                ", what is given of them has ", print_shape(shape));
  if (shape.size() != expected.size()) throw Error(words, {builder.origin.name});
  for (std::size_t k = 0; k < shape.size(); ++k) builder.graph().require_equal(shape[k], expected[k], words);
}

}  // namespace

Tensor max_pool(const Tensor& x, const Pooling& pooling) {
  needs_numbers(x, pooling);
  const CompositeScope scope(x.builder(), pooling.name);
  return reduced_behind(rank_of(x), ops::Monoid::max, windows_of(x, pooling, BELOW_ALL));
}

Tensor max_pool_place(const Tensor& x, const Pooling& pooling) {
  needs_numbers(x, pooling);
  const CompositeScope scope(x.builder(), pooling.name);
  const Tensor windows = windows_of(x, pooling, BELOW_ALL);
  const Tensor place = reduced_behind(rank_of(x), ops::Monoid::argmax, windows, 1);
  // The padding comes first among equals only where it is the first element and all are as it is: then the
  // first element outside of it stands for all. Any other place lies behind that one.
  const auto first = first_places(x.builder(), place.shape(), pooling);
  return first ? maximum(place, *first) : place;
}

Tensor places_in_plane(const Tensor& places, const std::vector<Window>& windows, const Shape& plane) {
  Builder& builder = places.builder();
  const std::size_t axes = windows.size();
  Tensor rest = cast(places, DType::i64);
  Tensor place = builder.constant(0, DType::i64);
  for (std::size_t d = 0; d < axes; ++d) {
    Expr count = 1;
    for (std::size_t k = d + 1; k < axes; ++k) count = count * windows[k].size;
    const Tensor inner = builder.size(count);
    const Tensor step = div_floor(rest, inner);
    rest = rest - step * inner;
    const Tensor window = builder.iota(rest.shape(), rest.rank() - static_cast<int>(axes - d));
    const Tensor first = window * builder.size(windows[d].stride) - builder.size(windows[d].padding);
    place = place * builder.size(plane[d]) + first + step * builder.size(windows[d].dilation);
  }
  return place;
}

Tensor max_pool_backward(const Tensor& gradient, const Tensor& places, const Shape& x,
                         const Pooling& pooling) {
  Builder& builder = gradient.builder();
  const CompositeScope scope(builder, pooling.name);
  const Shape pooled = pooled_shape(builder, x, pooling);
  for (const Tensor& given : {gradient, places}) needs_shape(given, pooled, pooling.name);
  const Tensor candidates = windows_around(widened(gradient), x, pooling, 0);
  const Tensor chosen = windows_around(cast(places, DType::i64), x, pooling, -1);
  const Shape plane(x.end() - static_cast<std::ptrdiff_t>(pooling.windows.size()), x.end());
  Shape beside = plane;
  beside.resize(static_cast<std::size_t>(candidates.rank()) - (x.size() - plane.size()), 1);
  const Tensor own = reshape(builder.iota({index::product(plane)}, 0), beside);
  const Tensor taken = where(eq(chosen, own), candidates, ops::Number(0));
  return cast(reduced_behind(x.size(), ops::Monoid::sum, taken), gradient.dtype(), true);
}

Tensor average_pool(const Tensor& x, const Pooling& pooling, const Divisor& divisor) {
  needs_type_of_averages(x, pooling.name);
  const CompositeScope scope(x.builder(), pooling.name);
  const Tensor windows = windows_of(widened(x), pooling, 0);
  const Tensor sums = reduced_behind(rank_of(x), ops::Monoid::sum, windows);
  return cast(divided(sums, x.shape(), pooling, divisor), x.dtype(), true);
}

Tensor average_pool_backward(const Tensor& gradient, const Shape& x, const Pooling& pooling,
                             const Divisor& divisor) {
  needs_type_of_averages(gradient, pooling.name);
  Builder& builder = gradient.builder();
  const CompositeScope scope(builder, pooling.name);
  needs_shape(gradient, pooled_shape(builder, x, pooling), pooling.name);
  const Tensor shares = divided(widened(gradient), x, pooling, divisor);
  const Tensor candidates = windows_around(shares, x, pooling, 0);
  return cast(reduced_behind(x.size(), ops::Monoid::sum, candidates), gradient.dtype(), true);
}

Tensor adaptive_average_pool(const Tensor& x, const Shape& sizes, const std::string& name) {
  needs_type_of_averages(x, name);
  if (const auto pooling = equal_windows(x.builder(), x.shape(), sizes, name))
    return average_pool(x, *pooling, {});
  const CompositeScope scope(x.builder(), name);
  const Tensor sums = reduced_behind(rank_of(x), ops::Monoid::sum, shared_windows(widened(x), sizes));
  return cast(quotient(sums, shared_counts(x.builder(), x.shape(), sizes)), x.dtype(), true);
}

Tensor adaptive_average_pool_backward(const Tensor& gradient, const Shape& x, std::size_t axes,
                                      const std::string& name) {
  needs_type_of_averages(gradient, name);
  Builder& builder = gradient.builder();
  const Shape given = gradient.shape();
  const auto behind = [&](const Shape& shape) {
    return Shape(shape.begin() + static_cast<std::ptrdiff_t>(first_axis(builder, shape, axes, name)),
                 shape.end());
  };
  const Shape sizes = behind(given), plane = behind(x);
  Shape pooled = x;
  std::ranges::copy(sizes, pooled.end() - static_cast<std::ptrdiff_t>(axes));
  needs_shape(gradient, pooled, name);
  if (const auto pooling = equal_windows(builder, x, sizes, name))
    return average_pool_backward(gradient, x, *pooling, {});
  const CompositeScope scope(builder, name);
  const Tensor shares = quotient(widened(gradient), shared_counts(builder, x, sizes));
  // Element i is held by the windows from i*sizes/size on, up to (i + 1)*sizes/size: the windows share the
  // elements as the elements share them.
  return cast(reduced_behind(x.size(), ops::Monoid::sum, shared_windows(shares, plane)), gradient.dtype(),
              true);
}

}  // namespace twinloom::graph
