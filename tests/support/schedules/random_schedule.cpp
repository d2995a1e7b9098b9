// See random.h. Splits come from a list that holds those of the canonical order among others, so that a
// fair share is legal.
#include "tests/support/schedules/random_schedule.h"

#include <algorithm>

#include "core/cost/estimate.h"
#include "core/loops/nest.h"
#include "core/schedule/heuristics.h"

namespace twinloom::tests {

namespace {

using loops::Bind;
using schedule::Tail;

const std::vector<std::vector<std::int64_t>> factor_lists = {{},
                                                             {4},
                                                             {8},
                                                             {16},
                                                             {64, 8},
                                                             {100, 20},
                                                             {12, 4},
                                                             {32, 8},
                                                             {256},
                                                             {256, 32, 8},
                                                             {256, 16},
                                                             {1024, 256},
                                                             {1024, 256, 32, 8},
                                                             {1024, 256, 16},
                                                             {1024, 32},
                                                             {1024, 512, 256, 64},
                                                             {2048, 1024, 256, 8},
                                                             {1024, 256, 128, 4}};

class Draw {
 public:
  explicit Draw(std::mt19937_64& random) : random_(random) {}

  schedule::Schedule schedule(const loops::Program& nest) {
    const loops::Nest shape = loops::take_apart(nest);
    rows_are_blocks_ = shape.columns.has_value();
    scope(-1, shape.common);
    int sibling = 0;
    for (const loops::Item& item : shape.items) {
      const auto* found = std::get_if<loops::Sibling>(&item);
      if (found == nullptr) continue;
      scans_ = is_scan(*found);
      scope(sibling++, found->loops);
    }
    if (shape.columns)
      result_.columns = {std::int64_t{1} << below(9),
                         std::array{loops::Place::registers, loops::Place::scratch}[below(2)],
                         std::int64_t{1} << below(6), std::int64_t{1} << below(4)};
    if (scans_ && below(2) == 0)
      result_.scan_split = {result_.loops.back().piece.substr(0, result_.loops.back().piece.find('.')),
                            static_cast<std::int64_t>(1 + below(3)), std::int64_t{1} << below(4)};
    const bool side_by_side = std::ranges::any_of(result_.loops, [](const schedule::LoopPlan& loop) {
      return loop.sibling < 0 && loop.bind == Bind::vector;
    });
    result_.transposed_rows = sibling != 0 && (side_by_side || scans_) && below(2) == 0;
    for (const loops::BufferInfo& info : nest.buffers) {
      if (!info.written && below(6) == 0)
        result_.temps.push_back({info.name, loops::Place::registers, draw_turns(), 0});
      if (sibling != 0 && below(6) == 0)
        result_.prefetches.push_back({info.name, static_cast<int>(below(static_cast<std::size_t>(sibling)))});
      if (info.written && below(4) == 0) result_.streams.push_back(info.name);
    }
    return std::move(result_);
  }

 private:
  std::size_t below(std::size_t count) { return random_() % count; }
  static bool is_scan(const loops::Sibling& sibling) {
    return std::ranges::any_of(
        sibling.inner, [](const auto& stmt) { return std::holds_alternative<loops::Scan>(stmt->node); });
  }

