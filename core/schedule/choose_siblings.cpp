// Heuristics: how one sibling is cut into vectors, chains and accumulators.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::Bind;
using loops::NestLoop;

namespace {

class SiblingChooser {
 public:
  SiblingChooser(const Situation& situation, int number)
      : situation_(situation),
        sibling_(*situation.siblings[static_cast<std::size_t>(number)]),
        number_(number),
        choice_(number) {}

  ScopeChoice choose() {
    switch (reach_of(situation_.shape, sibling_)) {
      case Reach::none:
        choose_any(false);
        break;
      case Reach::any:
        if (situation_.is_short_free_sum(sibling_))
          choose_canonical();
        else
          choose_any(true);
        break;
      case Reach::canonical:
        choose_canonical();
        break;
      case Reach::scan:
        choose_scan();
        break;
    }
    return choice_;
  }

 private:
  // Of one execution of the body; combining tuples is comparisons and choices of several registers.
  int work() const {
    int work = work_of(sibling_.inner);
    for (const auto& inner : sibling_.inner) {
      const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
      if (accumulate != nullptr && accumulate->values.size() > 1) work += HEAVY_WORK;
    }
    return work;
  }

  // Accumulators side by side, each of which waits for itself alone. Those of tuples, as a maximum with its
  // place, are several registers and waits (argmax of 32000: 1.09 ms by one, 0.6 by four).
  std::int64_t chains_of_any() const {
    if (work_of(sibling_.inner) > HEAVY_WORK) return 1;
    const bool tuples = work() > HEAVY_WORK;
    return tuples ? std::min(HIDDEN_LATENCY, situation_.machine.vector_registers / TUPLE_REGISTERS)
                  : HIDDEN_LATENCY;
  }

  std::int64_t sibling_lanes(const NestLoop& loop) const {
    if (situation_.lockstep) return 1;
    const auto most = situation_.most(loop);
    const std::int64_t lanes = situation_.lanes_along(loop.axis);
    return most ? std::min(lanes, next_power_of_two(std::max<std::int64_t>(*most, 1))) : lanes;
  }

  // Of a row that is only stored: what is left over of one that is no multiple of it counts where it is
  // short.
  std::int64_t stored_lanes(const NestLoop& loop) const {
    const std::int64_t lanes = sibling_lanes(loop);
    const std::int64_t wide = situation_.stored_lanes_along(loop.axis, number_);
    return !situation_.lockstep && lanes * 2 == wide && situation_.fills(wide, loop) ? wide : lanes;
  }

  // Of a list one masked vector is most of the time all there is.
  void choose_any(bool totals) {
    for (std::size_t i = 0; i + 1 < sibling_.loops.size(); ++i)
      choice_.loop(sibling_.loops[i], 0, Bind::serial);
    const NestLoop& loop = sibling_.loops.back();
    const std::int64_t lanes = totals ? sibling_lanes(loop) : stored_lanes(loop);
    const bool list = totals && situation_.is_list(loop);
    const std::int64_t chains = totals && !list ? chains_of_any() : 1;
    const auto most = situation_.most(loop);
    if (situation_.lockstep && chains > 1 && (!most || *most >= chains)) {
      choice_.split(loop, {chains}, situation_.divides(chains, loop) ? Tail::exact : Tail::remainder);
      choice_.loop(loop, 0, Bind::serial);
      return choice_.loop(loop, 1, Bind::unroll);
    }
    if (lanes < 2 || (most && *most < lanes)) {
      const bool masked = lanes >= 2;
      if (masked) choice_.split(loop, {}, Tail::mask);
      return choice_.loop(loop, 0, masked ? Bind::vector : Bind::serial);
    }
    if (situation_.holds_row(sibling_)) {
      choice_.split(loop, {lanes}, situation_.divides(lanes, loop) ? Tail::exact : Tail::mask);
      choice_.loop(loop, 0, Bind::unroll);
      return choice_.loop(loop, 1, Bind::vector);
    }
    const bool several = chains > 1 && (!most || *most >= chains * lanes);
    std::vector<std::int64_t> factors;
    if (several) factors.push_back(chains * lanes);
    factors.push_back(lanes);
    const Tail usual = list || (one_masked_body() && !several) ? Tail::mask : Tail::remainder;
    choice_.split(loop, factors, situation_.divides(factors.front(), loop) ? Tail::exact : usual);
    choice_.loop(loop, 0, Bind::serial);
    if (several) choice_.loop(loop, 1, Bind::unroll);
    choice_.loop(loop, factors.size(), Bind::vector);
  }

