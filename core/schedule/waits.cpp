// Why the threads of a block may not wait for each other where a schedule asks them to. A total of threads is
// combined by an exchange that all threads of a warp take part in, or, beyond a warp, by a Sync that all
// threads of the block come to. So what combines stands in no loop
//   that only some of the threads walk        for u < 2 thread { .. combine across 8 }  beside a loop of 32
//   threads that ends at another turn for some        for r < 4 thread { for k < length[r] { .. combine } }
// unless these are whole warps that exchange and do not Sync.
// Where neighbouring threads walk neighbouring rows no threads of a row are neighbours: all of the block walk
// each sibling, and none waits for units beside it.
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/rewrite.h"
#include "core/ops/monoid.h"
#include "core/schedule/plan.h"

namespace twinloom::schedule {

using loops::Bind;

namespace {

constexpr int WORD_BYTES = 4;  // the least that blocks send each other

// Members of a thread loop, which the law of binds made known.
std::int64_t members(const Scope& scope, const Turn& turn) {
  return next_power_of_two(turns_of(scope.axes[turn.axis], scope.piece(turn)).value_or(1));
}

}  // namespace

std::int64_t threads_of(const Scope& scope) {
  std::int64_t threads = 1;
  for (const Turn& turn : scope.order)
    if (scope.piece(turn).bind == Bind::thread) threads *= members(scope, turn);
  return threads;
}

namespace {

// Units that threads walk side by side: a unit's total is combined in that loop.
std::string why_bad_units(const Scope& scope, std::int64_t threads_around) {
  const std::int64_t threads = threads_of(scope);
  if (scope.reach != Reach::canonical || threads == threads_around) return "";
  for (const Turn& turn : scope.order) {
    const Piece& piece = scope.piece(turn);
    if (piece.bind != Bind::thread || piece.step < loops::UNIT) continue;
    const std::int64_t of_unit = threads / members(scope, turn);
    if (of_unit > WARP_THREADS)
      return cat("loop ", piece.symbol, ": ", of_unit, " threads of a unit wait for a block of which only ",
                 threads, " of ", threads_around, " threads walk units");
    if (of_unit > 1 && threads < WARP_THREADS)
      return cat("loop ", piece.symbol, ": ", threads,
                 " threads walk units, and wait for the rest of their warp");
  }
  return "";
}

// Whether rows that the threads of a block walk side by side end at different turns of the sibling's loops.
bool ends_differ(const Plan& plan, const loops::Sibling& sibling) {
  return std::ranges::any_of(plan.common.order, [&](const Turn& turn) {
    return plan.common.piece(turn).bind == Bind::thread && members(plan.common, turn) > 1 &&
           extents_vary(plan.shape, sibling, plan.common.axes[turn.axis].axis);
  });
}

// Whether totals of threads are combined inside a loop whose end depends on the sibling's extents: each
// unit's, or those of a remainder.
bool combines_in_loops(const Scope& scope) {
  if (threads_of(scope) == 1) return false;
  if (scope.reach == Reach::canonical) return true;
  return scope.reach == Reach::any &&
         std::ranges::any_of(scope.axes, [](const AxisPlan& axis) { return axis.tail == Tail::remainder; });
}

std::size_t thread_loops(const Scope& scope) {
  return static_cast<std::size_t>(std::ranges::count_if(
      scope.order, [&](const Turn& turn) { return scope.piece(turn).bind == Bind::thread; }));
}

std::string why_not_by_distant_threads(const Scope& scope, std::int64_t threads) {
  const std::string words = cat("axis ", scope.axes.back().axis, ": ");
  if (scope.reach == Reach::scan) return words + "the threads of a scan are neighbours";
  if (thread_loops(scope) != 1 || threads_of(scope) != threads)
    return words + cat("all siblings have one loop of ", threads, " threads each");
  for (const Turn& turn : scope.order) {
    const Piece& piece = scope.piece(turn);
    if (piece.bind != Bind::thread) continue;
    if (scope.reach == Reach::canonical && piece.step >= loops::UNIT)
      return words + "threads walk units side by side";
    if (turns_of(scope.axes[turn.axis], piece) != threads)
      return words + cat("the ", threads, " threads have members for some of them only");
  }
  return "";
}

}  // namespace

std::string why_not_outermost_fastest(const Plan& plan) {
  if (plan.columns || plan.scan_split) return "columns or scans in parts have threads of their own";
  if (plan.siblings.empty()) return "no threads walk rows";
  const bool one = thread_loops(plan.common) == 1;
  const auto whole = [&](const Turn& turn) {
    const Piece& piece = plan.common.piece(turn);
    return piece.bind != Bind::thread ||
           turns_of(plan.common.axes[turn.axis], piece) == members(plan.common, turn);
  };
  if (!one || !std::ranges::all_of(plan.common.order, whole))
    return "the common loops have one thread loop, of a power of two";
  const std::int64_t threads = threads_of(plan.siblings.front());
  const auto siblings = siblings_of(plan.shape);
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    if (ends_differ(plan, *siblings[number])) return "rows of a block end at different turns";
    if (std::string reason = why_not_by_distant_threads(plan.siblings[number], threads); !reason.empty())
      return reason;
  }
  return "";
}

