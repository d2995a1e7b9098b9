// See regret_estimates.h.
#include "perf/regret_estimates.h"

#include <algorithm>
#include <limits>

#include "core/measure/turns.h"
#include "core/schedule/schedule.h"

namespace twinloom::perf {

std::vector<std::optional<cost::Estimate>> estimates_of(const Subject& subject,
                                                        const machine::Machine& machine) {
  const loops::Program nest = loops::parse(subject.nest);
  std::vector<std::optional<cost::Estimate>> estimates;
  for (const Candidate& candidate : subject.candidates) {
    auto& estimate = estimates.emplace_back();
    if (candidate.seconds <= 0) continue;
    const schedule::Schedule given = schedule::parse(candidate.schedule);
    if (schedule::why_illegal(nest, given)) continue;
    estimate = cost::estimate(schedule::apply(nest, given), machine, {});
  }
  return estimates;
}

Judgement judge(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates) {
  constexpr double APART = 1.1;
  Judgement judgement;
  const auto& all = subject.candidates;
  std::optional<std::size_t> least, best;
  for (std::size_t a = 0; a < all.size(); ++a) {
    if (!estimates[a]) continue;
    judgement.ratios.push_back(estimates[a]->seconds / all[a].seconds);
    if (!least || estimates[a]->seconds < estimates[*least]->seconds) least = a;
    if (!best || all[a].seconds < all[*best].seconds) best = a;
    for (std::size_t b = 0; b < all.size(); ++b) {
      if (!estimates[b] || all[a].seconds * APART >= all[b].seconds) continue;
      ++judgement.pairs;
      judgement.in_order += estimates[a]->seconds < estimates[b]->seconds ? 1 : 0;
    }
  }
  if (least) judgement.regret = all[*least].seconds / all[*best].seconds;
  return judgement;
}

const Candidate* fastest(const Subject& subject) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : subject.candidates)
    if (candidate.seconds > 0 && (best == nullptr || candidate.seconds < best->seconds)) best = &candidate;
  return best;
}

double searched_regret(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates,
                       double worth) {
  const Candidate* chosen = &subject.candidates.front();
  double least = estimates.front() ? worth * estimates.front()->seconds : 0;
  for (std::size_t k = 1; k < estimates.size(); ++k) {
    if (!estimates[k] || estimates[k]->seconds >= least || subject.candidates[k].seconds <= 0) continue;
    least = estimates[k]->seconds;
    chosen = &subject.candidates[k];
  }
  return chosen->seconds / fastest(subject)->seconds;
}

double tuned_regret(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates,
                    int tries) {
  std::vector<double> seconds;
  for (const auto& estimate : estimates)
    seconds.push_back(estimate ? estimate->seconds : std::numeric_limits<double>::infinity());
  std::vector<measure::Taken> tried;
  for (const std::size_t k : schedule::shortlist(seconds, tries))
    tried.push_back({subject.candidates[k].seconds, {}});
  return tried[measure::fastest_of(tried)].seconds / fastest(subject)->seconds;
}

}  // namespace twinloom::perf
