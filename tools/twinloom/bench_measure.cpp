// See bench_measure.h.
#include "tools/twinloom/bench_measure.h"

#include <algorithm>
#include <limits>

#include "core/base/stopwatch.h"
#include "core/measure/gpu_clock.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"

namespace twinloom::tool {

namespace {

std::vector<std::string> fused_operators(const graph::Graph& graph, const runtime::Group& group) {
  std::vector<std::string> names;
  for (const graph::NodeId id : group.nodes) {
    const graph::Node& node = graph[id];
    const std::string name =
        node.origin.composite.empty() ? graph::kind_name(node.node) : node.origin.composite;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<KernelLine> kernel_lines(const runtime::Variant& variant, const BenchSetting& setting,
                                     const index::Values& values) {
  const std::vector<Traffic> traffic = traffic_of(variant, values);
  const Estimates estimates =
      estimates_of(variant, setting.device.backend(), setting.run.settings.threads, values);
  std::vector<KernelLine> lines;
  for (std::size_t g = 0; g < variant.groups.size(); ++g) {
    const runtime::Group& group = variant.groups[g];
    lines.push_back(
        {group.name, fused_operators(variant.graph, group), 0, 0, true, traffic[g], estimates[g], {}});
  }
  for (const runtime::Step& step : variant.steps) {
    lines[step.unit].compile_seconds += step.compile_seconds;
    lines[step.unit].cached = lines[step.unit].cached && step.cached;
    if (const auto resources = step.kernel->resources()) lines[step.unit].launches.push_back(*resources);
  }
  return lines;
}

// The tensors of a run that may be written again by the next: what is timed is the kernels, not the system
// that finds fresh memory.
std::vector<runtime::Tensor> own_outputs(const graph::Graph& graph, const std::vector<Output>& outputs) {
  std::vector<runtime::Tensor> own;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (graph.results()[r].kind == graph::Ownership::own)
      own.push_back(std::get<runtime::Tensor>(outputs[r]));
  }
  return own;
}

// Each run has the same inputs.
RunOptions keeping_donated(RunOptions options) {
  options.keep_donated = true;
  return options;
}

// Runs of one executable into the same outputs. On a GPU a buffer larger than its L2 cache is written before
// each of them.
class Runs {
 public:
  Runs(const Executable& executable, const std::vector<runtime::Argument>& arguments, RunOptions options)
      : executable_(executable),
        arguments_(arguments),
        options_(keeping_donated(std::move(options))),
        space_(executable.space()),
        outputs_(own_outputs(executable.graph(), executable.run(arguments, options_))) {
    if (space_ != nullptr) flushed_ = measure::flush_buffer(*space_);
  }

  // The time of one: the host's, or where it uses a GPU, that one's.
  double seconds() const {
    if (space_ != nullptr)
      return measure::seconds_of(*space_, flushed_,
                                 [&] { return executable_.start(arguments_, options_, outputs_); });
    Stopwatch stopwatch;
    executable_.run(arguments_, options_, outputs_);
    return stopwatch.lap();
  }

  // Those of its kernels, one for each group. A kernel of several launches takes the sum of theirs.
  std::vector<double> kernel_seconds(const runtime::Variant& variant) const {
    std::vector<double> seconds(variant.groups.size());
    RunOptions timed = options_;
    timed.after_step = [&](std::size_t step, double taken) { seconds[variant.steps[step].unit] += taken; };
    if (space_ != nullptr) measure::flush(*space_, flushed_);
    executable_.run(arguments_, timed, outputs_);
    return seconds;
  }

 private:
  const Executable& executable_;
  const std::vector<runtime::Argument>& arguments_;
  RunOptions options_;
  const runtime::Space* space_;
  std::vector<runtime::Tensor> outputs_;
  runtime::Tensor flushed_;  // of a GPU
};

// The median of the last `counted` rounds.
double median_of_last(const std::vector<double>& seconds, std::size_t counted) {
  return measure::median({seconds.end() - static_cast<std::ptrdiff_t>(counted), seconds.end()});
}

// Fills in the times: half of the seconds is for runs and half for runs in which each kernel is timed, which
// puts something between them.
void time_runs(const Runs& runs, const runtime::Variant& variant, const BenchSetting& setting,
               Measured& measured) {
  const measure::Enough enough{2, 5, std::numeric_limits<int>::max(), setting.seconds / 2};
  std::vector<double> durations;
  const std::size_t counted_runs = measure::repeat(enough, [&] {
                                     setting.progress->say(cat("run ", durations.size() + 1));
                                     durations.push_back(runs.seconds());
                                   }).size();
  measured.run_seconds = median_of_last(durations, counted_runs);
  std::vector<std::vector<double>> rounds(variant.groups.size());
  int round = 0;
  const std::size_t counted_rounds = measure::repeat(enough, [&] {
                                       setting.progress->say(cat("kernels, run ", ++round));
                                       const std::vector<double> taken = runs.kernel_seconds(variant);
                                       for (std::size_t g = 0; g < taken.size(); ++g)
                                         rounds[g].push_back(taken[g]);
                                     }).size();
  for (std::size_t g = 0; g < rounds.size(); ++g)
    measured.kernels[g].median_seconds = median_of_last(rounds[g], counted_rounds);
}

}  // namespace

Measured measure_model(const ModelOptions& options, const BenchSetting& setting) {
  setting.device.release_memory();
  const Model model = read_model(options);
  const auto arguments = on_device(make_arguments(model, options), setting.device);
  const Executable executable = make_executable(model, setting.device, setting.compiled);
  Measured measured;
  Stopwatch stopwatch;
  const auto variant = executable.variant(arguments);
  measured.prepare_seconds = stopwatch.lap();
  measured.kernels = kernel_lines(*variant, setting, executable.symbols(arguments, setting.run));
  for (const KernelLine& kernel : measured.kernels) measured.compile_seconds += kernel.compile_seconds;
  measured.peak_bytes = executable.peak_bytes(arguments);
  time_runs(Runs(executable, arguments, setting.run), *variant, setting, measured);
  return measured;
}

measure::CopyBandwidth measure_copy(const BenchSetting& setting) {
  setting.device.release_memory();
  setting.progress->say("copy bandwidth");
  const runtime::Space* const space = setting.device.backend().space();
  return space == nullptr ? measure::copy_bandwidth(setting.run.settings.threads)
                          : measure::copy_bandwidth(*space);
}

}  // namespace twinloom::tool
