// See run.h.
#include "core/runtime/run.h"

#include <array>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/graph/assertion.h"

namespace twinloom::runtime {

namespace {

// What few kernels have more of.
constexpr std::size_t USUAL_ARGUMENTS = 16;

// What a person calls a node, and where in his program it stands.
std::string described(const graph::Graph& graph, graph::NodeId node) {
  const graph::Origin& origin = graph[node].origin;
  std::string words = graph::describe(graph, node);
  if (!origin.file.empty()) words += cat(" (", escaped(origin.file), ":", origin.line, ")");
  return words;
}

}  // namespace

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
  std::optional<Stopwatch> stopwatch;
  if (is_host && timed) stopwatch.emplace();
  for (std::size_t step = 0; step < prepared_->launches.size() && !error_; ++step) {
    if (!is_host && timed) laps_.push_back(space_->record(work_->stream()));
    const std::optional<Failure> failure = start_step(step, options, settings);
    if (stopwatch) after_step_(step, stopwatch->lap());
    if (failure) error_ = error_of(*failure);
  }
  if (!is_host && timed) laps_.push_back(space_->record(work_->stream()));
  if (!error_) results_.write();
}

std::optional<Failure> Run::start_step(std::size_t at, const RunOptions& options, RunSettings& settings) {
  const Step& step = prepared_->variant->steps[at];
  const Prepared::Launch& launch = prepared_->launches[at];
  std::array<Memory, USUAL_ARGUMENTS> usual;
  std::vector<Memory> many(step.arguments.size() > usual.size() ? step.arguments.size() : 0);
  const std::span<Memory> memory(many.empty() ? usual.data() : many.data(), step.arguments.size());
  for (std::size_t k = 0; k < memory.size(); ++k) {
    const lower::ValueId id = step.arguments[k];
    memory[k] = results_.memory()[id.index];
    const std::int64_t offset = prepared_->plan.offsets[id.index];
    if (offset >= 0) memory[k].data = temporaries_.get() + offset;
  }
  settings.tasks = launch.tasks;
  if (launch.seeds.empty() && launch.offsets.empty())
    return launch.kernel->run(memory, launch.sizes, settings);
  std::vector<std::int64_t> sizes = launch.sizes;
  for (const std::size_t place : launch.seeds) sizes[place] = static_cast<std::int64_t>(options.seed);
  for (const std::size_t place : launch.offsets) sizes[place] = static_cast<std::int64_t>(options.offset);
  return launch.kernel->run(memory, sizes, settings);
}

std::exception_ptr Run::error_of(const Failure& failure) const {
  const graph::Graph& graph = prepared_->variant->graph;
  const graph::NodeId node{static_cast<std::uint32_t>(failure.node)};
  const bool known = failure.node >= 0 && node.index < graph.nodes().size();
  if (const auto words = known ? graph::words_of_assertion(graph[node]) : std::nullopt)
    return std::make_exception_ptr(Error(*words, {graph[node].origin.name}));
  const std::string place =
      failure.offset < 0 ? std::string() : cat("; it is element ", failure.offset, " of its tensor's memory");
  return std::make_exception_ptr(
      Error(cat(known ? described(graph, node) : std::string("an index"), ": index ", failure.value,
                " is out of range; expected 0 <= index < ", failure.bound, place),
            {known ? graph[node].origin.name : std::string()}));
}

void Run::wait() {
  if (work_ != nullptr) {
    try {
      if (const auto failure = work_->wait()) error_ = error_of(*failure);
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
