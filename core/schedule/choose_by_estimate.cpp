// Which of several schedules takes the least time by cost::estimate. From the usual parameters of the
// heuristics one after the other is changed, and the best change is kept, until none helps.
#include <algorithm>
#include <limits>
#include <list>
#include <set>

#include "core/cost/estimate.h"
#include "core/loops/parts.h"
#include "core/loops/rewrite.h"
#include "core/schedule/heuristics.h"

namespace twinloom::schedule {

namespace {

struct Choice {
  Schedule schedule;
  double seconds = std::numeric_limits<double>::infinity();  // where it is not legal
  std::vector<loops::Program> programs = {};
};

class Search {
 public:
  Search(const loops::Program& nest, const machine::Machine& machine)
      : nest_(nest), forms_(nest_), machine_(machine), sizes_(usual_sizes(nest)) {}

  const Choice& best() {
    const Choice* chosen = usual().made;
    least_ = cost::least_seconds(nest_, machine_, sizes_);
    const double worth = worth_changing() * chosen->seconds;
    Entry found = usual();
    for (int round = 0; round < MOST_ROUNDS && least_ < worth; ++round) {
      auto better = best_change(found);
      if (!better) break;
      found = std::move(*better);
    }
    if (seconds_of(found) < worth) chosen = found.made;
    for (Schedule& schedule : choose_steps(nest_, machine_)) {
      const Choice* other = made_by(std::move(schedule));
      if (other->seconds < LESS * chosen->seconds) chosen = other;
    }
    return *chosen;
  }

  double usual_seconds() { return usual().made->seconds; }

 private:
  struct Entry {
    Parameters parameters;
    const Choice* made;  // of those seen
  };

  double worth_changing() const {
    if (machine_.max_threads == 1) return WORTH_ON_CORES;
    return loops::looks_up_indices(*nest_.body) ? WORTH_OF_LISTS : WORTH_ON_BLOCKS;
  }

  const Entry& usual() {
    if (!usual_) usual_ = best_usual();
    return *usual_;
  }

  // Parts are one program more: the heuristics do not know what that costs. Nor whether several threads a row
  // are better where it is not light.
  Entry best_usual() {
    Entry best = entry_of({});
    const Schedule& first = best.made->schedule;
    if (!first.grid && !first.scan_split) return best;
    const auto consider = [&](const Parameters& parameters) {
      Entry entry = entry_of(parameters);
      if (entry.made->seconds < LESS * best.made->seconds) best = std::move(entry);
    };
    Parameters beside, whole;
    beside.beside = FEW_ROWS_BESIDE;
    whole.splits = false;
    if (first.grid && machine_.max_threads > 1 && !first.outermost_fastest) consider(beside);
    consider(whole);
    return best;
  }

  Entry entry_of(const Parameters& parameters) {
    Entry entry{parameters, nullptr};
    entry.made = made_by(choose(forms_, machine_, entry.parameters));
    return entry;
  }
  const Choice* made_by(Schedule schedule) {
    const auto known = std::ranges::find(seen_, schedule, &Choice::schedule);
    if (known != seen_.end()) return &*known;
    Choice made = {.schedule = std::move(schedule)};
    auto programs = programs_of(forms_, made.schedule);
    if (auto* legal = std::get_if<std::vector<loops::Program>>(&programs)) {
      made.programs = std::move(*legal);
      made.seconds = cost::estimate(made.programs, machine_, sizes_).seconds;
    }
    return &seen_.emplace_back(std::move(made));
  }

  // Nothing is less than what no schedule can beat.
  std::optional<Entry> best_change(const Entry& now) {
    std::optional<Entry> best;
    for (const Changes& changes : changes_for(machine_)) {
      for (const Change& change : changes) {
        const double wanted = LESS * seconds_of(best ? *best : now);
        if (wanted <= least_) return best;
        if (!change.matters(now.parameters)) continue;
        Parameters parameters = now.parameters;
        change.make(parameters);
        Entry entry = entry_of(parameters);
        if (seconds_of(entry) < wanted) best = std::move(entry);
      }
    }
    return best;
  }
  double seconds_of(const Entry& entry) const { return std::max(entry.made->seconds, least_); }

