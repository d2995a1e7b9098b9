// See tune.h.
#include "core/pipeline/tune.h"

#include <mutex>

#include "core/base/error.h"
#include "core/cost/estimate.h"

namespace twinloom::pipeline {

namespace {

constexpr int MOST_CANDIDATES = 32;  // that are estimated
constexpr std::uint64_t SEED = 1;    // of these

// Measurements of one process wait for each other.
std::mutex& measuring() {
  static std::mutex mutex;
  return mutex;
}

void expect_folder(const Tuning& tuning) {
  if (tuning.folder.empty()) return;
  std::error_code problem;
  if (tuning.tries > 0) std::filesystem::create_directories(tuning.folder, problem);
  if (!std::filesystem::is_directory(tuning.folder))
    throw Error(cat(tuning.tries > 0 ? "cannot make the folder '" : "there is no folder '",
                    escaped(tuning.folder.string()), "' of schedules"));
}

// The usual schedule, and those others whose estimates are the least.
std::vector<schedule::Schedule> worth_trying(const loops::Program& nest, const schedule::Schedule& usual,
                                             const machine::Machine& machine, const index::Values& sizes,
                                             int count) {
  std::vector<schedule::Schedule> all = {usual};
  for (schedule::Schedule& other : schedule::candidates(nest, machine, MOST_CANDIDATES, SEED))
    all.push_back(std::move(other));
  std::vector<double> seconds;
  for (const schedule::Schedule& one : all)
    seconds.push_back(cost::estimate(schedule::apply(nest, one), machine, sizes).seconds);
  std::vector<schedule::Schedule> chosen;
  for (const std::size_t k : schedule::shortlist(seconds, count)) chosen.push_back(all[k]);
  return chosen;
}

}  // namespace

Tuner::Tuner(const Tuning& tuning, const runtime::Backend& backend, const index::Values& sizes,
             schedule::Choices& choices)
    : tuning_(tuning),
      backend_(backend),
      choices_(choices),
      sizes_(sizes),
      threads_(tuning.threads > 0 ? tuning.threads : backend.machine().blocks_at_once) {
  for (const char* drawn : {"seed", "offset"}) sizes_.emplace(index::Symbol(drawn), 0);
  if (!backend.runs_nests()) expect_folder(tuning);
}

schedule::Schedule Tuner::schedule_of(const loops::Program& nest, const Layouts& layouts) {
  const machine::Machine& machine = backend_.machine();
  const bool measures = tuning_.tries > 0 && measure::has_sizes(nest, sizes_);
  if (!measures && tuning_.folder.empty()) return choices_.choose(nest);
  const schedule::StoredFile file(tuning_.folder, nest, machine, threads_);
  if (!measures) {
    const auto stored = file.read();
    return stored ? stored->schedule : choices_.choose(nest);
  }
  if (const auto known = known_.find(file.path()); known != known_.end())
    return file.parse(known->second)->schedule;
  const schedule::Schedule usual = choices_.choose(nest);
  if (usual == schedule::Schedule{}) return usual;  // a call
  const auto fastest = measured(nest, usual, layouts);
  if (!fastest) return usual;
  known_.emplace(file.path(), file.text_of(*fastest));
  if (!tuning_.folder.empty()) file.write(*fastest);
  if (tuning_.report) tuning_.report({nest.name, fastest->usual_seconds, fastest->seconds});
  return fastest->schedule;
}

std::optional<schedule::StoredSchedule> Tuner::measured(const loops::Program& nest,
                                                        const schedule::Schedule& usual,
                                                        const Layouts& layouts) const {
  machine::Machine machine = backend_.machine();
  if (machine.max_threads == 1) machine.blocks_at_once = threads_;
  const std::vector<schedule::Schedule> schedules = worth_trying(nest, usual, machine, sizes_, tuning_.tries);
  std::vector<measure::Way> ways;
  for (const schedule::Schedule& one : schedules) ways.push_back(schedule::apply(nest, one));
  const std::lock_guard alone(measuring());
  const auto taken = measure::try_ways(backend_, {nest, layouts(sizes_), sizes_, threads_}, ways);
  if (taken.front().seconds <= 0) return std::nullopt;
  const std::size_t fastest = measure::fastest_of(taken);
  return schedule::StoredSchedule{schedules[fastest], taken[fastest].seconds, taken.front().seconds};
}

}  // namespace twinloom::pipeline
