// Axes in another order, more or fewer of them, and parts of axes. See views.h.
#include "core/graph/views.h"

#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/placed.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

// The view that gives every element of x where it is.
View same_places(const Shape& shape) {
  View map;
  map.sizes = shape;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    map.axes.push_back(axis_symbol(static_cast<int>(k)));
    map.source.emplace_back(map.axes.back());
  }
  return map;
}

std::size_t axis_in(const Tensor& x, int axis, std::string_view what) {
  return static_cast<std::size_t>(axis_of(axis, x.rank(), subject(x.builder(), what)));
}

// A position that may count from the end, in numbers from the front; not clamped.
index::Expr from_front(const Tensor& x, const index::Expr& at, const index::Expr& size) {
  const index::Range range = x.builder().graph().facts().range(at);
  if (range.low && *range.low >= 0) return at;
  if (range.high && *range.high < 0) return at + size;
  // 1 where it is negative.
  const index::Expr wraps = index::least(index::greatest(-at, 0), 1);
  return index::simplify(at + size * wraps, x.builder().graph().facts());
}

struct Part {
  index::Expr start, count;
};

// The elements that slice() takes, after wrapping and clamping.
Part part_of(const Tensor& x, std::size_t axis, const index::Expr& start, const index::Expr& end,
             const index::Expr& step, std::string_view what) {
  const index::Facts& facts = x.builder().graph().facts();
  const index::Range steps = facts.range(step);
  if (!steps.low || *steps.low < 1) fail(x.builder(), what, "the step ", step, " must be at least 1");
  const index::Expr size = x.shape()[axis];
  // Frontends write "up to the end" as the largest number of their type.
  constexpr std::int64_t beyond = std::numeric_limits<std::int32_t>::max();
  const auto clamped = [&](const index::Expr& at, const index::Expr& low) {
    const auto known = index::constant_of(at);
    if (known && *known >= beyond) return size;
    if (known && *known <= -beyond) return low;
    const index::Expr front = from_front(x, at, size);
    return index::simplify(index::least(index::greatest(front, low), size), facts);
  };
  const index::Expr first = clamped(start, 0);
  const index::Expr last = clamped(end, first);
  return {first, index::simplify(index::ceil_div(last - first, step), facts)};
}

}  // namespace

Tensor permute(const Tensor& x, const Axes& order) {
  const Shape shape = x.shape();
  if (order.size() != shape.size())
    fail(x.builder(), "permute", order.size(), " axes are given for rank ", shape.size());
  View map = same_places(shape);
  std::vector<bool> seen(shape.size(), false);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::size_t from = axis_in(x, order[k], "permute");
    if (seen[from]) fail(x.builder(), "permute", "axis ", order[k], " is named twice");
    seen[from] = true;
    map.sizes[k] = shape[from];
    map.source[from] = map.axes[k];
  }
  return view(x, std::move(map));
}

Tensor transpose(const Tensor& x, int a, int b) {
  Axes order;
  for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
  if (order.empty()) {
    for (const int axis : {a, b}) axis_of(axis, 1, subject(x.builder(), "transpose"));
    return x;
  }
  std::swap(order[axis_in(x, a, "transpose")], order[axis_in(x, b, "transpose")]);
  return permute(x, order);
}

Tensor squeeze(const Tensor& x, const Axes& axes) {
  const Shape shape = x.shape();
  const Axes dropped = axes_of(axes, x.rank(), subject(x.builder(), "squeeze"));
  View map;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const bool single = shape[k] == index::Expr(1);
    if (single && std::ranges::binary_search(dropped, static_cast<int>(k))) {
      map.source.emplace_back(0);
      continue;
    }
    map.axes.push_back(axis_symbol(static_cast<int>(map.axes.size())));
    map.sizes.push_back(shape[k]);
    map.source.emplace_back(map.axes.back());
  }
  return view(x, std::move(map));
}

