// How long the kernels of gpu_cases.h take to compile for a GPU when nothing is cached, beside an empty
// kernel in the same rounds.
//   gpu_compile_time [--table main|indexed] [--only WORDS] [--rounds N] [--mode strict|fused]
//                    [--device cuda:N|h200] [--source DIR]
// On a GPU: from graph to callable, loaded; then again from Twinloom's cache on disk; then 48 kernels made by
// eight threads. On h200, which only plans: from graph to machine code, which needs NVRTC and no GPU, and to
// text alone, which is what a cached kernel needs before its machine code is looked for. Milliseconds a
// kernel, medians of the rounds. `--source` writes the text of each kernel into a folder.
#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <fstream>
#include <iostream>
#include <thread>

#include "api/twinloom.h"
#include "backends/cuda/translate.h"
#include "core/base/stopwatch.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/folder.h"
#include "perf/gpu_cases.h"

namespace twinloom::perf {

namespace {

constexpr const char* ARCHITECTURE = "sm_90a";  // of an H100 and an H200
constexpr int TOGETHER = 48, THREADS = 8;

struct Options {
  std::string table = "main", only, mode = "fused", device = "h200", sources;
  int rounds = 3;
};

graph::Graph graph_of(const GpuCase& given) {
  Builder builder(given.name);
  given.build(builder);
  return builder.take();
}

struct Row {
  std::string name;
  std::size_t kernels = 0;
  double milliseconds = 0, cached = 0;  // a kernel
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), plans_(options.device == "h200") {
    setenv("TWINLOOM_CACHE_DIR", folder_.path().c_str(), 1);
    compiled_.mode = options.mode == "strict" ? Mode::strict : Mode::fused;
    compiled_.build_threads = 1;
    device_.emplace(Device::named(options.device, {.isa = {}, .cache = false}));
    if (!plans_) caching_.emplace(Device::named(options.device, {.isa = {}, .cache = true}));
  }

  bool has_cache() const { return caching_.has_value(); }

  double empty_kernel() const {
    Stopwatch watch;
    translator_.nvrtc().compile("extern \"C\" __global__ void kernel() {}\n", "empty", {},
                                {ARCHITECTURE, {}});
    return watch.lap() * 1e3;
  }

  Row measure(const GpuCase& given) const {
    const graph::Graph graph = graph_of(given);
    std::vector<double> cold, kept;
    std::size_t kernels = 0;
    for (int round = 0; round < options_.rounds; ++round) {
      Stopwatch watch;
      const auto variant = made(graph, *device_);
      cold.push_back(watch.lap() * 1e3);
      kernels = variant->steps.size();
      if (round == 0) write_sources(given, *variant);
    }
    for (int round = 0; round <= options_.rounds; ++round) {
      Stopwatch watch;
      if (caching_)
        made(graph, *caching_);
      else
        planned(graph, *device_);
      if (round > 0) kept.push_back(watch.lap() * 1e3);
    }
    const auto count = static_cast<double>(kernels);
    return {given.name, kernels, measure::median(cold) / count, measure::median(kept) / count};
  }

  // Milliseconds a kernel where so many threads make one graph each at the same time.
  double together(const std::vector<GpuCase>& cases) const {
    std::vector<graph::Graph> graphs;
    for (int at = 0; at < TOGETHER; ++at)
      graphs.push_back(graph_of(cases[static_cast<std::size_t>(at) % cases.size()]));
    std::atomic<std::size_t> next = 0, kernels = 0;
    Stopwatch watch;
    {
      std::vector<std::jthread> threads;
      for (int thread = 0; thread < THREADS; ++thread)
        threads.emplace_back([&] {
          for (std::size_t at = next++; at < graphs.size(); at = next++)
            kernels += made(graphs[at], *device_)->steps.size();
        });
    }
    return watch.lap() * 1e3 / static_cast<double>(kernels);
  }

 private:
  std::shared_ptr<const runtime::Variant> planned(const graph::Graph& graph, const Device& device) const {
    return pipeline::make_variant(graph, {}, device.backend(), compiled_);
  }

  // All kernels of the graph; those of a device that only plans become machine code too.
  std::shared_ptr<const runtime::Variant> made(const graph::Graph& graph, const Device& device) const {
    auto variant = planned(graph, device);
    for (const runtime::Step& step : variant->steps)
      if (plans_) code_of(step);
    return variant;
  }

  std::string code_of(const runtime::Step& step) const {
    return translator_.object({{.source = step.source(), .key = {}}}, "kernel");
  }

  void write_sources(const GpuCase& given, const runtime::Variant& variant) const {
    if (options_.sources.empty()) return;
    std::filesystem::create_directories(options_.sources);
    for (std::size_t at = 0; at < variant.steps.size(); ++at) {
      const std::string name = cat(options_.sources, "/", given.name, ".", at);
      std::ofstream(name + ".cu") << variant.steps[at].source();
      std::ofstream(name + ".schedule") << variant.steps[at].schedule;
      std::ofstream(name + ".cubin", std::ios::binary) << code_of(variant.steps[at]);
    }
  }

  const Options& options_;
  bool plans_;
  Folder folder_;
  CompileOptions compiled_;
  cuda::Translator translator_{ARCHITECTURE};
  std::optional<Device> device_, caching_;
};

int run(const Options& options) {
  const Bench bench(options);
  const std::vector<GpuCase> cases = gpu_cases_of(options.table, options.only);
  bench.empty_kernel();  // what NVRTC does once
  std::vector<double> all, empty;
  std::cout << fmt::format("{:26}{:>8}{:>10}{:>10}{:>10}\n", "case", "kernels", "ms", "of empty",
                           bench.has_cache() ? "cached" : "text");
  for (const GpuCase& given : cases) {
    for (int round = 0; round < options.rounds; ++round) empty.push_back(bench.empty_kernel());
    const Row row = bench.measure(given);
    all.push_back(row.milliseconds);
    std::cout << fmt::format("{:26}{:>8}{:>10.1f}{:>10.1f}{:>10.2f}\n", row.name, row.kernels,
                             row.milliseconds, row.milliseconds / measure::median(empty), row.cached)
              << std::flush;
  }
  std::cout << fmt::format("median {:.1f} ms a kernel; an empty one {:.1f} ms; ratio {:.2f}\n",
                           measure::median(all), measure::median(empty),
                           measure::median(all) / measure::median(empty));
  if (options.only.empty())
    std::cout << fmt::format("{} graphs by {} threads: {:.1f} ms a kernel\n", TOGETHER, THREADS,
                             bench.together(cases));
  return 0;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  CLI::App app("How long kernels for a GPU take to compile");
  twinloom::perf::Options options;
  app.add_option("--table", options.table, "main, or indexed: gathers and scatters")
      ->check(CLI::IsMember({"main", "indexed"}));
  app.add_option("--only", options.only, "Cases with these words in their name");
  app.add_option("--rounds", options.rounds, "Of each case")->check(CLI::PositiveNumber);
  app.add_option("--mode", options.mode, "strict or fused")->check(CLI::IsMember({"strict", "fused"}));
  app.add_option("--device", options.device, "cuda:N, or h200, which only plans")->capture_default_str();
  app.add_option("--source", options.sources, "A folder for texts, schedules and machine code");
  CLI11_PARSE(app, count, words);
  return twinloom::perf::exit_code_of([&] { return twinloom::perf::run(options); });
}
