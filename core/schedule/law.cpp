// Why the order of the pieces, their binds and tails do not suit the statements of a nest: what a split
// must prove, what a vector may walk, and which orders realise the canonical tree.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/plan.h"

namespace twinloom::schedule {

using loops::Bind;

namespace {

auto position_of(const Scope& scope, std::size_t axis, std::size_t piece) {
  return std::ranges::find(scope.order, Turn{axis, piece});
}

// Whether the pieces first..last of the axis are walked from the largest to the smallest.
bool is_falling(const Scope& scope, std::size_t axis, std::size_t first, std::size_t last) {
  for (std::size_t piece = first; piece < last; ++piece) {
    if (position_of(scope, axis, piece) > position_of(scope, axis, piece + 1)) return false;
  }
  return true;
}

std::string why_bad_bind(const Plan& plan, const AxisPlan& axis, const Piece& piece) {
  if (!is_wide(piece.bind) && !piece.copied) return "";
  const std::string kind = piece.bind == Bind::vector   ? "a vector loop"
                           : piece.bind == Bind::thread ? "a thread loop"
                           : piece.bind == Bind::unroll ? "an unrolled loop"
                                                        : "a loop over the lanes of a total";
  const auto turns = turns_of(axis, piece);
  if (!turns) return cat("loop ", piece.symbol, ": ", kind, " needs a constant extent");
  if (*turns > MOST_WIDE)
    return cat("loop ", piece.symbol, ": ", kind, " has at most ", MOST_WIDE, " iterations, not ", *turns);
  if (piece.bind == Bind::unroll && !piece.copied) return "";
  const bool rounded = piece.turns == 0 && axis.tail == Tail::mask;
  const bool alone = piece.bind == Bind::thread && plan.siblings.empty();  // threads that exchange nothing
  if (!rounded && !alone && !is_power_of_two(*turns)) {
    return cat("loop ", piece.symbol, ": ", kind, " needs a power of two of turns; it has ", *turns);
  }
  return "";
}

// The last unit is walked behind those before it, which one loop walks.
std::string why_bad_shorts(const Scope& scope, std::size_t number) {
  const AxisPlan& axis = scope.axes[number];
  const std::string words = cat("split ", axis.axis, ": ");
  if (axis.shorts.empty()) return "";
  if (scope.reach != Reach::canonical || axis.tail != Tail::remainder)
    return words + "only a remainder of totals in the canonical order has a short last unit";
  std::int64_t together = 1;  // lanes of a vector and of threads
  bool are_neighbours = true;
  for (auto piece = axis.pieces.rbegin(); piece != axis.pieces.rend(); ++piece) {
    if (piece->bind != Bind::vector && piece->bind != Bind::thread) continue;
    are_neighbours = are_neighbours && piece->step == together && together < loops::LANES;
    together *= piece->turns;
  }
  if (axis.pieces.front().step != loops::UNIT || !are_neighbours)
    return words +
           "a short last unit stands behind one loop of single units, of neighbouring threads or none";
  for (std::size_t at = 0; at < axis.shorts.size(); ++at) {
    const std::int64_t length = axis.shorts[at];
    const bool rising = at == 0 || axis.shorts[at - 1] < length;
    if (!rising || !is_power_of_two(length) || length < 2 || length > loops::LANES)
      return words +
             cat("the lengths of a short last unit are rising powers of two, from 2 to ", loops::LANES);
    if (has_threads(scope) && length < together)
      return words +
             cat("a short last unit of ", length, " elements is not one of ", together, " by threads");
  }
  return "";
}

std::string why_bad_tail(const Plan& plan, const Scope& scope, std::size_t number) {
  const AxisPlan& axis = scope.axes[number];
  const std::size_t last = axis.pieces.size() - 1;
  const std::int64_t step = axis.pieces.front().step;
  switch (axis.tail) {
    case Tail::exact:
      if (plan.facts.proves_equal(floor_mod(axis.extent, step), 0)) return "";
      return cat("split ", axis.axis, ": exact, but ", step, " is not known to divide ", axis.extent);
    case Tail::mask:
      return "";
    case Tail::clip:
      if (std::ranges::any_of(axis.pieces, is_wide, &Piece::bind))
        return cat("split ", axis.axis, ": clip, but a piece is unroll or vector");
      if (!is_falling(scope, number, 0, last))
        return cat("split ", axis.axis, ": clip needs its pieces from the largest to the smallest");
      return "";
    case Tail::remainder: {
      if (axis.cut < 0)
        return cat("split ", axis.axis,
                   ": remainder needs a serial piece outside its unroll and vector pieces");
      const auto cut = static_cast<std::size_t>(axis.cut);
      if (axis.pieces[cut].bind != Bind::serial)
        return cat("split ", axis.axis, ": remainder cuts ", axis.pieces[cut].symbol,
                   ", which is not serial");
      const auto at = position_of(scope, number, cut);
      for (std::size_t piece = cut + 1; piece <= last; ++piece) {
        if (position_of(scope, number, piece) < at) {
          return cat("split ", axis.axis, ": ", axis.pieces[piece].symbol, " stands outside ",
                     axis.pieces[cut].symbol, ", where the remainder is cut");
        }
      }
      if (!is_falling(scope, number, 0, cut))
        return cat("split ", axis.axis, ": remainder needs the pieces down to ", axis.pieces[cut].symbol,
                   " from the largest to the smallest");
      return "";
    }
  }
  return "";
}

std::string why_bad_blocks(const Plan& plan) {
  bool inside = false;
  std::vector<std::size_t> axes;
  for (const Turn& turn : plan.common.order) {
    const Piece& piece = plan.common.piece(turn);
    if (piece.bind != Bind::block) {
      inside = true;
      continue;
    }
    if (inside) return cat("loop ", piece.symbol, ": a block loop inside one that is not");
    if (std::ranges::find(axes, turn.axis) != axes.end())
      return cat("loop ", piece.symbol, ": two block loops of one axis");
    axes.push_back(turn.axis);
  }
  for (const Scope& sibling : plan.siblings) {
    for (const Turn& turn : sibling.order) {
      if (sibling.piece(turn).bind == Bind::block)
        return cat("loop ", sibling.piece(turn).symbol, ": a block loop inside a sibling");
    }
  }
  return "";
}

// Which thread loop of the scope stands inside a vector loop; `inside`: whether the scope does.
std::string why_bad_threads(const Scope& scope, bool inside) {
  for (const Turn& turn : scope.order) {
    const Piece& piece = scope.piece(turn);
    if (inside && piece.bind == Bind::thread)
      return cat("loop ", piece.symbol, ": a thread loop inside a vector loop");
    inside |= piece.bind == Bind::vector;
  }
  return "";
}

std::string why_bad_vectors(const Plan& plan) {
  const auto vectors = [](const Scope& scope) {
    return std::ranges::count(scope.order, Bind::vector,
                              [&](const Turn& turn) { return scope.piece(turn).bind; });
  };
  const auto common = vectors(plan.common);
  if (common > 1) return "two vector loops, one inside the other";
  for (const Scope& sibling : plan.siblings) {
    if (common + vectors(sibling) > 1) return "two vector loops, one inside the other";
  }
  if (std::string reason = why_bad_threads(plan.common, false); !reason.empty()) return reason;
  for (const Scope& sibling : plan.siblings)
    if (std::string reason = why_bad_threads(sibling, common > 0 && !plan.outermost_fastest); !reason.empty())
      return reason;
  for (const Turn& turn : plan.common.order) {
    if (plan.common.piece(turn).bind != Bind::vector) continue;
    for (const loops::Sibling* sibling : siblings_of(plan.shape))
      if (extents_vary(plan.shape, *sibling, plan.common.axes[turn.axis].axis))
        return cat("axis ", sibling->loops.back().axis, ": it may end at another turn in each lane");
  }
  return "";
}

// The place of each Accumulate and Scan is the counter of the only axis.
std::string why_bad_place(const Plan& plan, const Scope& scope, const loops::Sibling& sibling) {
  for (const auto& inner : sibling.inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    const auto* scan = std::get_if<loops::Scan>(&inner->node);
    if (accumulate == nullptr && scan == nullptr) continue;
    if (accumulate != nullptr && loops::is_of_columns(plan.shape, accumulate->total)) continue;
    if (scope.axes.size() != 1) return "the canonical order needs the reduced axes walked as one: fuse them";
    const index::Expr& place = accumulate != nullptr ? accumulate->place : scan->place;
    if (!plan.facts.proves_equal(place, scope.axes.front().axis)) {
      return cat("the place ", place, " of a total is not the counter of ", scope.axes.front().axis);
    }
  }
  return "";
}

std::string why_bad_steps(const Plan& plan, const AxisPlan& axis) {
  if (axis.tail == Tail::clip)
    return cat("axis ", axis.axis, ": the lanes of a canonical total are masked, not clipped");
  const auto has = [&](std::int64_t step) {
    return std::ranges::find(axis.pieces, step, &Piece::step) != axis.pieces.end();
  };
  const bool units = axis.pieces.front().step >= loops::UNIT;
  if (!units && !at_most(plan.facts, axis.extent, loops::UNIT))
    return cat("axis ", axis.axis, ": the canonical order needs steps of ", loops::UNIT);
  if (units && !has(loops::UNIT))
    return cat("axis ", axis.axis, ": steps above ", loops::UNIT, " without one of it");
  const bool chain = axis.pieces.front().step >= loops::LANES;
  if ((units || !at_most(plan.facts, axis.extent, loops::LANES)) && !has(loops::LANES)) {
    return cat("axis ", axis.axis, ": the canonical order needs steps of ", loops::LANES);
  }
  if (chain && !has(loops::LANES))
    return cat("axis ", axis.axis, ": steps above ", loops::LANES, " without one of it");
  for (const Piece& piece : axis.pieces) {
    if (piece.step < loops::LANES && !is_power_of_two(piece.step))
      return cat("axis ", axis.axis, ": lanes ", piece.step, " apart are no halves");
    if (piece.step >= loops::LANES && piece.bind == Bind::vector)
      return cat("loop ", piece.symbol, ": a vector walks lanes of a unit only");
  }
  return "";
}

// See the words about the canonical tree in schedule.h.
std::string why_bad_tree(const Scope& scope) {
  const AxisPlan& axis = scope.axes.front();
  std::int64_t unit_step = 0, chain_step = 0, highest_outside = 0;
  bool inside_units = false;
  for (const Turn& turn : scope.order) {
    const Piece& piece = scope.piece(turn);
    const std::string words = cat("loop ", piece.symbol, " of ", axis.axis, ": ");
    if (piece.step >= loops::LANES && piece.step != loops::UNIT && piece.bind == Bind::thread)
      return words + "threads side by side walk lanes, or single units";
    if (piece.step >= loops::UNIT) {
      if (inside_units) return words + "units must be the outermost loops";
      if (unit_step != 0 && piece.step > unit_step) return words + "units must be walked in order";
      unit_step = piece.step;
      continue;
    }
    inside_units = true;
    if (piece.step >= loops::LANES) {
      if (chain_step != 0 && piece.step > chain_step)
        return words + "the chain of a lane must be walked in order";
      chain_step = piece.step;
    } else if (chain_step == 0) {
      highest_outside = std::max(highest_outside, piece.step);
    } else if (piece.step < highest_outside) {
      return words +
             cat("lanes ", highest_outside, " apart would be combined after those ", piece.step, " apart");
    }
  }
  return "";
}

// 1024 c, 1024, 32, v, or the last of these.
bool has_steps_of_a_scan(const AxisPlan& axis) {
  const auto& pieces = axis.pieces;
  const auto row =
      static_cast<std::size_t>(std::ranges::find(pieces, loops::SCAN_ROW, &Piece::step) - pieces.begin());
  return row <= 2 && pieces.size() - row <= 3 && (row == 0 || pieces[row - 1].step == loops::SCAN_CHUNK);
}

std::string why_threads_wait(const Plan& plan, const loops::Sibling& sibling, const std::string& words) {
  for (const AxisPlan& common : plan.common.axes)
    if (common.has(Bind::thread) && extents_vary(plan.shape, sibling, common.axis))
      return words + "rows of a block end at different turns, and their threads wait for each other";
  return scans_stand_alone(sibling) ? "" : words + "a scan reads another's result";
}

// Neighbours by each thread: see scan_lanes.cpp.
std::string why_bad_lane_scan(const Plan& plan, const Scope& scope, const loops::Sibling& sibling) {
  const AxisPlan& axis = scope.axes.front();
  const std::string words = cat("axis ", axis.axis, ": ");
  for (const loops::Ref<loops::Stmt>& inner : sibling.inner)
    if (const auto* scan = std::get_if<loops::Scan>(&inner->node); scan != nullptr) {
      const loops::Start& start = start_of(plan.shape, scan->total);
      if (!start.free || ops::parts(start.monoid) > 1)
        return words + "threads have neighbours of a scan in free order alone";
    }
  if (!is_falling(scope, 0, 0, axis.pieces.size() - 1)) return words + "a scan is walked in order";
  if (axis.tail != Tail::mask && axis.tail != Tail::exact)
    return words + "a scan by threads ends by mask or exact";
  return why_threads_wait(plan, sibling, words);
}

// Chunks by warps, and in each the rows by its threads: see scan_threads.cpp.
std::string why_bad_thread_scan(const Plan& plan, const Scope& scope, const loops::Sibling& sibling) {
  const AxisPlan& axis = scope.axes.front();
  const std::string words = cat("axis ", axis.axis, ": ");
  const auto steps = std::ranges::find(axis.pieces, loops::SCAN_ROW, &Piece::step);
  if (steps == axis.pieces.end() || steps->bind != Bind::thread || !has_steps_of_a_scan(axis))
    return words + cat("a scan by threads is split by ", loops::SCAN_CHUNK, ", ", loops::SCAN_ROW,
                       ", whose steps are threads, and perhaps by several chunks before them");
  if (!is_falling(scope, 0, 0, axis.pieces.size() - 1)) return words + "a scan is walked in order";
  const auto pieces = thread_scan_pieces(axis);
  if (!pieces) return words + "of a scan by threads these walk rows and chunks, and nothing else";
  if (pieces->is_one_chunk() && !(at_most(plan.facts, axis.extent, loops::SCAN_CHUNK)))
    return words + cat("a scan by threads of more than ", loops::SCAN_CHUNK, " elements has such steps");
  if (axis.tail != Tail::mask && axis.tail != Tail::exact)
    return words + "a scan by threads ends by mask or exact";
  return why_threads_wait(plan, sibling, words);
}

// One element after the other, or the rows of a chunk side by side in a vector.
std::string why_bad_scan(const Scope& scope, const loops::Sibling& sibling) {
  const AxisPlan& axis = scope.axes.front();
  const bool steps = axis.pieces.size() == 3 && axis.pieces[0].step == loops::SCAN_CHUNK &&
                     axis.pieces[1].step == loops::SCAN_ROW;
  if (!steps)
    return cat("axis ", axis.axis, ": a scan is split by ", loops::SCAN_CHUNK, ", ", loops::SCAN_ROW);
  if (axis.pieces[1].bind == Bind::vector) {
    if (axis.tail != Tail::mask && axis.tail != Tail::exact)
      return cat("axis ", axis.axis, ": a scan with a vector of rows ends by mask or exact");
    const bool rows_inside = scope.order[0].piece == 0 && scope.order[2].piece == 1;
    if (!rows_inside || axis.pieces[0].bind != Bind::serial || axis.pieces[2].bind != Bind::serial)
      return cat("loop ", axis.pieces[1].symbol, ": a vector of rows stands inside two serial loops");
    if (!scans_stand_alone(sibling)) return cat("axis ", axis.axis, ": a scan reads another's result");
    return "";
  }
  if (axis.tail == Tail::remainder) return cat("axis ", axis.axis, ": a scan ends by clip, mask or exact");
  for (const Piece& piece : axis.pieces) {
    if (piece.bind == Bind::vector) return cat("loop ", piece.symbol, ": a vector loop over a scanned axis");
  }
  if (!is_falling(scope, 0, 0, 2)) return cat("axis ", axis.axis, ": a scan is walked in order");
  return "";
}

// Masked turns of a total in any order have lanes of their own: one axis of them, and nothing copied outside.
std::string why_bad_cuts(const Scope& scope) {
  int cuts = 0;
  for (const AxisPlan& axis : scope.axes) cuts += axis.cut >= 0 ? 1 : 0;
  if (cuts > 1) return "two axes of one total with a remainder";
  bool copied = false;
  for (const Turn& turn : scope.order) {
    copied |= scope.piece(turn).copied;
    if (copied && scope.axes[turn.axis].cut == static_cast<int>(turn.piece)) {
      return cat("loop ", scope.piece(turn).symbol, ": lanes of a total stand outside the remainder");
    }
  }
  return "";
}

std::string why_bad_totals(const Plan& plan, const Scope& scope, const loops::Sibling& sibling) {
  switch (scope.reach) {
    case Reach::none:
      return "";
    case Reach::any:
      return why_bad_cuts(scope);
    case Reach::canonical:
      if (std::string reason = why_bad_place(plan, scope, sibling); !reason.empty()) return reason;
      if (std::string reason = why_bad_steps(plan, scope.axes.front()); !reason.empty()) return reason;
      return why_bad_tree(scope);
    case Reach::scan:
      if (std::string reason = why_bad_place(plan, scope, sibling); !reason.empty()) return reason;
      if (lane_scan_pieces(scope.axes.front())) return why_bad_lane_scan(plan, scope, sibling);
      return has_threads(scope) ? why_bad_thread_scan(plan, scope, sibling) : why_bad_scan(scope, sibling);
  }
  return "";
}

std::string why_bad_scope(const Plan& plan, const Scope& scope) {
  for (std::size_t axis = 0; axis < scope.axes.size(); ++axis) {
    for (const Piece& piece : scope.axes[axis].pieces) {
      if (std::string reason = why_bad_bind(plan, scope.axes[axis], piece); !reason.empty()) return reason;
    }
    if (std::string reason = why_bad_tail(plan, scope, axis); !reason.empty()) return reason;
    if (std::string reason = why_bad_shorts(scope, axis); !reason.empty()) return reason;
  }
  return "";
}

}  // namespace

std::optional<ThreadScanPieces> thread_scan_pieces(const AxisPlan& axis) {
  const std::vector<Piece>& pieces = axis.pieces;
  ThreadScanPieces result;
  result.row =
      static_cast<std::size_t>(std::ranges::find(pieces, loops::SCAN_ROW, &Piece::step) - pieces.begin());
  if (result.row >= pieces.size() || !has_steps_of_a_scan(axis)) return std::nullopt;
  result.side_by_side = result.row == 2;
  if (pieces.back().bind == Bind::vector) result.packed = pieces.back().turns;
  for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
    const bool threads = piece == result.row || (result.side_by_side && piece == 1);
    const bool packed =
        piece > result.row && piece + 1 == pieces.size() && pieces[piece].bind == Bind::vector;
    if (!packed && pieces[piece].bind != (threads ? Bind::thread : Bind::serial)) return std::nullopt;
  }
  return result;
}

