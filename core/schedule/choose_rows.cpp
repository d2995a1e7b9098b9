// Heuristics: what of a row the threads of a block keep, so that it is read once from memory, and how many
// warps walk it. Short rows stay in registers, a unit a warp, for which the loops over a unit are written
// out; scratch holds longer ones: its bandwidth is several times the memory's. Few rows are cut into parts
// for all blocks.
#include <algorithm>
#include <cmath>

#include "core/base/integers.h"
#include "core/loops/canonical.h"
#include "core/schedule/cached_rows.h"

namespace twinloom::schedule {

namespace {

constexpr std::int64_t UNITS_IN_REGISTERS = 4;
constexpr std::int64_t REGISTER_BYTES = 256;   // of a thread, for what it keeps of a row
constexpr std::int64_t RESERVED_BYTES = 2048;  // of scratch, for totals and the system
constexpr std::int64_t WARP_BYTES = 4096;      // of a kept row for each of its warps
constexpr std::int64_t MOST_WARPS = 32;        // of all rows beside each other: more find no registers
// Of one row, however many are beside it: by one warp a layer norm of rows of 5120 bf16 took 0.152 ms on an
// H100, by two 0.127.
constexpr std::int64_t LEAST_WARPS = 2;
constexpr double FEW_ELEMENTS = 256;  // a multiprocessor: of a reduction whose threads wait for each other
constexpr std::int64_t LOOPED_WARPS = 8;  // of a long row that is kept nowhere
constexpr double WHOLE_SHARE = 0.85;      // of such a row, that its warps walk in whole groups of units

// Whether the threads of a row go through it together: it ends for all rows of a block at once.
bool walks_together(const Situation& situation) {
  return !situation.siblings.empty() && !walks_rows_in_threads(situation) && !situation.rows_vary() &&
         std::ranges::none_of(situation.siblings, [&](const loops::Sibling* sibling) {
           return reach_of(situation.shape, *sibling) == Reach::scan;
         });
}

// What siblings walk, each by one loop: all of them but those that a warp walks at once, such as the channels
// of a group.
std::optional<Row> row_of(const Situation& situation) {
  if (!walks_together(situation)) return std::nullopt;
  const auto* longest = *std::ranges::max_element(situation.siblings, {}, [&](const loops::Sibling* sibling) {
    return situation.usual(sibling->loops.back());
  });
  const loops::NestLoop& loop = longest->loops.back();
  for (const loops::Sibling* sibling : situation.siblings) {
    const loops::NestLoop& own = sibling->loops.back();
    const auto most = situation.most(own);
    const bool at_once = most && *most <= situation.machine.warp_threads;
    if (sibling->loops.size() != 1 || (own.extent != loop.extent && !at_once)) return std::nullopt;
  }
  return Row{loop.extent, situation.most(loop).value_or(Row::UNBOUNDED),
             std::max<std::int64_t>(situation.usual(loop), 1)};
}

std::int64_t units_of(std::int64_t elements) { return ceil_div(elements, loops::UNIT); }

RowThreads threads_of_row(std::optional<Row> row, std::int64_t warps, bool kept = false) {
  RowThreads rows;
  rows.row = std::move(row);
  rows.warps = warps;
  rows.kept = kept;
  return rows;
}

class RowChooser {
 public:
  RowChooser(const Forms& forms, const machine::Machine& machine, const Parameters& parameters)
      : forms_(forms), machine_(machine), parameters_(parameters) {}

  Schedule choose() const {
    const Situation situation(forms_, machine_, parameters_);
    if (situation.shape.columns) return beside_columns();
    if (auto schedule = in_tiles(situation)) return *schedule;
    if (auto schedule = in_parts(situation)) return *schedule;
    if (auto schedule = in_scan_parts(situation)) return *schedule;
    if (situation.siblings.empty()) return looped(situation);
    const int most = most_values();
    using Rows = Parameters::Rows;
    if (parameters_.rows() == Rows::nowhere) return looped(situation);
    for (int values = parameters_.rows() == Rows::cluster ? most : -1; values >= 0; --values)
      if (auto schedule = in_cluster(Situation(forms_, machine_, parameters_, values), values))
        return *schedule;
    const bool registers = parameters_.rows() != Rows::scratch;
    for (int values = registers ? most : 0; values > 0; --values)
      if (auto schedule = in_registers(Situation(forms_, machine_, parameters_, values), values))
        return *schedule;
    if (registers)
      if (auto schedule = in_registers(situation, 0)) return *schedule;
    if (parameters_.rows() == Rows::registers) return looped(situation);
    for (int kept = most; kept >= 0; --kept)
      if (auto schedule = in_scratch(Situation(forms_, machine_, parameters_, kept), kept)) return *schedule;
    return looped(situation);
  }