Tensor unsqueeze(const Tensor& x, int axis) {
  const int at = axis_of(axis, x.rank() + 1, subject(x.builder(), "unsqueeze"));
  Shape shape = x.shape();
  shape.insert(shape.begin() + at, 1);
  View map = same_places(shape);
  map.source.erase(map.source.begin() + at);
  return view(x, std::move(map));
}

Tensor expand(const Tensor& x, const Shape& sizes) {
  const Shape shape = x.shape();
  Builder& builder = x.builder();
  if (sizes.size() < shape.size())
    fail(builder, "expand", print_shape(shape), " has more axes than ", print_shape(sizes));
  View map = same_places(sizes);
  const std::size_t added = sizes.size() - shape.size();
  map.source.erase(map.source.begin(), map.source.begin() + static_cast<std::ptrdiff_t>(added));
  for (std::size_t k = 0; k < shape.size(); ++k) {
    index::Expr& size = map.sizes[k + added];
    if (size == index::Expr(-1)) size = shape[k];
    if (shape[k] == index::Expr(1)) {
      map.source[k] = 0;
      continue;
    }
    builder.graph().require_equal(shape[k], size,
                                  cat(subject(builder, "expand"), ": axis ", k, " of ", print_shape(shape),
                                      " has size ", shape[k], " and cannot become ", size));
  }
  for (std::size_t k = 0; k < added; ++k)
    if (sizes[k] == index::Expr(-1))
      fail(builder, "expand", "-1 stands for an axis that the input does not have");
  return view(x, std::move(map));
}

Shape broadcast_shape(Graph& graph, const std::vector<Shape>& shapes, const std::string& what) {
  std::size_t rank = 0;
  for (const Shape& shape : shapes) rank = std::max(rank, shape.size());
  Shape result(rank, 1);
  for (const Shape& shape : shapes) {
    for (std::size_t k = 0; k < shape.size(); ++k) {
      index::Expr& size = result[rank - shape.size() + k];
      const index::Expr& given = shape[k];
      if (given == index::Expr(1) || given == size) continue;
      if (size != index::Expr(1)) {
        graph.require_equal(size, given,
                            cat(what, ": the shapes ", join(shapes, " and ", print_shape),
                                " do not broadcast: ", size, " is not ", given));
        if (!index::constant_of(given)) continue;
      }
      size = given;
    }
  }
  return result;
}

Tensor slice_exact(const Tensor& x, int axis, const index::Expr& start, const index::Expr& count,
                   const index::Expr& step) {
  const std::size_t k = axis_in(x, axis, "slice");
  View map = same_places(x.shape());
  if (count != index::Expr(0)) {
    require_sizes(x.builder(),
                  at_most(0, start) && at_most(0, count) &&
                      at_most(start + index::greatest(0, (count - 1) * step + 1), map.sizes[k]),
                  cat(subject(x.builder(), "slice"), ": ", count, " elements from ", start,
                      " are not all inside axis ", k, " of ", print_shape(x.shape())));
  }
  map.sizes[k] = count;
  map.source[k] = start + step * index::Expr(map.axes[k]);
  return view(x, std::move(map));
}

Tensor slice(const Tensor& x, int axis, const index::Expr& start, const index::Expr& end,
             const index::Expr& step) {
  const std::size_t k = axis_in(x, axis, "slice");
  const Part part = part_of(x, k, start, end, step, "slice");
  View map = same_places(x.shape());
  map.sizes[k] = part.count;
  map.source[k] = part.start + step * index::Expr(map.axes[k]);
  return view(x, std::move(map));
}

Tensor select(const Tensor& x, int axis, const index::Expr& at) {
  const std::size_t k = axis_in(x, axis, "select");
  const index::Expr size = x.shape()[k];
  const index::Expr place = from_front(x, at, size);
  require_sizes(x.builder(), at_most(0, place) && index::Condition{{{place, size}}},
                cat(subject(x.builder(), "select"), ": position ", at, " is outside axis ", k, " of ",
                    print_shape(x.shape())));
  Shape sizes = x.shape();
  sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(k));
  View map = same_places(sizes);
  map.source.insert(map.source.begin() + static_cast<std::ptrdiff_t>(k), place);
  return view(x, std::move(map));
}