  void choose_scan() {
    const NestLoop& loop = sibling_.loops.back();
    const bool rows =
        !situation_.lockstep && situation_.machine.vector_bytes > 4 && scans_stand_alone(sibling_);
    choice_.split(loop, {loops::SCAN_CHUNK, loops::SCAN_ROW}, rows ? Tail::mask : Tail::clip);
    choice_.loop(loop, 0, Bind::serial);
    choice_.loop(loop, rows ? 2 : 1, Bind::serial);
    choice_.loop(loop, rows ? 1 : 2, rows ? Bind::vector : Bind::serial);
  }

  // Whether masks cost little beside the body, which then needs no second copy for what is left.
  bool one_masked_body() const {
    if (work() <= HEAVY_WORK) return false;
    if (situation_.machine.masked_memory) return true;
    return std::none_of(situation_.accesses.begin(), situation_.accesses.end(), [&](const Access& access) {
      return access.sibling == number_ && access.bytes < LEAST_MASKED_BYTES;
    });
  }

  // Lanes of a unit that a chain walks at once. Along a row: of a bare sum without masks as many as registers
  // hold, which then walks memory in its order; else enough to hide the latency of an addition, or, of a
  // heavy body, what each step of its functions waits for, as far as the text stays short. In lock-step: as
  // many as registers hold, for each of the others has a place in an array; or more, for half of the first
  // cache to hold that.
  std::int64_t accumulators(bool masked, std::int64_t span) const {
    if (situation_.parameters.accumulators() != 0) return situation_.parameters.accumulators();
    const bool heavy = work() > HEAVY_WORK;
    const std::int64_t half = situation_.machine.vector_registers / 2;
    if (!situation_.lockstep && !masked && work() <= BARE_WORK) return power_of_two_below(half);
    if (situation_.holds_row(sibling_)) return power_of_two_below(half);
    if (!situation_.lockstep && heavy)
      return std::clamp<std::int64_t>(power_of_two_below(MOST_BESIDE_WORK / work()), 1, MOST_BESIDE);
    if (!situation_.lockstep) return HIDDEN_LATENCY;
    // In a panel the columns beside each other hide it.
    if (situation_.stores_rows() && situation_.wants_panel()) return 1;
    if (heavy) return HIDDEN_LATENCY;
    std::set<loops::Temp> totals;
    for (const auto& inner : sibling_.inner) {
      if (const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node))
        totals.insert(accumulate->total);
    }
    const auto each = static_cast<std::int64_t>(totals.size()) * situation_.wide_vectors();
    const std::int64_t most = power_of_two_below(half / each);
    if (situation_.wants_panel()) return std::min(most, PANEL_ACCUMULATORS);
    return std::max(most, least_accumulators(span, each));
  }
  // Of so many registers each, where there is an array for the others of so many lanes.
  std::int64_t least_accumulators(std::int64_t span, std::int64_t each) const {
    const std::int64_t held = machine::level_bytes(situation_.machine, "L1") / ARRAY_L1_SHARE;
    if (held == 0) return 1;
    const std::int64_t least = ceil_div(span * each * situation_.machine.vector_bytes, held);
    return std::min(span, next_power_of_two(least));
  }

  // Whether a row is walked as it lies in memory, which costs an array of lanes: where a light body moves
  // more than one row of several units, or of several axes, through memory.
  bool in_memory_order() const {
    if (situation_.parameters.memory_order())
      return *situation_.parameters.memory_order() && !situation_.lockstep;
    if (situation_.lockstep || work() > HEAVY_WORK) return false;
    const auto longest = situation_.most(sibling_.loops.back());
    if (sibling_.loops.size() == 1 && longest && *longest <= loops::UNIT) return false;
    const auto walks = [&](const Access& access) {
      return access.sibling == number_ && index::mentions(access.offset, sibling_.loops.back().axis);
    };
    return std::ranges::count_if(situation_.accesses, walks) > 1;
  }

