// See run.h.
#include "core/runtime/run.h"

#include "core/base/error.h"
#include "core/base/stopwatch.h"

namespace twinloom::runtime {

namespace {

Error error_of(const Variant& variant, const Failure& failure) {
  const graph::NodeId node{static_cast<std::uint32_t>(failure.node)};
  const bool known = failure.node >= 0 && node.index < variant.graph.nodes().size();
  return Error(cat(known ? graph::describe(variant.graph, node) : std::string("an index"), ": index ",
                   failure.value, " is out of range; expected 0 <= index < ", failure.bound));
}

}  // namespace

Run::Run(const graph::Graph& graph, Chosen chosen, const Given& given, const Sources& sources,
         const RunOptions& options)
    : space_(sources.memory.space()),
      chosen_(std::move(chosen)),
      results_(graph, *chosen_.variant, chosen_.values, given.arguments, given.outputs, sources),
      after_step_(options.after_step) {
  const MemoryPlan plan = plan_memory(*chosen_.variant, chosen_.values);
  temporaries_ = sources.memory.take(plan.bytes, sources.stream);
  if (plan.bytes != 0 && temporaries_ == nullptr)
    throw out_of_memory(space_, "the intermediate results", plan.bytes);
  if (space_ != nullptr) work_ = space_->begin(sources.stream);
  RunSettings settings = options.settings;
  settings.work = work_.get();
  Stopwatch stopwatch;
  for (std::size_t step = 0; step < chosen_.variant->steps.size() && !error_; ++step) {
    if (work_ != nullptr && after_step_) laps_.push_back(space_->record(work_->stream()));
    const std::optional<Failure> failure = start_step(step, plan, settings);
    if (work_ == nullptr && after_step_) after_step_(step, stopwatch.lap());
    if (failure) error_ = std::make_exception_ptr(error_of(*chosen_.variant, *failure));
  }
  if (work_ == nullptr) return;
  if (after_step_) laps_.push_back(space_->record(work_->stream()));
  work_->close();
}

std::optional<Failure> Run::start_step(std::size_t at, const MemoryPlan& plan, const RunSettings& settings) {
  const Step& step = chosen_.variant->steps[at];
  std::vector<Memory> memory;
  for (const lower::ValueId id : step.arguments) {
    const lower::Value& value = chosen_.variant->values[id.index];
    const std::int64_t offset = plan.offsets[id.index];
    memory.push_back(
        offset < 0 ? results_.memory(id)
                   : Memory{temporaries_.get() + offset, 0, index::evaluate(value.count, chosen_.values)});
  }
  std::vector<std::int64_t> sizes;
  for (const loops::SizeInfo& size : step.program.sizes) sizes.push_back(chosen_.values.at(size.symbol));
  return step.kernel->run(memory, sizes, settings);
}

void Run::wait() {
  if (work_ != nullptr) {
    try {
      if (const auto failure = work_->wait())
        error_ = std::make_exception_ptr(error_of(*chosen_.variant, *failure));
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
  if (results_.copies()) wait();
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
