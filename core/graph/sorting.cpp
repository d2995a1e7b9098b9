// Sorts, and what is found by them. See sorting.h. Elements are compared by their order_key, an i64, of which
// the complement orders the other way. Offsets come
//   of short axes    from ranks: how many others stand before an element, each compared with each
//   of a few firsts  from parts of a long axis: the first `count` elements lie in the `count` parts whose first
//                    element stands first, so that only these parts are sorted
//   of others        from a Sort
#include "core/graph/sorting.h"

#include <cmath>
#include <limits>

#include "core/graph/build_error.h"
#include "core/graph/indexing.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using index::Expr;
using ops::DType;

// Rows along the last axis, in ascending order; the node Sort says what low and bits are.
struct Keys {
  Tensor values;
  int low = 0;
  int bits = 64;
};

// A real of f32 has 8 bits of exponent, so that of f16 the last 13 bits are 0.
Keys keys_of(const Tensor& x, Direction direction) {
  Keys keys{order_key(x)};
  const DType dtype = x.dtype();
  keys.low = dtype == DType::bf16 ? 16 : dtype == DType::f16 ? 13 : 0;
  keys.bits = ops::is_16_bit_float(dtype) ? 32 - keys.low : dtype == DType::b8 ? 2 : ops::bits_of(dtype);
  if (direction == Direction::descending) keys.values = bitwise_not(keys.values);
  return keys;
}

Shape without_last(const Tensor& x) {
  Shape shape = x.shape();
  shape.pop_back();
  return shape;
}
Shape with_last(Shape shape, const Expr& size) {
  shape.push_back(size);
  return shape;
}

// The position along the last axis but `behind` ones, which broadcasts to all rows.
Tensor along(Builder& builder, const Expr& size, int behind) {
  Shape shape(static_cast<std::size_t>(behind) + 1, 1);
  shape.front() = size;
  return builder.iota(std::move(shape), 0);
}

// In a type that holds them, the narrower the more fit a vector.
Tensor narrowest(const Keys& keys) {
  return keys.low + keys.bits <= 32 ? cast(keys.values, DType::i32) : keys.values;
}

// How many keys of the row stand before each, by comparing it with each other.
Tensor ranks_of(const Keys& keys) {
  Builder& builder = keys.values.builder();
  const Expr size = keys.values.size(-1);
  const Tensor values = narrowest(keys);
  const Tensor own = unsqueeze(values, -1), other = unsqueeze(values, -2);
  const Tensor place = cast(along(builder, size, 0), DType::i32);
  const Tensor is_earlier = lt(place, cast(along(builder, size, 1), DType::i32));
  const Tensor stands_before = logical_or(lt(other, own), logical_and(is_earlier, eq(other, own)));
  return sum(cast(stands_before, DType::i32), {-1});
}

// All offsets, each put at its rank; of the first `count` alone by comparing each rank with theirs: 8 of 64
// took two cores 1.6 ms so, 1.9 by all of them.
Tensor by_ranks(const Tensor& ranks, const Expr& count) {
  Builder& builder = ranks.builder();
  const Expr size = ranks.size(-1);
  if (count == size) return permute_along(expand(along(builder, size, 0), ranks.shape()), -1, ranks);
  const Tensor is_here = eq(unsqueeze(ranks, -2), cast(along(builder, count, 1), DType::i32));
  const Tensor offset = where(is_here, cast(along(builder, size, 0), DType::i32), ops::Number(0));
  return cast(sum(offset, {-1}), DType::i64);
}

Tensor by_sort(const Keys& keys, const Expr& count) {
  const int axis = keys.values.rank() - 1;
  const Tensor all = keys.values.builder().add(Sort{axis, keys.low, keys.bits}, {keys.values});
  return count == keys.values.size(-1) ? all : slice_exact(all, axis, 0, count);
}

