// Heuristics where blocks have threads.
//
//   pointwise       block, thread, and packed elements along the axis with most unit strides; what the
//                   threads of a short axis leave over walks the next one
//   tiles           where an input's neighbours lie along another axis: squares, turned over in scratch
//   rows            one or more warps a row, a unit each, or threads far apart where neighbours walk other rows
//   rows in threads one thread a row, neighbours on neighbouring threads: where the common axes have the unit
//                   strides (also of what a run-time index finds), and for scans
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/rewrite.h"
#include "core/schedule/axis_splits.h"

namespace twinloom::schedule {

using loops::Bind;
using loops::NestLoop;

namespace {

class ThreadChooser {
 public:
  ThreadChooser(const Situation& situation, const RowThreads& rows, Schedule& schedule)
      : situation_(situation), parameters_(situation.parameters), rows_(rows), schedule_(schedule) {}

  void choose() {
    const auto& siblings = situation_.siblings;
    rows_in_threads_ = walks_rows_in_threads(situation_);
    beside_ = rows_beside(situation_);
    schedule_.outermost_fastest = beside_.has_value();
    if (!situation_.shape.common.empty()) choose_common();
    for (std::size_t number = 0; number < siblings.size(); ++number) {
      ScopeChoice choice(static_cast<int>(number));
      choose_sibling(*siblings[number], choice);
      choice.append_to(schedule_);
    }
  }

 private:
  // Members of an axis where threads exchange nothing: of several warps as many as there are members for.
  std::int64_t whole_warps(const NestLoop& loop, std::int64_t each, std::int64_t wanted) const {
    const std::int64_t threads = members(situation_, loop, each, wanted);
    const auto most = situation_.most(loop);
    return most && threads > warp() ? std::min(threads, ceil_div(ceil_div(*most, each), warp()) * warp())
                                    : threads;
  }
  bool scans() const {
    return std::ranges::any_of(situation_.siblings, [&](const loops::Sibling* sibling) {
      return reach_of(situation_.shape, *sibling) == Reach::scan;
    });
  }
  // The axis whose neighbours lie on neighbouring threads.
  std::size_t fast_axis() const {
    return situation_.lockstep ? situation_.vector_axis : situation_.shape.common.size() - 1;
  }

  void choose_common() const {
    const auto& loops = situation_.shape.common;
    std::vector<AxisSplit> splits(loops.size());
    const std::size_t fast = fast_axis();
    if (situation_.siblings.empty()) {
      splits[fast].lanes = members(situation_, loops[fast], 1, packed(loops[fast]));
      if (rows_.tile) return add_tile(fast);
      splits[fast].lanes = lanes_of_few(situation_, loops[fast], splits[fast].lanes);
      const std::int64_t threads = pointwise_threads(loops[fast], splits[fast].lanes);
      splits[fast].threads = whole_warps(loops[fast], splits[fast].lanes, threads);
      spread(splits, threads / splits[fast].threads);
      repeat_far_apart(situation_, fast, threads, splits);
    } else if (rows_in_threads_) {
      if (!scans())
        splits[fast].lanes = members(situation_, loops[fast], 1, situation_.words_along(loops[fast]));
      splits[fast].threads =
          members(situation_, loops[fast], splits[fast].lanes, situation_.block_threads() / 2);
      // A block stays until its longest row is done: index_add of 32,768 rows of 128 to 100,000 took 0.95 ms
      // by blocks of one row on an H200, 1.47 by blocks of 8.
      if (!situation_.rows_vary()) spread(splits, situation_.block_threads() / 2 / splits[fast].threads);
    } else {
      const std::int64_t rows = beside_        ? beside_->rows
                                : scans()      ? scanned_rows(situation_)
                                : rows_.spread ? 1
                                               : over_all_blocks(situation_, rows_of_block());
      splits[fast].lanes = beside_ ? beside_->packed : 1;
      splits[fast].threads = members(situation_, loops[fast], splits[fast].lanes, rows);
    }
    add(splits, fast);
  }
  std::int64_t packed(const NestLoop& loop) const { return packed_elements(situation_, loop); }
  // So many that a block has its warps, also of rows that are shorter than one.
  std::int64_t rows_of_block() const {
    const std::int64_t threads = rows_.row ? row_lanes(rows_).threads : warp();
    const std::int64_t warps = std::max(rows_.warps, rows_.warps_apart);
    return std::max<std::int64_t>(1, parameters_.row_warps() * warp() / (warps * threads));
  }
  // Blocks of few threads end apart from each other, and there are many of them; starting one takes a cycle
  // of the whole machine, which only those hide whose threads take whole vectors.
  std::int64_t pointwise_threads(const NestLoop& loop, std::int64_t lanes) const {
    if (parameters_.block_threads() != 0) return parameters_.block_threads();
    const bool whole = lanes * bytes_along(situation_, loop) >= situation_.machine.vector_bytes;
    return whole ? VECTOR_BLOCK_THREADS : machine::BLOCK_THREADS;
  }
  // The threads that are left walk the innermost other axis.
  void spread(std::vector<AxisSplit>& splits, std::int64_t left) const {
    for (std::size_t i = splits.size(); i-- > 0 && left > 1;) {
      if (splits[i].is_split()) continue;
      splits[i].threads = members(situation_, situation_.shape.common[i], 1, power_of_two_below(left));
      left /= splits[i].threads;
    }
  }

