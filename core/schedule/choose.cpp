// Taste: which axis fills the vectors, how totals are cut into lanes, what one task does. Reads the nest
// and the machine, writes a Schedule; everything it writes must be lawful, and tests hold it to that.
//
//   pointwise     axes that are neighbours in memory walked as one; the vector along the axis with most
//                 unit strides; tiles where another axis has unit strides too
//   rows          each sibling vectorised along its own axis, one task some rows; or, where the common
//                 axes have the unit strides, a vector of rows in lock-step
//   totals        as many accumulators as registers allow; heavy bodies get fewer, for the size of the code
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/integers.h"
#include "core/index/simplify.h"
#include "core/loops/canonical.h"
#include "core/loops/rewrite.h"
#include "core/schedule/accesses.h"
#include "core/schedule/plan.h"

namespace twinloom::schedule {

using loops::Bind;
using loops::NestLoop;

namespace {

constexpr double TASK_SECONDS = 10e-6;
constexpr double DEFAULT_BANDWIDTH = 1e10;
constexpr std::int64_t TASKS_A_WORKER = 4;
constexpr std::int64_t UNKNOWN_EXTENT = 1024;  // what a symbolic extent is taken for
constexpr int HEAVY_WORK = 12;                 // an inner body whose copies cost code, not registers

// A nest while collapses are chosen.
class Collapser {
 public:
  explicit Collapser(const loops::Program& nest) : nest_(nest) {}

  // All axes of a scope that can be walked as one without a division left, innermost first.
  void collapse_neighbours(int sibling) {
    for (std::size_t last = axes(sibling).size(); last-- > 1;) {
      const auto names = axes(sibling);
      if (last >= names.size()) continue;
      try_collapse(sibling, {names[last - 1], names[last]}, is_small(sibling, last));
    }
  }
  void collapse_all(int sibling) {
    const auto names = axes(sibling);
    if (names.size() > 1) try_collapse(sibling, names, true);
  }

  const loops::Program& nest() const { return nest_; }
  const std::vector<Collapse>& collapses() const { return collapses_; }

 private:
  const std::vector<NestLoop>& scope(const loops::Nest& shape, int sibling) const {
    return sibling < 0 ? shape.common : siblings_of(shape)[static_cast<std::size_t>(sibling)]->loops;
  }
  std::vector<std::string> axes(int sibling) const {
    const loops::Nest shape = loops::take_apart(nest_);
    std::vector<std::string> names;
    for (const NestLoop& loop : scope(shape, sibling)) names.emplace_back(loop.axis.name());
    return names;
  }
  // Too short to fill vectors by itself: worth a division.
  bool is_small(int sibling, std::size_t axis) const {
    const loops::Nest shape = loops::take_apart(nest_);
    const auto extent = index::constant_of(scope(shape, sibling)[axis].extent);
    return extent && *extent < 16 && sibling < 0 && siblings_of(shape).empty();
  }

  static int divisions(const loops::Program& nest) {
    int count = 0;
    const auto look = [&](const std::string& text) {
      for (std::size_t at = text.find("floor_"); at != std::string::npos; at = text.find("floor_", at + 1))
        ++count;
    };
    look(loops::print(nest));
    return count;
  }

  void try_collapse(int sibling, const std::vector<std::string>& names, bool always) {
    const Collapse plan{sibling, names, fresh_name()};
    auto result = collapse(nest_, {plan});
    auto* after = std::get_if<loops::Program>(&result);
    if (after == nullptr || (!always && divisions(*after) > divisions(nest_))) return;
    nest_ = std::move(*after);
    collapses_.push_back(plan);
  }

  std::string fresh_name() const {
    const index::Facts facts = loops::facts_of(nest_);
    for (std::size_t number = 0;; ++number) {
      const std::string name = cat("r", number);
      if (!facts.symbols().contains(index::Symbol(name))) return name;
    }
  }

  loops::Program nest_;
  std::vector<Collapse> collapses_;
};

std::optional<std::int64_t> constant(const NestLoop& loop) { return index::constant_of(loop.extent); }
std::int64_t guess(const NestLoop& loop) { return constant(loop).value_or(UNKNOWN_EXTENT); }
std::int64_t power_of_two_below(std::int64_t value) {
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(value, 1))));
}

