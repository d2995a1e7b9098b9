// Heuristics: how the common loops are cut into tasks, tiles and vectors.
#include <algorithm>
#include <cmath>

#include "core/base/integers.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

using loops::Bind;
using loops::NestLoop;

namespace {

struct Common {            // how one common axis is cut
  std::int64_t block = 0;  // steps of its block piece; 0: none
  std::int64_t lanes = 0;  // of its vector piece; 0: none
  bool masked = false;     // shorter than a vector
  bool panel = false;      // its vectors are walked side by side
};

class CommonChooser {
 public:
  explicit CommonChooser(const Situation& situation) : situation_(situation) {}

  ScopeChoice choose() {
    const auto tile = situation_.siblings.empty() ? tiled_axis() : std::nullopt;
    const std::vector<Common> plans = this->plans(tile);
    for (std::size_t i = 0; i < plans.size(); ++i) split_common(situation_.shape.common[i], plans[i]);
    add_common_loops(plans, tile);
    return choice_;
  }

  std::int64_t tasks() const {
    const std::vector<Common> plans = this->plans({});
    std::int64_t tasks = 1;
    for (std::size_t i = 0; i < plans.size(); ++i)
      if (plans[i].block != 0)
        tasks *= ceil_div(situation_.usual(situation_.shape.common[i]), plans[i].block);
    return std::max<std::int64_t>(tasks, 1);
  }

 private:
  std::vector<Common> plans(std::optional<std::size_t> tile) const {
    std::vector<Common> plans(situation_.shape.common.size());
    if (situation_.lockstep && situation_.machine.vector_bytes > 4)
      set_lanes(plans[situation_.vector_axis], tile.has_value());
    if (tile) {
      set_tile(plans, *tile);
    } else {
      set_blocks(plans);
    }
    return plans;
  }
  void set_lanes(Common& plan, bool tiled) const {
    const NestLoop& loop = situation_.shape.common[situation_.vector_axis];
    std::int64_t lanes = situation_.lanes_along(loop.axis);
    if (tiled && moves_only())
      lanes =
          std::max<std::int64_t>(lanes, situation_.machine.vector_bytes / situation_.accesses.front().bytes);
    else if (situation_.siblings.empty() ? has_long_chains(loop) : total_work() <= HEAVY_WORK)
      lanes *= situation_.wide_vectors();
    else if (!situation_.siblings.empty() && situation_.fills(lanes * wide_beside(), loop))
      lanes *= wide_beside();
    lanes = std::max(lanes, situation_.stored_lanes_along(loop.axis, -1));
    const auto most = situation_.most(loop);
    if (most && *most < lanes) {
      lanes = std::min(lanes, next_power_of_two(std::max<std::int64_t>(*most, 1)));
      plan.masked = !situation_.divides(lanes, loop);
    }
    plan.lanes = lanes < 2 ? 0 : lanes;
  }
  // Registers of heavy bodies beside each other.
  std::int64_t wide_beside() const {
    return std::min(situation_.wide_vectors(), power_of_two_below(MOST_BESIDE_WORK / total_work()));
  }
  // Whether elements lie in registers as they do in memory.
  bool moves_only() const {
    return std::ranges::all_of(situation_.shape.items, [](const loops::Item& item) {
      const auto* stmt = std::get_if<loops::Ref<loops::Stmt>>(&item);
      const auto* store = stmt == nullptr ? nullptr : std::get_if<loops::Store>(&(*stmt)->node);
      return store != nullptr && std::holds_alternative<loops::Load>(store->value->node);
    });
  }
  // Whether the operators of an element take long, one after the other, as functions do: what a core keeps in
  // flight are few iterations of so much text, and several registers beside each other in one of them hide
  // what each waits for. (Sines, cosines and an arc sine of four inputs: 4.1 ms by one register, 3.1 by
  // two, 2.5 by four.)
  bool has_long_chains(const NestLoop& loop) const {
    return situation_.fills(situation_.lanes_along(loop.axis) * situation_.wide_vectors(), loop) &&
           situation_.has_long_work();
  }
  int total_work() const {
    int work = 1;
    for (const loops::Sibling* sibling : situation_.siblings) work = std::max(work, work_of(sibling->inner));
    return work;
  }