  // Blocks outermost, then threads, the fast axis last, then what is packed.
  void add(const std::vector<AxisSplit>& splits, std::size_t fast) const {
    const auto& loops = situation_.shape.common;
    ScopeChoice choice(-1);
    for (std::size_t i = 0; i < splits.size(); ++i) {
      std::vector<std::int64_t> factors;
      const std::int64_t at_once = splits[i].threads * splits[i].lanes;
      if (at_once * splits[i].times > 1) factors.push_back(at_once * splits[i].times);
      if (at_once > 1 && splits[i].times > 1) factors.push_back(at_once);
      if (splits[i].lanes > 1 && splits[i].threads > 1) factors.push_back(splits[i].lanes);
      if (!factors.empty()) choice.split(loops[i], factors, tail(factors.front(), loops[i]));
    }
    for (const std::size_t i : order_of_blocks(situation_)) choice.loop(loops[i], 0, Bind::block);
    const auto piece_of_threads = [](const AxisSplit& split) -> std::size_t {
      return split.times > 1 ? 2 : 1;
    };
    for (std::size_t i = 0; i < splits.size(); ++i)
      if (i != fast && splits[i].threads > 1)
        choice.loop(loops[i], piece_of_threads(splits[i]), Bind::thread);
    const AxisSplit& split = splits[fast];
    std::size_t piece = piece_of_threads(split);
    if (split.threads > 1) choice.loop(loops[fast], piece++, Bind::thread);
    for (std::size_t i = 0; i < splits.size(); ++i)
      if (splits[i].times > 1) choice.loop(loops[i], 1, Bind::unroll);
    if (split.lanes > 1) choice.loop(loops[fast], piece, Bind::vector);
    choice.append_to(schedule_);
  }

  std::int64_t side_of_tile() const {
    const std::int64_t side = parameters_.tile();
    const bool few =
        situation_.rows() < static_cast<double>(side * side * situation_.machine.multiprocessors);
    return few ? std::min(side, LEAST_TILE) : side;
  }
  // Squares of both axes: what threads cover of the other axis at once is walked several times.
  void add_tile(std::size_t fast) const {
    const auto& loops = situation_.shape.common;
    const std::size_t other = *rows_.tile;
    const std::int64_t tile = side_of_tile(), lanes = std::min(packed(loops[fast]), tile);
    const std::int64_t across = tile / lanes, down = std::min(tile, situation_.block_threads() / across);
    ScopeChoice choice(-1);
    std::vector<std::int64_t> factors = {tile};
    if (lanes > 1) factors.push_back(lanes);
    choice.split(loops[fast], factors, tail(tile, loops[fast]));
    factors = {tile};
    if (down < tile) factors.push_back(down);
    choice.split(loops[other], factors, tail(tile, loops[other]));
    for (const NestLoop& loop : loops) choice.loop(loop, 0, Bind::block);
    if (down < tile) choice.loop(loops[other], 1, Bind::serial);
    choice.loop(loops[other], down < tile ? 2 : 1, Bind::thread);
    choice.loop(loops[fast], 1, Bind::thread);
    if (lanes > 1) choice.loop(loops[fast], 2, Bind::vector);
    choice.append_to(schedule_);
  }
  Tail tail(std::int64_t step, const NestLoop& loop) const { return tail_of(situation_, step, loop); }
  std::int64_t warp() const { return situation_.machine.warp_threads; }