  // See schedule.h for which orders of pieces are the canonical tree.
  void choose_canonical() {
    const NestLoop& loop = sibling_.loops.back();
    const std::int64_t lanes = std::min(sibling_lanes(loop), loops::LANES);
    const auto most = situation_.most(loop);
    const bool list = situation_.is_list(loop);
    const bool one_lane_each = !list && most && *most <= loops::LANES;
    const bool one_unit = !list && most && *most <= loops::UNIT;
    const std::int64_t span =
        one_lane_each ? next_power_of_two(std::max<std::int64_t>(*most, 1)) : loops::LANES;
    const bool known_masks = one_lane_each && constant(loop);  // where no loop of pieces is left
    const bool masked = one_unit && !known_masks && !situation_.divides(loops::LANES, loop);
    const std::int64_t apart = in_memory_order() ? std::min(span, lanes * accumulators(masked, span))
                                                 : std::max(lanes, span / accumulators(masked, span));
    std::vector<std::int64_t> factors;
    if (!one_unit || situation_.wants_panel()) factors.push_back(loops::UNIT);
    if (!one_lane_each) factors.push_back(loops::LANES);
    if (apart < span) factors.push_back(apart);
    if (lanes > 1 && lanes < apart) factors.push_back(lanes);
    while (!factors.empty() && factors.back() == 1) factors.pop_back();
    if (list)
      choice_.split(loop, factors, Tail::remainder, situation_.short_lists(loop));
    else
      choice_.split(loop, factors, canonical_tail(loop, factors, one_unit));
    add_canonical_loops(factors, lanes, apart);
  }

  Tail canonical_tail(const NestLoop& loop, const std::vector<std::int64_t>& factors, bool one_unit) const {
    const auto extent = constant(loop);
    const std::int64_t step = factors.empty() ? 1 : factors.front();
    // Without a chain the pieces are lanes, and there must be a power of two of them.
    const bool lanes_only = step < loops::LANES;
    const bool whole = lanes_only
                           ? extent && is_power_of_two(std::max<std::int64_t>(*extent, 1)) && *extent > 0
                           : situation_.divides(step, loop);
    if (whole) return Tail::exact;
    if (situation_.wants_panel()) return Tail::remainder;
    const bool mostly_whole = situation_.usual(loop) >= 2 * loops::UNIT;
    return one_unit || (one_masked_body() && !mostly_whole) ? Tail::mask : Tail::remainder;
  }

  void add_canonical_loops(const std::vector<std::int64_t>& factors, std::int64_t lanes, std::int64_t apart) {
    const NestLoop& loop = sibling_.loops.back();
    std::vector<std::size_t> units, chain, far, near;
    std::optional<std::size_t> vector;
    for (std::size_t piece = 0; piece <= factors.size(); ++piece) {
      const std::int64_t step = piece < factors.size() ? factors[piece] : 1;
      if (step >= loops::UNIT)
        units.push_back(piece);
      else if (step >= loops::LANES)
        chain.push_back(piece);
      else if (step == 1 && lanes > 1)
        vector = piece;
      else if (step >= apart)
        far.push_back(piece);
      else
        near.push_back(piece);
    }
    const auto add = [&](const std::vector<std::size_t>& pieces, Bind bind) {
      for (const std::size_t piece : pieces) choice_.loop(loop, piece, bind);
    };
    // Lanes that are not kept in registers at once are walked outside the chain, or are kept in an array.
    const bool in_array = in_memory_order();
    const bool outside = !near.empty() && !in_array;
    add(units, Bind::serial);
    if (outside) add(near, situation_.is_written_out(sibling_) ? Bind::unroll : Bind::serial);
    if (vector && outside) choice_.loop(loop, *vector, Bind::vector);
    add(chain, Bind::serial);
    add(far, in_array ? Bind::serial : Bind::unroll);
    if (in_array) add(near, Bind::unroll);
    if (vector && !outside) choice_.loop(loop, *vector, Bind::vector);
  }

  const Situation& situation_;
  const loops::Sibling& sibling_;
  int number_;
  ScopeChoice choice_;
};

}  // namespace

ScopeChoice choose_sibling(const Situation& situation, int number) {
  return SiblingChooser(situation, number).choose();
}

}  // namespace twinloom::schedule
