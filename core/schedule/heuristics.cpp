// See heuristics.h.
#include "core/schedule/heuristics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "core/index/divisors.h"
#include "core/loops/canonical.h"
#include "core/schedule/transposed_rows.h"

namespace twinloom::schedule {

using loops::NestLoop;

namespace {

constexpr double DEFAULT_BANDWIDTH = 1e10;

}  // namespace

std::optional<std::int64_t> constant(const NestLoop& loop) { return index::constant_of(loop.extent); }

index::Values usual_sizes(const loops::Program& nest) {
  index::Values values;
  for (const loops::SizeInfo& size : nest.sizes) {
    const std::int64_t expected = size.usual.value_or(UNKNOWN_SIZE), low = size.range.low.value_or(0);
    const std::int64_t value = std::clamp(expected, low, std::max(low, size.range.high.value_or(expected)));
    values[size.symbol] = std::max<std::int64_t>(value - value % size.divisor, std::min(low, value));
  }
  return values;
}
namespace {

bool is_of_sizes(const index::Expr& expr, const index::Values& sizes) {
  return std::ranges::all_of(index::symbols_of(expr),
                             [&](const index::Symbol& symbol) { return sizes.contains(symbol); });
}

std::optional<std::int64_t> usual_value(const index::Expr& expr, const index::Values& sizes) {
  if (!is_of_sizes(expr, sizes) || index::bad_divisor(expr, sizes)) return std::nullopt;
  return index::evaluate(expr, sizes);
}

}  // namespace

std::int64_t usual_extent(const NestLoop& loop, const index::Values& sizes) {
  return usual_value(loop.extent, sizes).value_or(UNKNOWN_EXTENT);
}
std::int64_t power_of_two_below(std::int64_t value) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

Situation::Situation(const Forms& forms, const machine::Machine& target, const Parameters& chosen,
                     int kept_values)
    : machine(target),
      parameters(chosen),
      fused(forms.fused(chosen.divisions())),
      form(*std::get<const Form*>(forms.form(fused, kept_values))),
      sizes(usual_sizes(nest)) {
  lockstep = siblings.empty() || (!shape.columns && vector_is_common());
  if (lockstep && !shape.common.empty()) vector_axis = best_common_axis();
}

// A value for each turn of the common loops, or for each element of the siblings', is as near whoever walks
// it.
bool Situation::spans_scopes(const Access& access) const {
  const auto mentioned = [&](const NestLoop& loop) { return index::mentions(access.offset, loop.axis); };
  return access.sibling >= 0 && std::ranges::any_of(shape.common, mentioned) &&
         (access.found ||
          std::ranges::any_of(siblings[static_cast<std::size_t>(access.sibling)]->loops, mentioned));
}

// Of an element by element nest: what it touches as often as it runs. The rest, such as the parameters of
// channels, the caches have, however it lies.
bool Situation::is_large(const Access& access) const {
  return access.store || std::ranges::all_of(shape.common, [&](const NestLoop& loop) {
           return constant(loop) == 1 || index::mentions(access.offset, loop.axis);
         });
}

double Situation::unit_bytes(const index::Symbol& axis, bool inner_only) const {
  const bool spanning =
      inner_only && std::ranges::any_of(accesses, [&](const Access& access) { return spans_scopes(access); });
  const bool is_common =
      std::ranges::any_of(shape.common, [&](const NestLoop& loop) { return loop.axis == axis; });
  // Beside what is looked up the loads of its places count for nothing: of neighbours a register loads whole
  // runs, of places apart each lane its own (means of 32 rows of 128 of 100,000: 6.3 ms, then 2.6).
  const bool looks_up =
      inner_only && machine.max_threads == 1 && std::ranges::any_of(accesses, [&](const Access& access) {
        return access.found && spans_scopes(access);
      });
  double bytes = 0;
  for (const Access& access : accesses) {
    if (siblings.empty() && !is_large(access)) continue;
    if (looks_up && access.place) continue;
    if (inner_only && (access.sibling < 0 || (spanning && !spans_scopes(access)))) continue;
    const auto stride = access.found && !is_common ? std::nullopt : stride_along(access, axis);
    const int each = access.bytes * (access.store ? 2 : 1);
    if (stride == 1 || stride == -1)
      bytes += each;
    else if (stride != 0)
      bytes -= each;
  }
  return bytes;
}

bool Situation::is_of_sizes(const NestLoop& loop) const { return schedule::is_of_sizes(loop.extent, sizes); }

std::int64_t Situation::usual(const NestLoop& loop) const { return usual_extent(loop, sizes); }

std::optional<std::int64_t> Situation::most(const NestLoop& loop) const {
  return is_of_sizes(loop) ? most_of(facts, loop.extent) : std::nullopt;
}

bool Situation::has_long_work() const {
  std::int64_t bytes = 0;
  for (const Access& access : accesses) bytes += access.bytes;
  return work_of(own_stmts(shape)) > std::max<std::int64_t>(HEAVY_WORK, LONG_WORK_A_BYTE * bytes);
}

double Situation::rows() const {
  double rows = 1;
  for (const NestLoop& loop : shape.common)
    rows *= static_cast<double>(std::max<std::int64_t>(usual(loop), 1));
  return rows;
}

bool Situation::may_be_vector(const NestLoop& common) const {
  return std::ranges::none_of(
      siblings, [&](const loops::Sibling* sibling) { return extents_vary(shape, *sibling, common.axis); });
}

bool Situation::rows_vary() const {
  return !std::ranges::all_of(shape.common, [&](const NestLoop& common) { return may_be_vector(common); });
}

bool Situation::is_list(const NestLoop& loop) const {
  return std::ranges::any_of(index::symbols_of(loop.extent), [&](const index::Symbol& symbol) {
    return std::ranges::find(nest.sizes, symbol, &loops::SizeInfo::symbol) == nest.sizes.end() &&
           std::ranges::find(shape.common, symbol, &NestLoop::axis) == shape.common.end();
  });
}

std::optional<double> Situation::mean_length(const NestLoop& loop) const {
  std::optional<double> mean;
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    const auto* end = std::get_if<loops::Index>(&stmt.node);
    if (end == nullptr || !index::mentions(loop.extent, end->symbol)) return;
    const auto* load = std::get_if<loops::Load>(&end->value->node);
    const auto bound = usual_value(end->bound, sizes);
    if (load == nullptr || !bound) return;
    double lists = 1;
    for (const NestLoop& common : shape.common)
      if (index::mentions(load->offset, common.axis)) lists *= static_cast<double>(usual(common));
    const double elements = static_cast<double>(std::max<std::int64_t>(*bound - 1, 0)) / std::max(lists, 1.0);
    mean = std::min(mean.value_or(elements), elements);
  });
  return mean;
}

