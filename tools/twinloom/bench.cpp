// twinloom bench: how long each kernel of a model takes, and what it moves. See traffic.h for the bytes.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/graph/graph.h"
#include "core/measure/measure.h"
#include "tools/twinloom/commands.h"
#include "tools/twinloom/inputs.h"
#include "tools/twinloom/report.h"
#include "tools/twinloom/traffic.h"

namespace twinloom::tool {

namespace {

struct BenchCommand {
  ModelOptions model;
  DeviceOptions device;
  std::filesystem::path json;
};

struct KernelLine {
  std::string name;
  std::vector<std::string> ops;  // fused operators, in order, each once
  double median_seconds = 0;
  double compile_seconds = 0;
  bool cached = true;  // all of its machine code was kept from before
  Traffic traffic;
  std::vector<runtime::Resources> launches;  // on a GPU, of each
  double bytes_per_second() const { return static_cast<double>(traffic.bytes) / median_seconds; }
  double operations_per_second() const { return static_cast<double>(traffic.operations) / median_seconds; }
};

struct Report {
  std::string device, mode;
  int threads = 0;
  measure::CopyBandwidth copy;
  double run_seconds = 0, compile_seconds = 0;
  std::int64_t peak_bytes = 0;
  std::vector<KernelLine> kernels;
};

// Says at a terminal, and only there, what is being done.
class Progress {
 public:
  ~Progress() { say(""); }
  void say(const std::string& words) {
    if (!shown_) return;
    std::cerr << '\r' << words << std::string(width_ > words.size() ? width_ - words.size() : 0, ' ') << '\r'
              << std::flush;
    width_ = words.size();
  }

 private:
  bool shown_ = isatty(STDERR_FILENO) == 1;
  std::size_t width_ = 0;
};

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

std::vector<KernelLine> kernel_lines(const runtime::Variant& variant, const index::Values& values) {
  const std::vector<Traffic> traffic = traffic_of(variant, values);
  std::vector<KernelLine> lines;
  for (std::size_t g = 0; g < variant.groups.size(); ++g) {
    const runtime::Group& group = variant.groups[g];
    lines.push_back({group.name, fused_operators(variant.graph, group), 0, 0, true, traffic[g], {}});
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

// The time of one run: the host's, or where it uses a GPU, that one's.
double seconds_of(const Executable& executable, std::span<const runtime::Argument> arguments,
                  const RunOptions& options, std::span<const runtime::Tensor> outputs) {
  const runtime::Space* const space = executable.space();
  Stopwatch stopwatch;
  if (space == nullptr) {
    executable.run(arguments, options, outputs);
    return stopwatch.lap();
  }
  const auto before = space->record(options.stream);
  runtime::Pending pending = executable.start(arguments, options, outputs);
  const auto after = space->record(options.stream);
  pending.wait();
  return space->seconds(*before, *after);
}

// Fills in the times. A kernel of several launches takes the sum of theirs.
void time_runs(const Executable& executable, std::span<const runtime::Argument> arguments,
               const runtime::Variant& variant, RunOptions options, Report& report) {
  Progress progress;
  std::vector<std::vector<double>> seconds(variant.groups.size());
  const auto outputs = own_outputs(executable.graph(), executable.run(arguments, options));
  options.after_step = [&](std::size_t step, double taken) {
    const std::size_t group = variant.steps[step].unit;
    const bool first = step == 0 || variant.steps[step - 1].unit != group;
    if (first)
      seconds[group].push_back(taken);
    else
      seconds[group].back() += taken;
  };
  int runs = 0;
  const measure::Enough enough{2, 5, 1000, 1.0};
  std::vector<double> durations;
  const std::size_t repeated = measure::repeat(enough, [&] {
                                 progress.say(cat("run ", ++runs));
                                 durations.push_back(seconds_of(executable, arguments, options, outputs));
                               }).size();
  const auto counted = static_cast<std::ptrdiff_t>(repeated);
  report.run_seconds = measure::median({durations.end() - counted, durations.end()});
  for (std::size_t g = 0; g < seconds.size(); ++g) {
    report.kernels[g].median_seconds = measure::median({seconds[g].end() - counted, seconds[g].end()});
  }
  progress.say("copy bandwidth");
  report.copy = executable.space() == nullptr ? measure::copy_bandwidth(options.settings.threads)
                                              : measure::copy_bandwidth(*executable.space());
}

Report make_report(const BenchCommand& command) {
  const Device device = make_device(command.device);
  const Model model = read_model(command.model);
  const auto arguments = on_device(make_arguments(model, command.model), device);
  const CompileOptions compiled = compile_options(command.device, Mode::fused);
  const Executable executable = compile(model.graph, device, compiled);
  const RunOptions options = run_options(command.device, command.model);
  Report report;
  report.device = command.device.device;
  report.mode = pipeline::name(compiled.mode);
  report.threads = thread_count(command.device);
  const auto variant = executable.variant(arguments);
  report.kernels = kernel_lines(*variant, executable.symbols(arguments, options));
  for (const KernelLine& kernel : report.kernels) report.compile_seconds += kernel.compile_seconds;
  report.peak_bytes = executable.peak_bytes(arguments);
  time_runs(executable, arguments, *variant, options, report);
  print_warning(device.backend().warning());
  return report;
}

std::string words_of(const std::vector<runtime::Resources>& launches) {
  return join(launches, "; ", [](const runtime::Resources& launch) {
    return cat(launch.registers, " ", launch.spill_bytes, " ", launch.scratch_bytes, " ", launch.blocks_each,
               "x", launch.threads);
  });
}

std::vector<std::string> cells(const KernelLine& kernel, const measure::CopyBandwidth& copy) {
  const double rate = kernel.bytes_per_second();
  return {kernel.name,
          fmt::format("{:.4f}", kernel.median_seconds * 1e3),
          bytes_words(kernel.traffic.bytes),
          bytes_words(kernel.traffic.floor_bytes),
          bytes_words(kernel.traffic.touched_bytes),
          fmt::format("{:.2f}", rate * 1e-9),
          fmt::format("{:.0f} %", 100 * rate / copy.bytes_per_second),
          fmt::format("{:.2f}", kernel.operations_per_second() * 1e-9),
          fmt::format("{:.1f}{}", kernel.compile_seconds * 1e3, kernel.cached ? " cached" : ""),
          words_of(kernel.launches),
          join(kernel.ops, " ", [](const std::string& name) { return name; })};
}

void print_table(const Report& report) {
  std::vector<std::vector<std::string>> rows = {{"kernel", "ms", "bytes", "floor", "touched", "GB/s",
                                                 "of copy", "GFLOP/s", "compile ms", "launches",
                                                 "operators"}};
  for (const KernelLine& kernel : report.kernels) rows.push_back(cells(kernel, report.copy));
  const auto is_empty = [](const KernelLine& kernel) { return kernel.launches.empty(); };
  if (std::ranges::all_of(report.kernels, is_empty))
    for (auto& row : rows) row.erase(row.end() - 2);
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < row.size(); ++column) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[column].size());
      const bool words = column == 0 || column + 1 == row.size();
      if (column + 1 == row.size()) width = 0;
      std::cout << (words ? fmt::format("{:<{}}", row[column], width)
                          : fmt::format("{:>{}}", row[column], width))
                << (column + 1 == row.size() ? "\n" : "  ");
    }
  }
  std::cout
      << fmt::format(
             "{} kernels on {}, mode {}, {} threads; run {:.4f} ms, compile {:.1f} ms, peak memory {}\n",
             report.kernels.size(), report.device, report.mode, report.threads, report.run_seconds * 1e3,
             report.compile_seconds * 1e3, bytes_words(report.peak_bytes))
      << fmt::format("copy bandwidth {:.2f} GB/s ({}, buffers of {})\n", report.copy.bytes_per_second * 1e-9,
                     report.copy.way, bytes_words(report.copy.buffer_bytes));
}