  // An axis other than the vector's along which some load has neighbours.
  std::optional<std::size_t> tiled_axis() const {
    for (std::size_t i = 0; i < situation_.shape.common.size(); ++i) {
      if (i == situation_.vector_axis) continue;
      for (const Access& access : situation_.accesses) {
        const auto along = stride_along(access, situation_.shape.common[i].axis);
        const auto vector = stride_along(access, situation_.shape.common[situation_.vector_axis].axis);
        if (along == 1 && vector != 0 && vector != 1) return i;
      }
    }
    return std::nullopt;
  }

  // Of a tile that is stored along its axis by vectors of so many lanes.
  std::int64_t most_rows(std::size_t tile, std::int64_t lanes) const {
    const std::vector<NestLoop>& loops = situation_.shape.common;
    const bool is_crowded = std::ranges::any_of(situation_.accesses, [&](const Access& access) {
      const auto apart = stride_along(access, loops[tile].axis);
      return access.store && apart && *apart * access.bytes % FEW_SETS_BYTES == 0 &&
             lanes * access.bytes % situation_.machine.sector_bytes == 0 &&
             stride_along(access, loops[situation_.vector_axis].axis) == 1;
    });
    return is_crowded ? MOST_CROWDED_ROWS : MOST_TILE_ROWS;
  }

  void set_tile(std::vector<Common>& plans, std::size_t tile) const {
    Common& vector = plans[situation_.vector_axis];
    double tasks = 1;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (i == tile || i == situation_.vector_axis) continue;
      plans[i].block = 1;
      tasks *= static_cast<double>(situation_.usual(situation_.shape.common[i]));
    }
    const std::int64_t columns = situation_.usual(situation_.shape.common[situation_.vector_axis]);
    if (vector.lanes != 0 && !vector.masked && columns > TILE_COLUMNS) {
      vector.block = std::max<std::int64_t>(TILE_COLUMNS, 2 * vector.lanes);
      tasks *= static_cast<double>(ceil_div(columns, vector.block));
    }
    const std::int64_t rows = situation_.usual(situation_.shape.common[tile]);
    std::int64_t block = most_rows(tile, vector.lanes);
    const auto wanted = static_cast<double>(TASKS_A_WORKER * situation_.machine.blocks_at_once);
    while (block > LEAST_TILE_ROWS && static_cast<double>(ceil_div(rows, block)) * tasks < wanted) block /= 2;
    if (rows > block) plans[tile].block = block;
  }

