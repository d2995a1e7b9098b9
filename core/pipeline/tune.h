// Schedules that are measured, or that files hold, in place of those that schedule::choose gives.
#pragma once

#include <functional>
#include <map>

#include "core/measure/trials.h"
#include "core/pipeline/pipeline.h"
#include "core/schedule/stored.h"

namespace twinloom::pipeline {

// For the kernels of one variant.
class Tuner {
 public:
  // `sizes`: of the run that the variant is made for. Error where the folder is none, or cannot be made.
  Tuner(const Tuning& tuning, const runtime::Backend& backend, const index::Values& sizes,
        schedule::Choices& choices);

  // A legal schedule: the fastest of those that are measured, which is kept; without measurements that of the
  // nest's file; else the one of `choices`. `layouts` of the nest's buffers are asked for where it is
  // measured.
  using Layouts = std::function<std::vector<measure::Layout>(const index::Values& sizes)>;
  schedule::Schedule schedule_of(const loops::Program& nest, const Layouts& layouts);

 private:
  std::optional<schedule::StoredSchedule> measured(const loops::Program& nest,
                                                   const schedule::Schedule& usual,
                                                   const Layouts& layouts) const;

  const Tuning& tuning_;
  const runtime::Backend& backend_;
  schedule::Choices& choices_;
  index::Values sizes_;
  int threads_;
  std::map<std::filesystem::path, std::string> known_;  // texts of what was measured, by file
};

}  // namespace twinloom::pipeline
