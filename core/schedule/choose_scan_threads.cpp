// How the axis of a scan is split where blocks have threads: a part of choose_threads.cpp.
//
//   in a thread   one row each, chunk by chunk
//   by warps      a chunk of 1024 each, rows of 32 by its threads (scan_threads.cpp)
//   by lanes      in free order, neighbours of a row by each thread (scan_lanes.cpp)
#include <algorithm>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/axis_splits.h"

namespace twinloom::schedule {

using loops::Bind;
using loops::NestLoop;

namespace {

class ScanChooser {
 public:
  explicit ScanChooser(const Situation& situation)
      : situation_(situation), parameters_(situation.parameters) {}

  void choose(const loops::Sibling& sibling, bool in_thread, ScopeChoice& choice) const {
    const NestLoop& loop = sibling.loops.back();
    return in_thread                    ? scan_in_thread(loop, choice)
           : has_scanned_lanes(sibling) ? scan_by_lanes(loop, choice)
                                        : scan_by_warps(loop, choice);
  }

  // Of a block, of the rows that a scan walks: so many that they have as many threads as other rows.
  std::int64_t rows() const {
    std::int64_t threads = 1;
    for (const loops::Sibling* sibling : situation_.siblings) {
      const NestLoop& loop = sibling->loops.back();
      if (has_scanned_lanes(*sibling)) {
        threads = std::max(threads, scanning_threads(loop));
        continue;
      }
      if (!is_one_chunk(loop)) return 1;
      const std::int64_t rows = members(situation_, loop, loops::SCAN_ROW, loops::SCAN_ROWS);
      threads = std::max({threads, rows, loops::SCAN_ROW / packed_scan(loop)});
    }
    const std::int64_t rows = parameters_.row_warps() * warp() / threads;
    return std::max<std::int64_t>(1, over_all_blocks(situation_, rows));
  }

 private:
  std::int64_t warp() const { return situation_.machine.warp_threads; }

  void scan_in_thread(const NestLoop& loop, ScopeChoice& choice) const {
    const bool written_out = parameters_.scan_rows_written_out();
    choice.split(loop, {loops::SCAN_CHUNK, loops::SCAN_ROW},
                 written_out ? tail_of(situation_, loops::SCAN_CHUNK, loop) : Tail::clip);
    for (std::size_t piece = 0; piece < 3; ++piece)
      choice.loop(loop, piece, piece == 2 && written_out ? Bind::unroll : Bind::serial);
  }

  // Whether each thread scans neighbours, in free order: of rows that fill the machine so; others are
  // split.
  bool has_scanned_lanes(const loops::Sibling& sibling) const {
    const NestLoop& loop = sibling.loops.back();
    const bool is_free = std::ranges::all_of(sibling.inner, [&](const loops::Ref<loops::Stmt>& inner) {
      const auto* scan = std::get_if<loops::Scan>(&inner->node);
      if (scan == nullptr) return true;
      const loops::Start& start = start_of(situation_.shape, scan->total);
      return start.free && ops::parts(start.monoid) == 1;
    });
    if (!is_free || packed_elements(situation_, loop) == 1 || !scans_stand_alone(sibling)) return false;
    const double threads = situation_.rows() * static_cast<double>(scanning_threads(loop));
    const bool fills =
        threads >= static_cast<double>(situation_.machine.multiprocessors * machine::BLOCK_THREADS);
    return (is_scanned_once(loop) || fills) && parameters_.scan_lanes();
  }
  bool is_scanned_once(const NestLoop& loop) const {
    const auto most = situation_.most(loop);
    return most && *most <= packed_elements(situation_, loop) * scanning_threads(loop);
  }
  std::int64_t scanning_threads(const NestLoop& loop) const {
    return members(situation_, loop, packed_elements(situation_, loop), parameters_.scan_warps() * warp());
  }
  void scan_by_lanes(const NestLoop& loop, ScopeChoice& choice) const {
    const std::int64_t lanes = packed_elements(situation_, loop), threads = scanning_threads(loop);
    const bool once = is_scanned_once(loop);
    std::vector<std::int64_t> factors = {lanes};
    if (!once) factors.insert(factors.begin(), lanes * threads);
    const bool exact = situation_.divides(factors.front(), loop) &&
                       (!once || (constant(loop) && is_power_of_two(*constant(loop))));
    choice.split(loop, factors, exact ? Tail::exact : Tail::mask);
    std::size_t piece = 0;
    if (!once) choice.loop(loop, piece++, Bind::serial);
    choice.loop(loop, piece++, Bind::thread);
    choice.loop(loop, piece, Bind::vector);
  }

  // A chunk a warp; of rows of at most one chunk, several in a block.
  void scan_by_warps(const NestLoop& loop, ScopeChoice& choice) const {
    const std::int64_t chunks = members(situation_, loop, loops::SCAN_CHUNK, parameters_.scan_warps());
    std::vector<std::int64_t> factors = {loops::SCAN_ROW};
    if (!is_one_chunk(loop)) factors.insert(factors.begin(), loops::SCAN_CHUNK);
    if (chunks > 1) factors.insert(factors.begin(), chunks * loops::SCAN_CHUNK);
    const std::int64_t packed = packed_scan(loop);
    if (packed > 1) factors.push_back(packed);
    const auto extent = constant(loop);
    const bool exact = !is_one_chunk(loop) || is_power_of_two(*extent / loops::SCAN_ROW);
    choice.split(loop, factors, exact ? tail_of(situation_, factors.front(), loop) : Tail::mask);
    std::size_t piece = 0;
    if (!is_one_chunk(loop)) choice.loop(loop, piece++, Bind::serial);
    if (chunks > 1) choice.loop(loop, piece++, Bind::thread);
    choice.loop(loop, piece++, Bind::thread);
    choice.loop(loop, piece++, Bind::serial);
    if (packed > 1) choice.loop(loop, piece, Bind::vector);
  }
  static bool is_one_chunk(const NestLoop& loop) {
    const auto extent = constant(loop);
    return extent && *extent <= loops::SCAN_CHUNK;
  }
  std::int64_t packed_scan(const NestLoop& loop) const {
    return std::min(packed_elements(situation_, loop), power_of_two_below(loops::SCAN_ROW / 2));
  }

  const Situation& situation_;
  const Parameters& parameters_;
};

}  // namespace

void choose_scan(const Situation& situation, const loops::Sibling& sibling, bool in_thread,
                 ScopeChoice& choice) {
  ScanChooser(situation).choose(sibling, in_thread, choice);
}

std::int64_t scanned_rows(const Situation& situation) { return ScanChooser(situation).rows(); }

}  // namespace twinloom::schedule
