// View and Concat: elements put somewhere else, their bytes unchanged.
#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/evaluate/run.h"
#include "core/index/divisors.h"

namespace twinloom::evaluate {

namespace {

// Whether it is of a part of its input that has no elements: positions of that are quotients by its sizes.
bool is_of_nothing(const graph::View& view, const index::Values& sizes) {
  const auto divides = [&](const auto& part) { return index::divides_by_zero(part, sizes); };
  return divides(view.inside) || std::ranges::any_of(view.source, divides);
}

}  // namespace

Value evaluate_kind(const Turn& turn, const graph::View& view) {
  Value result = turn.run.blank(turn.node());
  if (result.bytes.empty()) return result;
  const Value& input = turn.input(0);
  if (input.bytes.empty() || is_of_nothing(view, turn.run.sizes)) {
    // No position is inside.
    fill(result, ops::cast(view.fill, result.dtype));
    return result;
  }
  const std::vector<index::Expr> source = turn.run.with_sizes(view.source);
  index::Condition inside;
  for (const index::Less& less : view.inside.all)
    inside.all.push_back({with_sizes(less.a, turn.run.sizes), with_sizes(less.b, turn.run.sizes)});
  const std::vector<std::int64_t> strides = strides_of(input.sizes);
  const auto bytes = static_cast<std::size_t>(ops::size_of(result.dtype));
  for_each_block(count_of(result), [&](std::int64_t first, std::int64_t count) {
    const Columns columns = positions(view.axes, result.sizes, first, count);
    const std::vector<bool> holds = holds_at(inside, columns);
    Numbers offset(columns.count, 0);
    for (std::size_t k = 0; k < source.size(); ++k) {
      const Numbers along = values_of(source[k], columns);
      for (std::size_t e = 0; e < along.size(); ++e) {
        CHECK(!holds[e] || (along[e] >= 0 && along[e] < input.sizes[k]), turn.subject(), " reads position ",
              along[e], " along axis ", k, " of size ", input.sizes[k]);
        offset[e] += along[e] * strides[k];
      }
    }
    for (std::size_t e = 0; e < offset.size(); ++e) {
      std::byte* to = element(result, first + static_cast<std::int64_t>(e));
      if (holds[e]) {
        std::memcpy(to, element(input, offset[e]), bytes);
      } else {
        ops::store_number(result.dtype, ops::cast(view.fill, result.dtype), to);
      }
    }
  });
  return result;
}

Value evaluate_kind(const Turn& turn, const graph::Concat& concat) {
  Value result = turn.run.blank(turn.node());
  const auto axis = static_cast<std::size_t>(concat.axis);
  const std::span<const std::int64_t> sizes = result.sizes;
  const std::int64_t rows = count_of(sizes.first(axis));
  const std::int64_t inner = count_of(sizes.subspan(axis + 1)) * ops::size_of(result.dtype);
  std::byte* to = result.bytes.data();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (const auto& part : turn.inputs) {
      const std::int64_t bytes = part->sizes[axis] * inner;
      if (bytes == 0) continue;
      std::memcpy(to, part->bytes.data() + row * bytes, static_cast<std::size_t>(bytes));
      to += bytes;
    }
  }
  return result;
}

}  // namespace twinloom::evaluate