// Elements in a part, where the first `count` of `size` are found by parts; 0 where it does not pay. There
// are as many parts as elements in `count` of them, which together must be few. (The first 50 of 64 rows of
// 50257 f32 took 3.2 ms where the first elements of 3142 parts were sorted at once, 1.8 by parts of parts.)
std::int64_t part_of(const Expr& size, const Expr& count) {
  constexpr std::int64_t LONG = 512, MOST = std::int64_t{1} << 31, FEW = 2;
  const auto elements = index::constant_of(size), first = index::constant_of(count);
  if (!elements || !first || *elements < LONG || *elements > MOST || *first < 1) return 0;
  std::int64_t part = 1;
  while (4 * part * part * *first <= *elements) part *= 2;
  const std::int64_t parts = (*elements + part - 1) / part;
  return (parts + part * *first) * FEW <= *elements ? part : 0;
}

Tensor first_offsets(const Keys& keys, const Expr& count);

// Whatever stands before the first element of a part of its own stands before all of that part, so that of a
// part behind `count` others no element is among the first. Parts are taken in the order of their offsets, so
// that equal keys stay in theirs.
Tensor by_parts(const Keys& keys, const Expr& count, std::int64_t part) {
  const Shape rows = without_last(keys.values);
  const Expr size = keys.values.size(-1), parts = index::ceil_div(size, part);
  std::vector<Padding> padding(rows.size() + 1, Padding{0, 0});
  padding.back().after = parts * part - size;
  const Tensor values = narrowest(keys);
  const ops::Number behind = values.dtype() == DType::i32 ? std::numeric_limits<std::int32_t>::max()
                                                          : std::numeric_limits<std::int64_t>::max();
  const Tensor padded = pad(values, padding, behind);
  const Tensor firsts = amin(reshape(padded, with_last(with_last(rows, parts), part)), {-1});
  const Tensor found = first_offsets({cast(firsts, DType::i64), keys.low, keys.bits}, count);
  constexpr int bits = 32;  // of the number of a part, and its sign
  const Tensor chosen = take_along(found, -1, first_offsets({found, 0, bits}, count));
  const Tensor spread = unsqueeze(chosen * ops::Number(part), -1) + along(keys.values.builder(), part, 0);
  const Tensor candidates = reshape(spread, with_last(rows, count * part));
  const Tensor kept = cast(take_along(padded, -1, candidates), DType::i64);
  const Tensor sorted = first_offsets({kept, keys.low, keys.bits}, count);
  return take_along(candidates, -1, sorted);
}

// On a core of an EPYC a row of 64 f32 took 1.1 us by ranks, which grows with the square, and one of 128 by a
// Sort 7.7, which grows with the bits of a key too.
bool has_ranks(const Keys& keys) {
  constexpr std::int64_t SHORT_A_BIT = 4;
  const auto size = index::constant_of(keys.values.size(-1));
  return size && *size > 1 && *size <= SHORT_A_BIT * keys.bits;
}

Tensor first_offsets(const Keys& keys, const Expr& count) {
  const auto size = index::constant_of(keys.values.size(-1));
  if (size && *size <= 1)
    return keys.values.builder().constant(0, DType::i64, with_last(without_last(keys.values), count));
  if (has_ranks(keys)) return by_ranks(ranks_of(keys), count);
  const std::int64_t part = part_of(keys.values.size(-1), count);
  return part > 0 ? by_parts(keys, count, part) : by_sort(keys, count);
}

// x with an axis at least, and the axis from the front.
struct Rows {
  Tensor x;
  int axis;
  bool is_scalar;
};
Rows rows_of(const Tensor& x, int axis, const std::string& name) {
  const int checked = axis_of(axis, std::max(x.rank(), 1), subject(x.builder(), name));
  return {x.rank() == 0 ? reshape(x, {1}) : x, checked, x.rank() == 0};
}

void needs_between(const Rows& rows, const Expr& least, const Expr& given, const std::string& name) {
  Builder& builder = rows.x.builder();
  const Expr size = rows.x.size(rows.axis);
  const std::string words =
      cat(subject(builder, name), ": k is ", given, ", of ", size, " elements along axis ", rows.axis,
          "; it must be at least ", least, " and at most ", size);
  require_sizes(builder, at_most(least, given), words);
  require_sizes(builder, at_most(given, size), words);
}

Tensor offsets_of(const Rows& rows, const Expr& count, Direction direction) {
  const int last = rows.x.rank() - 1;
  const Tensor moved = transpose(rows.x, rows.axis, last);
  return transpose(first_offsets(keys_of(moved, direction), count), rows.axis, last);
}