std::vector<std::int64_t> Situation::short_lists(const NestLoop& loop) const {
  if (machine.max_threads == 1) return {2, 8, MOST_SHORT};
  // So long a list hardly ever is, where elements fall to lists by chance: two deviations above the mean.
  const double mean = mean_length(loop).value_or(USUAL_LIST);
  const double most = std::min<double>(mean + 2 * std::sqrt(mean), loops::LANES);
  const std::int64_t length = std::max<std::int64_t>(next_power_of_two(std::llround(std::ceil(most))), 2);
  if (length <= MOST_AT_ONCE) return {length, MOST_SHORT};
  return {8, std::max(length, MOST_SHORT)};
}

double Situation::vector_bytes(const NestLoop& common) const {
  return may_be_vector(common) ? unit_bytes(common.axis, !siblings.empty())
                               : -std::numeric_limits<double>::infinity();
}

// Rows of any length, of which there are too few to give each a thread: one may be as long as all together.
bool Situation::wants_warps() const {
  constexpr std::int64_t LEAST_THREADS = 256;  // of a multiprocessor
  return machine.max_threads > 1 && rows_vary() &&
         rows() < static_cast<double>(LEAST_THREADS * machine.multiprocessors);
}

// Whether rows walked in lock-step touch more neighbours than siblings walked along their own axes.
bool Situation::vector_is_common() const {
  if (wants_warps()) return false;
  if (parameters.lockstep())
    return *parameters.lockstep() &&
           std::ranges::any_of(shape.common, [&](const NestLoop& loop) { return may_be_vector(loop); });
  double own = 0;
  for (const loops::Sibling* sibling : siblings) own += unit_bytes(sibling->loops.back().axis, true);
  return std::ranges::any_of(shape.common, [&](const NestLoop& loop) { return vector_bytes(loop) > own; });
}

