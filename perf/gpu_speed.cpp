// How fast kernels are on a GPU, beside a copy within its memory of as many bytes, in the same rounds.
//   gpu_speed [--table main|indexed] [--only WORDS] [--rounds N] [--mode strict|fused] [--json FILE]
//             [--check] [--device N]
// Times are the GPU's: between an event before the run and one after it, while the host waits for neither.
// Before each timed run and copy a buffer larger than the L2 cache is written, so that all of them find the
// same there. `--check` compares samples of the results with those of the CPU.
// Exit code 1: a case failed; the others were measured.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "api/twinloom.h"
#include "core/measure/gpu_clock.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/gpu_cases.h"
#include "perf/gpu_inputs.h"

namespace twinloom::perf {

namespace {

struct Options {
  std::string table = "main", only, mode = "fused", json;
  int rounds = 15, device = 0;
  bool check = false;
};

struct Row {
  std::string name, failure;
  std::int64_t bytes = 0;
  double seconds = 0, least_seconds = 0, copy_seconds = 0, difference = 0;
  std::vector<runtime::Resources> kernels;
};

double gigabytes(const Row& row) { return static_cast<double>(row.bytes) / row.seconds * 1e-9; }
double share_of_copy(const Row& row) { return row.copy_seconds / row.seconds; }

class Workload {
 public:
  Workload(const GpuCase& given, const Device& device, const Options& options)
      : given_(given), device_(device), inputs_(device) {
    Builder builder(given.name);
    given.build(builder);
    compiled_.mode = options.mode == "strict" ? Mode::strict : Mode::fused;
    executable_.emplace(compile(builder.take(), device, compiled_));
    arguments_ = inputs_.drawn(executable_->graph(), given);
    for (const Output& output : executable_->run(arguments_)) outputs_.push_back(std::get<Tensor>(output));
    for (const Tensor& output : outputs_) {
      if (given.channels_last && output.strides != channels_last_strides(output.sizes))
        throw Error("a result does not lie channels last");
    }
  }

  Row measure(int rounds) const {
    const runtime::Space& space = *device_.backend().space();
    const Tensor flushed = measure::flush_buffer(space);
    const Tensor from = inputs_.empty(given_.bytes / 2), to = inputs_.empty(given_.bytes / 2);
    std::vector<double> taken, copied;
    for (int round = -2; round < rounds; ++round) {  // two are not counted
      const double seconds =
          measure::seconds_of(space, flushed, [&] { return executable_->start(arguments_, {}, outputs_); });
      const double copy = measure::seconds_of(space, flushed, [&] {
        space.copy(to.data, from.data, given_.bytes / 2, nullptr);
        return 0;
      });
      if (round < 0) continue;
      taken.push_back(seconds);
      copied.push_back(copy);
    }
    Row row{
        given_.name, {}, given_.bytes, measure::median(taken), measure::least(taken), measure::median(copied),
        0,           {}};
    for (const runtime::Step& step : executable_->variant(arguments_)->steps)
      row.kernels.push_back(step.kernel->resources().value_or(runtime::Resources{}));
    return row;
  }

  double difference_from_cpu() const {
    Builder builder(given_.name);
    given_.build(builder);
    const Executable expected = compile(builder.take(), Device::cpu(), compiled_);
    std::vector<Argument> arguments;
    for (const Argument& argument : arguments_)
      arguments.emplace_back(device_.download(std::get<Tensor>(argument)));
    const std::vector<Output> results = expected.run(arguments);
    double most = 0;
    for (std::size_t at = 0; at < results.size(); ++at)
      most =
          std::max(most, largest_difference(device_.download(outputs_[at]), std::get<Tensor>(results[at])));
    return most;
  }

