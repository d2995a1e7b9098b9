// A source put in place of a diagonal, or of what strides reach. See placed.h and views.h.
#include "core/graph/placed.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/indexing.h"
#include "core/graph/infer.h"
#include "core/graph/views.h"

namespace twinloom::graph {

Tensor put_in_place(const Tensor& x, const Tensor& source, View map) {
  View holes = map;
  holes.fill = 0;
  const Tensor there = view(x.builder().constant(true, ops::DType::b8, source.shape()), std::move(holes));
  const Tensor placed = view(source, std::move(map));
  const Op& node = x.builder().graph()[there.id()].node;
  if (std::holds_alternative<Constant>(node))
    return std::get<ops::Number>(std::get<Constant>(node).value).integer() != 0 ? placed : x;
  return where(there, placed, x);
}

void check_source(const Tensor& x, const Tensor& source, const Shape& expected, std::string_view what) {
  if (source.dtype() != x.dtype())
    fail(x.builder(), what, "the source is ", ops::name(source.dtype()), ", the base ", ops::name(x.dtype()));
  const Shape given = source.shape();
  const std::string words = cat(subject(x.builder(), what), ": the source has the shape ", print_shape(given),
                                ", its place in the base ", print_shape(expected));
  if (given.size() != expected.size()) throw Error(words);
  for (std::size_t k = 0; k < given.size(); ++k)
    x.builder().graph().require_equal(given[k], expected[k], words);
}

Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int offset, int a, int b) {
  check_source(x, source, diagonal(x, offset, a, b).shape(), "diagonal_scatter");
  const auto row = static_cast<std::size_t>(axis_of(a, x.rank(), "diagonal_scatter"));
  const auto column = static_cast<std::size_t>(axis_of(b, x.rank(), "diagonal_scatter"));
  View map;
  map.sizes = x.shape();
  for (int k = 0; k < x.rank(); ++k) {
    map.axes.push_back(axis_symbol(k));
    if (map.axes.size() - 1 != row && map.axes.size() - 1 != column) map.source.emplace_back(map.axes.back());
  }
  const index::Expr first = map.axes[row], second = map.axes[column];
  map.source.push_back(offset < 0 ? second : first);
  const index::Expr beside = second - first - offset;
  map.inside = at_most(0, beside) && index::Condition{{{beside, 1}}};
  return put_in_place(x, source, std::move(map));
}

namespace {

// The axes that matter, the largest stride first; nothing where an element may be reached twice or in no
// such order: each stride must exceed all that the axes after it reach.
std::optional<std::vector<std::size_t>> nested_axes(const Tensor& x, const Shape& sizes,
                                                    const std::vector<index::Expr>& strides) {
  const index::Facts& facts = x.builder().graph().facts();
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k] != index::Expr(1)) axes.push_back(k);
  std::ranges::stable_sort(axes, [&](std::size_t a, std::size_t b) {
    const auto left = index::constant_of(strides[a]);
    const auto right = index::constant_of(strides[b]);
    return left && right && *left > *right;
  });
  index::Expr reach = 0;
  for (std::size_t n = axes.size(); n-- > 0;) {
    const index::Expr& stride = strides[axes[n]];
    if (!facts.proves_less(reach, stride)) return std::nullopt;
    reach = reach + stride * (sizes[axes[n]] - 1);
  }
  return axes;
}

// Over the elements in a row: each stride leaves a remainder to the axes after it, the last leaves none.
View nested_map(const Tensor& row, const Shape& sizes, const std::vector<index::Expr>& strides,
                const index::Expr& offset, const std::vector<std::size_t>& axes) {
  View map{{axis_symbol(0)}, row.shape(), std::vector<index::Expr>(sizes.size(), 0), {}, 0};
  index::Expr rest = index::Expr(map.axes[0]) - offset;
  map.inside = at_most(0, rest);
  for (const std::size_t k : axes) {
    map.source[k] = index::floor_div(rest, strides[k]);
    map.inside = map.inside && index::Condition{{{map.source[k], sizes[k]}}};
    rest = index::floor_mod(rest, strides[k]);
  }
  map.inside = map.inside && index::Condition{{{rest, 1}}};
  return map;
}

// Where each element of the source goes, in a row.
Tensor places_of(Builder& builder, const Shape& sizes, const std::vector<index::Expr>& strides,
                 const index::Expr& offset) {
  Tensor place = expand(builder.size(offset), sizes);
  for (std::size_t k = 0; k < sizes.size(); ++k)
    place = place + builder.iota(sizes, static_cast<int>(k)) * builder.size(strides[k]);
  return place;
}

}  // namespace

bool reaches_once(const Tensor& x, const Shape& sizes, const std::vector<index::Expr>& strides) {
  return nested_axes(x, sizes, strides).has_value();
}

Tensor as_strided_scatter(const Tensor& x, const Tensor& source, const Shape& sizes,
                          const std::vector<index::Expr>& strides, const index::Expr& offset) {
  // What it reads says whether the strides stay inside.
  check_source(x, source, as_strided(x, sizes, strides, offset).shape(), "as_strided_scatter");
  if (index::product(sizes) == index::Expr(0)) return x;
  const Tensor row = reshape(x, {x.count()});
  const auto axes = nested_axes(x, sizes, strides);
  const Tensor changed =
      axes ? put_in_place(row, source, nested_map(row, sizes, strides, offset, *axes))
           : index_put(row, {places_of(x.builder(), sizes, strides, offset)}, source, Mode::replace);
  return reshape(changed, x.shape());
}

}  // namespace twinloom::graph