  const loops::Program nest_;
  const Forms forms_;
  const machine::Machine& machine_;
  const index::Values sizes_;
  double least_ = 0;
  std::optional<Entry> usual_;
  std::list<Choice> seen_;
};

// Whether the iterations of a loop are as many as the run finds, before it.
bool walks_lists(const loops::Program& nest) {
  std::set<index::Symbol> found;
  const auto is_found = [&](const index::Symbol& symbol) { return found.contains(symbol); };
  bool lists = false;
  loops::for_each_stmt(*nest.body, [&](const loops::Stmt& stmt) {
    if (const auto* index = std::get_if<loops::Index>(&stmt.node)) found.insert(index->symbol);
    if (const auto* loop = std::get_if<loops::Loop>(&stmt.node))
      lists |= index::any_symbol(loop->extent, is_found);
  });
  return lists;
}

}  // namespace

// How long lists are only the run knows, and a core's schedule is no better by a guess.
bool is_searched(const loops::Program& nest, const machine::Machine& machine) {
  return !is_call(nest) && !loops::has_parts(nest) && (machine.max_threads > 1 || !walks_lists(nest));
}

Schedule choose_by_estimate(const loops::Program& nest, const machine::Machine& machine) {
  return Search(nest, machine).best().schedule;
}

double chosen_seconds(const loops::Program& nest, const machine::Machine& machine) {
  const auto chosen = loops::has_parts(nest) ? choose_parts(nest, machine) : choose(nest, machine);
  if (!chosen) return std::numeric_limits<double>::infinity();
  return cost::estimate(apply(nest, *chosen), machine, usual_sizes(nest)).seconds;
}

// A body is made for one nest, whose sizes may be narrowed to those of a class.
struct Choices::Known {
  loops::Program nest;
  std::unique_ptr<Search> search;  // until it has chosen
  double usual_seconds = 0;        // once it has
  Choice chosen;
};

Choices::Choices(const machine::Machine& machine) : machine_(machine) {}
Choices::~Choices() = default;

Choices::Known& Choices::known(const loops::Program& nest) {
  const auto [found, fresh] = known_.try_emplace(nest.body);
  Known& known = found->second;
  if (fresh || known.nest.sizes != nest.sizes)
    known = {nest, std::make_unique<Search>(nest, machine_), 0, {}};
  return known;
}

Choices::Known& Choices::chosen(const loops::Program& nest) {
  Known& known = this->known(nest);
  if (known.search == nullptr) return known;
  known.usual_seconds = known.search->usual_seconds();
  known.chosen = known.search->best();
  known.search.reset();
  return known;
}

// A program's name begins with its nest's, which may have another by now.
std::vector<loops::Program> Choices::apply(const loops::Program& nest, const Schedule& schedule) const {
  const auto found = known_.find(nest.body);
  if (found == known_.end()) return schedule::apply(nest, schedule);
  const Known& known = found->second;
  const Choice& chosen = known.chosen;
  if (known.nest.sizes != nest.sizes || known.search != nullptr || chosen.schedule != schedule ||
      chosen.programs.empty())  // of one that is not legal: apply() says why
    return schedule::apply(nest, schedule);
  std::vector<loops::Program> programs = known.chosen.programs;
  for (loops::Program& program : programs)
    program.name = nest.name + program.name.substr(known.nest.name.size());
  return programs;
}

Schedule Choices::choose(const loops::Program& nest) {
  return is_searched(nest, machine_) ? chosen(nest).chosen.schedule : schedule::choose(nest, machine_);
}

double Choices::usual_seconds(const loops::Program& nest) {
  if (!is_searched(nest, machine_)) return schedule::chosen_seconds(nest, machine_);
  const Known& known = this->known(nest);
  return known.search == nullptr ? known.usual_seconds : known.search->usual_seconds();
}

double Choices::chosen_seconds(const loops::Program& nest) {
  return is_searched(nest, machine_) ? chosen(nest).chosen.seconds : schedule::chosen_seconds(nest, machine_);
}

}  // namespace twinloom::schedule
