// See bench.h.
#include "api/bench.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/stopwatch.h"
#include "core/measure/gpu_clock.h"
#include "core/measure/measure.h"
#include "core/runtime/once.h"

namespace twinloom {

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

std::vector<BenchedKernel> kernels_of(const runtime::Variant& variant, const Device& device, int threads,
                                      const index::Values& values) {
  const std::vector<Traffic> traffic = traffic_of(variant, values);
  const Estimates estimates = estimates_of(variant, device.backend(), threads, values);
  std::vector<BenchedKernel> kernels;
  for (std::size_t g = 0; g < variant.groups.size(); ++g) {
    const runtime::Group& group = variant.groups[g];
    kernels.push_back(
        {group.name, fused_operators(variant.graph, group), {}, 0, true, traffic[g], estimates[g], {}});
  }
  const std::vector<bool> once = runtime::groups_made_once(variant);
  for (std::size_t g = 0; g < kernels.size(); ++g)
    if (once[g]) kernels[g].once = true, kernels[g].estimate.reset();
  for (const runtime::Step& step : variant.steps) {
    kernels[step.unit].compile_seconds += step.compile_seconds;
    kernels[step.unit].cached = kernels[step.unit].cached && step.cached;
    if (const auto resources = step.kernel->resources()) kernels[step.unit].launches.push_back(*resources);
  }
  return kernels;
}

// The tensors of a run that may be written again by the next: what is timed is the kernels, not the system
// that finds fresh memory.
std::vector<Tensor> own_outputs(const graph::Graph& graph, const std::vector<Output>& outputs) {
  std::vector<Tensor> own;
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    if (graph.results()[r].kind == graph::Ownership::own) own.push_back(std::get<Tensor>(outputs[r]));
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
  Runs(const Executable& executable, std::span<const Argument> arguments, RunOptions options)
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
  std::span<const Argument> arguments_;
  RunOptions options_;
  const runtime::Space* space_;
  std::vector<Tensor> outputs_;
  Tensor flushed_;  // of a GPU
};

// Of the last `count` rounds.
Durations durations_of(const std::vector<double>& seconds, std::size_t count) {
  const std::vector<double> counted(seconds.end() - static_cast<std::ptrdiff_t>(count), seconds.end());
  return {measure::median(counted), measure::quantile(counted, 0.25), measure::quantile(counted, 0.75),
          count};
}

// Fills in the times: half of the seconds is for runs and half for runs in which each kernel is timed, which
// puts something between them.
void time_runs(const Runs& runs, const runtime::Variant& variant, const BenchOptions& options,
               Benched& benched) {
  const measure::Enough enough{2, 5, std::numeric_limits<int>::max(), options.seconds / 2};
  const auto say = [&](const std::string& words) {
    if (options.progress) options.progress(words);
  };
  std::vector<double> durations;
  const std::size_t counted_runs = measure::repeat(enough, [&] {
                                     say(cat("run ", durations.size() + 1));
                                     durations.push_back(runs.seconds());
                                   }).size();
  benched.run = durations_of(durations, counted_runs);
  std::vector<std::vector<double>> rounds(variant.groups.size());
  int round = 0;
  const std::size_t counted_rounds = measure::repeat(enough, [&] {
                                       say(cat("kernels, run ", ++round));
                                       const std::vector<double> taken = runs.kernel_seconds(variant);
                                       for (std::size_t g = 0; g < taken.size(); ++g)
                                         rounds[g].push_back(taken[g]);
                                     }).size();
  for (std::size_t g = 0; g < rounds.size(); ++g)
    if (!benched.kernels[g].once) benched.kernels[g].time = durations_of(rounds[g], counted_rounds);
}

using Json = nlohmann::ordered_json;

Json json_of(const std::vector<runtime::Resources>& launches) {
  auto rows = Json::array();
  for (const runtime::Resources& launch : launches) {
    rows.push_back({{"registers", launch.registers},
                    {"spill_bytes", launch.spill_bytes},
                    {"shared_bytes", launch.scratch_bytes},
                    {"threads", launch.threads},
                    {"blocks_a_multiprocessor", launch.blocks_each}});
  }
  return rows;
}

Json json_of(const std::vector<cost::Roof>& roofs) {
  auto rows = Json::array();
  for (const cost::Roof& roof : roofs)
    rows.push_back({{"name", roof.name}, {"amount", roof.amount}, {"seconds", roof.seconds}});
  return rows;
}

Json quartiles_of(const Durations& time) {
  return Json::array({time.lower_quartile * 1e3, time.upper_quartile * 1e3});
}

Json json_of(const BenchedKernel& kernel) {
  Json json = {{"name", kernel.name},
               {"ops", kernel.ops},
               {"median_ms", kernel.time.median * 1e3},
               {"quartiles_ms", quartiles_of(kernel.time)},
               {"runs", kernel.time.count}};
  if (kernel.estimate) {
    json["estimated_ms"] = kernel.estimate->seconds * 1e3;
    json["limiter"] = kernel.estimate->limiter().name;
    json["share_of_limiter"] = kernel.share_of_limiter();
    json["roofs"] = json_of(kernel.estimate->roofs);
  }
  json.update({{"bytes", kernel.traffic.bytes},
               {"touched_bytes", kernel.traffic.touched_bytes},
               {"floor_bytes", kernel.traffic.floor_bytes},
               {"gbps", kernel.bytes_per_second() * 1e-9},
               {"flops", kernel.operations_per_second()},
               {"compile_ms", kernel.compile_seconds * 1e3},
               {"cached", kernel.cached}});
  if (!kernel.launches.empty()) json["launches"] = json_of(kernel.launches);
  if (kernel.once) json["once"] = true;
  return json;
}

}  // namespace

Benched bench(const Executable& executable, std::span<const Argument> arguments, const Device& device,
              const BenchOptions& options) {
  Benched benched;
  Stopwatch stopwatch;
  const auto variant = executable.variant(arguments);
  benched.prepare_seconds = stopwatch.lap();
  benched.kernels =
      kernels_of(*variant, device, options.run.settings.threads, executable.symbols(arguments, options.run));
  for (const BenchedKernel& kernel : benched.kernels) benched.compile_seconds += kernel.compile_seconds;
  const Runs runs(executable, arguments, options.run);
  benched.peak_bytes = executable.peak_bytes(arguments);
  time_runs(runs, *variant, options, benched);
  return benched;
}

std::string json_of(const Benched& benched) {
  auto kernels = Json::array();
  for (const BenchedKernel& kernel : benched.kernels) kernels.push_back(json_of(kernel));
  const Json json = {{"run_ms", benched.run.median * 1e3},
                     {"run_quartiles_ms", quartiles_of(benched.run)},
                     {"runs", benched.run.count},
                     {"prepare_ms", benched.prepare_seconds * 1e3},
                     {"compile_ms", benched.compile_seconds * 1e3},
                     {"peak_bytes", benched.peak_bytes},
                     {"kernels", kernels}};
  return json.dump();
}

}  // namespace twinloom
