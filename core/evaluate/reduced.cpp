// Reduce and Scan: rows of elements and their totals.
#include <algorithm>

#include "core/base/error.h"
#include "core/evaluate/run.h"
#include "core/evaluate/totals.h"

namespace twinloom::evaluate {

namespace {

// Offsets of all positions along some axes, row-major over them.
Numbers offsets_along(std::span<const std::int64_t> sizes, const std::vector<std::size_t>& axes) {
  const std::vector<std::int64_t> strides = strides_of(sizes);
  Numbers offsets{0};
  for (const std::size_t axis : axes) {
    Numbers next;
    next.reserve(offsets.size() * static_cast<std::size_t>(sizes[axis]));
    for (const std::int64_t offset : offsets)
      for (std::int64_t at = 0; at < sizes[axis]; ++at) next.push_back(offset + at * strides[axis]);
    offsets = std::move(next);
  }
  return offsets;
}

struct Split {
  Numbers kept, reduced;  // offsets
};

Split split_axes(const Value& value, const std::vector<int>& reduced) {
  std::vector<std::size_t> inner;
  std::vector<std::size_t> outer;
  for (std::size_t axis = 0; axis < value.sizes.size(); ++axis)
    (std::ranges::find(reduced, static_cast<int>(axis)) != reduced.end() ? inner : outer).push_back(axis);
  return {offsets_along(value.sizes, outer), offsets_along(value.sizes, inner)};
}

void load_row(const Value& value, std::int64_t start, const Numbers& offsets, Row& row) {
  row.clear();
  for (const std::int64_t offset : offsets)
    row.push_back(ops::load_number(value.dtype, element(value, start + offset)));
}

// Part `component` of a total, in the type that the result is kept in.
void store_part(const Pair& total, ops::DType total_type, int component, Value& result, std::int64_t k) {
  const ops::DType from = component == 0 ? total_type : ops::DType::i64;
  const ops::Number& part = total[static_cast<std::size_t>(component)];
  ops::store_number(result.dtype, ops::cast(part, from, result.dtype), element(result, k));
}

}  // namespace

Value evaluate_kind(const Turn& turn, const graph::Reduce& reduce) {
  Value result = turn.run.blank(turn.node());
  const Value& input = turn.input(0);
  const ops::DType total_type = ops::total_type(input.dtype);
  const Split offsets = split_axes(input, reduce.axes);
  Row row;
  for (std::size_t k = 0; k < offsets.kept.size(); ++k) {
    load_row(input, offsets.kept[k], offsets.reduced, row);
    std::optional<Pair> total = total_of(reduce.monoid, total_type, row);
    if (!total && reduce.identity_over_nothing) total = ops::identity(reduce.monoid, total_type);
    CHECK(total.has_value(), turn.subject(), " is over no elements, which a requirement refuses");
    store_part(*total, total_type, reduce.component, result, static_cast<std::int64_t>(k));
  }
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Scan& scan) {
  Value result = turn.run.blank(turn.node());
  const Value& input = turn.input(0);
  const ops::DType total_type = ops::total_type(input.dtype);
  Split offsets = split_axes(input, {scan.axis});
  if (scan.backwards) std::ranges::reverse(offsets.reduced);
  Row row;
  for (const std::int64_t start : offsets.kept) {
    load_row(input, start, offsets.reduced, row);
    const std::vector<Pair> totals = scan_of(scan.monoid, total_type, row, scan.exclusive);
    for (std::size_t e = 0; e < totals.size(); ++e)
      store_part(totals[e], total_type, scan.component, result, start + offsets.reduced[e]);
  }
  return result;
}

}  // namespace twinloom::evaluate