  void choose_sibling(const loops::Sibling& sibling, ScopeChoice& choice) const {
    const NestLoop& loop = sibling.loops.back();
    const bool is_row = rows_.row && rows_.row->extent == loop.extent;
    walk_outer(sibling, is_row ? 1 : threads_left(sibling), choice);
    if (is_row) return along_row(loop, rows_, choice);
    switch (reach_of(situation_.shape, sibling)) {
      case Reach::none:
      case Reach::any:
        return rows_in_threads_ ? choice.loop(loop, 0, Bind::serial) : along_warp(loop, choice);
      case Reach::canonical:
        return rows_in_threads_         ? canonical_in_thread(loop, choice)
               : rows_.warps_apart == 1 ? canonical_along_warp(loop, choice)
                                        : along_row(loop, threads_apart(loop), choice);
      case Reach::scan:
        return choose_scan(situation_, sibling, rows_in_threads_, choice);
    }
  }

  // Threads of a row that the innermost loop of a sibling leaves to the next one; 1 where it is not worth it:
  // what a vector loads in part it loads element by element, one iteration after the other, and estimates
  // tell little of what is looked up. (A free sum of 32 x 7 x 7 elements, by fours, took 1.7 of the time, 1.3
  // and 1.3 of others so; of 28 x 28 elements 0.72, and 0.63 to 1.04 of six more.)
  std::int64_t threads_left(const loops::Sibling& sibling) const {
    const NestLoop& loop = sibling.loops.back();
    const Reach reach = reach_of(situation_.shape, sibling);
    const bool may_share =
        reach == Reach::none || (reach == Reach::any && situation_.divides(lanes_along(loop), loop));
    if (!may_share || rows_in_threads_ || loops::looks_up_indices(*situation_.nest.body)) return 1;
    return rows_.warps_apart * warp() / threads_along(loop);
  }
  // All loops but the innermost one, of which the next walks what is left of the threads.
  void walk_outer(const loops::Sibling& sibling, std::int64_t left, ScopeChoice& choice) const {
    for (std::size_t i = 0; i + 1 < sibling.loops.size(); ++i) choice.loop(sibling.loops[i], 0, Bind::serial);
    if (sibling.loops.size() < 2 || left < 2) return;
    const NestLoop& next = sibling.loops[sibling.loops.size() - 2];
    const std::int64_t threads = power_of_two_below(members(situation_, next, 1, left));
    if (threads < 2) return;
    const Tail rest = reach_of(situation_.shape, sibling) == Reach::none ? Tail::remainder : Tail::mask;
    choice.split(next, {threads}, situation_.divides(threads, next) ? Tail::exact : rest);
    choice.loop(next, 1, Bind::thread);
  }

  // Of a sibling whose row is no other's: no more warps than it has units.
  RowThreads threads_apart(const NestLoop& loop) const {
    RowThreads rows;
    const std::int64_t usual = std::max<std::int64_t>(situation_.usual(loop), 1);
    rows.row = Row{loop.extent, situation_.most(loop).value_or(Row::UNBOUNDED), usual};
    rows.warps = std::min(rows_.warps_apart, next_power_of_two(ceil_div(usual, loops::UNIT)));
    rows.packed = packed(loop);
    return rows;
  }

  // How the lanes of a unit, or of a shorter row, are given to threads: so many each, side by side.
  struct RowLanes {
    std::int64_t span, packed, threads;
  };
  RowLanes row_lanes(const RowThreads& rows) const {
    const std::int64_t span = next_power_of_two(std::clamp<std::int64_t>(rows.row->most, 1, loops::LANES));
    std::int64_t packed = beside_ ? 1 : std::min(rows_.row ? packed_along_rows() : rows.packed, span);
    if (rows.packed != 0) packed = std::min(packed, rows.packed);
    const std::int64_t most = rows.spread ? span
                              : beside_   ? beside_->threads
                                          : threads_of_short_row(rows, span / packed);
    return {span, packed, std::min(most, span / packed)};
  }

  // Rows of few elements share a warp: the fewer threads one has, the fewer exchanges its accumulators take,
  // and the more of its loads are under way together. Of rows that fill the machine all the same each thread
  // has several.
  std::int64_t threads_of_short_row(const RowThreads& rows, std::int64_t accesses) const {
    if (rows.row->most > loops::LANES) return warp();
    if (parameters_.row_threads() != 0) return std::min(parameters_.row_threads(), warp());
    const std::int64_t fewer = std::clamp<std::int64_t>(accesses / ACCESSES_OF_SHORT_ROW, 1, warp());
    const double resident =
        static_cast<double>(situation_.machine.multiprocessors * situation_.machine.threads_each);
    return rows.kept && situation_.rows() * static_cast<double>(fewer) >= resident ? fewer : warp();
  }

