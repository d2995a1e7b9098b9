// Whether the sums of a nest are made in any order, where the mode allows that: a free order has chains and
// vectors that the canonical one has not, but is cut into parts by fewer schedules.
#include <algorithm>
#include <map>
#include <set>

#include "core/loops/nest.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"
#include "core/schedule/schedule.h"
#include "core/steps/contraction.h"

namespace twinloom::schedule {

namespace {

// Additions into one accumulator, one after the other, of sums in free order. Where signs are random, n terms
// in chains of c are off by 0.35 u rms sqrt(n c) in the mean; three times that is what the mode promises, 8 u
// rms sqrt(n log2 n), at c = 58 log2 n, which for chains of 512 and more is above 512.
constexpr std::int64_t MOST_CHAIN = 512;

class Chains {
 public:
  explicit Chains(const loops::Program& program) : facts_(loops::facts_of(program)) {
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
      const auto* start = std::get_if<loops::Start>(&stmt.node);
      if (start != nullptr && start->free) starts_.emplace(start->total, start);
    });
    loops::for_each_stmt(*program.body, [&](const loops::Stmt& stmt) {
      if (const auto* loop = std::get_if<loops::Loop>(&stmt.node)) lengthen(*loop);
    });
  }
  bool are_short() const {
    return std::ranges::all_of(lengths_, [](const auto& each) { return each.second <= MOST_CHAIN; });
  }

 private:
  // By what the loop repeats of accumulators that are started outside of it and that its iterations share.
  void lengthen(const loops::Loop& loop) {
    const std::int64_t extent = facts_.range(loop.extent).high.value_or(MOST_CHAIN + 1);
    std::set<loops::Temp> inside;
    loops::for_each_stmt(*loop.body, [&](const loops::Stmt& stmt) {
      if (const auto* start = std::get_if<loops::Start>(&stmt.node)) inside.insert(start->total);
    });
    loops::for_each_stmt(*loop.body, [&](const loops::Stmt& stmt) {
      const auto* merge = std::get_if<loops::Merge>(&stmt.node);
      const auto start = merge == nullptr ? starts_.end() : starts_.find(merge->total);
      if (start == starts_.end() || inside.contains(merge->total)) return;
      if (std::ranges::find(start->second->copies, loop.axis) != start->second->copies.end()) return;
      std::int64_t& length = lengths_.emplace(merge, 1).first->second;
      length = std::min(length, MOST_CHAIN + 1) * std::min(std::max<std::int64_t>(extent, 1), MOST_CHAIN + 1);
    });
  }

  index::Facts facts_;
  std::map<loops::Temp, const loops::Start*> starts_;
  std::map<const loops::Merge*, std::int64_t> lengths_;
};

bool has_short_chains(const loops::Program& free, const machine::Machine& machine) {
  return std::ranges::all_of(apply(free, choose(free, machine)),
                             [](const loops::Program& program) { return Chains(program).are_short(); });
}

}  // namespace

loops::Program choose_orders(const loops::Program& nest, const machine::Machine& machine) {
  loops::Program free = steps::with_free_sums(nest);
  if (free.body == nest.body) return nest;
  // What lists take is estimated too badly to choose by. A core walks one by a masked vector, not by a unit
  // of lanes; a thread has fewer of its loads on their way at once than of a short unit.
  if (loops::looks_up_indices(*nest.body)) return machine.max_threads == 1 ? free : nest;
  const bool is_faster = chosen_seconds(free, machine) <= chosen_seconds(nest, machine);
  return is_faster && has_short_chains(free, machine) ? free : nest;
}

}  // namespace twinloom::schedule
