// See places.h.
#include "core/fuse/places.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/fuse/forward.h"
#include "core/fuse/items.h"
#include "core/loops/rewrite.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

// In ascending order, as text: the same for the same loops in any order.
std::vector<std::string> extents_of(const std::vector<NestLoop>& loops) {
  std::vector<std::string> all;
  for (const NestLoop& loop : loops) all.push_back(index::print(loop.extent));
  std::ranges::sort(all);
  return all;
}

// Whether some shared buffer is walked along two of its axes.
bool walk_apart(const Places& places, Axis a, Axis b) {
  return std::ranges::any_of(places, [&](const auto& place) {
    const auto first = index::constant_scale_in(place.first, a);
    const auto second = index::constant_scale_in(place.second, b);
    return first && second && *first != 0 && *second != 0 && *first != *second;
  });
}

// Whether some total of each is summed up along all that the other walks in common.
bool sums_across(const Nest& first, const Nest& second) {
  const auto has_totals_along = [&](const Nest& nest, const std::vector<NestLoop>& loops) {
    return std::ranges::any_of(nest.items, [&](const Item& item) {
      const auto* sibling = std::get_if<Sibling>(&item);
      return sibling != nullptr && extents_of(sibling->loops) == extents_of(loops) &&
             std::ranges::any_of(sibling->inner, [](const Ref<Stmt>& stmt) {
               return std::holds_alternative<Accumulate>(stmt->node);
             });
    });
  };
  return has_totals_along(first, second.common) && has_totals_along(second, first.common);
}

}  // namespace

Places places_in_common(const Nest& first, const Nest& second, const std::set<Buffer>& buffers, bool stored,
                        std::size_t most) {
  Places places;
  const std::vector<Load> second_loads = loads_in(second);
  const auto add = [&](Buffer buffer, const index::Expr& offset) {
    if (!buffers.contains(buffer)) return;
    for (const Load& load : second_loads) {
      if (load.buffer != buffer || places.size() >= most) continue;
      const std::pair place(offset, load.offset);
      if (std::ranges::find(places, place) == places.end()) places.push_back(place);
    }
  };
  if (stored) {
    for (const Stored& each : stores_of(first)) add(each.store->buffer, each.store->offset);
  } else {
    for (const Load& each : loads_in(first)) add(each.buffer, each.offset);
  }
  return places;
}

void match_the_rest(const Nest& first, const Nest& second, const std::set<Buffer>& shared, std::size_t most,
                    Alignment& alignment) {
  const bool across = sums_across(first, second);
  const Places places = across ? places_in_common(first, second, shared, /*stored=*/false, most) : Places();
  for (const NestLoop& a : axes_not_in(first.common, alignment.second_by_first)) {
    for (const NestLoop& b : axes_not_in(second.common, alignment.first_by_second)) {
      if (a.extent != b.extent || walk_apart(places, a.axis, b.axis)) continue;
      alignment.second_by_first.emplace(a.axis, b.axis);
      alignment.first_by_second.emplace(b.axis, a.axis);
      break;
    }
  }
}

std::pair<Reason, std::string> why_no_frame(const Nest& first, const Nest& second, bool needs_several,
                                            double typical_size) {
  const auto spell = [](const std::vector<NestLoop>& loops) {
    return cat("[",
               twinloom::join(loops, ", ", [](const NestLoop& loop) { return index::print(loop.extent); }),
               "]");
  };
  const std::vector<NestLoop>&a = first.common, &b = second.common;
  const std::string words = cat("common loops ", spell(a), " and ", spell(b));
  if (sums_across(first, second))
    return {Reason::mixed_order, cat(words, ": each sums up along what the other walks in common")};
  if (extents_of(a) == extents_of(b))
    return {Reason::loop_order, cat(words, " walk the buffer in different orders")};
  if (typical_turns(a, typical_size) == typical_turns(b, typical_size))
    return {Reason::different_place, cat(words, " do not meet the same elements")};
  if (needs_several)
    return {Reason::broadcast, cat(words, ": one turn of the second needs several of the first")};
  return {Reason::different_size, cat(words, " run differently often")};
}

}  // namespace twinloom::fuse
