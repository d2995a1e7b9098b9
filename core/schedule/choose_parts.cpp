// Nests of several parts: a task takes a block of rows, iterations of the innermost common loop, and keeps in
// a core's second cache what the parts hand on. Each part is walked over the block by loops of its own: a
// contraction by tiles of registers, other parts by vectors along their rows.
//   for i.0 block { array of i.0 { for i.1 { product }; for i.1_1 { softmax }; for i.1_2 { product } } }
// Of blocks and tiles the estimate takes the best, one part after the other.
#include <algorithm>
#include <limits>

#include "core/base/integers.h"
#include "core/cost/estimate.h"
#include "core/loops/canonical.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/constants.h"
#include "core/schedule/heuristics.h"
#include "core/schedule/product.h"

namespace twinloom::schedule {

namespace {

using loops::Bind;
using Steps = std::vector<steps::Step>;

bool sums_up_in_order(const loops::Sibling& sibling, const loops::Program& program) {
  return std::ranges::any_of(sibling.inner, [&](const loops::Ref<loops::Stmt>& stmt) {
    const auto* step = std::get_if<loops::Accumulate>(&stmt->node);
    if (step == nullptr) return false;
    bool canonical = false;
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& inner) {
      const auto* start = std::get_if<loops::Start>(&inner.node);
      if (start == nullptr || start->total != step->total) return;
      canonical = !start->free && ops::order(start->monoid, start->element) != ops::Order::any;
    });
    return canonical;
  });
}

class RowSteps {
 public:
  RowSteps(const loops::Program& part, const machine::Machine& machine)
      : part_(part), lanes_(machine.vector_bytes / FLOAT_BYTES) {}

  Steps run() {
    const loops::Nest shape = loops::take_apart(part_);
    bool any = false;
    for (const loops::Item& item : shape.items) {
      const auto* sibling = std::get_if<loops::Sibling>(&item);
      if (sibling == nullptr) continue;
      any = true;
      if (sums_up_in_order(*sibling, part_))
        sum_up_in_order(sibling->loops.back());
      else
        walk(sibling->loops.back());
    }
    if (!any && shape.common.size() > 1) walk(shape.common.back());
    return std::move(steps_);
  }

 private:
  template <class Step>
  void add(Step step) {
    steps_.push_back({std::move(step)});
  }

  // Several vectors side by side, so that none waits for the one before.
  void walk(const loops::NestLoop& loop) {
    const std::string axis(loop.axis.name());
    add(steps::Split{axis, {VECTORS_OF_PARTS * lanes_, lanes_}, steps::Tail::mask});
    add(steps::BindLoop{axis + ".1", Bind::unroll});
    bind_vector(axis + ".2");
  }

  // Lanes of a unit outside, the chain of each inside; of a short row only as many lanes as it has.
  void sum_up_in_order(const loops::NestLoop& loop) {
    const std::string axis(loop.axis.name());
    const std::int64_t extent = index::constant_of(loop.extent).value_or(loops::UNIT + 1);
    std::vector<std::int64_t> factors = {loops::UNIT, loops::LANES, lanes_};
    if (extent <= loops::UNIT) factors.erase(factors.begin());
    if (extent <= loops::LANES) factors.front() = next_power_of_two(std::max(extent, 2 * lanes_));
    add(steps::Split{axis, factors, steps::Tail::mask});
    std::vector<std::string> order;
    for (std::size_t piece = 0; piece <= factors.size(); ++piece) order.push_back(cat(axis, ".", piece));
    const std::size_t chain = factors.size() - 2;
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(chain),
                order.begin() + static_cast<std::ptrdiff_t>(chain) + 1, order.end());
    add(steps::Reorder{order});
    bind_vector(cat(axis, ".", factors.size()));
  }

  void bind_vector(const std::string& loop) {
    if (lanes_ > 1) add(steps::BindLoop{loop, Bind::vector});
  }

  const loops::Program& part_;
  std::int64_t lanes_;
  Steps steps_;
};

class PartsSearch {
 public:
  PartsSearch(const loops::Program& nest, const machine::Machine& machine)
      : nest_(nest), machine_(machine), parts_(loops::parts_of(nest)), sizes_(usual_sizes(nest)) {}

  std::optional<Schedule> best() {
    std::optional<Schedule> best;
    double least = std::numeric_limits<double>::infinity();
    for (const std::int64_t rows : blocks()) {
      auto [schedule, seconds] = best_of(rows);
      if (seconds < least) best = std::move(schedule), least = seconds;
    }
    return best;
  }

 private:
  // Rows of a block: what the second cache has room for beside the operands, and fewer; those that divide all
  // rows where there are some.
  std::vector<std::int64_t> blocks() const {
    const std::int64_t l2 = machine::level_bytes(machine_, "L2");
    const std::int64_t room = std::min((l2 > 0 ? l2 : MOST_BLOCK_BYTES) / BLOCK_L2_SHARE, MOST_BLOCK_BYTES);
    std::int64_t row = 0;
    for (const loops::Scratch& array : parts_.arrays)
      row += *index::constant_of(array.count) * ops::size_of(nest_.buffers[array.buffer.index].dtype);
    const std::int64_t all = usual_extent(parts_.common.back(), sizes_);
    std::vector<std::int64_t> found;
    std::int64_t most =
        std::min(room / std::max<std::int64_t>(row, 1), ceil_div(all, BLOCK_STEP) * BLOCK_STEP);
    for (; most > 0 && std::ssize(found) < BLOCK_TRIES; most /= 2) {
      std::int64_t rows = std::max(most - most % BLOCK_STEP, std::min(most, BLOCK_STEP));
      for (std::int64_t fewer = rows; 2 * fewer > rows; fewer -= BLOCK_STEP)
        if (all % fewer == 0) {
          rows = fewer;
          break;
        }
      if (found.empty() || found.back() != rows) found.push_back(rows);
    }
    return found;
  }