std::size_t Situation::best_common_axis() const {
  std::vector<std::size_t> ranked(shape.common.size());
  std::iota(ranked.rbegin(), ranked.rend(), std::size_t{0});
  std::ranges::stable_sort(ranked, std::greater{},
                           [&](std::size_t i) { return vector_bytes(shape.common[i]); });
  // Neighbours along an axis with which lengths vary have lists of their own: one waits for all others.
  const auto may_be = [&](std::size_t i) { return may_be_vector(shape.common[i]); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(ranked, may_be));
  return ranked[count < 2 ? 0 : std::min(parameters.vector_rank(), count - 1)];
}

std::int64_t Situation::lanes_along(const index::Symbol& axis) const {
  std::int64_t bytes = 0, count = 0;
  for (const Access& access : accesses) {
    if (!index::mentions(access.offset, axis)) continue;
    bytes += access.lane_bytes;
    ++count;
  }
  const std::int64_t each = count == 0 ? 4 : power_of_two_below(bytes / count);
  return std::max<std::int64_t>(1, machine.vector_bytes / each);
}

std::int64_t Situation::stored_lanes_along(const index::Symbol& axis, int sibling) const {
  const std::int64_t lanes = lanes_along(axis);
  const auto in_scope = [&](const Access& access) { return access.sibling == sibling && !access.local; };
  const bool narrows = std::ranges::any_of(accesses, [&](const Access& access) {
    return in_scope(access) && access.store && stride_along(access, axis) == 1 &&
           nest.buffers[access.buffer.index].dtype == ops::DType::bf16 && access.lane_bytes == 4;
  });
  const bool apart = std::ranges::any_of(accesses, [&](const Access& access) {
    const auto stride = stride_along(access, axis);
    return in_scope(access) && stride != 0 && (stride != 1 || access.place);
  });
  return narrows && !apart && lanes * 4 == machine.vector_bytes ? 2 * lanes : lanes;
}

std::int64_t Situation::packed_along(const index::Symbol& axis) const {
  return form.packed_along(axis, machine.vector_bytes);
}

std::int64_t Situation::words_along(const NestLoop& common) const {
  const std::int64_t packed = packed_along(common.axis);
  if (parameters.most_packed() < packed) return parameters.most_packed();
  std::int64_t widest = 0, rows = 0;  // of what each element of the row moves
  for (const Access& access : accesses) {
    if (access.sibling < 0 || access.local || stride_along(access, common.axis) != 1) continue;
    widest = std::max<std::int64_t>(widest, access.bytes);
    ++rows;
  }
  if (widest == 0) widest = machine.vector_bytes / packed;
  const bool are_windows = std::ranges::all_of(siblings, [&](const loops::Sibling* sibling) {
    std::int64_t elements = 1;
    for (const NestLoop& loop : sibling->loops)
      elements *= std::clamp<std::int64_t>(usual(loop), 1, SMALL_WINDOW + 1);
    return elements <= SMALL_WINDOW;
  });
  if (are_windows) return std::clamp<std::int64_t>(2 * WORD_BYTES / widest, 1, packed);
  if (!rows_vary()) return std::clamp<std::int64_t>(WORD_BYTES / widest, 1, packed);
  const std::int64_t many = std::min(LIST_ELEMENTS, 2 * machine.vector_bytes / widest);
  if (many > packed && rows == 1 && usual(common) >= many * machine.warp_threads) return many;
  return std::clamp<std::int64_t>(machine.vector_bytes / widest, 1, packed);
}