nlohmann::ordered_json json_of(const std::vector<runtime::Resources>& launches) {
  auto rows = nlohmann::ordered_json::array();
  for (const runtime::Resources& launch : launches) {
    rows.push_back({{"registers", launch.registers},
                    {"spill_bytes", launch.spill_bytes},
                    {"shared_bytes", launch.scratch_bytes},
                    {"threads", launch.threads},
                    {"blocks_a_multiprocessor", launch.blocks_each}});
  }
  return rows;
}

nlohmann::ordered_json json_of(const Report& report) {
  auto kernels = nlohmann::ordered_json::array();
  for (const KernelLine& kernel : report.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"ops", kernel.ops},
                       {"median_ms", kernel.median_seconds * 1e3},
                       {"bytes", kernel.traffic.bytes},
                       {"touched_bytes", kernel.traffic.touched_bytes},
                       {"floor_bytes", kernel.traffic.floor_bytes},
                       {"gbps", kernel.bytes_per_second() * 1e-9},
                       {"flops", kernel.operations_per_second()},
                       {"compile_ms", kernel.compile_seconds * 1e3},
                       {"cached", kernel.cached}});
    if (!kernel.launches.empty()) kernels.back()["launches"] = json_of(kernel.launches);
  }
  return {{"device", report.device},
          {"mode", report.mode},
          {"threads", report.threads},
          {"copy_gbps", report.copy.bytes_per_second * 1e-9},
          {"run_ms", report.run_seconds * 1e3},
          {"compile_ms", report.compile_seconds * 1e3},
          {"peak_bytes", report.peak_bytes},
          {"kernels", kernels}};
}

int bench(const BenchCommand& command) {
  const Report report = make_report(command);
  print_table(report);
  if (command.json.empty()) return 0;
  std::ofstream stream(command.json);
  stream << json_of(report).dump(2) << '\n';
  if (!stream.flush()) throw Error(cat("cannot write '", escaped(command.json.string()), "'"));
  return 0;
}

constexpr const char* notes =
    "Example: twinloom bench model.fx --threads 1 --json result.json\n"
    "  bytes    for every buffer that a kernel reads or writes, the elements covered, at most the whole "
    "buffer\n"
    "  floor    the graph's inputs, as far as an output needs them, and its outputs\n"
    "  touched  the bytes of the loads and stores that the kernel executes\n"
    "  GB/s     bytes / median time; of copy: their share of the copy bandwidth, measured after the runs\n"
    "  launches of each on a GPU: registers, spilled bytes, shared memory, blocks x threads a "
    "multiprocessor\n"
    "  GFLOP/s  operators on elements, an exponential as its 13 instructions, and combinations of totals / "
    "median "
    "time\n"
    "Times on a GPU are its own, by events.\n"
    "In the JSON, flops is operations a second and gbps 10^9 bytes a second.";

}  // namespace

Command add_bench(CLI::App& app, const FindDevice& find_device) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App* sub = app.add_subcommand("bench", "Time the kernels of a model");
  add_model_options(*sub, command->model);
  add_device_options(*sub, command->device, find_device);
  sub->add_option("--json", command->json, "Also write the numbers to this file");
  sub->footer(notes);
  return [sub, command] { return sub->parsed() ? bench(*command) : -1; };
}

}  // namespace twinloom::tool