  // Units by warps, the lanes of a unit by the threads of a warp and what is packed: the same for every sort
  // of total, so that what one sibling keeps lies with the threads of the next.
  void along_row(const NestLoop& loop, const RowThreads& rows, ScopeChoice& choice) const {
    struct Part {
      std::int64_t step;
      Bind bind;
    };
    std::vector<Part> parts;
    const std::int64_t most = rows.row->most, group = rows.warps * loops::UNIT;
    const auto [span, lanes, threads] = row_lanes(rows);
    if (most > group) parts.push_back({group, Bind::serial});
    if (rows.warps > 1) parts.push_back({loops::UNIT, Bind::thread});
    if (most > loops::LANES) parts.push_back({loops::LANES, rows.kept ? Bind::unroll : Bind::serial});
    // Where neighbours cannot be packed a vector takes what lies a warp apart, so that the lanes of a thread
    // are computed side by side all the same.
    const bool apart = lanes == 1 && threads < span && !(beside_ && beside_->packed > 1);
    if (lanes * threads < span) parts.push_back({lanes * threads, apart ? Bind::vector : Bind::unroll});
    if (threads > 1) parts.push_back({lanes, Bind::thread});
    if (lanes > 1) parts.push_back({1, Bind::vector});
    if (parts.empty()) parts.push_back({1, Bind::serial});
    std::vector<std::int64_t> factors;
    for (const Part& part : parts) factors.push_back(part.step);
    factors.pop_back();
    const std::int64_t step = parts.front().step;
    const bool serial = parts.front().bind == Bind::serial;
    const bool exact = most > 0 && situation_.divides(step, loop) &&
                       (serial || (constant(loop) && is_power_of_two(most / step)));
    // Under a mask no load passes the combination before it, also where one mask is a whole vector's: that is
    // worth a second copy of the loops.
    const bool split = most > group && !rows.kept;
    choice.split(loop, factors, exact ? Tail::exact : split ? Tail::remainder : Tail::mask);
    for (const bool vectors : {false, true})
      for (std::size_t piece = 0; piece < parts.size(); ++piece)
        if ((parts[piece].bind == Bind::vector) == vectors) choice.loop(loop, piece, parts[piece].bind);
  }

  // A sibling that walks nothing but what a thread keeps takes it as the others do; one that a warp walks at
  // once is none of them.
  std::int64_t packed_along_rows() const {
    std::int64_t lanes = situation_.machine.vector_bytes;
    bool moves = false;
    for (std::size_t number = 0; number < situation_.siblings.size(); ++number) {
      const NestLoop& loop = situation_.siblings[number]->loops.back();
      if (loop.extent != rows_.row->extent || !touches_memory(static_cast<int>(number))) continue;
      lanes = std::min(lanes, packed(loop));
      moves = true;
    }
    return moves ? lanes : 1;
  }
  bool touches_memory(int sibling) const {
    return std::ranges::any_of(situation_.accesses, [&](const Access& access) {
      return access.sibling == sibling && !access.local;
    });
  }

  // By the threads of a warp, or of several, as often as it takes.
  std::int64_t lanes_along(const NestLoop& loop) const {
    return members(situation_, loop, 1, situation_.lanes_along(loop.axis));
  }
  std::int64_t threads_along(const NestLoop& loop) const {
    return members(situation_, loop, lanes_along(loop), rows_.warps_apart * warp());
  }
  void along_warp(const NestLoop& loop, ScopeChoice& choice) const {
    const std::int64_t lanes = lanes_along(loop), threads = threads_along(loop);
    const auto most = situation_.most(loop);
    const bool once = most && *most <= lanes * threads;
    std::vector<std::int64_t> factors;
    if (!once) factors.push_back(lanes * threads);
    if (threads > 1 && lanes > 1) factors.push_back(lanes);
    const Tail usual = once ? Tail::mask : Tail::remainder;
    const std::int64_t step = factors.empty() ? 1 : factors.front();
    const bool exact =
        situation_.divides(step, loop) && (!once || (constant(loop) && is_power_of_two(*most)));
    choice.split(loop, factors, exact ? Tail::exact : usual);
    std::size_t piece = 0;
    if (!once) choice.loop(loop, piece++, Bind::serial);
    if (threads > 1) choice.loop(loop, piece++, Bind::thread);
    if (lanes > 1 || piece == 0) choice.loop(loop, piece, lanes > 1 ? Bind::vector : Bind::serial);
  }