double Situation::turn_seconds() const {
  const double bandwidth = machine.memory.empty() || machine.memory.back().bytes_per_second <= 0
                               ? DEFAULT_BANDWIDTH
                               : machine.memory.back().bytes_per_second;
  double bytes = 0;
  for (const Access& access : accesses) {
    double turns = 1;
    if (access.sibling >= 0) {
      for (const NestLoop& loop : siblings[static_cast<std::size_t>(access.sibling)]->loops) {
        if (index::mentions(access.offset, loop.axis)) turns *= static_cast<double>(usual(loop));
      }
    }
    bytes += access.bytes * turns;
  }
  return std::max(bytes, 1.0) / bandwidth;
}

bool Situation::stores_rows() const {
  return std::ranges::any_of(accesses,
                             [](const Access& access) { return access.store && access.sibling >= 0; });
}

// Each lane of a last unit has elements, and there is more than one element a lane. See panel.cpp.
bool Situation::fits_panel(const loops::Sibling& sibling) const {
  if (sibling.loops.size() != 1 || reach_of(shape, sibling) != Reach::canonical) return false;
  const auto rows = constant(sibling.loops.front());
  return rows && *rows > loops::LANES && (*rows % loops::UNIT == 0 || *rows % loops::UNIT >= loops::LANES);
}

bool Situation::wants_panel() const {
  if (!lockstep || siblings.size() != 1 || machine.max_threads > 1) return false;
  if (!fits_panel(*siblings.front())) return false;
  double bytes = FLOAT_BYTES;
  for (const NestLoop& loop : shape.common) bytes *= static_cast<double>(usual(loop));
  for (const NestLoop& loop : siblings.front()->loops) bytes *= static_cast<double>(usual(loop));
  const double held = static_cast<double>(machine::level_bytes(machine, "L2")) * machine.blocks_at_once;
  const bool are_few = usual(shape.common[vector_axis]) * FLOAT_BYTES < PANEL_RUN_BYTES;
  if (!stores_rows() && (bytes <= held || are_few)) return false;
  if (parameters.panel()) return *parameters.panel();
  if (stores_rows()) return true;
  return bytes > static_cast<double>(machine::cache_bytes(machine)) || begins_between_lines();
}

// Whether the rows that a vector of columns walks do not all begin where a line of memory does.
bool Situation::begins_between_lines() const {
  return std::ranges::any_of(accesses, [&](const Access& access) {
    if (access.sibling < 0 || access.local || stride_along(access, shape.common[vector_axis].axis) != 1)
      return false;
    const auto apart = stride_along(access, siblings.front()->loops.back().axis);
    return !apart || *apart * access.bytes % machine.sector_bytes != 0;
  });
}

bool Situation::wants_transposed_rows() const {
  if (siblings.empty() || !parameters.transposes()) return false;
  const auto apart = [&](const Access& access) {
    if (access.sibling < 0 || access.found || access.local) return false;
    const NestLoop& row = siblings[static_cast<std::size_t>(access.sibling)]->loops.back();
    return stride_along(access, row.axis) == 1 &&
           stride_along(access, shape.common[vector_axis].axis).value_or(0) >= LEAST_ROW_STRIDE;
  };
  if (lockstep) return !shape.common.empty() && std::ranges::any_of(accesses, apart);
  return std::ranges::any_of(
      siblings, [&](const loops::Sibling* sibling) { return reach_of(shape, *sibling) == Reach::scan; });
}