std::string why_bad_waits(const Plan& plan) {
  const auto siblings = siblings_of(plan.shape);
  const std::int64_t gathering = plan.grid ? plan.grid->threads : 1;
  // In the second program of a grid split the gathering threads stand in the first sibling's place.
  std::int64_t together = gathering;
  for (std::size_t number = plan.grid ? 1 : 0; number < siblings.size(); ++number)
    together = std::max(together, threads_of(plan.siblings[number]));
  for (std::size_t number = 0; number < siblings.size(); ++number) {
    const Scope& scope = plan.siblings[number];
    const bool alone = plan.grid && number == 0;
    const std::int64_t around = alone ? threads_of(scope) : together;
    if (std::string reason = why_bad_units(scope, around); !reason.empty()) return reason;
    if (!ends_differ(plan, *siblings[number])) continue;
    const bool waits = combines_in_loops(scope) && around != WARP_THREADS;
    if (waits || (alone && gathering > 1 && together != WARP_THREADS))
      return cat("axis ", siblings[number]->loops.back().axis,
                 ": rows of a block end at different turns, and ", waits ? around : together,
                 " threads of a row, which are not a warp, wait for each other in each");
  }
  return "";
}

// More threads than a block has are those of several, which combine accumulators together and share nothing
// else.
std::string why_bad_cluster(const Plan& plan) {
  std::int64_t threads = 1;
  bool scans = false;
  for (const Scope& sibling : plan.siblings) {
    threads = std::max(threads, threads_of(sibling));
    scans = scans || sibling.reach == Reach::scan;
  }
  threads *= threads_of(plan.common);
  if (threads <= MOST_THREADS) return "";
  const std::string words = cat(threads, " threads are those of several blocks: ");
  if (plan.siblings.empty()) return words + "they have nothing to combine";
  if (scans) return words + "a scan is walked by one";
  if (plan.grid || plan.columns || plan.outermost_fastest)
    return words + "rows in parts, or beside columns or rows of neighbouring threads, are walked by one each";
  bool has_short_parts = false;
  loops::for_each_stmt(*plan.nest.body, [&](const loops::Stmt& stmt) {
    const auto* start = std::get_if<loops::Start>(&stmt.node);
    for (int part = 0; start != nullptr && part < ops::parts(start->monoid); ++part)
      has_short_parts |= ops::size_of(ops::part_type(start->monoid, start->element, part)) < WORD_BYTES;
  });
  if (has_short_parts) return words + "they exchange whole words, of which an accumulator has parts";
  const auto in_scratch = [](const auto& kept) { return kept.place == loops::Place::scratch; };
  if (std::ranges::any_of(plan.staged, in_scratch) || std::ranges::any_of(plan.kept, in_scratch))
    return words + "what is kept in scratch is one's";
  return "";
}

}  // namespace twinloom::schedule