Tensor pad(const Tensor& x, const std::vector<Padding>& padding, ops::Number fill) {
  const Shape shape = x.shape();
  if (padding.size() != shape.size())
    fail(x.builder(), "pad", "paddings are given for ", padding.size(), " axes of ", shape.size());
  View map = same_places(shape);
  map.fill = fill;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const auto& [before, after] = padding[k];
    const index::Expr axis = map.axes[k];
    map.sizes[k] = before + shape[k] + after;
    map.source[k] = axis - before;
    require_sizes(x.builder(), at_most(0, map.sizes[k]),
                  cat(subject(x.builder(), "pad"), ": axis ", k, " of ", print_shape(shape),
                      " would get the size ", map.sizes[k]));
    map.inside = map.inside && at_most(before, axis) && index::Condition{{{axis, before + shape[k]}}};
  }
  return view(x, std::move(map));
}

Tensor flip(const Tensor& x, const Axes& axes) {
  View map = same_places(x.shape());
  for (const int axis : axes) {
    const std::size_t k = axis_in(x, axis, "flip");
    map.source[k] = map.sizes[k] - 1 - index::Expr(map.axes[k]);
  }
  return view(x, std::move(map));
}

Tensor repeat(const Tensor& x, const Shape& times) {
  Shape shape = x.shape();
  if (times.size() < shape.size())
    fail(x.builder(), "repeat", times.size(), " numbers are given for rank ", shape.size());
  const std::size_t added = times.size() - shape.size();
  View map = same_places(times);
  map.source.clear();
  for (std::size_t k = 0; k < shape.size(); ++k) {
    map.sizes[k + added] = times[k + added] * shape[k];
    const bool wraps = shape[k] != index::Expr(0) && times[k + added] != index::Expr(1);
    const index::Expr axis = map.axes[k + added];
    map.source.push_back(wraps ? index::floor_mod(axis, shape[k]) : axis);
  }
  return view(x, std::move(map));
}

Tensor repeat_interleave(const Tensor& x, int axis, const index::Expr& times) {
  const std::size_t k = axis_in(x, axis, "repeat_interleave");
  require_sizes(x.builder(), at_most(0, times),
                cat(subject(x.builder(), "repeat_interleave"), ": elements are repeated ", times, " times"));
  View map = same_places(x.shape());
  map.sizes[k] = map.sizes[k] * times;
  map.source[k] = times == index::Expr(0) ? index::Expr(0) : index::floor_div(map.axes[k], times);
  return view(x, std::move(map));
}

Tensor roll(const Tensor& x, const std::vector<index::Expr>& shifts, const Axes& axes) {
  if (axes.empty() && shifts.size() == 1)
    return reshape(roll(reshape(x, {x.count()}), shifts, {0}), x.shape());
  if (shifts.size() != axes.size())
    fail(x.builder(), "roll", shifts.size(), " shifts are given for ", axes.size(), " axes");
  View map = same_places(x.shape());
  for (std::size_t n = 0; n < axes.size(); ++n) {
    const std::size_t k = axis_in(x, axes[n], "roll");
    if (map.sizes[k] == index::Expr(0)) continue;
    map.source[k] = index::floor_mod(map.source[k] - shifts[n], map.sizes[k]);
  }
  return view(x, std::move(map));
}

