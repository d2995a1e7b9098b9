// Sort, and Gather and Scatter: places that depend on values, which are checked against their bounds.
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/evaluate/run.h"
#include "core/evaluate/totals.h"
#include "core/graph/assertion.h"
#include "core/ops/convert.h"

namespace twinloom::evaluate {

namespace {

// What Gather and Scatter have in common: index inputs of one shape, and a map over axes and found.
struct Lookup {
  const Turn& turn;
  std::span<const index::Symbol> axes, found;
  std::vector<std::int64_t> sizes;   // along the axes
  std::vector<std::int64_t> bounds;  // of the found indices
  std::vector<index::Expr> map;
  const std::vector<std::int64_t>& places;  // sizes of what is looked into
  std::size_t first_index;                  // which input is the first index
  bool wraps;
};

[[noreturn]] void fail_index(const Lookup& lookup, std::size_t k, std::int64_t at, std::int64_t value) {
  if (const auto words = graph::words_of_assertion(lookup.turn.node())) throw Error(*words);
  const std::vector<std::int64_t> position = position_of(at, lookup.sizes);
  throw Error(cat(lookup.turn.subject(), ": index ", k, " at position [",
                  join(position, ", ", [](std::int64_t p) { return cat(p); }), "] is ", value,
                  ", out of range for size ", lookup.bounds[k]));
}

Numbers found_at(const Lookup& lookup, std::size_t k, std::int64_t first, std::int64_t count) {
  const Value& index = lookup.turn.input(lookup.first_index + k);
  Numbers numbers(static_cast<std::size_t>(count));
  ops::convert(index.dtype, ops::DType::i64, element(index, first), numbers.data(), count);
  for (std::size_t e = 0; e < numbers.size(); ++e) {
    const std::int64_t value = numbers[e];
    if (lookup.wraps && value < 0) numbers[e] += lookup.bounds[k];
    if (numbers[e] < 0 || numbers[e] >= lookup.bounds[k])
      fail_index(lookup, k, first + static_cast<std::int64_t>(e), value);
  }
  return numbers;
}

// For each position along the axes, in row-major order, the element of the target.
Numbers targets(const Lookup& lookup) {
  const std::vector<std::int64_t> strides = strides_of(lookup.places);
  Numbers all;
  for_each_block(count_of(lookup.sizes), [&](std::int64_t first, std::int64_t count) {
    Columns columns = positions(lookup.axes, lookup.sizes, first, count);
    for (std::size_t k = 0; k < lookup.found.size(); ++k)
      columns.symbols.emplace_back(lookup.found[k], found_at(lookup, k, first, count));
    Numbers offset(columns.count, 0);
    for (std::size_t k = 0; k < lookup.map.size(); ++k) {
      const Numbers along = values_of(lookup.map[k], columns);
      for (std::size_t e = 0; e < along.size(); ++e) {
        CHECK(along[e] >= 0 && along[e] < lookup.places[k], lookup.turn.subject(), " looks at position ",
              along[e], " along axis ", k, " of size ", lookup.places[k]);
        offset[e] += along[e] * strides[k];
      }
    }
    all.insert(all.end(), offset.begin(), offset.end());
  });
  return all;
}

// The contributions to one place, in ascending order, as one total; then with what was there.
void combine_into(const graph::Scatter& scatter, const Value& values, std::span<const std::int64_t> from,
                  std::byte* place) {
  const ops::Monoid monoid = graph::monoid_of(scatter.mode);
  const ops::DType total_type = ops::total_type(values.dtype);
  Row row;
  for (const std::int64_t k : from) row.push_back(ops::load_number(values.dtype, element(values, k)));
  Pair total = *total_of(monoid, total_type, row);
  if (scatter.include_self) {
    const Pair old{ops::load_number(values.dtype, place), ops::Number(0)};
    total = ops::combine(monoid, total_type, old, total);
  }
  ops::store_number(values.dtype, ops::cast(total[0], total_type, values.dtype), place);
}

}  // namespace

Value evaluate_kind(const Turn& turn, const graph::Sort& sort) {
  Value result = turn.run.blank(turn.node());
  if (result.bytes.empty()) return result;
  const auto axis = static_cast<std::size_t>(sort.axis);
  const std::int64_t size = result.sizes[axis], stride = strides_of(result.sizes)[axis];
  const auto* keys = reinterpret_cast<const std::int64_t*>(turn.input(0).bytes.data());
  auto* offsets = reinterpret_cast<std::int64_t*>(result.bytes.data());
  Numbers order(static_cast<std::size_t>(size));
  for (std::int64_t first = 0; first < count_of(result); ++first) {
    if (first / stride % size != 0) continue;
    for (std::int64_t k = 0; k < size; ++k) order[static_cast<std::size_t>(k)] = k;
    std::ranges::stable_sort(order, {}, [&](std::int64_t k) { return keys[first + k * stride]; });
    for (std::int64_t k = 0; k < size; ++k) offsets[first + k * stride] = order[static_cast<std::size_t>(k)];
  }
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Gather& gather) {
  Value result = turn.run.blank(turn.node());
  if (result.bytes.empty()) return result;
  const Value& input = turn.input(0);
  const Lookup lookup{turn,
                      gather.axes,
                      gather.found,
                      result.sizes,
                      turn.run.sizes_of(gather.bounds),
                      turn.run.with_sizes(gather.source),
                      input.sizes,
                      1,
                      gather.negative_wraps};
  const Numbers from = targets(lookup);
  const auto bytes = static_cast<std::size_t>(ops::size_of(result.dtype));
  for (std::size_t e = 0; e < from.size(); ++e)
    std::memcpy(element(result, static_cast<std::int64_t>(e)), element(input, from[e]), bytes);
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Scatter& scatter) {
  Value result = turn.input(0);
  const Value& values = turn.input(1);
  if (values.bytes.empty()) return result;
  const Lookup lookup{turn,
                      scatter.axes,
                      scatter.found,
                      values.sizes,
                      turn.run.sizes_of(scatter.bounds),
                      turn.run.with_sizes(scatter.place),
                      result.sizes,
                      2,
                      scatter.negative_wraps};
  const Numbers to = targets(lookup);
  if (scatter.mode == graph::Mode::replace) {
    const auto bytes = static_cast<std::size_t>(ops::size_of(result.dtype));
    for (std::size_t e = 0; e < to.size(); ++e)
      std::memcpy(element(result, to[e]), element(values, static_cast<std::int64_t>(e)), bytes);
    return result;
  }
  Numbers order(to.size());
  for (std::size_t e = 0; e < order.size(); ++e) order[e] = static_cast<std::int64_t>(e);
  const auto place = [&](std::int64_t e) { return to[static_cast<std::size_t>(e)]; };
  std::ranges::stable_sort(order, {}, place);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && place(order[end]) == place(order[begin])) ++end;
    combine_into(scatter, values, std::span(order).subspan(begin, end - begin),
                 element(result, place(order[begin])));
    begin = end;
  }
  return result;
}

}  // namespace twinloom::evaluate
