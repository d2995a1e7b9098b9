// What it costs that kernels of a GPU check their run-time indices: each kernel text of gpu_indexed_cases.cpp
// is built twice, once with the checks left out (TWINLOOM_TRUST_INDICES in backends/cuda/device/routines.h),
// and both run by turns on the same inputs, whose indices are all good.
//   gpu_index_cost [--only WORDS] [--rounds N] [--device N] [--plan]
// `--plan` needs no GPU: it builds both for an H200 and prints how many bytes of machine code they are.
// Exit code 1: a case failed, or takes more than 1.03 times as long with the checks.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "api/twinloom.h"
#include "backends/cuda/device_text.h"
#include "backends/cuda/kernel.h"
#include "backends/cuda/nvrtc.h"
#include "core/measure/gpu_clock.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/gpu_cases.h"
#include "perf/gpu_inputs.h"

namespace twinloom::perf {

namespace {

constexpr double BOUND = 1.03;
constexpr const char* ROW = "{:<24}{:>14}{:>14}{:>9}\n";

struct Options {
  std::string only;
  int rounds = 31, device = 0;
  bool plan = false;
};

enum class Indices : std::uint8_t {
  checked,  // as the product has them
  trusted,
};

graph::Graph graph_of(const GpuCase& given) {
  Builder builder(given.name);
  given.build(builder);
  return builder.take();
}

class Rebuilder {
 public:
  explicit Rebuilder(std::string architecture) : architecture_(std::move(architecture)) {}

  std::string object(const runtime::Step& step, Indices indices) const {
    std::vector<std::string> flags;
    if (indices == Indices::trusted) flags.emplace_back("-DTWINLOOM_TRUST_INDICES");
    return nvrtc_.compile(step.source(), "kernel", headers_, {architecture_, flags}).bytes;
  }

 private:
  std::string architecture_;
  cuda::Nvrtc nvrtc_;
  std::vector<cuda::Header> headers_ = cuda::all_headers();
};

// The graph's kernels, every one of them built anew.
Executable executable_of(const GpuCase& given, const Device& device, Indices indices) {
  const auto maker = [backend = device.share(), indices](const runtime::Request& asked) {
    const auto& gpu = dynamic_cast<const cuda::Gpu&>(*backend->space());
    const Rebuilder rebuilder(gpu.architecture());
    auto variant =
        std::make_shared<runtime::Variant>(*pipeline::make_variant(asked.graph, asked.layouts, *backend, {}));
    for (runtime::Step& step : variant->steps) {
      const std::string& name = step.program.name;
      auto module = std::make_unique<const cuda::Module>(gpu, rebuilder.object(step, indices), name);
      step.kernel = std::make_shared<const cuda::CudaKernel>(
          gpu, step.program, std::move(module), [name]() -> std::unique_ptr<const cuda::Module> {
            throw Error(cat(name, ": the arguments are not those of most runs"));
          });
    }
    return variant;
  };
  return {graph_of(given), maker, device.backend().space()};
}

// One of the two executables, with outputs of its own.
struct Side {
  Side(const GpuCase& given, const Device& device, std::span<const Argument> arguments, Indices indices)
      : executable(executable_of(given, device, indices)) {
    for (const Output& output : executable.run(arguments)) outputs.push_back(std::get<Tensor>(output));
  }
  Executable executable;
  std::vector<Tensor> outputs;
  std::vector<double> seconds;
};

bool same_results(const Device& device, const Side& a, const Side& b) {
  for (std::size_t at = 0; at < a.outputs.size(); ++at)
    if (largest_difference(device.download(a.outputs[at]), device.download(b.outputs[at])) != 0) return false;
  return true;
}

// Whether the bound holds.
bool measure(const GpuCase& given, const Device& device, int rounds) {
  const runtime::Space& space = *device.backend().space();
  const GpuInputs inputs(device);
  const Tensor flushed = measure::flush_buffer(space);
  const std::vector<Argument> arguments = inputs.drawn(graph_of(given), given);
  Side checked(given, device, arguments, Indices::checked),
      trusted(given, device, arguments, Indices::trusted);
  if (!same_results(device, checked, trusted)) throw Error("without checks the results are others");
  const auto run = [&](Side& side, bool counted) {
    const double seconds = measure::seconds_of(
        space, flushed, [&] { return side.executable.start(arguments, {}, side.outputs); });
    if (counted) side.seconds.push_back(seconds);
  };
  for (int round = -2; round < rounds; ++round) {  // two are not counted
    run(round % 2 == 0 ? checked : trusted, round >= 0);
    run(round % 2 == 0 ? trusted : checked, round >= 0);
  }
  const double with = measure::median(checked.seconds), without = measure::median(trusted.seconds);
  std::cout << fmt::format(fmt::runtime(ROW), given.name, fmt::format("{:.4f}", with * 1e3),
                           fmt::format("{:.4f}", without * 1e3), fmt::format("{:.3f}", with / without));
  return with <= BOUND * without;
}

// Whether both texts of every kernel become machine code, and not the same.
bool plan(const GpuCase& given, const Device& device) {
  const Rebuilder rebuilder("sm_90a");
  const auto variant = pipeline::make_variant(graph_of(given), {}, device.backend(), {});
  bool differ = false;
  std::size_t with = 0, without = 0;
  for (const runtime::Step& step : variant->steps) {
    const std::string checked = rebuilder.object(step, Indices::checked);
    const std::string trusted = rebuilder.object(step, Indices::trusted);
    with += checked.size();
    without += trusted.size();
    differ = differ || checked != trusted;
  }
  std::cout << fmt::format(fmt::runtime(ROW), given.name, with, without, differ ? "differ" : "alike");
  return differ;
}

bool row_of(const GpuCase& given, const Device& device, const Options& options) {
  try {
    return options.plan ? plan(given, device) : measure(given, device, options.rounds);
  } catch (const std::exception& error) {
    std::cout << fmt::format("{:<24}FAILED: {}\n", given.name, error.what());
    return false;
  }
}

int run(const Options& options) {
  const Device device = options.plan ? Device::planned_h200() : Device::cuda(options.device, false);
  std::cout << device.backend().describe() << '\n';
  std::cout << fmt::format(fmt::runtime(ROW), "case", options.plan ? "bytes checked" : "ms checked",
                           options.plan ? "trusted" : "ms trusted", options.plan ? "" : "ratio");
  bool all_hold = true;
  for (const GpuCase& given : gpu_cases_of("indexed", options.only)) {
    all_hold = row_of(given, device, options) && all_hold;
    std::cout << std::flush;
  }
  return all_hold ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  using namespace twinloom;
  perf::Options options;
  CLI::App app{"What the checks of run-time indices cost on a GPU"};
  app.add_option("--only", options.only, "Cases whose name has these letters");
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--device", options.device, "Number of the GPU")->check(CLI::NonNegativeNumber);
  app.add_flag("--plan", options.plan, "Builds for an H200 without one; measures nothing");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] { return perf::run(options); });
}