std::optional<LaneScanPieces> lane_scan_pieces(const AxisPlan& axis) {
  const std::vector<Piece>& pieces = axis.pieces;
  const bool is_packed = pieces.back().bind == Bind::vector;
  const std::size_t after = is_packed ? 2 : 1;
  if (pieces.size() < after || pieces.size() > after + 1) return std::nullopt;
  const LaneScanPieces result{pieces.size() - after, is_packed ? pieces.back().turns : 1};
  const Piece& threads = pieces[result.threads];
  const bool stand_so = threads.bind == Bind::thread && threads.step == result.packed &&
                        threads.step < loops::SCAN_ROW &&
                        (result.threads == 0 || pieces.front().bind == Bind::serial);
  return stand_so ? std::optional(result) : std::nullopt;
}

std::string why_unlawful(const Plan& plan) {
  if (std::string reason = why_bad_blocks(plan); !reason.empty()) return reason;
  if (std::string reason = why_bad_vectors(plan); !reason.empty()) return reason;
  if (std::string reason = why_bad_scope(plan, plan.common); !reason.empty()) return reason;
  const auto siblings = siblings_of(plan.shape);
  std::vector<loops::Temp> reached;
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const Scope& scope = plan.siblings[number];
    if (std::string reason = why_bad_totals(plan, scope, *siblings[number]); !reason.empty()) return reason;
    if (std::string reason = why_bad_scope(plan, scope); !reason.empty()) return reason;
    for (const auto& inner : siblings[number]->inner) {
      const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
      if (accumulate == nullptr) continue;
      if (std::ranges::find(reached, accumulate->total) != reached.end())
        return "a total that two siblings accumulate";
      reached.push_back(accumulate->total);
    }
  }
  return "";
}

}  // namespace twinloom::schedule