bool Situation::is_written_out(const loops::Sibling& sibling) const {
  if (!lockstep || sibling.loops.empty() || reach_of(shape, sibling) != Reach::canonical) return false;
  const auto extent = constant(sibling.loops.back());
  return extent && *extent > 0 && 2 * next_power_of_two(*extent) <= MOST_WRITTEN_OUT &&
         work_of(sibling.inner) <= HEAVY_WORK;
}

namespace {

bool has_quotient(const std::vector<loops::Ref<loops::Stmt>>& stmts) {
  bool found = false;
  for (const loops::Ref<loops::Stmt>& stmt : stmts)
    loops::for_each_value(*stmt, [&](const loops::Value& value) {
      const auto* apply = std::get_if<loops::Apply>(&value.node);
      found = found || (apply != nullptr && apply->op == ops::Pointwise::div);
    });
  return found;
}

}  // namespace

// A quotient is a branch for each vector, whose test and reciprocal a loop has once: rows of 100 divided by
// their sum took 1.2 times as long written out. Variances of 20,000 such rows of bf16 take 0.16 ms written
// out, 0.35 with an array of f32 between the two sums.
bool Situation::holds_row(const loops::Sibling& sibling) const {
  if (lockstep || machine.max_threads > 1 || sibling.loops.empty()) return false;
  const NestLoop& row = sibling.loops.back();
  const auto extent = constant(row);
  const std::int64_t lanes = lanes_along(row.axis);
  if (!extent || *extent > loops::LANES || *extent <= lanes) return false;
  return ceil_div(*extent, lanes) <= machine.vector_registers / 4 && work_of(sibling.inner) <= HEAVY_WORK &&
         !has_quotient(sibling.inner);
}

bool Situation::is_short_free_sum(const loops::Sibling& sibling) const {
  if (lockstep || sibling.loops.size() != 1 || reach_of(shape, sibling) != Reach::any) return false;
  const auto longest = most(sibling.loops.front());
  if (!longest || *longest > loops::LANES) return false;
  return std::ranges::any_of(sibling.inner, [&](const auto& inner) {
    const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node);
    return accumulate != nullptr && !loops::is_of_columns(shape, accumulate->total) &&
           start_of(shape, accumulate->total).free;
  });
}

// Those of a panel are beside each other already.
std::int64_t Situation::wide_vectors() const {
  if (wants_panel()) return 1;
  std::int64_t wide = parameters.wide_vectors();
  for (const loops::Sibling* sibling : siblings) {
    if (is_written_out(*sibling))
      wide = std::min(wide, MOST_WRITTEN_OUT / next_power_of_two(*constant(sibling->loops.back())));
  }
  return wide;
}

bool Situation::divides(std::int64_t step, const NestLoop& loop) const {
  return facts.proves_equal(floor_mod(loop.extent, step), 0);
}

bool Situation::fills(std::int64_t lanes, const NestLoop& loop) const {
  return divides(lanes, loop) || usual(loop) >= LEAST_LONG_VECTORS * lanes;
}

void ScopeChoice::split(const NestLoop& loop, std::vector<std::int64_t> factors, Tail tail,
                        std::vector<std::int64_t> shorts) {
  if (factors.empty() && tail == Tail::exact) return;
  splits_.push_back({sibling_, std::string(loop.axis.name()), std::move(factors), tail, std::move(shorts)});
}
void ScopeChoice::loop(const NestLoop& loop, std::size_t piece, loops::Bind bind) {
  loops_.push_back({sibling_, cat(loop.axis, ".", piece), bind});
}
void ScopeChoice::append_to(Schedule& schedule) const {
  schedule.splits.insert(schedule.splits.end(), splits_.begin(), splits_.end());
  schedule.loops.insert(schedule.loops.end(), loops_.begin(), loops_.end());
}

}  // namespace twinloom::schedule