 private:
  std::int64_t wanted_warps(std::int64_t own) const {
    return parameters_.warps() != 0 ? parameters_.warps() : own;
  }
  // That a row may keep for later siblings.
  int most_values() const {
    int most = 0;
    while (std::holds_alternative<const Form*>(forms_.form({}, most + 1)) && most < parameters_.most_values())
      ++most;
    return most;
  }

  Schedule made(const Situation& situation, const RowThreads& rows, int values = 0,
                loops::Place place = loops::Place::registers) const {
    Schedule schedule;
    schedule.steps = situation.fused;
    schedule.kept_values = values;
    schedule.kept_place = place;
    choose_threads(situation, rows, schedule);
    return schedule;
  }

  // Rows one after the other in a block, each thread with few elements of them: it has as many totals of
  // columns beside what it keeps.
  Schedule beside_columns() const {
    for (int values = most_values(); values >= 0; --values) {
      const Situation situation(forms_, machine_, parameters_, values);
      RowThreads rows = threads_of_row(row_of(situation), 1, true);
      rows.spread = true;
      rows.packed = 2;
      const std::int64_t of_unit = loops::LANES / rows.packed;
      if (rows.row)
        rows.warps = std::min(machine_.max_threads / of_unit, next_power_of_two(units_of(rows.row->usual)));
      Schedule schedule = made(situation, rows, values);
      schedule.columns = choose_columns(situation, rows.warps * of_unit);
      if (!is_legal(forms_, schedule)) schedule.columns->place = loops::Place::registers;
      const auto& resolved = forms_.resolved(schedule);
      const auto* plan = std::get_if<Plan>(&resolved);
      if (plan == nullptr && values > 0) continue;
      if (plan != nullptr) schedule.temps = cached_rows(*plan, loops::Place::registers);
      fetch_next(situation, schedule);
      return schedule;
    }
    throw Bug("no values are always kept");
  }

  // Where it is lawful.
  void fetch(const PrefetchPlan& prefetch, Schedule& schedule) const {
    if (!parameters_.prefetches()) return;
    schedule.prefetches.push_back(prefetch);
    if (!is_legal(forms_, schedule)) schedule.prefetches.pop_back();
  }

  // The row that the block walks next, as soon as its own is there.
  void fetch_next(const Situation& situation, Schedule& schedule) const {
    const int sibling = std::min(1, static_cast<int>(situation.siblings.size()) - 1);
    for (const loops::BufferInfo& info : forms_.nest().buffers) {
      if (info.written || info.local) continue;
      fetch({info.name, sibling, 1}, schedule);
    }
  }

  // A warp for each unit.
  std::optional<Schedule> in_registers(const Situation& situation, int values) const {
    const auto row = row_of(situation);
    if (!row || row->most > UNITS_IN_REGISTERS * loops::UNIT) return std::nullopt;
    const auto beside = rows_beside(situation);
    if (beside && row->most > loops::UNIT) return std::nullopt;
    const std::int64_t warps = beside ? 1 : wanted_warps(next_power_of_two(units_of(row->most)));
    const auto schedule =
        keeping(situation, threads_of_row(row, warps, true), values, loops::Place::registers);
    const auto* plan = schedule ? std::get_if<Plan>(&forms_.resolved(*schedule)) : nullptr;
    if (plan == nullptr) return std::nullopt;
    const std::int64_t elements =
        beside ? ceil_div(row->most, beside->threads) : elements_of_thread(row->most);
    if (elements * bytes_of_element(*plan, situation) > REGISTER_BYTES) return std::nullopt;
    return loading_ahead(forms_, situation, elements, *schedule);
  }

