// See regret_subjects.h.
#include <tbb/parallel_for.h>

#include "core/base/files.h"
#include "core/measure/gpu_clock.h"
#include "core/measure/turns.h"
#include "core/schedule/schedule.h"
#include "frontends/fx/read.h"
#include "perf/inputs.h"
#include "perf/regret_subjects.h"

namespace twinloom::perf {

namespace {

constexpr std::int64_t MOST_TEXT = std::int64_t{1} << 26;

struct Model {
  Graph graph;
  std::vector<std::optional<graph::Shape>> strides;
};

Model read_model(const std::filesystem::path& file) {
  const std::string text = read_bytes(file, MOST_TEXT);
  if (file.extension() == ".graph") return {graph::parse(text), {}};
  return {fx::read(text), fx::parameter_strides(text)};
}

// One schedule of one nest of a graph, ready to run.
class Entrant {
 public:
  Entrant(const Graph& graph, const Device& device, CompileOptions options, const std::string& kernel,
          const schedule::Schedule& given)
      : kernel_(kernel) {
    options.build_threads = 1;
    options.schedule = [kernel, given](const loops::Program& nest) {
      return nest.name == kernel ? std::optional(given) : std::nullopt;
    };
    executable_.emplace(compile(graph, device, options));
  }

  void prepare(std::span<const Argument> arguments) { variant_ = executable_->variant(arguments); }
  std::vector<runtime::Resources> launches() const {
    std::vector<runtime::Resources> found;
    for (const runtime::Step& step : variant_->steps) {
      const auto resources = step.kernel->resources();
      if (variant_->groups[step.unit].name == kernel_ && resources) found.push_back(*resources);
    }
    return found;
  }
  // Of the nest's kernels in one run of the graph.
  double seconds(std::span<const Argument> arguments, int threads,
                 const std::optional<Tensor>& flushed) const {
    double taken = 0;
    RunOptions options;
    options.settings.threads = threads;
    options.after_step = [&](std::size_t step, double seconds) {
      if (variant_->groups[variant_->steps[step].unit].name == kernel_) taken += seconds;
    };
    if (flushed) measure::flush(*executable_->space(), *flushed);
    executable_->run(arguments, options);
    return taken;
  }

 private:
  std::string kernel_;
  std::optional<Executable> executable_;
  std::shared_ptr<const runtime::Variant> variant_;
};

class Measurement {
 public:
  Measurement(const std::filesystem::path& file, const Device& device, const RegretOptions& options)
      : file_(file), device_(device), options_(options), model_(read_model(file)) {
    compiled_.mode = pipeline::mode_named(options.mode).value();
    arguments_ = drawn_arguments(model_.graph, model_.strides, device);
    if (const runtime::Space* space = device.backend().space()) flushed_ = measure::flush_buffer(*space);
  }

  std::vector<Subject> subjects() const {
    const Executable executable = compile(model_.graph, device_, compiled_);
    const auto variant = executable.variant(arguments_);
    std::vector<Subject> found;
    for (const runtime::Group& group : variant->groups) {
      Subject subject{file_.stem().string(), group.name, loops::print(group.nest), {}};
      measure(group.nest, subject);
      if (subject.candidates.size() > 1) found.push_back(std::move(subject));
    }
    return found;
  }

 private:
  void measure(const loops::Program& nest, Subject& subject) const {
    const machine::Machine& machine = device_.backend().machine();
    std::vector<schedule::Schedule> schedules = {schedule::choose(nest, machine)};
    if (schedules.front() == schedule::Schedule{}) return;  // a call
    for (schedule::Schedule& other : schedule::candidates(nest, machine, options_.candidates, options_.seed))
      schedules.push_back(std::move(other));
    std::vector<std::shared_ptr<Entrant>> entrants(schedules.size());
    subject.candidates.resize(schedules.size());
    tbb::parallel_for(std::size_t{0}, schedules.size(), [&](std::size_t k) {
      Candidate& candidate = subject.candidates[k];
      candidate.schedule = schedule::print(schedules[k]);
      try {
        entrants[k] = std::make_shared<Entrant>(model_.graph, device_, compiled_, nest.name, schedules[k]);
        entrants[k]->prepare(arguments_);
        candidate.launches = entrants[k]->launches();
      } catch (const std::exception& error) {
        candidate.failure = error.what();
        entrants[k] = nullptr;
      }
    });
    run_by_turns(std::move(entrants), subject);
  }

  void run_by_turns(std::vector<std::shared_ptr<Entrant>> entrants, Subject& subject) const {
    std::vector<measure::Runner> runners(entrants.size());
    for (std::size_t k = 0; k < entrants.size(); ++k)
      if (entrants[k])
        runners[k] = [this, entrant = std::move(entrants[k])] {
          return entrant->seconds(arguments_, options_.threads, flushed_);
        };
    const auto taken = measure::by_turns(std::move(runners), {.rounds = options_.rounds});
    for (std::size_t k = 0; k < taken.size(); ++k) {
      subject.candidates[k].seconds = taken[k].seconds;
      if (!taken[k].failure.empty()) subject.candidates[k].failure = taken[k].failure;
    }
  }

  const std::filesystem::path& file_;
  const Device& device_;
  const RegretOptions& options_;
  Model model_;
  CompileOptions compiled_;
  std::vector<Argument> arguments_;
  std::optional<Tensor> flushed_;
};

}  // namespace

std::vector<Subject> measured_subjects(const std::filesystem::path& file, const Device& device,
                                       const RegretOptions& options) {
  return Measurement(file, device, options).subjects();
}

}  // namespace twinloom::perf
