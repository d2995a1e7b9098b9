// Gather and Scatter in the shapes that users know. See indexing.h.
#include "core/graph/indexing.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/graph/build_error.h"
#include "core/graph/infer.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

bool wraps(Negative negative) { return negative == Negative::wraps; }

std::size_t axis_in(const Tensor& x, int axis, std::string_view what) {
  return static_cast<std::size_t>(axis_of(axis, x.rank(), subject(x.builder(), what)));
}

std::vector<index::Symbol> axis_symbols(std::size_t rank) {
  std::vector<index::Symbol> symbols;
  for (std::size_t k = 0; k < rank; ++k) symbols.push_back(axis_symbol(static_cast<int>(k)));
  return symbols;
}

// Indices of any integer type serve.
void check_index(const Tensor& index, std::string_view what) {
  if (index.dtype() == ops::DType::b8)
    fail(index.builder(), what,
         "how many elements a mask of b8 takes depends on data, so the result has no size; ",
         "where(mask, x, y) keeps the shape");
  if (!ops::is_integer(index.dtype()))
    fail(index.builder(), what, "an index must have an integer type, given ", ops::name(index.dtype()));
}

void check_same_type(const Tensor& x, const Tensor& source, std::string_view what) {
  if (source.dtype() != x.dtype())
    fail(x.builder(), what, "the source is ", ops::name(source.dtype()), ", the base ", ops::name(x.dtype()));
}

// Of truths, a sum is "or", the greatest, and a product "and", the least.
Mode mode_for(Mode mode, ops::DType dtype) {
  if (dtype != ops::DType::b8) return mode;
  if (mode == Mode::add) return Mode::greatest;
  return mode == Mode::multiply ? Mode::least : mode;
}

// A scalar beside tensors of rank 1: torch lets rank 0 stand for [1].
Tensor at_least_rank_1(const Tensor& x) { return x.rank() == 0 ? reshape(x, {1}) : x; }

// Where advanced indexing puts what: axis k of x is indexed, or is the next whole axis.
struct Placement {
  std::vector<std::size_t> indexed;  // axes of x
  std::vector<std::size_t> whole;    // axes of x
  std::vector<Tensor> indices;       // broadcast to `broadcast`
  Shape broadcast;                   // of the indices
  std::size_t first = 0;             // axis of the result where `broadcast` begins
  Shape sizes;                       // of the result
};

Placement placement_of(const Tensor& x, const Indices& indices, std::string_view what) {
  const Shape shape = x.shape();
  if (indices.size() > shape.size())
    fail(x.builder(), what, indices.size(), " indices are given for rank ", shape.size());
  Placement place;
  std::vector<Shape> shapes;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    if (k >= indices.size() || !indices[k]) {
      place.whole.push_back(k);
      continue;
    }
    check_index(*indices[k], what);
    place.indexed.push_back(k);
    shapes.push_back(indices[k]->shape());
  }
  if (place.indexed.empty()) fail(x.builder(), what, "no index is given");
  place.broadcast = broadcast_shape(x.builder().graph(), shapes, subject(x.builder(), what));
  for (const std::size_t k : place.indexed) place.indices.push_back(expand(*indices[k], place.broadcast));
  const bool neighbours = place.indexed.back() - place.indexed.front() + 1 == place.indexed.size();
  place.first = neighbours ? place.indexed.front() : 0;
  for (const std::size_t k : place.whole) place.sizes.push_back(shape[k]);
  place.sizes.insert(place.sizes.begin() + static_cast<std::ptrdiff_t>(place.first), place.broadcast.begin(),
                     place.broadcast.end());
  return place;
}

// The index expanded to the result: its axes begin at `first`.
Tensor spread(const Tensor& index, const Shape& sizes, std::size_t first) {
  const std::size_t after = sizes.size() - first - static_cast<std::size_t>(index.rank());
  Tensor wide = index;
  for (std::size_t k = 0; k < after; ++k) wide = unsqueeze(wide, wide.rank());
  return expand(wide, sizes);
}

