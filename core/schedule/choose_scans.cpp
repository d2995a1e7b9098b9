// Heuristics: how a scan is cut into parts where its rows do not fill the machine. Its elements are then read
// twice, and the carries are one chain.
#include <algorithm>
#include <cmath>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

// How a schedule walks the one scan of its nest.
struct Walked {
  std::int64_t chunks = 1;  // of a row, by the guess of its extent
  std::int64_t beside = 1;  // chunks that a block walks side by side
  double workers = 1;       // threads, or tasks where blocks have no threads, that all rows are walked by
  bool by_threads = false;  // the threads of a block walk a row together
};

Walked walked(const Situation& situation, const Plan& plan) {
  const Scope& scope = plan.siblings.front();
  const std::vector<Piece>& pieces = scope.axes.front().pieces;
  Walked result;
  result.chunks = ceil_div(situation.usual(situation.siblings.front()->loops.back()), loops::SCAN_CHUNK);
  result.beside = pieces.front().step / loops::SCAN_CHUNK;
  result.by_threads = has_threads(scope);
  result.workers = situation.rows();
  for (const Piece& piece : pieces)
    if (piece.bind == loops::Bind::thread) result.workers *= static_cast<double>(piece.turns);
  for (const AxisPlan& axis : plan.common.axes)
    for (const Piece& piece : axis.pieces)
      if (piece.bind == loops::Bind::vector)
        result.workers /= static_cast<double>(turns_of(axis, piece).value_or(1));
  return result;
}

// Parts of a row with so many workers in all.
std::optional<ScanSplit> parts_for(const Situation& situation, const Walked& walked, double wanted,
                                   std::int64_t least_chunks) {
  const double parts = std::ceil(wanted / walked.workers);
  if (parts < 2 || walked.chunks < 2) return std::nullopt;
  const auto share = static_cast<std::int64_t>(static_cast<double>(walked.chunks) / parts);
  const std::int64_t chunks = std::max({walked.beside, least_chunks, share / walked.beside * walked.beside});
  if (chunks >= walked.chunks) return std::nullopt;
  return ScanSplit{std::string(situation.siblings.front()->loops.back().axis.name()), chunks, 1};
}

// Of threads: as many as the machine runs at once.
std::optional<ScanSplit> for_threads(const Situation& situation, const Walked& walked) {
  const double wanted = static_cast<double>(situation.machine.blocks_at_once * machine::BLOCK_THREADS) *
                        situation.parameters.parts() / (walked.by_threads ? 1 : ROWS_IN_FLIGHT);
  auto split = parts_for(situation, walked, wanted, 1);
  const std::int64_t most = walked.by_threads ? MOST_THREADS : LOADED_TOGETHER;
  if (split) split->carries = std::min(next_power_of_two(walked.chunks), most);
  return split;
}

// Where two passes by all workers take less time than one by as many as there are rows.
std::optional<ScanSplit> for_tasks(const Situation& situation, const Walked& walked) {
  const double workers = situation.machine.blocks_at_once;
  if (PASSES_OF_PARTS * walked.workers >= workers) return std::nullopt;
  // A part is worth waking a worker for.
  const double chunk_seconds = situation.turn_seconds() / static_cast<double>(walked.chunks);
  const auto least = static_cast<std::int64_t>(situation.machine.worth_a_thread_seconds / chunk_seconds) + 1;
  return parts_for(situation, walked, static_cast<double>(TASKS_A_WORKER) * workers, least);
}

}  // namespace

std::optional<ScanSplit> choose_scan_split(const Forms& forms, const Situation& situation,
                                           const Schedule& schedule) {
  if (situation.siblings.size() != 1 ||
      reach_of(situation.shape, *situation.siblings.front()) != Reach::scan || !situation.parameters.splits())
    return std::nullopt;
  const auto& resolved = forms.resolved(schedule);
  const auto* plan = std::get_if<Plan>(&resolved);
  if (plan == nullptr || lane_scan_pieces(plan->siblings.front().axes.front())) return std::nullopt;
  const Walked how = walked(situation, *plan);
  auto split = situation.machine.max_threads > 1 ? for_threads(situation, how) : for_tasks(situation, how);
  if (!split) return std::nullopt;
  Schedule cut = schedule;
  cut.scan_split = split;
  return is_legal(forms, cut) ? split : std::nullopt;
}

}  // namespace twinloom::schedule