class Chooser {
 public:
  Chooser(const loops::Program& nest, const machine::Machine& machine) : machine_(machine), collapser_(nest) {
    collapse_axes();
    shape_ = loops::take_apart(collapser_.nest());
    facts_ = loops::facts_of(collapser_.nest());
    siblings_ = siblings_of(shape_);
    accesses_ = accesses_of(collapser_.nest(), shape_);
    result_.collapses = collapser_.collapses();
  }

  Schedule choose() {
    lockstep_ = siblings_.empty() || vector_is_common();
    if (!shape_.common.empty()) {
      if (lockstep_) vector_axis_ = best_axis(shape_.common);
      choose_common();
    }
    for (std::size_t number = 0; number < siblings_.size(); ++number)
      choose_sibling(static_cast<int>(number));
    return result_;
  }

  // Parts of the first reduction where there are fewer rows than workers.
  std::vector<GridSplit> grid_splits() const {
    if (siblings_.empty() || lockstep_ || machine_.blocks_at_once < 2) return {};
    std::int64_t rows = 1;
    for (const NestLoop& loop : shape_.common) rows *= std::max<std::int64_t>(guess(loop), 1);
    const NestLoop& loop = siblings_.front()->loops.back();
    const auto extent = constant(loop);
    if (!extent || rows >= machine_.blocks_at_once) return {};
    const std::int64_t parts = ceil_div(TASKS_A_WORKER * machine_.blocks_at_once, rows);
    const std::int64_t units = power_of_two_below(*extent / loops::UNIT / parts);
    constexpr std::int64_t LEAST_UNITS = 16;  // a part of 16 units takes some microseconds
    if (units < LEAST_UNITS) return {};
    return {{std::string(loop.axis.name()), units, false}};
  }

  // Inputs whose rows could be kept at hand for later siblings.
  std::vector<TempPlan> stages() const {
    std::vector<TempPlan> result;
    if (siblings_.size() < 2 || lockstep_ || shape_.common.empty()) return result;
    std::string inside;
    for (const LoopPlan& loop : result_.loops) {
      if (loop.sibling < 0) inside = loop.piece;
    }
    const loops::Program& nest = collapser_.nest();
    for (const loops::BufferInfo& info : nest.buffers) {
      if (info.written || !constant(siblings_.front()->loops.back())) continue;
      result.push_back({info.name, loops::Place::registers, inside, 0});
    }
    return result;
  }

  std::int64_t bytes_of(const TempPlan& stage) const {
    const auto& buffers = collapser_.nest().buffers;
    const auto named = [&](const loops::BufferInfo& info) { return info.name == stage.buffer; };
    const loops::BufferInfo& info = *std::find_if(buffers.begin(), buffers.end(), named);
    return guess(siblings_.front()->loops.back()) * ops::size_of(ops::compute_type(info.dtype));
  }

 private:
  void collapse_axes() {
    const loops::Nest shape = loops::take_apart(collapser_.nest());
    collapser_.collapse_neighbours(-1);
    int number = 0;
    for (const loops::Sibling* sibling : siblings_of(shape)) {
      if (reach_of(shape, *sibling) == Reach::canonical)
        collapser_.collapse_all(number);
      else
        collapser_.collapse_neighbours(number);
      ++number;
    }
  }

  // Bytes along an axis that are neighbours: stores count double.
  double unit_bytes(const index::Symbol& axis, bool inner_only) const {
    double bytes = 0;
    for (const Access& access : accesses_) {
      if (inner_only && access.sibling < 0) continue;
      const auto stride = stride_along(access, axis);
      if (stride == 1 || stride == -1) bytes += access.bytes * (access.store ? 2 : 1);
    }
    return bytes;
  }

  // Whether rows walked in lock-step touch more neighbours than siblings walked along their own axes.
  bool vector_is_common() const {
    double common = 0, own = 0;
    for (const NestLoop& loop : shape_.common) common = std::max(common, unit_bytes(loop.axis, true));
    for (const loops::Sibling* sibling : siblings_) {
      own += unit_bytes(sibling->loops.back().axis, true);
    }
    return common > own;
  }

