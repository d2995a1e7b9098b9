// Which of several schedules takes the least time by cost::estimate. From the usual parameters of the
// heuristics one after the other is changed, and the best change is kept, until none helps.
#include <algorithm>
#include <limits>
#include <map>

#include "core/cost/estimate.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

class Search {
 public:
  Search(const loops::Program& nest, const machine::Machine& machine)
      : nest_(nest),
        forms_(nest),
        machine_(machine),
        sizes_(usual_sizes(nest)),
        things_(changes_for(machine)) {}

  Schedule best() {
    auto [own, best] = usual();
    const double worth = worth_changing() * best.seconds;
    const double least = cost::least_seconds(nest_, machine_, sizes_);
    Parameters parameters = own;
    Entry found = best;
    for (int round = 0; round < MOST_ROUNDS && least < std::min(worth, found.seconds); ++round) {
      const auto better = best_change(parameters, found);
      if (!better) break;
      parameters = better->first;
      found = better->second;
    }
    Entry chosen = found.seconds < worth ? std::move(found) : std::move(best);
    for (Schedule& schedule : choose_products(nest_, machine_)) {
      const double seconds = seconds_of(schedule);
      if (seconds < LESS * chosen.seconds) chosen = {std::move(schedule), seconds};
    }
    return std::move(chosen.schedule);
  }

  double usual_seconds() { return usual().second.seconds; }

 private:
  struct Entry {
    Schedule schedule;
    double seconds = 0;
  };

  double worth_changing() const {
    if (machine_.max_threads == 1) return WORTH_ON_CORES;
    return loops::looks_up_indices(*nest_.body) ? WORTH_OF_LISTS : WORTH_ON_BLOCKS;
  }

  // Parts are one program more: the heuristics do not know what that costs. Nor whether several threads a row
  // are better where it is not light.
  std::pair<Parameters, Entry> usual() {
    std::pair<Parameters, Entry> best = {{}, entry_of({})};
    if (!best.second.schedule.grid && !best.second.schedule.scan_split) return best;
    const auto consider = [&](const Change change) {
      Parameters parameters;
      change(parameters);
      Entry entry = entry_of(parameters);
      if (entry.seconds < LESS * best.second.seconds) best = {parameters, std::move(entry)};
    };
    if (best.second.schedule.grid && machine_.max_threads > 1 && !best.second.schedule.outermost_fastest)
      consider([](Parameters& p) { p.beside = FEW_ROWS_BESIDE; });
    consider([](Parameters& p) { p.splits = false; });
    return best;
  }

  Entry entry_of(const Parameters& parameters) {
    Entry entry{choose(forms_, machine_, parameters)};
    const auto [known, fresh] = seen_.try_emplace(print(entry.schedule), 0.0);
    if (fresh) known->second = seconds_of(entry.schedule);
    entry.seconds = known->second;
    return entry;
  }
  double seconds_of(const Schedule& schedule) const {
    const auto programs = programs_of(forms_, schedule);
    if (std::holds_alternative<std::string>(programs)) return std::numeric_limits<double>::infinity();
    return cost::estimate(std::get<std::vector<loops::Program>>(programs), machine_, sizes_).seconds;
  }

  std::optional<std::pair<Parameters, Entry>> best_change(const Parameters& from, const Entry& now) {
    std::optional<std::pair<Parameters, Entry>> best;
    for (const Changes& changes : things_) {
      for (const Change change : changes) {
        Parameters parameters = from;
        change(parameters);
        Entry entry = entry_of(parameters);
        if (entry.seconds < LESS * (best ? best->second.seconds : now.seconds))
          best.emplace(parameters, std::move(entry));
      }
    }
    return best;
  }

  const loops::Program& nest_;
  const Forms forms_;
  const machine::Machine& machine_;
  const index::Values sizes_;
  const std::vector<Changes>& things_;
  std::map<std::string, double> seen_;
};

}  // namespace

double usual_seconds(const loops::Program& nest, const machine::Machine& machine) {
  if (is_call(nest)) return cost::estimate({nest}, machine, usual_sizes(nest)).seconds;
  if (loops::has_parts(nest)) return chosen_seconds(nest, machine);
  return Search(nest, machine).usual_seconds();
}

double chosen_seconds(const loops::Program& nest, const machine::Machine& machine) {
  const auto chosen = loops::has_parts(nest) ? choose_parts(nest, machine) : choose(nest, machine);
  if (!chosen) return std::numeric_limits<double>::infinity();
  return cost::estimate(apply(nest, *chosen), machine, usual_sizes(nest)).seconds;
}

Schedule choose_by_estimate(const loops::Program& nest, const machine::Machine& machine) {
  return Search(nest, machine).best();
}

}  // namespace twinloom::schedule
