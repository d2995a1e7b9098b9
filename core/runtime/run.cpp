// See run.h.
#include "core/runtime/run.h"

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/runtime/steps.h"

namespace twinloom::runtime {

Run::Run(const graph::Graph& graph, std::shared_ptr<const Prepared> prepared, const Given& given,
         const Sources& sources, const RunOptions& options)
    : space_(sources.memory.space()),
      prepared_(std::move(prepared)),
      results_(graph, *prepared_, given, sources),
      after_step_(options.after_step) {
  const std::int64_t bytes = prepared_->plan.bytes;
  temporaries_ = sources.memory.take(bytes, sources.stream);
  if (bytes != 0 && temporaries_ == nullptr) throw out_of_memory(space_, "the intermediate results", bytes);
  if (space_ != nullptr) work_ = space_->begin(sources.stream);
  start(options);
  if (work_ != nullptr) work_->close();
}

void Run::start(const RunOptions& options) {
  const bool is_host = work_ == nullptr;
  const bool timed = static_cast<bool>(after_step_);
  RunSettings settings = options.settings;
  settings.work = work_.get();
  settings.run = new_run();
  std::optional<Stopwatch> stopwatch;
  if (is_host && timed) stopwatch.emplace();
  start_steps(*prepared_, settings, [&](std::size_t step) {
    if (!is_host && timed) laps_.push_back(space_->record(work_->stream()));
    const std::optional<Failure> failure =
        start_step(*prepared_, step, results_.memory(), temporaries_.get(), options, settings);
    if (stopwatch) after_step_(step, stopwatch->lap());
    if (failure) error_ = error_of(prepared_->variant->graph, *failure);
    return !failure;
  });
  if (!is_host && timed) laps_.push_back(space_->record(work_->stream()));
  if (!error_) results_.write();
}

void Run::wait() {
  if (work_ != nullptr) {
    try {
      if (const auto failure = work_->wait()) error_ = error_of(prepared_->variant->graph, *failure);
      for (std::size_t step = 0; step + 1 < laps_.size(); ++step)
        after_step_(step, space_->seconds(*laps_[step], *laps_[step + 1]));
    } catch (const Error&) {
      error_ = std::current_exception();
    }
    work_ = nullptr;
  }
  if (error_) std::rethrow_exception(error_);
}

std::vector<Output> Run::outputs() {
  if (results_.waits()) wait();
  return results_.take();
}

Pending::Pending(Kept kept, std::unique_ptr<Run> run)
    : kept_(std::move(kept)), run_(std::move(run)), outputs_(run_->outputs()) {}
Pending::Pending(Pending&&) noexcept = default;
Pending::~Pending() = default;

bool Pending::ready() const { return run_->done(); }

const std::vector<Output>& Pending::wait() {
  run_->wait();
  return outputs_;
}

}  // namespace twinloom::runtime