  // Blocks of the outermost axes until a task would become too short or there are enough of them.
  void set_blocks(std::vector<Common>& plans) const {
    double inside = situation_.turn_seconds();
    for (const NestLoop& loop : situation_.shape.common)
      inside *= static_cast<double>(std::max<std::int64_t>(situation_.usual(loop), 1));
    if (is_known() && inside < situation_.machine.worth_a_thread_seconds) return;
    double tasks = 1;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const NestLoop& loop = situation_.shape.common[i];
      inside /= static_cast<double>(std::max<std::int64_t>(situation_.usual(loop), 1));
      const std::int64_t step = block_step(loop, inside, tasks);
      const std::int64_t least = plans[i].lanes == 0 ? 1 : 2 * plans[i].lanes;
      if (plans[i].masked) continue;
      const bool aligned =
          plans[i].lanes != 0 && step <= plans[i].lanes && situation_.divides(plans[i].lanes, loop);
      plans[i].block = aligned ? plans[i].lanes : std::max(step, least);
      if (const std::int64_t panel = panel_of(loop, plans[i].lanes); panel != 0) {
        plans[i].block = panel;
        plans[i].panel = true;
      }
      if (plans[i].lanes == 0) plans[i].block = balanced(loop, plans[i].block, tasks);
      if (plans[i].block >= situation_.usual(loop) && constant(loop)) plans[i].block = 0;
      tasks *= static_cast<double>(situation_.usual(loop)) /
               static_cast<double>(std::max<std::int64_t>(plans[i].block, 1));
      if (plans[i].block > 1 ||
          tasks >= static_cast<double>(TASKS_A_WORKER * situation_.machine.blocks_at_once))
        return;
    }
  }
  // Columns of a panel: where memory holds what is reduced. Those of a whole number of panels, where one of
  // at least half the length divides them; else as many for each worker, whose last vectors are masked.
  std::int64_t panel_of(const NestLoop& loop, std::int64_t lanes) const {
    const auto extent = constant(loop);
    if (lanes == 0 || !extent || !situation_.wants_panel()) return 0;
    const std::int64_t workers = std::max<std::int64_t>(situation_.machine.blocks_at_once, 1);
    const std::int64_t most = PANEL_RUN_BYTES / FLOAT_BYTES / lanes, all = ceil_div(*extent, lanes);
    for (std::int64_t vectors = most; vectors > most / 2; --vectors)
      if (*extent % (vectors * lanes) == 0 && all >= workers * vectors) return vectors * lanes;
    const std::int64_t rounds = ceil_div(ceil_div(all, most), workers);
    const std::int64_t vectors = ceil_div(all, rounds * workers);
    return vectors > 1 && all > vectors ? vectors * lanes : 0;
  }
  // A shorter block where the last round of tasks would leave workers idle.
  std::int64_t balanced(const NestLoop& loop, std::int64_t block, double outer_tasks) const {
    const auto extent = constant(loop);
    if (!extent || *extent < 1 || outer_tasks > 1) return block;
    const std::int64_t workers = std::max<std::int64_t>(situation_.machine.blocks_at_once, 1);
    const std::int64_t rounds = ceil_div(ceil_div(*extent, block), workers);
    return rounds > TASKS_A_WORKER ? block : std::max<std::int64_t>(ceil_div(*extent, rounds * workers), 1);
  }
  bool is_known() const { return situation_.nest.sizes.empty(); }

  // Turns of a task that leave every worker one, whichever of its sizes the axis has.
  double longest_for_all(const NestLoop& loop) const {
    if (constant(loop)) return LONGEST_TASK;
    const auto least = static_cast<double>(situation_.facts.range(loop.extent).low.value_or(0));
    return least / static_cast<double>(std::max<std::int64_t>(situation_.machine.blocks_at_once, 1));
  }

  // Turns of the axis in one task: long enough to be worth it, but enough tasks for every worker.
  std::int64_t block_step(const NestLoop& loop, double inside, double tasks) const {
    const double enough = situation_.parameters.task_seconds() / std::max(inside, 1e-12);
    const double wanted = static_cast<double>(TASKS_A_WORKER * situation_.machine.blocks_at_once) / tasks;
    const double share = static_cast<double>(situation_.usual(loop)) / std::max(wanted, 1.0);
    const double longest = std::max(std::min(share, longest_for_all(loop)), enough);
    return next_power_of_two(
        static_cast<std::int64_t>(std::clamp(std::ceil(std::min(longest, LONGEST_TASK)), 1.0, LONGEST_TASK)));
  }

  void split_common(const NestLoop& loop, const Common& plan) {
    if (plan.masked) return choice_.split(loop, {}, Tail::mask);
    std::vector<std::int64_t> factors;
    if (plan.block > 1 && plan.block != plan.lanes) factors.push_back(plan.block);
    if (plan.lanes != 0) factors.push_back(plan.lanes);
    if (factors.empty()) return;
    const Tail usual = situation_.divides(factors.front(), loop) ? Tail::exact
                       : plan.panel                              ? Tail::mask
                                                                 : Tail::remainder;
    choice_.split(loop, factors, plan.lanes == 0 ? Tail::clip : usual);
  }

  void add_common_loops(const std::vector<Common>& plans, std::optional<std::size_t> tile) {
    const auto& loops = situation_.shape.common;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].block != 0) choice_.loop(loops[i], 0, Bind::block);
    }
    // The tiled axis is the innermost serial loop: what a strided vector fetches is used by its neighbours.
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (i != tile) add_serial(plans[i], loops[i]);
    }
    if (tile) add_serial(plans[*tile], loops[*tile]);
    for (std::size_t i = 0; i < plans.size(); ++i) {
      if (plans[i].lanes != 0) choice_.loop(loops[i], pieces_of(plans[i]) - 1, Bind::vector);
    }
  }
  static std::size_t pieces_of(const Common& plan) {
    if (plan.masked) return 1;
    const bool block = plan.block > 1 && plan.block != plan.lanes;
    return 1u + (plan.lanes != 0 ? 1u : 0u) + (block ? 1u : 0u);
  }
  void add_serial(const Common& plan, const NestLoop& loop) {
    const std::size_t end = pieces_of(plan) - (plan.lanes != 0 ? 1 : 0);
    for (std::size_t piece = plan.block != 0 ? 1 : 0; piece < end; ++piece)
      choice_.loop(loop, piece, Bind::serial);
  }

  const Situation& situation_;
  ScopeChoice choice_{-1};
};

}  // namespace

ScopeChoice choose_common(const Situation& situation) { return CommonChooser(situation).choose(); }
std::int64_t common_tasks(const Situation& situation) { return CommonChooser(situation).tasks(); }

}  // namespace twinloom::schedule
