// See count.h. a < b, where b - a = room - (s1*k1 + s2*k2 + ...): when each scale is the product of the
// extents with smaller scales, the places are 0, 1, 2, ... in some order, so `room` of them are below it.
#include "core/cost/count.h"

#include <algorithm>
#include <optional>

namespace twinloom::cost {

namespace {

struct Digit {
  std::int64_t scale = 0, extent = 0;
};

std::optional<std::int64_t> by_formula(const std::vector<Side>& box, const index::Less& less,
                                       const index::Values& values) {
  index::Expr rest = less.b - less.a;
  std::vector<Digit> digits;
  for (const Side& side : box) {
    const auto linear = index::linear_in(rest, side.axis);
    const auto scale = linear ? index::constant_of(linear->scale) : std::nullopt;
    if (!scale || *scale >= 0) return std::nullopt;
    digits.push_back({-*scale, side.extent});
    rest = linear->rest;
  }
  std::sort(digits.begin(), digits.end(), [](const Digit& a, const Digit& b) { return a.scale < b.scale; });
  std::int64_t places = 1;
  for (const Digit& digit : digits) {
    if (digit.scale != places) return std::nullopt;
    places *= digit.extent;
  }
  return std::clamp<std::int64_t>(index::evaluate(rest, values), 0, places);
}

std::int64_t by_trying(const std::vector<Side>& box, std::size_t at, const index::Condition& condition,
                       index::Values& values) {
  if (at == box.size()) return index::evaluate(condition, values) ? 1 : 0;
  std::int64_t count = 0;
  for (std::int64_t k = 0; k < box[at].extent; ++k) {
    values.insert_or_assign(box[at].axis, k);
    count += by_trying(box, at + 1, condition, values);
  }
  return count;
}

}  // namespace

std::int64_t count_members(const std::vector<Side>& box, const index::Condition& condition,
                           index::Values values) {
  const std::set<index::Symbol> used = index::symbols_of(condition);
  std::int64_t free = 1;
  std::vector<Side> bound;
  for (const Side& side : box) {
    if (used.contains(side.axis))
      bound.push_back(side);
    else
      free *= side.extent;
  }
  if (condition.all.empty() || free == 0) return free;
  if (condition.all.size() == 1) {
    if (const auto count = by_formula(bound, condition.all.front(), values)) return free * *count;
  }
  return free * by_trying(bound, 0, condition, values);
}

}  // namespace twinloom::cost