  // Steps of the pieces outside the lanes, and the tail that goes with them.
  struct Units {
    std::vector<std::int64_t> factors;
    std::int64_t span = loops::LANES;  // of the lanes
    Tail tail = Tail::mask;
  };
  Units units_of(const NestLoop& loop) const {
    const auto most = situation_.most(loop);
    Units units;
    const bool one_lane_each = most && *most <= loops::LANES;
    const bool one_unit = most && *most <= loops::UNIT;
    if (!one_unit) units.factors.push_back(loops::UNIT);
    if (!one_lane_each) units.factors.push_back(loops::LANES);
    if (one_lane_each) units.span = next_power_of_two(std::max<std::int64_t>(*most, 1));
    const std::int64_t step = one_lane_each ? units.span : units.factors.front();
    if (one_lane_each ? constant(loop) == units.span : situation_.divides(step, loop))
      units.tail = Tail::exact;
    else if (!one_unit)
      units.tail = Tail::remainder;
    return units;
  }

  // Of the lanes of a unit those that are neighbours are packed, then come those of the other threads.
  void canonical_along_warp(const NestLoop& loop, ScopeChoice& choice) const {
    Units units = units_of(loop);
    const std::int64_t lanes = std::min(situation_.lanes_along(loop.axis), units.span);
    const std::int64_t threads = std::min(warp(), units.span / lanes);
    const std::size_t outside = units.factors.size();
    if (lanes * threads < units.span) units.factors.push_back(lanes * threads);
    if (threads > 1 && lanes > 1) units.factors.push_back(lanes);
    std::vector<std::int64_t> shorts;
    if (situation_.is_list(loop) && units.tail == Tail::remainder)
      for (std::int64_t length = lanes * threads; length < loops::LANES; length *= 2)
        shorts.push_back(length);
    choice.split(loop, units.factors, units.tail, std::move(shorts));
    std::size_t piece = 0;
    while (piece < outside) choice.loop(loop, piece++, Bind::serial);
    if (lanes * threads < units.span) choice.loop(loop, piece++, Bind::unroll);
    if (threads > 1) choice.loop(loop, piece++, Bind::thread);
    if (lanes > 1) choice.loop(loop, piece++, Bind::vector);
    if (piece == 0) choice.loop(loop, piece, Bind::serial);
  }

  // A thread keeps the totals of some lanes in registers, and the others' in an array.
  void canonical_in_thread(const NestLoop& loop, ScopeChoice& choice) const {
    Units units = units_of(loop);
    const std::size_t outside = units.factors.size();
    // Of a list all elements are in one short unit most of the time, which leaves fewer registers for others.
    constexpr std::int64_t LANES_OF_LISTS = 8;
    const bool list = situation_.is_list(loop) && units.tail == Tail::remainder;
    const std::int64_t kept = std::min(parameters_.kept_lanes(), list ? LANES_OF_LISTS : units.span);
    const std::int64_t near = units.span / std::min(units.span, kept);
    if (near > 1) units.factors.push_back(near);
    choice.split(loop, units.factors, units.tail,
                 list ? situation_.short_lists(loop) : std::vector<std::int64_t>{});
    const bool has_units = outside > 0 && units.factors.front() == loops::UNIT;
    if (has_units) choice.loop(loop, 0, Bind::serial);
    const std::size_t lanes = outside;
    if (near > 1) choice.loop(loop, lanes + 1, Bind::serial);
    for (std::size_t piece = has_units ? 1 : 0; piece < outside; ++piece)
      choice.loop(loop, piece, Bind::serial);
    choice.loop(loop, lanes, Bind::unroll);
  }

  const Situation& situation_;
  const Parameters& parameters_;
  const RowThreads& rows_;
  Schedule& schedule_;
  bool rows_in_threads_ = false;
  std::optional<Beside> beside_;
};

}  // namespace

void choose_threads(const Situation& situation, const RowThreads& rows, Schedule& schedule) {
  ThreadChooser(situation, rows, schedule).choose();
}

}  // namespace twinloom::schedule