  // The same of a row that one block has not warps enough for: those of several, which exchange accumulators.
  // Where its elements cannot be packed a thread has a load and a mask for each.
  std::optional<Schedule> in_cluster(const Situation& situation, int values) const {
    const auto row = row_of(situation);
    if (!row || row->most == Row::UNBOUNDED || rows_beside(situation)) return std::nullopt;
    const std::int64_t threads = next_power_of_two(units_of(row->most)) * machine_.warp_threads;
    const machine::BlockShape shape = machine::block_shape(threads);
    if (threads <= MOST_THREADS || shape.threads > machine_.max_threads ||
        shape.blocks > machine_.cluster_blocks ||
        situation.packed_along(situation.siblings.front()->loops.back().axis) == 1)
      return std::nullopt;
    auto schedule = keeping(situation, threads_of_row(row, threads / machine_.warp_threads, true), values,
                            loops::Place::registers);
    const auto* plan = schedule ? std::get_if<Plan>(&forms_.resolved(*schedule)) : nullptr;
    if (plan == nullptr) return std::nullopt;
    const std::int64_t kept = elements_of_thread(row->most) * bytes_of_element(*plan, situation);
    return kept <= 2 * machine_.registers_each / shape.threads ? std::move(schedule) : std::nullopt;
  }

  // Of a row that warps keep.
  std::int64_t elements_of_thread(std::int64_t row) const {
    if (row > loops::LANES || parameters_.row_threads() == 0)
      return ceil_div(std::min(row, loops::UNIT), machine_.warp_threads);
    return ceil_div(row, std::min<std::int64_t>(parameters_.row_threads(), machine_.warp_threads));
  }

  // As many warps as the row has bytes for.
  std::optional<Schedule> in_scratch(const Situation& situation, int values) const {
    const auto row = row_of(situation);
    if (!row || row->most <= loops::UNIT || row->most == Row::UNBOUNDED || rows_beside(situation))
      return std::nullopt;
    const auto schedule = keeping(situation, threads_of_row(row, 1), values, loops::Place::scratch);
    const auto* plan = schedule ? std::get_if<Plan>(&forms_.resolved(*schedule)) : nullptr;
    if (plan == nullptr) return std::nullopt;
    const std::int64_t bytes = row->most * bytes_of_element(*plan, situation);
    const std::int64_t units = next_power_of_two(units_of(row->most));
    const std::int64_t beside =
        std::max<std::int64_t>(1, machine_.scratch_bytes / bytes);  // rows, of all blocks
    const std::int64_t most = power_of_two_below(std::max(LEAST_WARPS, MOST_WARPS / beside));
    // A block that is alone leaves the multiprocessor idle between its siblings, which costs more than
    // computing values again.
    if (values > 0 && beside < 2) return std::nullopt;
    const std::int64_t warps =
        wanted_warps(std::min({most, units, next_power_of_two(ceil_div(bytes, WARP_BYTES))}));
    const std::int64_t rows = std::max<std::int64_t>(1, parameters_.row_warps() / warps);
    if (rows * bytes > machine_.scratch_bytes - RESERVED_BYTES) return std::nullopt;
    auto kept = keeping(situation, threads_of_row(row, warps), values, loops::Place::scratch);
    if (kept && rows == 1) fetch_ahead(warps, bytes, situation, *kept);
    return kept;
  }

  // What the arrays that scratch has are of a row in memory, and what the results are.
  struct RowBytes {
    std::int64_t loaded = 0, stored = 0;
  };
  RowBytes bytes_in_memory(const Situation& situation, const Schedule& schedule) const {
    const std::int64_t row = row_of(situation)->most;
    RowBytes bytes;
    for (const loops::BufferInfo& info : forms_.nest().buffers)
      for (const TempPlan& temp : schedule.temps)
        if (temp.buffer == info.name) bytes.loaded += row * ops::size_of(info.dtype);
    for (const Access& access : situation.accesses)
      if (access.store && !access.local && access.sibling >= 0) bytes.stored += row * access.bytes;
    return bytes;
  }

  // What the next block of a multiprocessor reads, into the cache that all share, while this one computes: as
  // soon as its own row is there, or, where the cache does not hold all rows of both and their results, while
  // it stores. Then several blocks of a multiprocessor have each other to compute while one reads, and what is
  // fetched is gone before it is used: rows of 64 KiB, three at once, took 115 us with it on an H100, 95 without.
  void fetch_ahead(std::int64_t warps, std::int64_t bytes, const Situation& situation,
                   Schedule& schedule) const {
    const std::int64_t by_threads = machine_.blocks_at_once / machine_.multiprocessors *
                                    machine::BLOCK_THREADS / (warps * machine_.warp_threads);
    const std::int64_t by_scratch = machine_.scratch_bytes / (bytes + RESERVED_BYTES);
    const std::int64_t blocks = std::max<std::int64_t>(1, std::min(by_threads, by_scratch));
    const std::int64_t ahead = blocks * machine_.multiprocessors;
    const auto [loaded, stored] = bytes_in_memory(situation, schedule);
    const bool held = ahead * (2 * loaded + stored) <= machine::cache_bytes(machine_);
    if (!held && blocks >= SEVERAL_BLOCKS) return;
    const auto last = static_cast<int>(siblings_of(loops::take_apart(forms_.nest())).size()) - 1;
    for (const TempPlan& temp : schedule.temps) fetch({temp.buffer, held ? 1 : last, ahead}, schedule);
  }