Sorted as_given(const Rows& rows, const Tensor& values, const Tensor& offsets) {
  if (!rows.is_scalar) return {values, offsets};
  return {reshape(values, {}), reshape(offsets, {})};
}

Sorted first_of(const Rows& rows, const Expr& count, Direction direction) {
  const int last = rows.x.rank() - 1;
  const Tensor moved = transpose(rows.x, rows.axis, last);
  const Keys keys = keys_of(moved, direction);
  const auto given = [&](const Tensor& found) { return transpose(found, rows.axis, last); };
  if (!has_ranks(keys) || count != moved.size(-1)) {
    const Tensor offsets = given(first_offsets(keys, count));
    return as_given(rows, take_along(rows.x, rows.axis, offsets), offsets);
  }
  const Tensor ranks = ranks_of(keys);
  return as_given(rows, given(permute_along(moved, -1, ranks)), given(by_ranks(ranks, count)));
}

// Of each row the element at its one offset.
Extreme at_offset(const Rows& rows, const Tensor& offset, bool keep) {
  const Tensor value = take_along(rows.x, rows.axis, offset);
  if (rows.is_scalar) return {reshape(value, {}), reshape(offset, {})};
  if (keep) return {value, offset};
  return {squeeze(value, {rows.axis}), squeeze(offset, {rows.axis})};
}

// Where the median is among the sorted elements of each row: NaNs are behind all others.
Tensor place_of_median(const Rows& rows, Nans nans) {
  Builder& builder = rows.x.builder();
  Shape shape = rows.x.shape();
  shape[static_cast<std::size_t>(rows.axis)] = 1;
  const Expr size = rows.x.size(rows.axis);
  const Tensor middle = builder.size(index::floor_div(size - 1, 2));
  if (!ops::is_floating(rows.x.dtype())) return expand(middle, shape);
  const Tensor numbers = builder.size(size) - sum(cast(isnan(rows.x), DType::i64), {rows.axis}, true);
  if (nans == Nans::ignored)
    return div_floor(maximum(numbers - ops::Number(1), ops::Number(0)), ops::Number(2));
  return where(eq(numbers, builder.size(size)), middle, numbers);
}

}  // namespace

Sorted sort(const Tensor& x, int axis, Direction direction) {
  const CompositeScope scope(x.builder(), "sort");
  const Rows rows = rows_of(x, axis, "sort");
  return first_of(rows, rows.x.size(rows.axis), direction);
}

Tensor argsort(const Tensor& x, int axis, Direction direction) { return sort(x, axis, direction).offsets; }

Sorted top(const Tensor& x, const Expr& count, int axis, Direction direction) {
  const CompositeScope scope(x.builder(), "topk");
  const Rows rows = rows_of(x, axis, "topk");
  needs_between(rows, 0, count, "topk");
  return first_of(rows, rows.is_scalar ? Expr(1) : count, direction);
}

Extreme kth_value(const Tensor& x, const Expr& number, int axis, bool keep) {
  const CompositeScope scope(x.builder(), "kthvalue");
  const Rows rows = rows_of(x, axis, "kthvalue");
  needs_between(rows, 1, number, "kthvalue");
  const Tensor offsets = offsets_of(rows, number, Direction::ascending);
  return at_offset(rows, slice_exact(offsets, rows.axis, number - 1, 1), keep);
}

Extreme median(const Tensor& x, int axis, bool keep, Nans nans) {
  const CompositeScope scope(x.builder(), "median");
  const Rows rows = rows_of(x, axis, "median");
  require_sizes(x.builder(), at_most(1, rows.x.size(rows.axis)),
                cat(subject(x.builder(), "median"), ": there are no elements along axis ", rows.axis));
  const Tensor offsets = offsets_of(rows, rows.x.size(rows.axis), Direction::ascending);
  return at_offset(rows, take_along(offsets, rows.axis, place_of_median(rows, nans)), keep);
}

Tensor median(const Tensor& x, Nans nans) {
  if (index::constant_of(x.count()) == 0 && ops::is_floating(x.dtype()))
    return x.builder().constant(std::nan(""), x.dtype());
  return median(reshape(x, {x.count()}), 0, false, nans).value;
}

}  // namespace twinloom::graph