// For each axis of x: the found index, or the axis of the result that runs along it.
std::vector<index::Expr> map_of(const Placement& place, std::size_t rank) {
  std::vector<index::Expr> map(rank, 0);
  for (std::size_t n = 0; n < place.indexed.size(); ++n)
    map[place.indexed[n]] = found_symbol(static_cast<int>(n));
  std::size_t axis = 0;
  for (const std::size_t k : place.whole) {
    if (axis == place.first) axis += place.broadcast.size();
    map[k] = axis_symbol(static_cast<int>(axis++));
  }
  return map;
}

std::vector<index::Symbol> found_symbols(std::size_t count) {
  std::vector<index::Symbol> symbols;
  for (std::size_t k = 0; k < count; ++k) symbols.push_back(found_symbol(static_cast<int>(k)));
  return symbols;
}

Shape sizes_at(const Tensor& x, const std::vector<std::size_t>& axes) {
  const Shape shape = x.shape();
  Shape sizes;
  for (const std::size_t k : axes) sizes.push_back(shape[k]);
  return sizes;
}

// An index along one axis of x, where the other axes run with those of the index.
std::vector<index::Expr> along_axis(std::size_t rank, std::size_t axis) {
  std::vector<index::Expr> map;
  for (const index::Symbol symbol : axis_symbols(rank)) map.emplace_back(symbol);
  map[axis] = found_symbol(0);
  return map;
}

// Axes of `index` other than `axis` must not be longer than those of `other`.
void check_fits(const Tensor& index, const Tensor& other, std::optional<std::size_t> but,
                std::string_view what, std::string_view of) {
  const Shape given = index.shape();
  const Shape room = other.shape();
  if (given.size() != room.size())
    fail(index.builder(), what, "the index has rank ", given.size(), ", the ", of, " has rank ", room.size());
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (k == but) continue;
    require_sizes(index.builder(), at_most(given[k], room[k]),
                  cat(subject(index.builder(), what), ": axis ", k, " of the index has size ", given[k],
                      ", of the ", of, " ", room[k]));
  }
}

// The axis at which a mask stands, where it is the only index.
std::optional<std::size_t> only_mask(const Indices& indices) {
  std::optional<std::size_t> axis;
  for (std::size_t k = 0; k < indices.size(); ++k) {
    if (!indices[k]) continue;
    if (axis || indices[k]->dtype() != ops::DType::b8) return std::nullopt;
    axis = k;
  }
  return axis;
}

// The values beside x: their axis for what the mask takes, which must be of size 1, becomes those of the
// mask.
Tensor beside_mask(const Tensor& x, const Tensor& values, std::size_t axis, int mask_rank) {
  const int after = x.rank() - static_cast<int>(axis) - mask_rank;
  const int at = values.rank() - after - 1;
  if (at < 0) return values;
  if (values.size(at) != index::Expr(1))
    fail(x.builder(), "index_put", "the values have the shape ", print_shape(values.shape()),
         "; how many elements a mask of b8 takes depends on data, so their axis ", at, " must have size 1");
  Tensor wide = values;
  for (int k = 1; k < mask_rank; ++k) wide = unsqueeze(wide, at);
  return mask_rank == 0 ? squeeze(wide, {at}) : wide;
}

// A mask for axes axis, axis + 1, ... of x is a select.
Tensor put_at_mask(const Tensor& x, const Tensor& mask, std::size_t axis, const Tensor& values, Mode mode) {
  Builder& builder = x.builder();
  const Shape shape = x.shape();
  const Shape given = mask.shape();
  const std::string words =
      cat(subject(builder, "index_put"), ": the mask has the shape ", print_shape(given), ", it speaks of ",
          print_shape(shape), " from axis ", axis, " on");
  if (axis + given.size() > shape.size()) throw Error(words);
  for (std::size_t k = 0; k < given.size(); ++k)
    builder.graph().require_equal(given[k], shape[axis + k], words);
  Tensor there = mask;
  for (std::size_t k = axis + given.size(); k < shape.size(); ++k) there = unsqueeze(there, there.rank());
  const Tensor put = expand(beside_mask(x, values, axis, mask.rank()), shape);
  const Mode combine = mode_for(mode, x.dtype());
  if (combine == Mode::add) return where(there, x + put, x);
  return where(there, combine == Mode::greatest ? maximum(x, put) : put, x);
}