  std::optional<Schedule> keeping(const Situation& situation, const RowThreads& rows, int values,
                                  loops::Place place) const {
    if (situation.shape.common.empty()) return std::nullopt;
    Schedule schedule = made(situation, rows, values, values == 0 ? loops::Place::registers : place);
    const auto& resolved = forms_.resolved(schedule);
    const auto* plan = std::get_if<Plan>(&resolved);
    if (plan == nullptr) return std::nullopt;
    schedule.temps = cached_rows(*plan, place);
    if (schedule.temps.empty() && values == 0) return std::nullopt;
    return schedule;
  }

  // Squares where an input's neighbours lie along another axis than the result's.
  std::optional<Schedule> in_tiles(const Situation& situation) const {
    const auto& loops = situation.shape.common;
    if (!situation.siblings.empty() || loops.size() < 2 || parameters_.tile() == 0) return std::nullopt;
    const index::Symbol fast = loops[situation.vector_axis].axis;
    for (std::size_t other = 0; other < loops.size(); ++other) {
      const bool turned = std::ranges::any_of(situation.accesses, [&](const Access& access) {
        const auto step = [&](const index::Symbol& axis) {
          return step_along(access.offset, axis, parameters_.tile(), situation.facts);
        };
        return index::mentions(access.offset, fast) && step(fast) != 1 &&
               is_near(step(loops[other].axis), access.bytes);
      });
      const bool large = situation.usual(loops[other]) >= parameters_.tile() / 2 &&
                         situation.usual(loops[situation.vector_axis]) >= parameters_.tile() / 2;
      if (other == situation.vector_axis || !turned || !large) continue;
      RowThreads rows;
      rows.tile = other;
      Schedule schedule = made(situation, rows);
      const auto& resolved = forms_.resolved(schedule);
      if (const auto* plan = std::get_if<Plan>(&resolved)) schedule.temps = cached_tiles(*plan);
      if (!schedule.temps.empty()) return schedule;
    }
    return std::nullopt;
  }

  // Parts of the first reduction where its rows do not fill the machine.
  std::optional<Schedule> in_parts(const Situation& situation) const {
    if (situation.siblings.empty()) return std::nullopt;
    const auto& loop = situation.siblings.front()->loops.back();
    const std::int64_t units = units_of(situation.usual(loop));
    if (units < 2 || !parameters_.splits()) return std::nullopt;
    const bool single = walks_rows_in_threads(situation);
    const auto beside = rows_beside(situation);
    const std::int64_t warps = beside ? 1 : std::min(LOOPED_WARPS, next_power_of_two(units));
    const std::int64_t threads = single   ? 1
                                 : beside ? beside->threads
                                          : warps * machine_.warp_threads;  // of a row
    // A thread with rows of its own has several loads on their way at once, so that half of them is enough.
    const double wanted = static_cast<double>(machine_.blocks_at_once * machine::BLOCK_THREADS) *
                          parameters_.parts() / (single ? 2 : 1);
    const double rows = situation.rows() / static_cast<double>(beside ? beside->packed : 1);
    const double parts = std::ceil(wanted / (rows * static_cast<double>(threads)));
    if (parts < 2) return std::nullopt;
    const auto each = std::max<std::int64_t>(
        single ? 1 : warps, power_of_two_below(ceil_div(units, static_cast<std::int64_t>(parts))));
    if (each >= units) return std::nullopt;
    Schedule schedule = made(situation, threads_of_row(row_of(situation), warps));
    schedule.grid = {std::string(loop.axis.name()), each,
                     gathering_threads(schedule, threads, ceil_div(units, each))};
    if (!is_legal(forms_, schedule)) return std::nullopt;
    return schedule;
  }

  std::optional<Schedule> in_scan_parts(const Situation& situation) const {
    if (situation.siblings.size() != 1) return std::nullopt;
    Schedule schedule = made(situation, threads_of_row(std::nullopt, 1));
    schedule.scan_split = choose_scan_split(forms_, situation, schedule);
    return schedule.scan_split ? std::optional(std::move(schedule)) : std::nullopt;
  }

