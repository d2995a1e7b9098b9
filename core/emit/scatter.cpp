// An accumulator of several lanes, combined by halves first across the threads of a warp and then across its
// lanes: the part of Totals that does both at once. Every thread needs one value in the end, so in each
// exchange it sends one half of its lanes and receives the other thread's values of the other half, until one
// lane is left. 8 lanes of 32 threads take 4 + 2 + 1 + 1 + 1 exchanges, and 3 more
// for the lanes that lie with other threads by then, in place of 8 * 5; what is combined with what is the
// same:
//   lanes 0 1 2 3 of threads t and t ^ 16  ->  t keeps 0 1, and has 0 + 0' 1 + 1'; t ^ 16 keeps 2 3
//   the lanes' halves, 0 with 2 and 1 with 3, are then those of t and t ^ 16
#include <algorithm>

#include "core/base/error.h"
#include "core/base/integers.h"
#include "core/emit/spelling.h"
#include "core/emit/totals.h"

namespace twinloom::emit {

bool Totals::are_scattered(const std::vector<loops::Combine>& threads,
                           const std::vector<loops::Combine>& lanes) const {
  const auto both = [&](const loops::Combine& across_threads, const loops::Combine& across_lanes) {
    if (across_threads.total != across_lanes.total || across_threads.pairing != loops::Pairing::halves ||
        across_lanes.pairing != loops::Pairing::halves)
      return false;
    const Total& total = values_.total(across_threads.total);
    const auto of_threads = std::ranges::find(total.of_threads, across_threads.across, &Total::Copies::axis);
    if (of_threads == total.of_threads.end() || total.across != across_lanes.across) return false;
    const std::int64_t together = of_threads->extent * threads_.width(across_threads.across);
    return vectors_.apart(total.lanes) && of_threads->extent > 1 && together <= WARP_THREADS;
  };
  return !threads.empty() && std::ranges::equal(threads, lanes, both);
}

void Totals::combine_scattered(const std::vector<loops::Combine>& threads,
                               const std::vector<loops::Combine>& lanes, std::int64_t span) {
  for (std::size_t at = 0; at < threads.size(); ++at) {
    Total& total = values_.total(threads[at].total);
    const auto of_threads = std::ranges::find(total.of_threads, threads[at].across, &Total::Copies::axis);
    const std::int64_t extent = of_threads->extent, width = threads_.width(threads[at].across);
    CHECK(is_power_of_two(extent) && is_power_of_two(width), "combine across ", extent, " members of ", width,
          " threads");
    total.of_threads.erase(of_threads);
    replace_lanes(total, lanes[at].total,
                  [&](const Total& many, const Parts& own) { return scattered(many, own, extent, width); });
    tell_others(values_.total(lanes[at].total), extent * width, {span, false});
    scopes_.forget({.buffer = {}, .total = lanes[at].total});
  }
}

// One element of a register of many, the same in all threads that combine.
Totals::Parts Totals::scattered(const Total& total, const Parts& own, std::int64_t extent,
                                std::int64_t width) {
  Total single = total;
  single.lanes = 1;
  single.across.reset();
  std::vector<Parts> lanes;
  for (int lane = 0; lane < total.lanes; ++lane) {
    lanes.emplace_back();
    for (const std::string& part : own) lanes.back().push_back(of_lane(part, lane));
  }
  std::vector<std::int64_t> holders;  // how far off the threads are that hold other lanes, far ones first
  for (std::int64_t distance = extent * width / 2; distance >= width; distance /= 2) {
    if (lanes.size() == 1) {
      lanes = {exchanged(single, lanes.front(), lanes.front(), distance)};
    } else {
      lanes = half_exchanged(single, lanes, distance);
      holders.push_back(distance);
    }
  }
  for (const std::int64_t distance : holders)
    for (Parts& lane : lanes) lane = exchanged(single, lane, lane, distance);
  while (lanes.size() > 1) {
    const std::size_t half = lanes.size() / 2;
    for (std::size_t lane = 0; lane < half; ++lane)
      lanes[lane] = combined(single, lanes[lane], lanes[lane + half]);
    lanes.resize(half);
  }
  return lanes.front();
}

// The lower half of the lanes for threads without the bit of this distance in their number, the upper half
// for those with it.
std::vector<Totals::Parts> Totals::half_exchanged(const Total& single, const std::vector<Parts>& lanes,
                                                  std::int64_t distance) {
  const std::string upper = scopes_.fresh("m");
  scopes_.line(cat("const bool ", upper, " = (thread & ", distance, ") != 0;"));
  const auto chosen = [&](int part, const std::string& low, const std::string& high) {
    const std::string name = scopes_.fresh("t");
    scopes_.line(cat("const ", dialect_.type(part_type(single, part), 1), " ", name, " = ", upper, " ? ",
                     high, " : ", low, ";"));
    return name;
  };
  const std::size_t half = lanes.size() / 2;
  std::vector<Parts> results;
  for (std::size_t lane = 0; lane < half; ++lane) {
    Parts kept, given;
    for (int part = 0; part < part_count(single); ++part) {
      const auto at = static_cast<std::size_t>(part);
      kept.push_back(chosen(part, lanes[lane][at], lanes[lane + half][at]));
      given.push_back(chosen(part, lanes[lane + half][at], lanes[lane][at]));
    }
    results.push_back(exchanged(single, kept, given, distance));
  }
  return results;
}

// `kept` combined with what the thread at this distance gives.
Totals::Parts Totals::exchanged(const Total& single, const Parts& kept, const Parts& given,
                                std::int64_t distance) {
  Parts other;
  for (int part = 0; part < part_count(single); ++part) {
    other.push_back(scopes_.fresh("t"));
    const std::string text = received(single, part, "from_lane_across(",
                                      given[static_cast<std::size_t>(part)], cat(", ", distance, ")"));
    scopes_.line(vectors_.definition(part_type(single, part), other.back(), text, 1));
  }
  return combined(single, kept, other);
}

Totals::Parts Totals::combined(const Total& single, const Parts& left, const Parts& right) {
  Parts target;
  for (int part = 0; part < part_count(single); ++part) target.push_back(scopes_.fresh("t"));
  define_combined(single, target, left, right, 1);
  return target;
}

}  // namespace twinloom::emit