  void scope(int sibling, const std::vector<loops::NestLoop>& loops) {
    std::vector<std::string> axes;
    std::int64_t elements = 1;  // of constant extents
    for (const loops::NestLoop& loop : loops) {
      axes.emplace_back(loop.axis.name());
      elements *= std::max<std::int64_t>(1, index::constant_of(loop.extent).value_or(1));
    }
    written_out_ = 1;
    const bool blocks = sibling < 0 && rows_are_blocks_;
    if (axes.size() > 1 && (blocks || below(2) == 0)) {
      const std::string name = cat("r", sibling + 1);
      result_.steps.push_back({steps::Fuse{axes, name}});
      axes = {name};
    }
    if (blocks) return result_.loops.push_back({sibling, cat(axes.front(), ".0"), Bind::block});
    std::vector<schedule::LoopPlan> order;
    for (const std::string& axis : axes) {
      const bool of_scan = scans_ && sibling >= 0 && below(3) != 0;
      const auto factors =
          of_scan ? std::vector<std::int64_t>{1024, 32} : factor_lists[below(factor_lists.size())];
      const Tail tail = std::array{Tail::exact, Tail::mask, Tail::remainder, Tail::clip}[below(4)];
      result_.splits.push_back({sibling, axis, factors, tail});
      if (tail == Tail::remainder && below(3) == 0)
        result_.splits.back().shorts =
            below(2) == 0 ? std::vector<std::int64_t>{8, 64} : std::vector<std::int64_t>{2, 256};
      for (std::size_t piece = 0; piece <= factors.size(); ++piece) {
        const std::int64_t outer = piece == 0 ? elements : factors[piece - 1];
        const std::int64_t inner = piece == factors.size() ? 1 : factors[piece];
        order.push_back({sibling, cat(axis, ".", piece), draw_bind(sibling, (outer + inner - 1) / inner)});
      }
    }
    // A few exchanges keep most of the falling order that many tails ask for.
    for (std::size_t exchanges = below(4); exchanges > 0 && order.size() > 1; --exchanges) {
      std::swap(order[below(order.size())], order[below(order.size())]);
    }
    std::stable_partition(order.begin(), order.end(),
                          [](const auto& loop) { return loop.bind == Bind::block; });
    result_.loops.insert(result_.loops.end(), order.begin(), order.end());
  }

  // A piece of the common loops, or the task.
  std::string draw_turns() {
    std::vector<std::string> turns = {std::string(schedule::TASK)};
    for (const schedule::LoopPlan& loop : result_.loops)
      if (loop.sibling < 0) turns.push_back(loop.piece);
    return turns[below(turns.size())];
  }

  // Of a loop of at most so many iterations. What is written out stays short: LLVM takes minutes for a few
  // thousand elements with computed places, and nobody chooses that.
  Bind draw_bind(int sibling, std::int64_t iterations) {
    constexpr std::int64_t MOST_WRITTEN_OUT = 512;
    const std::size_t draw = below(10);
    if (draw < 2 && sibling < 0) return Bind::block;
    if (draw < 6 || iterations > MOST_WRITTEN_OUT / written_out_) return Bind::serial;
    written_out_ *= iterations;
    return draw < 8 ? Bind::unroll : Bind::vector;
  }

  std::mt19937_64& random_;
  std::int64_t written_out_ = 1;  // iterations of the scope's unrolled loops and vectors
  bool rows_are_blocks_ = false;  // of a nest with totals of columns
  bool scans_ = false;            // of the last sibling
  schedule::Schedule result_;
};

}  // namespace

schedule::Schedule random_schedule(const loops::Program& nest, std::mt19937_64& random) {
  return Draw(random).schedule(nest);
}

schedule::Schedule legal_schedule(const loops::Program& nest, const machine::Machine& machine,
                                  std::uint64_t seed) {
  const schedule::Schedule chosen = schedule::choose(nest, machine);
  if (chosen == schedule::Schedule{}) return chosen;  // of a call
  std::mt19937_64 random(seed);
  const auto runs = [&](const schedule::Schedule& one) { return !schedule::why_unfit(nest, one, machine); };
  // A row that is read whole at each element takes the interpreter minutes.
  const auto seconds = [&](const schedule::Schedule& one) {
    return cost::estimate(schedule::apply(nest, one), machine, schedule::usual_sizes(nest)).seconds;
  };
  constexpr double MOST_TIMES = 100;
  const double most_seconds = MOST_TIMES * seconds(chosen);
  constexpr int TRIES = 20;
  if (machine.max_threads == 1 && random() % 2 == 0)
    for (int tries = 0; tries < TRIES; ++tries)
      if (schedule::Schedule drawn = random_schedule(nest, random);
          !schedule::why_illegal(nest, drawn) && runs(drawn) && seconds(drawn) < most_seconds)
        return drawn;
  constexpr int MOST = 4;
  const std::vector<schedule::Schedule> others = schedule::candidates(nest, machine, MOST, seed);
  if (others.empty()) return chosen;
  const schedule::Schedule& other = others[random() % others.size()];
  return runs(other) ? other : chosen;
}

}  // namespace twinloom::tests