  // As many as a block has room for: all of them, or some of a warp.
  std::int64_t gathering_threads(const Schedule& schedule, std::int64_t of_row, std::int64_t parts) const {
    const auto& resolved = forms_.resolved(schedule);
    const auto* plan = std::get_if<Plan>(&resolved);
    if (plan == nullptr || (in_lockstep(plan->common) && !plan->outermost_fastest)) return 1;
    const std::int64_t room = machine_.max_threads / threads_of(plan->common);
    const std::int64_t wanted = std::min(next_power_of_two(parts), room);
    if (of_row == 1) return std::min<std::int64_t>(wanted, machine_.warp_threads);
    return std::max(wanted, of_row);
  }

  // Rows that are kept nowhere. Of few of them each thread would wait for one element after the other while
  // most of the machine idles: then every lane has a thread.
  Schedule looped(const Situation& situation) const {
    RowThreads rows = threads_of_row(row_of(situation), 1);
    (rows.row ? rows.warps : rows.warps_apart) = looped_warps(situation);
    if (rows.row && !rows_beside(situation) &&
        situation.rows() * static_cast<double>(rows.row->usual) <= FEW_ELEMENTS * machine_.multiprocessors) {
      rows.spread = true;
      const std::int64_t units = next_power_of_two(units_of(rows.row->usual));
      const std::int64_t threads =
          loops::LANES / situation.packed_along(situation.siblings.front()->loops.back().axis);
      rows.warps = std::min(machine_.max_threads / threads, units);
    }
    Schedule schedule = made(situation, rows);
    // Others may pack fewer elements than the first sibling, and so take more threads.
    while (rows.warps > 1 && block_threads_of(schedule) > machine_.max_threads) {
      rows.warps /= 2;
      schedule = made(situation, rows);
    }
    return schedule;
  }
  // 1 where it is not legal.
  std::int64_t block_threads_of(const Schedule& schedule) const {
    const auto& resolved = forms_.resolved(schedule);
    const auto* plan = std::get_if<Plan>(&resolved);
    if (plan == nullptr) return 1;
    std::int64_t most = 1;
    for (const Scope& sibling : plan->siblings) most = std::max(most, threads_of(sibling));
    return most * threads_of(plan->common);
  }
  std::int64_t looped_warps(const Situation& situation) const {
    if (!walks_together(situation) || rows_beside(situation)) return 1;
    const std::int64_t longest = longest_row(situation), units = units_of(longest);
    if (units <= 1) return 1;
    if (parameters_.warps() != 0) return std::min(parameters_.warps(), next_power_of_two(units));
    if (units <= situation.parameters.row_warps()) return 1;
    // Rows that are too few for all threads of the machine have more each.
    const double threads = static_cast<double>(machine_.blocks_at_once * machine::BLOCK_THREADS);
    const double filling = threads / situation.rows() / static_cast<double>(machine_.warp_threads);
    const std::int64_t warps = power_of_two_below(static_cast<std::int64_t>(filling));
    const std::int64_t most = std::min(std::clamp(warps, LOOPED_WARPS, MOST_WARPS), next_power_of_two(units));
    return with_whole_groups(longest, most, filling);
  }
  // Elements that a sibling walks, at most.
  static std::int64_t longest_row(const Situation& situation) {
    std::int64_t longest = 1;
    for (const loops::Sibling* sibling : situation.siblings) {
      std::int64_t elements = 1;
      for (const loops::NestLoop& loop : sibling->loops) elements *= situation.usual(loop);
      longest = std::max(longest, elements);
    }
    return longest;
  }
  // Fewer, as long as they fill the machine, where much of a row would be in its last group, whose loads are
  // masked: an argmax of rows of 32000 took 0.187 ms by 4 warps on an H100, 0.209 by 16.
  static std::int64_t with_whole_groups(std::int64_t row, std::int64_t warps, double filling) {
    const auto share = [&](std::int64_t of) {
      const std::int64_t group = of * loops::UNIT;
      return static_cast<double>(row / group * group) / static_cast<double>(row);
    };
    while (warps > 2 && static_cast<double>(warps / 2) >= filling && share(warps) < WHOLE_SHARE) warps /= 2;
    return warps;
  }

  const Forms& forms_;
  const machine::Machine& machine_;
  const Parameters& parameters_;
};

}  // namespace

Schedule choose_for_threads(const Forms& forms, const machine::Machine& machine,
                            const Parameters& parameters) {
  return RowChooser(forms, machine, parameters).choose();
}

}  // namespace twinloom::schedule