  Steps before(std::int64_t rows) const {
    const std::string i(parts_.common.back().axis.name());
    Steps steps = {{steps::Split{i, {rows}, steps::Tail::mask}}};
    for (const loops::Scratch& array : parts_.arrays)
      steps.push_back({steps::StoreAt{nest_.buffers[array.buffer.index].name, i + ".0"}});
    steps.push_back({steps::Distribute{i + ".1"}});
    return steps;
  }

  Steps after() const {
    Steps steps;
    for (const loops::NestLoop& loop : parts_.common) {
      const bool last = loop.axis == parts_.common.back().axis;
      steps.push_back({steps::BindLoop{cat(loop.axis, last ? ".0" : ""), Bind::block}});
    }
    return steps;
  }

  // The ways to walk a part over a block, the first one the usual one.
  std::vector<Steps> ways(const loops::Program& part) const {
    const std::int64_t lanes = machine_.vector_bytes / FLOAT_BYTES;
    const auto product = find_contraction(part);
    if (!product) return {RowSteps(part, machine_).run()};
    std::vector<Steps> ways;
    for (const Tile& tile :
         {Tile{8, 3}, Tile{8, 2}, Tile{12, 2}, Tile{6, 4}, Tile{4, 4}, Tile{6, 2}, Tile{4, 2}}) {
      if (tile.rows * tile.vectors + tile.vectors + 1 > machine_.vector_registers) continue;
      ways.push_back(tiled(*product, std::nullopt, tile, lanes, true));
      if (product->right_is_dense) ways.push_back(tiled(*product, std::nullopt, tile, lanes, false));
    }
    return ways;
  }

  // The loops over a block, in the order of the parts.
  static std::vector<loops::Program> parts_in(const steps::Kernel& kernel, const loops::Axis& rows) {
    std::vector<loops::Program> parts;
    loops::for_each_stmt(*kernel.program.body, [&](const loops::Stmt& stmt) {
      const auto* block = std::get_if<loops::Block>(&stmt.node);
      if (block == nullptr || !parts.empty()) return;
      const auto* first = std::get_if<loops::Loop>(&block->stmts.front()->node);
      if (first == nullptr || first->axis != rows) return;
      for (const loops::Ref<loops::Stmt>& loop : block->stmts) {
        parts.push_back(kernel.program);
        parts.back().body = loop;
      }
    });
    return parts;
  }

  double seconds_of(const Schedule& schedule) const {
    const auto programs = programs_of(Forms(nest_), schedule);
    if (std::holds_alternative<std::string>(programs)) return std::numeric_limits<double>::infinity();
    return cost::estimate(std::get<std::vector<loops::Program>>(programs), machine_, sizes_).seconds;
  }

  std::pair<Schedule, double> best_of(std::int64_t rows) const {
    std::pair<Schedule, double> best = {{}, std::numeric_limits<double>::infinity()};
    const auto begun = steps::apply(steps::kernel_of(nest_), before(rows));
    if (std::holds_alternative<std::string>(begun)) return best;
    const loops::Axis axis(cat(parts_.common.back().axis, ".1"));
    std::vector<std::vector<Steps>> all;
    for (const loops::Program& part : parts_in(std::get<steps::Kernel>(begun), axis))
      all.push_back(ways(part));
    std::vector<std::size_t> chosen(all.size(), 0);
    for (std::size_t part = 0; part < all.size(); ++part) {
      std::size_t best_way = 0;
      for (std::size_t way = 0; way < all[part].size(); ++way) {
        if (way == 0 && part > 0) continue;  // known from the part before
        chosen[part] = way;
        Schedule schedule = with(rows, all, chosen);
        const double seconds = seconds_of(schedule);
        if (seconds < best.second) best = {std::move(schedule), seconds}, best_way = way;
      }
      chosen[part] = best_way;
    }
    return best;
  }

  Schedule with(std::int64_t rows, const std::vector<std::vector<Steps>>& ways,
                const std::vector<std::size_t>& chosen) const {
    Schedule schedule;
    schedule.steps = before(rows);
    for (std::size_t part = 0; part < ways.size(); ++part)
      schedule.steps.insert(schedule.steps.end(), ways[part][chosen[part]].begin(),
                            ways[part][chosen[part]].end());
    const Steps last = after();
    schedule.steps.insert(schedule.steps.end(), last.begin(), last.end());
    return schedule;
  }

  const loops::Program& nest_;
  const machine::Machine& machine_;
  loops::Parts parts_;
  index::Values sizes_;
};

}  // namespace

std::optional<Schedule> choose_parts(const loops::Program& nest, const machine::Machine& machine) {
  return PartsSearch(nest, machine).best();
}

}  // namespace twinloom::schedule