Tensor diagonal(const Tensor& x, int offset, int a, int b) {
  const std::size_t row = axis_in(x, a, "diagonal");
  const std::size_t column = axis_in(x, b, "diagonal");
  if (row == column) fail(x.builder(), "diagonal", "both axes are ", row);
  const Shape shape = x.shape();
  const std::int64_t down = std::max<std::int64_t>(-std::int64_t{offset}, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  const index::Expr rows = shape[row] - down;
  const index::Expr columns = shape[column] - right;
  const index::Expr length =
      index::simplify(index::greatest(0, index::least(rows, columns)), x.builder().graph().facts());
  Shape sizes;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (k != row && k != column) sizes.push_back(shape[k]);
  sizes.push_back(length);
  View map = same_places(sizes);
  const index::Expr along = map.axes.back();
  map.source.assign(shape.size(), 0);
  std::size_t next = 0;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (k != row && k != column) map.source[k] = map.axes[next++];
  map.source[row] = along + down;
  map.source[column] = along + right;
  return view(x, std::move(map));
}

Tensor unfold(const Tensor& x, int axis, const index::Expr& size, const index::Expr& step) {
  const std::size_t k = axis_in(x, axis, "unfold");
  const Shape shape = x.shape();
  require_sizes(x.builder(), at_most(1, step),
                cat(subject(x.builder(), "unfold"), ": the step ", step, " must be at least 1"));
  require_sizes(x.builder(), at_most(0, size),
                cat(subject(x.builder(), "unfold"), ": the size ", size, " must not be negative"));
  require_sizes(x.builder(), at_most(size, shape[k]),
                cat(subject(x.builder(), "unfold"), ": windows of ", size, " do not fit axis ", k, " of ",
                    print_shape(shape)));
  Shape sizes = shape;
  sizes[k] = index::floor_div(shape[k] - size, step) + 1;
  sizes.push_back(size);
  View map = same_places(sizes);
  map.source.pop_back();
  map.source[k] = step * index::Expr(map.axes[k]) + index::Expr(map.axes.back());
  return view(x, std::move(map));
}

namespace {

// Keeps the elements of the last two axes where the condition over (row, column) holds.
template <class Keep>
Tensor triangle(const Tensor& x, std::string_view what, Keep&& keep) {
  if (x.rank() < 2) fail(x.builder(), what, "needs rank 2 or more, given ", print_shape(x.shape()));
  View map = same_places(x.shape());
  map.inside = keep(index::Expr(map.axes[map.axes.size() - 2]), index::Expr(map.axes.back()));
  return view(x, std::move(map));
}

}  // namespace

Tensor tril(const Tensor& x, const index::Expr& diagonal) {
  return triangle(x, "tril", [&](const index::Expr& row, const index::Expr& column) {
    return at_most(column, row + diagonal);
  });
}

Tensor triu(const Tensor& x, const index::Expr& diagonal) {
  return triangle(x, "triu", [&](const index::Expr& row, const index::Expr& column) {
    return at_most(row + diagonal, column);
  });
}

Tensor slice_scatter(const Tensor& x, const Tensor& source, int axis, const index::Expr& start,
                     const index::Expr& end, const index::Expr& step) {
  const std::size_t k = axis_in(x, axis, "slice_scatter");
  const Part part = part_of(x, k, start, end, step, "slice_scatter");
  Shape expected = x.shape();
  expected[k] = part.count;
  check_source(x, source, expected, "slice_scatter");
  if (part.count == index::Expr(0)) return x;
  View map = same_places(x.shape());
  const index::Expr past = index::Expr(map.axes[k]) - part.start;
  map.source[k] = index::floor_div(past, step);
  map.inside = at_most(0, past) && index::Condition{{{map.source[k], part.count}}};
  if (step != index::Expr(1))
    map.inside = map.inside && index::Condition{{{index::floor_mod(past, step), 1}}};
  return put_in_place(x, source, std::move(map));
}

Tensor select_scatter(const Tensor& x, const Tensor& source, int axis, const index::Expr& at) {
  const std::size_t k = axis_in(x, axis, "select_scatter");
  const index::Expr place = from_front(x, at, x.shape()[k]);
  return slice_scatter(x, unsqueeze(source, static_cast<int>(k)), axis, place, place + 1);
}

}  // namespace twinloom::graph
