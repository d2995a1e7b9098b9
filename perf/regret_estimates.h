// Estimates beside measured times: how far off, in which order, and what choosing by them would have cost.
#pragma once

#include <string>
#include <vector>

#include "core/cost/estimate.h"
#include "perf/regret_subjects.h"

namespace twinloom::perf {

// Of each candidate of a subject whose sizes are numbers; nothing where it failed.
std::vector<std::optional<cost::Estimate>> estimates_of(const Subject& subject,
                                                        const machine::Machine& machine);

// The fastest of those that were measured; nullptr where none was.
const Candidate* fastest(const Subject& subject);

struct Judgement {
  std::vector<double> ratios;    // estimated over measured, of all candidates
  int pairs = 0, in_order = 0;   // that differ by more than a tenth, and of these in the right order
  std::optional<double> regret;  // of the candidate with the least estimate
};
Judgement judge(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates);

// Of the candidate with the least estimate where that is below `worth` times the chosen one's, else of the
// chosen one: what a search by estimates would take.
double searched_regret(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates,
                       double worth);

// Of the fastest of those that `--tune tries` measures, by the times that are measured.
double tuned_regret(const Subject& subject, const std::vector<std::optional<cost::Estimate>>& estimates,
                    int tries);

}  // namespace twinloom::perf