  std::size_t best_axis(const std::vector<NestLoop>& loops) const {
    std::size_t best = loops.size() - 1;
    for (std::size_t i = loops.size(); i-- > 0;) {
      if (unit_bytes(loops[i].axis, !siblings_.empty()) > unit_bytes(loops[best].axis, !siblings_.empty()))
        best = i;
    }
    return best;
  }

  // Elements of the usual type in one register.
  std::int64_t lanes_along(const index::Symbol& axis) const {
    std::int64_t bytes = 0, count = 0;
    for (const Access& access : accesses_) {
      if (!index::mentions(access.offset, axis)) continue;
      bytes += access.lane_bytes;
      ++count;
    }
    const std::int64_t each = count == 0 ? 4 : power_of_two_below(bytes / count);
    return std::max<std::int64_t>(1, machine_.vector_bytes / each);
  }

  int work() const {
    std::vector<loops::Ref<loops::Stmt>> stmts;
    for (const loops::Item& item : shape_.items) {
      if (const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item)) stmts.push_back(*stmt);
    }
    return work_of(stmts);
  }

  // The time of one turn of all common loops.
  double turn_seconds() const {
    const double bandwidth = machine_.memory.empty() || machine_.memory.back().bytes_per_second <= 0
                                 ? DEFAULT_BANDWIDTH
                                 : machine_.memory.back().bytes_per_second;
    double bytes = 0;
    for (const Access& access : accesses_) {
      double turns = 1;
      if (access.sibling >= 0) {
        for (const NestLoop& loop : siblings_[static_cast<std::size_t>(access.sibling)]->loops) {
          if (index::mentions(access.offset, loop.axis)) turns *= static_cast<double>(guess(loop));
        }
      }
      bytes += access.bytes * turns;
    }
    return std::max(bytes, 1.0) / bandwidth;
  }

  void add_split(int sibling, const NestLoop& loop, std::vector<std::int64_t> factors, Tail tail) {
    if (factors.empty() && tail == Tail::exact) return;
    result_.splits.push_back({sibling, std::string(loop.axis.name()), std::move(factors), tail});
  }
  void add_loop(int sibling, const NestLoop& loop, std::size_t piece, Bind bind) {
    result_.loops.push_back({sibling, cat(loop.axis, ".", piece), bind});
  }
  bool divides(std::int64_t step, const NestLoop& loop) const {
    return facts_.proves_equal(floor_mod(loop.extent, step), 0);
  }

  // Common loops.

  struct Common {            // how one common axis is cut
    std::int64_t block = 0;  // steps of its block piece; 0: none
    std::int64_t lanes = 0;  // of its vector piece; 0: none
    bool masked = false;     // shorter than a vector
  };

  void choose_common() {
    std::vector<Common> plans(shape_.common.size());
    if (lockstep_ && machine_.vector_bytes > 4) set_lanes(plans[vector_axis_]);
    const auto tile = siblings_.empty() ? tiled_axis() : std::nullopt;
    if (tile) {
      set_tile(plans, *tile);
    } else {
      set_blocks(plans);
    }
    for (std::size_t i = 0; i < plans.size(); ++i) split_common(shape_.common[i], plans[i]);
    add_common_loops(plans, tile);
  }

  void set_lanes(Common& plan) const {
    const NestLoop& loop = shape_.common[vector_axis_];
    std::int64_t lanes = lanes_along(loop.axis);
    if (!siblings_.empty() && total_work() <= HEAVY_WORK) lanes *= wide_vectors();
    const auto extent = constant(loop);
    if (extent && *extent < lanes) {
      lanes = std::min(lanes, next_power_of_two(std::max<std::int64_t>(*extent, 1)));
      plan.masked = !divides(lanes, loop);
    }
    plan.lanes = lanes < 2 ? 0 : lanes;
  }
  // Registers that a lock-step value takes: whole lines of memory are read from each row.
  std::int64_t wide_vectors() const { return 4; }
  int total_work() const {
    int work = 0;
    for (const loops::Sibling* sibling : siblings_) work = std::max(work, work_of(sibling->inner));
    return work;
  }

  // An axis other than the vector's along which some load has neighbours.
  std::optional<std::size_t> tiled_axis() const {
    for (std::size_t i = 0; i < shape_.common.size(); ++i) {
      if (i == vector_axis_) continue;
      for (const Access& access : accesses_) {
        const auto along = stride_along(access, shape_.common[i].axis);
        const auto vector = stride_along(access, shape_.common[vector_axis_].axis);
        if (along == 1 && vector != 0 && vector != 1) return i;
      }
    }
    return std::nullopt;
  }

  void set_tile(std::vector<Common>& plans, std::size_t tile) const {
    constexpr std::int64_t TILE = 32;
    Common& vector = plans[vector_axis_];
    if (guess(shape_.common[tile]) > TILE) plans[tile].block = TILE;
    if (vector.lanes != 0 && !vector.masked && guess(shape_.common[vector_axis_]) > 2 * TILE) {
      vector.block = std::max<std::int64_t>(2 * TILE, 2 * vector.lanes);
    }
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (i != tile && i != vector_axis_) plans[i].block = 1;
    }
  }

  // Blocks of the outermost axes until a task would become too short or there are enough of them.
  void set_blocks(std::vector<Common>& plans) const {
    double inside = turn_seconds();
    for (const NestLoop& loop : shape_.common)
      inside *= static_cast<double>(std::max<std::int64_t>(guess(loop), 1));
    if (is_known() && inside < machine_.worth_a_thread_seconds) return;
    double tasks = 1;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const NestLoop& loop = shape_.common[i];
      inside /= static_cast<double>(std::max<std::int64_t>(guess(loop), 1));
      const std::int64_t step = block_step(loop, inside, tasks);
      const std::int64_t least = plans[i].lanes == 0 ? 1 : 2 * plans[i].lanes;
      if (plans[i].masked) continue;
      const bool aligned = plans[i].lanes != 0 && step <= plans[i].lanes && divides(plans[i].lanes, loop);
      plans[i].block = aligned ? plans[i].lanes : std::max(step, least);
      if (plans[i].block >= guess(loop) && constant(loop)) plans[i].block = 0;
      tasks *=
          static_cast<double>(guess(loop)) / static_cast<double>(std::max<std::int64_t>(plans[i].block, 1));
      if (plans[i].block > 1 || tasks >= static_cast<double>(TASKS_A_WORKER * machine_.blocks_at_once))
        return;
    }
  }
  bool is_known() const { return collapser_.nest().sizes.empty(); }

  // Turns of the axis in one task: long enough to be worth it, but enough tasks for every worker.
  std::int64_t block_step(const NestLoop& loop, double inside, double tasks) const {
    const double enough = TASK_SECONDS / std::max(inside, 1e-12);
    const double wanted = static_cast<double>(TASKS_A_WORKER * machine_.blocks_at_once) / tasks;
    const double share = static_cast<double>(guess(loop)) / std::max(wanted, 1.0);
    const double longest = constant(loop) ? std::max(share, enough) : enough;
    constexpr double LONGEST = 1 << 15;
    return next_power_of_two(
        static_cast<std::int64_t>(std::clamp(std::ceil(std::min(longest, LONGEST)), 1.0, LONGEST)));
  }

  void split_common(const NestLoop& loop, const Common& plan) {
    if (plan.masked) return add_split(-1, loop, {}, Tail::mask);
    if (plan.lanes == 0) {
      if (plan.block > 1) add_split(-1, loop, {plan.block}, Tail::clip);
      return;
    }
    if (plan.block == plan.lanes || plan.block == 0) {
      return add_split(-1, loop, {plan.lanes}, divides(plan.lanes, loop) ? Tail::exact : Tail::remainder);
    }
    add_split(-1, loop, {plan.block, plan.lanes}, divides(plan.block, loop) ? Tail::exact : Tail::remainder);
  }

  void add_common_loops(const std::vector<Common>& plans, std::optional<std::size_t> tile) {
    const auto& loops = shape_.common;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].block != 0) add_loop(-1, loops[i], 0, Bind::block);
    }
    // The tiled axis is the innermost serial loop: what a strided vector fetches is used by its neighbours.
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (i != tile) add_serial(plans[i], loops[i]);
    }
    if (tile) add_serial(plans[*tile], loops[*tile]);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].lanes != 0) add_loop(-1, loops[i], pieces_of(plans[i]) - 1, Bind::vector);
    }
  }
  static std::size_t pieces_of(const Common& plan) {
    if (plan.masked) return 1;
    const bool block = plan.block > 1 && plan.block != plan.lanes;
    return 1u + (plan.lanes != 0 ? 1u : 0u) + (block ? 1u : 0u);
  }
  void add_serial(const Common& plan, const NestLoop& loop) {
    const std::size_t last = pieces_of(plan) - (plan.lanes != 0 ? 1u : 0u);
    for (std::size_t piece = plan.block != 0 ? 1u : 0u; piece < last; ++piece)
      add_loop(-1, loop, piece, Bind::serial);
  }

  // Siblings.

  void choose_sibling(int number) {
    const loops::Sibling& sibling = *siblings_[static_cast<std::size_t>(number)];
    switch (reach_of(shape_, sibling)) {
      case Reach::none:
        return choose_any(number, sibling, false);
      case Reach::any:
        return choose_any(number, sibling, true);
      case Reach::canonical:
        return choose_canonical(number, sibling);
      case Reach::scan:
        return choose_scan(number, sibling);
    }
  }

  std::int64_t sibling_lanes(const NestLoop& loop) const {
    if (lockstep_) return 1;
    const auto extent = constant(loop);
    const std::int64_t lanes = lanes_along(loop.axis);
    return extent ? std::min(lanes, next_power_of_two(std::max<std::int64_t>(*extent, 1))) : lanes;
  }

  void choose_any(int number, const loops::Sibling& sibling, bool totals) {
    for (std::size_t i = 0; i + 1 < sibling.loops.size(); ++i)
      add_loop(number, sibling.loops[i], 0, Bind::serial);
    const NestLoop& loop = sibling.loops.back();
    const std::int64_t lanes = sibling_lanes(loop);
    const std::int64_t chains = totals && work_of(sibling.inner) <= HEAVY_WORK ? 4 : 1;
    const auto extent = constant(loop);
    if (lanes < 2 || (extent && *extent < lanes)) {
      const bool masked = lanes >= 2;
      if (masked) add_split(number, loop, {}, Tail::mask);
      return add_loop(number, loop, 0, masked ? Bind::vector : Bind::serial);
    }
    const bool several = chains > 1 && (!extent || *extent >= chains * lanes);
    std::vector<std::int64_t> factors;
    if (several) factors.push_back(chains * lanes);
    factors.push_back(lanes);
    const Tail tail = divides(factors.front(), loop) ? Tail::exact : Tail::remainder;
    add_split(number, loop, factors, tail);
    add_loop(number, loop, 0, Bind::serial);
    if (several) add_loop(number, loop, 1, Bind::unroll);
    add_loop(number, loop, factors.size(), Bind::vector);
  }

  void choose_scan(int number, const loops::Sibling& sibling) {
    const NestLoop& loop = sibling.loops.back();
    add_split(number, loop, {loops::SCAN_CHUNK, loops::SCAN_ROW}, Tail::clip);
    for (std::size_t piece = 0; piece < 3; ++piece) add_loop(number, loop, piece, Bind::serial);
  }

  // How many accumulators stay in registers.
  std::int64_t accumulators(const loops::Sibling& sibling) const {
    std::set<loops::Temp> totals;
    for (const auto& inner : sibling.inner) {
      if (const auto* accumulate = std::get_if<loops::Accumulate>(&inner->node))
        totals.insert(accumulate->total);
    }
    if (work_of(sibling.inner) > HEAVY_WORK) return 4;
    const std::int64_t wide = lockstep_ ? wide_vectors() : 1;
    const std::int64_t half = machine_.vector_registers / 2;
    return std::max<std::int64_t>(1,
                                  power_of_two_below(half / static_cast<std::int64_t>(totals.size()) / wide));
  }

  // See schedule.h for which orders of pieces are the canonical tree.
  void choose_canonical(int number, const loops::Sibling& sibling) {
    const NestLoop& loop = sibling.loops.back();
    const std::int64_t lanes = std::min(sibling_lanes(loop), loops::LANES);
    const auto extent = constant(loop);
    const bool one_lane_each = extent && *extent <= loops::LANES;
    const bool one_unit = at_most(facts_, loop.extent, loops::UNIT) && extent;
    const std::int64_t span =
        one_lane_each ? next_power_of_two(std::max<std::int64_t>(*extent, 1)) : loops::LANES;
    const std::int64_t apart = std::max(lanes, span / accumulators(sibling));
    std::vector<std::int64_t> factors;
    if (!one_unit) factors.push_back(loops::UNIT);
    if (!one_lane_each) factors.push_back(loops::LANES);
    if (apart < span) factors.push_back(apart);
    if (lanes > 1 && lanes < apart) factors.push_back(lanes);
    while (!factors.empty() && factors.back() == 1) factors.pop_back();
    add_split(number, loop, factors, canonical_tail(loop, factors, one_unit));
    add_canonical_loops(number, sibling, factors, lanes, apart);
  }

  Tail canonical_tail(const NestLoop& loop, const std::vector<std::int64_t>& factors, bool one_unit) const {
    const auto extent = constant(loop);
    const std::int64_t step = factors.empty() ? 1 : factors.front();
    // Without a chain the pieces are lanes, and there must be a power of two of them.
    const bool lanes_only = step < loops::LANES;
    const bool whole = extent && lanes_only
                           ? is_power_of_two(std::max<std::int64_t>(*extent, 1)) && *extent > 0
                           : divides(step, loop);
    if (whole) return Tail::exact;
    return one_unit ? Tail::mask : Tail::remainder;
  }

  void add_canonical_loops(int number, const loops::Sibling& sibling,
                           const std::vector<std::int64_t>& factors, std::int64_t lanes, std::int64_t apart) {
    const NestLoop& loop = sibling.loops.back();
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
    const bool heavy = work_of(sibling.inner) > HEAVY_WORK;
    // Lanes that are not kept in registers at once are walked outside the chain.
    const bool outside = !near.empty();
    for (const std::size_t piece : units) add_loop(number, loop, piece, Bind::serial);
    for (const std::size_t piece : near)
      add_loop(number, loop, piece, heavy || lockstep_ || lanes == 1 ? Bind::serial : Bind::unroll);
    if (vector && outside) add_loop(number, loop, *vector, Bind::vector);
    for (const std::size_t piece : chain) add_loop(number, loop, piece, Bind::serial);
    for (const std::size_t piece : far) add_loop(number, loop, piece, Bind::unroll);
    if (vector && !outside) add_loop(number, loop, *vector, Bind::vector);
  }

  const machine::Machine& machine_;
  Collapser collapser_;
  loops::Nest shape_;
  index::Facts facts_;
  std::vector<const loops::Sibling*> siblings_;
  std::vector<Access> accesses_;
  bool lockstep_ = false;        // the vector is along a common axis
  std::size_t vector_axis_ = 0;  // of the common loops
  Schedule result_;
};

}  // namespace

Schedule choose(const loops::Program& nest, const machine::Machine& machine) {
  const loops::Nest shape = loops::take_apart(nest);
  const auto* only =
      shape.items.size() == 1 ? std::get_if<loops::Ref<loops::Stmt>>(&shape.items.front()) : nullptr;
  if (only != nullptr && std::holds_alternative<loops::Call>((*only)->node)) return {};
  Chooser chooser(nest, machine);
  Schedule schedule = chooser.choose();
  // What the law refuses of the extras is left out: a store before a reduction, rows read at different
  // places.
  schedule.grid_splits = chooser.grid_splits();
  if (!schedule.grid_splits.empty() && why_illegal(nest, schedule)) schedule.grid_splits.clear();
  std::int64_t room = machine.scratch_bytes;
  for (const TempPlan& stage : chooser.stages()) {
    const std::int64_t bytes = chooser.bytes_of(stage);
    if (bytes > room) continue;
    schedule.temps.push_back(stage);
    if (why_illegal(nest, schedule))
      schedule.temps.pop_back();
    else
      room -= bytes;
  }
  return schedule;
}

}  // namespace twinloom::schedule
