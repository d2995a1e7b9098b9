// See times.h.
#include "core/fuse/times.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/fuse/forward.h"
#include "core/fuse/items.h"
#include "core/index/simplify.h"
#include "core/loops/nest.h"

namespace twinloom::fuse {

using namespace loops;

namespace {

double known_seconds(const Around& around, std::size_t number, std::optional<double> Seconds::*which,
                     const std::function<double(const Program& nest)>& tell) {
  around.seconds.resize(around.lowered.units.size());
  std::optional<double>& known = around.seconds[number].*which;
  if (!known) known = tell(around.lowered.units[number].nest);
  return *known;
}
double seconds_of(const Around& around, std::size_t number) {
  return known_seconds(around, number, &Seconds::usual, around.limits.seconds);
}
double chosen_seconds_of(const Around& around, std::size_t number) {
  return known_seconds(around, number, &Seconds::chosen, around.limits.seconds_as_chosen);
}

// How many loads of siblings have their neighbours along the common loops, and along the sibling's own.
struct Neighbours {
  int common = 0, own = 0;
};
Neighbours neighbours_of(const Nest& nest) {
  const auto neighbours = [&](const std::vector<NestLoop>& loops, const index::Expr& offset) {
    return std::ranges::any_of(
        loops, [&](const NestLoop& loop) { return index::constant_scale_in(offset, loop.axis) == 1; });
  };
  const auto mentions_any = [](const index::Expr& offset, const std::vector<NestLoop>& loops) {
    return std::ranges::any_of(loops,
                               [&](const NestLoop& loop) { return index::mentions(offset, loop.axis); });
  };
  Neighbours found;
  for (const Item& item : nest.items) {
    const auto* sibling = std::get_if<Sibling>(&item);
    if (sibling == nullptr) continue;
    for (const Load& load : loads_in(Nest{{}, {*sibling}})) {
      if (neighbours(sibling->loops, load.offset))
        ++found.own;
      else if (neighbours(nest.common, load.offset) && mentions_any(load.offset, sibling->loops))
        ++found.common;
    }
  }
  return found;
}

// Whether neighbours in memory lie along the common loops, not along those of siblings: then one thread has
// each iteration of them.
bool walks_columns(const Nest& nest) {
  const Neighbours found = neighbours_of(nest);
  return found.common > found.own;
}

// Whether they lie along both, so that no vector of the one kernel has all of them, which those of the two
// had:
//   for i { start t; for k { t += w[i, k] * s[k] }; for p { y[p, i] = x[p, i] * t } }
bool mixes_orders(const Pair& pair, const Nest& fused) {
  const auto is_mixed = [](const Nest& nest) {
    const Neighbours found = neighbours_of(nest);
    return found.common > 0 && found.own > 0;
  };
  const auto unit = [&](std::size_t number) { return take_apart(pair.around.lowered.units[number].nest); };
  return is_mixed(fused) && !is_mixed(unit(pair.first)) && !is_mixed(unit(pair.second));
}

// Whether it moves elements between two orders: neighbours of one buffer lie along another loop than those of
// a second one. Alone it is staged in tiles; with totals along its loops it cannot be.
bool transposes(const Nest& nest) {
  std::optional<std::size_t> along;
  bool differs = false;
  const auto look_at = [&](const index::Expr& offset) {
    for (std::size_t k = 0; k < nest.common.size(); ++k) {
      if (index::constant_scale_in(offset, nest.common[k].axis) != 1) continue;
      differs = differs || (along && *along != k);
      along = k;
    }
  };
  for (const Load& load : loads_in(nest)) look_at(load.offset);
  for (const Stored& stored : stores_of(nest)) look_at(stored.store->offset);
  return differs;
}

// Whether one of the two is staged and the kernel of both cannot be.
bool gives_up_tiles(const Pair& pair, const Nest& fused) {
  const auto is_staged = [&](std::size_t number) {
    const Nest nest = take_apart(pair.around.lowered.units[number].nest);
    return is_elementwise(nest) && transposes(nest);
  };
  return !is_elementwise(fused) && (is_staged(pair.first) || is_staged(pair.second));
}

// Seconds of the fused kernel and of the two.
struct Times {
  double one, two;
};

Times usual_times(const Pair& pair, const Program& fused) {
  return {pair.around.limits.seconds(fused),
          seconds_of(pair.around, pair.first) + seconds_of(pair.around, pair.second)};
}

Times chosen_times(const Pair& pair, const Program& fused) {
  return {pair.around.limits.seconds_as_chosen(fused),
          chosen_seconds_of(pair.around, pair.first) + chosen_seconds_of(pair.around, pair.second)};
}

// Whether usual schedules tell which of the two ways is faster.
bool tells(const Pair& pair, const Times& usual, bool says_little) {
  const Limits& limits = pair.around.limits;
  if (!limits.seconds_as_chosen || usual.one <= limits.clearly_less * usual.two) return true;
  return limits.clearly_less * usual.one > usual.two && !says_little;
}

std::optional<Slower> slower_by(const Times& times, Reason reason, double clearly_less = 1) {
  if (times.two >= clearly_less * times.one) return std::nullopt;
  return Slower{reason, cat("one kernel would take ", microseconds(times.one), ", the two ",
                            microseconds(times.two), " by their estimates")};
}

}  // namespace

std::optional<Slower> clearly_slower(const Pair& pair, const Program& fused) {
  const Limits& limits = pair.around.limits;
  if (!limits.seconds_as_chosen) return std::nullopt;
  const Times times = chosen_times(pair, fused);
  const Nest nest = take_apart(fused);
  const auto typical = static_cast<double>(limits.typical_size);
  const double elements = typical_turns(nest.common, typical) * typical_turns({nest.columns->loop}, typical);
  const bool is_cached = elements < static_cast<double>(limits.cached_elements);
  if (times.one <= (is_cached ? limits.most_of_cached_pass : limits.most_of_one_pass) * times.two)
    return std::nullopt;
  return slower_by(times, Reason::mixed_order);
}

std::optional<Slower> slower_than_two(const Pair& pair, const Program& fused) {
  const Limits& limits = pair.around.limits;
  if (!limits.seconds && !limits.seconds_of_mixed) return std::nullopt;
  const Nest nest = take_apart(fused);
  if (!limits.seconds) {
    if (!mixes_orders(pair, nest)) return std::nullopt;
    const auto seconds = [&](std::size_t number) {
      return known_seconds(pair.around, number, &Seconds::chosen, limits.seconds_of_mixed);
    };
    return slower_by({limits.seconds_of_mixed(fused), seconds(pair.first) + seconds(pair.second)},
                     Reason::no_gain, limits.clearly_less);
  }
  const std::int64_t each = walks_columns(nest) ? limits.turns_of_columns : 1;
  const bool has_many = typical_turns(nest.common, static_cast<double>(limits.typical_size)) >=
                        static_cast<double>(each * limits.enough_turns);
  const Times usual = usual_times(pair, fused);
  const bool chooses = limits.seconds_as_chosen && gives_up_tiles(pair, nest);
  if (has_many && limits.clearly_less * usual.one <= usual.two && !chooses) return std::nullopt;
  const bool is_told = !chooses && tells(pair, usual, each > 1 || has_many);
  return slower_by(is_told ? usual : chosen_times(pair, fused),
                   has_many ? Reason::no_gain : Reason::parallelism);
}

bool is_faster(const Pair& pair, const Program& fused, double most) {
  const Times usual = usual_times(pair, fused);
  const double shorter = std::min(seconds_of(pair.around, pair.first), seconds_of(pair.around, pair.second));
  const bool matters = shorter >= pair.around.limits.worth_choosing * usual.two;
  const Times times = tells(pair, usual, false) || !matters ? usual : chosen_times(pair, fused);
  return times.one <= most * times.two;
}

}  // namespace twinloom::fuse