 private:
  const GpuCase& given_;
  const Device& device_;
  GpuInputs inputs_;
  CompileOptions compiled_;
  std::optional<Executable> executable_;
  std::vector<Argument> arguments_;
  std::vector<Tensor> outputs_;
};

// What was measured, or in words why not.
Row row_of(const GpuCase& given, const Device& device, const Options& options) {
  try {
    const Workload workload(given, device, options);
    Row row = workload.measure(options.rounds);
    if (!options.check) return row;
    constexpr double BOUND = 2e-2;  // of 16-bit results, of which the order of totals may turn the last bit
    row.difference = workload.difference_from_cpu();
    if (!(row.difference <= (options.mode == "strict" ? 0 : BOUND)))
      row.failure = cat("differs from the CPU's result by ", fmt::format("{:.1e}", row.difference));
    return row;
  } catch (const std::exception& error) {
    return {given.name, error.what(), given.bytes, 0, 0, 0, 0, {}};
  }
}

constexpr const char* HEAD = "{:<24}{:>9}{:>10}{:>10}{:>9}{:>9}{:>9}  {}\n";

// Of each kernel registers, spilled bytes, shared memory, and blocks of how many threads a multiprocessor.
std::string words_of(const std::vector<runtime::Resources>& kernels) {
  return join(kernels, "; ", [](const runtime::Resources& kernel) {
    return cat(kernel.registers, " ", kernel.spill_bytes, " ", kernel.scratch_bytes, " ", kernel.blocks_each,
               "x", kernel.threads);
  });
}

void print_row(const Row& row, const Options& options) {
  if (row.seconds > 0) {
    std::cout << fmt::format(
        fmt::runtime(HEAD), row.name, fmt::format("{:.1f}", static_cast<double>(row.bytes) * 1e-6),
        fmt::format("{:.4f}", row.seconds * 1e3), fmt::format("{:.4f}", row.least_seconds * 1e3),
        fmt::format("{:.0f}", gigabytes(row)), fmt::format("{:.1f} %", share_of_copy(row) * 100),
        row.kernels.size(), words_of(row.kernels));
  }
  if (!row.failure.empty()) std::cout << fmt::format("{:<24}FAILED: {}\n", row.name, row.failure);
  if (options.check && row.failure.empty())
    std::cout << fmt::format("{:<24}largest difference from the CPU {:.1e}\n", "", row.difference);
  std::cout << std::flush;
}

nlohmann::ordered_json json_of(const Row& row) {
  if (row.seconds == 0) return {{"name", row.name}, {"bytes", row.bytes}, {"failure", row.failure}};
  auto kernels = nlohmann::ordered_json::array();
  for (const runtime::Resources& kernel : row.kernels)
    kernels.push_back({{"registers", kernel.registers},
                       {"spill_bytes", kernel.spill_bytes},
                       {"shared_bytes", kernel.scratch_bytes},
                       {"threads", kernel.threads},
                       {"blocks_a_multiprocessor", kernel.blocks_each}});
  return {{"name", row.name},
          {"bytes", row.bytes},
          {"seconds", row.seconds},
          {"least_seconds", row.least_seconds},
          {"copy_seconds", row.copy_seconds},
          {"gbps", gigabytes(row)},
          {"share_of_copy", share_of_copy(row)},
          {"failure", row.failure},
          {"kernels", kernels}};
}

void write_json(const std::vector<Row>& rows, const Device& device, const Options& options) {
  auto cases = nlohmann::ordered_json::array();
  for (const Row& row : rows) cases.push_back(json_of(row));
  std::ofstream file(options.json);
  file << nlohmann::ordered_json{{"device", device.backend().describe()},
                                 {"table", options.table},
                                 {"mode", options.mode},
                                 {"rounds", options.rounds},
                                 {"cases", cases}}
              .dump(2)
       << '\n';
  file.close();
  if (!file) throw Error(cat(options.json, " cannot be written"));
}

void print_mean(const std::vector<Row>& rows) {
  double logarithms = 0;
  int measured = 0;
  for (const Row& row : rows) {
    if (row.seconds == 0) continue;
    logarithms += std::log(share_of_copy(row));
    ++measured;
  }
  if (measured != 0)
    std::cout << fmt::format("geometric mean of the shares of a copy {:.1f} % ({} cases)\n",
                             100 * std::exp(logarithms / measured), measured);
}

int run(const Options& options) {
  const Device device = Device::cuda(options.device);
  std::cout << device.backend().describe() << ", mode " << options.mode << '\n'
            << fmt::format(fmt::runtime(HEAD), "case", "MB", "ms", "least", "GB/s", "of copy", "kernels",
                           "registers spilled shared blocks x threads, of each");
  std::vector<Row> rows;
  for (const GpuCase& given : gpu_cases_of(options.table, options.only)) {
    rows.push_back(row_of(given, device, options));
    print_row(rows.back(), options);
  }
  print_mean(rows);
  if (!options.json.empty()) write_json(rows, device, options);
  return std::ranges::all_of(rows, [](const Row& row) { return row.failure.empty(); }) ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  using namespace twinloom;
  perf::Options options;
  CLI::App app{"Times kernels on a GPU beside a copy within its memory"};
  app.add_option("--table", options.table, "main, or indexed: gathers and scatters")
      ->check(CLI::IsMember({"main", "indexed"}));
  app.add_option("--only", options.only, "Cases whose name has these letters");
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"strict", "fused"}));
  app.add_option("--json", options.json, "Also writes the table here");
  app.add_option("--device", options.device, "Number of the GPU")->check(CLI::NonNegativeNumber);
  app.add_flag("--check", options.check, "Compares samples of the results with the CPU's");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] { return perf::run(options); });
}