// The first elements of x along every axis, as many as `sizes` says.
Tensor first_elements(const Tensor& x, const Shape& sizes) {
  Tensor part = x;
  for (int axis = 0; axis < x.rank(); ++axis)
    part = slice_exact(part, axis, 0, sizes[static_cast<std::size_t>(axis)]);
  return part;
}

}  // namespace

Tensor take_along(const Tensor& x, int axis, const Tensor& index, Negative negative) {
  if (x.rank() == 0 || (x.rank() == 1 && index.rank() == 0))
    return reshape(take_along(at_least_rank_1(x), axis, at_least_rank_1(index), negative), index.shape());
  const std::size_t k = axis_in(x, axis, "take_along");
  check_index(index, "take_along");
  check_fits(index, x, k, "take_along", "input");
  const auto rank = static_cast<std::size_t>(x.rank());
  return x.builder().add(Gather{axis_symbols(rank),
                                index.shape(),
                                {found_symbol(0)},
                                {x.shape()[k]},
                                along_axis(rank, k),
                                wraps(negative)},
                         {x, index});
}

Tensor take(const Tensor& x, int axis, const Tensor& index, Negative negative) {
  const std::size_t k = axis_in(x, axis, "take");
  Indices indices(k + 1);
  indices[k] = index;
  return twinloom::graph::index(x, indices, negative);
}

Tensor embedding(const Tensor& table, const Tensor& index) { return take(table, 0, index); }

Tensor index(const Tensor& x, const Indices& indices, Negative negative) {
  const Placement place = placement_of(x, indices, "index");
  std::vector<Tensor> inputs{x};
  for (const Tensor& one : place.indices) inputs.push_back(spread(one, place.sizes, place.first));
  return x.builder().add(
      Gather{axis_symbols(place.sizes.size()), place.sizes, found_symbols(place.indices.size()),
             sizes_at(x, place.indexed), map_of(place, static_cast<std::size_t>(x.rank())), wraps(negative)},
      inputs);
}

Tensor index_put(const Tensor& x, const Indices& indices, const Tensor& values, Mode mode,
                 Negative negative) {
  check_same_type(x, values, "index_put");
  if (const auto axis = only_mask(indices)) return put_at_mask(x, *indices[*axis], *axis, values, mode);
  const Placement place = placement_of(x, indices, "index_put");
  if (static_cast<std::size_t>(values.rank()) > place.sizes.size())
    fail(x.builder(), "index_put", "the values have the shape ", print_shape(values.shape()),
         ", their place ", print_shape(place.sizes));
  std::vector<Tensor> inputs{x, expand(values, place.sizes)};
  for (const Tensor& one : place.indices) inputs.push_back(spread(one, place.sizes, place.first));
  return x.builder().add(
      Scatter{axis_symbols(place.sizes.size()), found_symbols(place.indices.size()),
              sizes_at(x, place.indexed), map_of(place, static_cast<std::size_t>(x.rank())),
              mode_for(mode, x.dtype()), true, wraps(negative)},
      inputs);
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, const Tensor& source, Mode mode,
               bool include_self, Negative negative) {
  if (x.rank() == 0 || (x.rank() == 1 && index.rank() == 0))
    return reshape(scatter(at_least_rank_1(x), axis, at_least_rank_1(index), at_least_rank_1(source), mode,
                           include_self, negative),
                   x.shape());
  const std::size_t k = axis_in(x, axis, "scatter");
  check_index(index, "scatter");
  check_same_type(x, source, "scatter");
  check_fits(index, x, k, "scatter", "input");
  check_fits(index, source, std::nullopt, "scatter", "source");
  const auto rank = static_cast<std::size_t>(x.rank());
  return x.builder().add(Scatter{axis_symbols(rank),
                                 {found_symbol(0)},
                                 {x.shape()[k]},
                                 along_axis(rank, k),
                                 mode_for(mode, x.dtype()),
                                 include_self,
                                 wraps(negative)},
                         {x, first_elements(source, index.shape()), index});
}

