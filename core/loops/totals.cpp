// The canonical order of canonical.h, and the literal steps of programs. See totals.h.
#include "core/loops/totals.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/loops/canonical.h"

namespace twinloom::loops {

namespace {

// A missing operand is skipped.
Parts after(const Combiner& combine, const std::optional<Parts>& left, const Parts& right) {
  return left ? combine(*left, right) : right;
}

using Elements = std::vector<std::pair<std::int64_t, Parts>>;

// Elements first .. first + count - 1 of one unit; 1 <= count <= UNIT.
Parts unit_of(const Combiner& combine, const Elements& elements, std::int64_t first, std::int64_t count) {
  std::vector<Parts> lanes;
  for (std::int64_t e = 0; e < count; ++e) {
    const Parts& element = elements[static_cast<std::size_t>(first + e)].second;
    if (e < LANES) {
      lanes.push_back(element);
    } else {
      Parts& lane = lanes[static_cast<std::size_t>(e % LANES)];
      lane = combine(lane, element);
    }
  }
  for (std::size_t half = LANES / 2; half > 0; half /= 2) {
    for (std::size_t l = 0; l < half && l + half < lanes.size(); ++l)
      lanes[l] = combine(lanes[l], lanes[l + half]);
    lanes.resize(std::min(lanes.size(), half));
  }
  return lanes.front();
}

}  // namespace

Parts Combiner::over_nothing() const {
  Parts parts = identity();
  if (const auto number = ops::over_nothing(monoid, element)) parts[0] = *number;
  return parts;
}

void Reduction::add(const Combiner& combine, std::int64_t place, const Parts& element) {
  CHECK(place >= 0, "an element is accumulated at the place ", place);
  if (ops::order(combine.monoid, combine.element) == ops::Order::any) {
    any_order_ = count_ == 0 ? element : combine(any_order_, element);
  } else {
    pending_.emplace_back(place, element);
  }
  ++count_;
  highest_ = std::max(highest_, place);
  result_.reset();
}

const Parts& Reduction::result(const Combiner& combine) {
  if (!result_) result_ = computed(combine);
  return *result_;
}

Parts Reduction::computed(const Combiner& combine) {
  if (count_ == 0) return combine.over_nothing();
  CHECK(highest_ == count_ - 1, count_, " elements are accumulated at places up to ", highest_);
  if (pending_.empty()) return any_order_;
  std::ranges::stable_sort(pending_, {}, &Elements::value_type::first);
  const auto twice = std::ranges::adjacent_find(pending_, std::equal_to(), &Elements::value_type::first);
  CHECK(twice == pending_.end(), "two elements are accumulated at the place ", twice->first);
  Total stack;
  const int depth = 64;
  stack.start(combine, {}, depth);
  for (std::int64_t first = 0; first < count_; first += UNIT) {
    const Parts unit = unit_of(combine, pending_, first, std::min(UNIT, count_ - first));
    push_cell(stack, combine, 0, depth, first / UNIT, unit);
  }
  return fold_cells(stack, combine, 0, depth, twinloom::ceil_div(count_, UNIT));
}

Parts Prefixes::add(const Combiner& combine, std::int64_t place, const Parts& element, bool exclusive) {
  CHECK(place == count_, "a scan sees the place ", place, " after ", count_, " elements");
  ++count_;
  if (place % SCAN_CHUNK == 0) {
    if (chunk_) chunks_before_ = after(combine, chunks_before_, *chunk_);
    row_.reset();
    rows_before_.reset();
  }
  if (place % SCAN_ROW == 0 && row_) {
    rows_before_ = after(combine, rows_before_, *row_);
    row_.reset();
  }
  row_ = after(combine, row_, element);
  chunk_ = after(combine, rows_before_, *row_);
  const Parts inclusive = after(combine, chunks_before_, *chunk_);
  const Parts before = last_ ? *last_ : combine.over_nothing();
  last_ = inclusive;
  return exclusive ? before : inclusive;
}

Parts Prefixes::result(const Combiner& combine) const { return last_ ? *last_ : combine.over_nothing(); }

void Total::start(const Combiner& combine, std::vector<std::int64_t> copy_extents, int depth) {
  extents = std::move(copy_extents);
  strides.assign(extents.size(), 1);
  std::int64_t count = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = count;
    count *= extents[i];
  }
  const auto cell_count = static_cast<std::size_t>(count * std::max(depth, 1));
  cells.assign(cell_count, combine.identity());
  occupied.assign(depth > 0 ? cell_count : 0, false);
  reductions.clear();
  prefixes.clear();
}

Reduction& Total::reduction(std::int64_t cell) {
  reductions.resize(cells.size());
  return reductions[static_cast<std::size_t>(cell)];
}

void combine_cells(Total& total, const Combiner& combine, std::int64_t first, std::int64_t stride,
                   std::int64_t count, Pairing pairing) {
  CHECK(is_power_of_two(count), "a combine across ", count, " copies");
  const auto cell = [&](std::int64_t i) -> Parts& {
    return total.cells[static_cast<std::size_t>(first + i * stride)];
  };
  while (count > 1) {
    count /= 2;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool halves = pairing == Pairing::halves;
      cell(i) = halves ? combine(cell(i), cell(i + count)) : combine(cell(2 * i), cell(2 * i + 1));
    }
  }
}

void push_cell(Total& stack, const Combiner& combine, std::int64_t first, int depth, std::int64_t number,
               const Parts& unit) {
  CHECK(number >= 0, "a push is numbered ", number);
  Parts value = unit;
  std::int64_t bit = 0;
  for (; (number >> bit & 1) != 0; ++bit) {
    const auto at = static_cast<std::size_t>(first + bit);
    CHECK(bit < depth && stack.occupied[at], "push ", number, " finds nothing at depth ", bit, " of a stack");
    value = combine(stack.cells[at], value);
    stack.occupied[at] = false;
  }
  CHECK(bit < depth, "push ", number, " does not fit a stack of depth ", depth);
  stack.cells[static_cast<std::size_t>(first + bit)] = value;
  stack.occupied[static_cast<std::size_t>(first + bit)] = true;
}

Parts fold_cells(const Total& stack, const Combiner& combine, std::int64_t first, int depth,
                 std::int64_t count) {
  CHECK(count >= 0 && (count >> (depth - 1) >> 1) == 0, "a stack of depth ", depth, " does not hold ", count,
        " units");
  std::optional<Parts> value;
  for (int bit = 0; bit < depth; ++bit) {
    const auto at = static_cast<std::size_t>(first + bit);
    const bool holds = (count >> bit & 1) != 0;
    CHECK(holds == stack.occupied[at], "a fold of ", count, " units finds another number of them");
    if (holds) value = value ? combine(stack.cells[at], *value) : stack.cells[at];
  }
  return value ? *value : combine.over_nothing();
}

}  // namespace twinloom::loops