Tensor scatter(const Tensor& x, int axis, const Tensor& index, ops::Number value, Mode mode,
               bool include_self, Negative negative) {
  const Tensor source = x.builder().constant(value, x.dtype(), index.shape());
  return scatter(x, axis, index, source, mode, include_self, negative);
}

Tensor permute_along(const Tensor& x, int axis, const Tensor& places) {
  const std::size_t k = axis_in(x, axis, "permute_along");
  check_index(places, "permute_along");
  const auto rank = static_cast<std::size_t>(x.rank());
  Scatter scatter{axis_symbols(rank),
                  {found_symbol(0)},
                  {x.shape()[k]},
                  along_axis(rank, k),
                  mode_for(Mode::replace, x.dtype())};
  scatter.is_permutation = true;
  return x.builder().add(std::move(scatter), {full_like(x, 0), x, places});
}

// Sums and counts in the compute type, one rounding.
Tensor scatter_mean(const Tensor& x, int axis, const Tensor& index, const Tensor& source, bool include_self) {
  const CompositeScope scope(x.builder(), "scatter_mean");
  const Tensor wide = widened(x);
  const Tensor sum = scatter(wide, axis, index, widened(source), Mode::add, include_self);
  const Tensor before = full_like(wide, include_self ? 1 : 0);
  const Tensor count = maximum(scatter(before, axis, index, ops::Number(1), Mode::add), ops::Number(1));
  return cast(ops::is_integer(x.dtype()) ? div_floor(sum, count) : sum / count, x.dtype(), true);
}

Tensor index_update(const Tensor& x, int axis, const Tensor& index, const Tensor& source, Mode mode,
                    bool include_self, Negative negative) {
  if (x.rank() == 0) {
    const Tensor values = at_least_rank_1(source);
    return reshape(index_update(at_least_rank_1(x), axis, index, values, mode, include_self, negative), {});
  }
  const std::size_t k = axis_in(x, axis, "index_update");
  check_index(index, "index_update");
  check_same_type(x, source, "index_update");
  const Tensor places = at_least_rank_1(index);
  Shape sizes = x.shape();
  sizes[k] = places.size(0);
  if (places.rank() != 1 || static_cast<std::size_t>(source.rank()) != sizes.size())
    fail(x.builder(), "index_update", "needs an index of rank 1 and a source of the input's rank, given ",
         print_shape(index.shape()), " and ", print_shape(source.shape()));
  for (std::size_t n = 0; n < sizes.size(); ++n)
    x.builder().graph().require_equal(source.shape()[n], sizes[n],
                                      cat(subject(x.builder(), "index_update"), ": the source has the shape ",
                                          print_shape(source.shape()), ", its place ", print_shape(sizes)));
  return x.builder().add(Scatter{axis_symbols(sizes.size()),
                                 {found_symbol(0)},
                                 {x.shape()[k]},
                                 along_axis(sizes.size(), k),
                                 mode_for(mode, x.dtype()),
                                 include_self,
                                 wraps(negative)},
                         {x, source, spread(places, sizes, k)});
}

Tensor one_hot(const Tensor& index, const index::Expr& classes, ops::DType dtype) {
  check_index(index, "one_hot");
  const Tensor column = unsqueeze(index, index.rank());
  return cast(eq(column, index.builder().iota({classes}, 0, index.dtype())), dtype, true);
}

}  // namespace twinloom::graph
