// The same computations written in different ways, side by side: no way may take longer than 1.1 times the
// fastest of those that round at the same places.
//   ways [--device cpu|cuda:0] [--only WORDS] [--rows N] [--columns N] [--rounds N] [--threads N]
//        [--isa avx2|avx512] [--mode strict|fused] [--json FILE] [--bound X]
// All ways of a family run once in each round, each for about as long, and medians are compared. On a GPU
// times are its own, and a buffer larger than its L2 cache is written before each run. Results of ways with
// the same letter must be the same bits. Left out, the sizes are those of the tables in perf/results. Exit
// code 1: a way is above the bound, differs from its peers, or failed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "api/twinloom.h"
#include "core/measure/drawn.h"
#include "core/measure/gpu_clock.h"
#include "core/measure/measure.h"
#include "frontends/fx/read.h"
#include "perf/exit_code.h"
#include "perf/ways_cases.h"

namespace twinloom::perf {

namespace {

struct Options {
  std::string device = "cpu", only, isa, mode = "fused", json;
  MatrixSizes sizes;
  int rounds = 31, threads = 1;
  double bound = 1.1;
};

struct Row {
  Way way;
  std::size_t kernels = 0;
  double seconds = 0, ratio = 0;  // to the fastest with the same letter
  std::string failure;
};

// Of ways with the same parameters the same tensors.
using Inputs = std::map<std::string_view, std::vector<Argument>>;

class Workload {
 public:
  Workload(const Way& way, const Device& device, const Options& options, Inputs& inputs)
      : executable_(made(way, device, options)), space_(device.backend().space()) {
    settings_.settings.threads = options.threads;
    const auto [known, fresh] = inputs.try_emplace(way.parameters);
    if (fresh) known->second = drawn(device, options);
    arguments_ = known->second;
    outputs_ = {std::get<Tensor>(executable_.run(arguments_, settings_).front())};
    result_ = device.download(outputs_.front());
    if (space_ != nullptr) flushed_ = measure::flush_buffer(*space_);
    choose_runs();
  }

  // Of one run, the mean of some.
  double seconds() const {
    if (space_ != nullptr)
      return measure::seconds_of(*space_, *flushed_,
                                 [&] { return executable_.start(arguments_, settings_, outputs_); });
    const auto before = std::chrono::steady_clock::now();
    for (int run = 0; run < runs_; ++run) executable_.run(arguments_, settings_, outputs_);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count() / runs_;
  }
  std::size_t kernels() const { return executable_.variant(arguments_)->steps.size(); }
  std::string_view result() const {
    const runtime::Bytes bytes = runtime::bytes_of(result_);
    return {reinterpret_cast<const char*>(bytes.first), static_cast<std::size_t>(bytes.last - bytes.first)};
  }

 private:
  static Executable made(const Way& way, const Device& device, const Options& options) {
    CompileOptions compiled;
    compiled.mode = options.mode == "strict" ? Mode::strict : Mode::fused;
    return compile(fx::read(text_of(way, options.sizes)), device, compiled);
  }
  std::vector<Argument> drawn(const Device& device, const Options& options) const {
    std::vector<Argument> arguments;
    for (const graph::Parameter& parameter : executable_.graph().parameters()) {
      const graph::Node& node = executable_.graph()[std::get<graph::NodeId>(parameter.value)];
      std::vector<std::int64_t> sizes;
      for (const SizeExpr& size : node.shape) sizes.push_back(*index::constant_of(size));
      std::vector<std::int64_t> strides = runtime::contiguous_strides(sizes);
      arguments.emplace_back(measure::drawn(node.dtype, std::move(sizes), std::move(strides),
                                            options.sizes.columns, device.backend().space()));
    }
    return arguments;
  }
  // So many that a measurement takes half a millisecond.
  void choose_runs() {
    constexpr double ENOUGH = 5e-4;
    if (space_ == nullptr) runs_ = std::clamp(static_cast<int>(ENOUGH / std::max(seconds(), 1e-7)), 1, 1000);
  }

  Executable executable_;
  const runtime::Space* space_;
  RunOptions settings_;
  std::vector<Argument> arguments_;
  std::vector<Tensor> outputs_;
  Tensor result_;
  std::optional<Tensor> flushed_;
  int runs_ = 1;
};

struct Measured {
  std::optional<Workload> workload;
  std::vector<double> seconds;
};

Measured made_ready(Row& row, const Device& device, const Options& options, Inputs& inputs) {
  Measured measured;
  try {
    measured.workload.emplace(row.way, device, options, inputs);
    row.kernels = measured.workload->kernels();
  } catch (const std::exception& error) {
    row.failure = error.what();
  }
  return measured;
}

// Of the others of its letter: the least time, and whether bits differ.
void compare(std::vector<Row>& rows, const std::vector<Measured>& all, double bound) {
  std::map<char, std::size_t> first, fastest;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    if (!rows[k].failure.empty()) continue;
    const char letter = rows[k].way.roundings;
    const std::size_t one = first.emplace(letter, k).first->second;
    if (all[one].workload->result() != all[k].workload->result())
      rows[k].failure = cat("its bits differ from those of '", rows[one].way.name, "'");
    std::size_t& best = fastest.emplace(letter, k).first->second;
    if (rows[k].seconds < rows[best].seconds) best = k;
  }
  for (Row& row : rows) {
    if (row.seconds == 0) continue;
    row.ratio = row.seconds / rows[fastest.at(row.way.roundings)].seconds;
    if (row.ratio > bound && row.failure.empty()) row.failure = "above the bound";
  }
}

std::vector<Row> measure_family(std::vector<Row> rows, const Device& device, const Options& options) {
  Inputs inputs;
  std::vector<Measured> all;
  for (Row& row : rows) all.push_back(made_ready(row, device, options, inputs));
  for (int round = -1; round < options.rounds; ++round) {  // one is not counted
    for (Measured& one : all) {
      if (!one.workload) continue;
      const double seconds = one.workload->seconds();
      if (round >= 0) one.seconds.push_back(seconds);
    }
  }
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (all[k].workload) rows[k].seconds = measure::median(all[k].seconds);
  compare(rows, all, options.bound);
  return rows;
}

constexpr const char* HEAD = "{:<16}{:<26}{:>10}{:>9}{:>12}{:>8}  {}\n";

void print_row(const Row& row) {
  std::cout << fmt::format(fmt::runtime(HEAD), row.way.family, row.way.name, row.way.roundings, row.kernels,
                           fmt::format("{:.2f}", row.seconds * 1e6), fmt::format("{:.2f}", row.ratio),
                           row.failure)
            << std::flush;
}

void write_json(const std::vector<Row>& rows, const Device& device, const Options& options) {
  auto all = nlohmann::ordered_json::array();
  for (const Row& row : rows)
    all.push_back({{"family", row.way.family},
                   {"way", row.way.name},
                   {"roundings", std::string(1, row.way.roundings)},
                   {"kernels", row.kernels},
                   {"seconds", row.seconds},
                   {"ratio", row.ratio},
                   {"failure", row.failure}});
  std::ofstream file(options.json);
  file << nlohmann::ordered_json{{"device", device.backend().describe()},
                                 {"mode", options.mode},
                                 {"rows", options.sizes.rows},
                                 {"columns", options.sizes.columns},
                                 {"threads", options.threads},
                                 {"ways", all}}
              .dump(2)
       << '\n';
  file.close();
  if (!file) throw Error(cat(options.json, " cannot be written"));
}

// The families in the order of the table, each with the ways that are asked for.
std::vector<std::vector<Row>> families_of(const Options& options) {
  std::vector<std::vector<Row>> families;
  for (const Way& way : all_ways()) {
    if (cat(way.family, " ", way.name).find(options.only) == std::string::npos) continue;
    if (families.empty() || families.back().front().way.family != way.family) families.emplace_back();
    families.back().push_back({way, 0, 0, 0, {}});
  }
  if (families.empty()) throw Error(cat("no way has a name with '", options.only, "'"));
  return families;
}

int run(Options options) {
  const bool is_cpu = options.device == "cpu";
  if (options.sizes.rows == 0) options.sizes.rows = is_cpu ? 64 : 16384;
  if (options.sizes.columns == 0) options.sizes.columns = is_cpu ? 1024 : 4096;
  const Device device = Device::named(options.device, {options.isa});
  std::cout << device.backend().describe() << ", mode " << options.mode << ", matrices of "
            << options.sizes.rows << " x " << options.sizes.columns << ", " << options.rounds << " rounds\n"
            << fmt::format(fmt::runtime(HEAD), "what", "way", "roundings", "kernels", "us", "ratio", "");
  std::vector<Row> all;
  for (std::vector<Row>& family : families_of(options)) {
    for (const Row& row : measure_family(std::move(family), device, options)) {
      print_row(row);
      all.push_back(row);
    }
  }
  if (!options.json.empty()) write_json(all, device, options);
  return std::ranges::all_of(all, [](const Row& row) { return row.failure.empty(); }) ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  using namespace twinloom;
  perf::Options options;
  CLI::App app{"Times the same computations written in different ways"};
  app.add_option("--device", options.device, "cpu or cuda:NUMBER");
  app.add_option("--only", options.only, "Ways whose family and name have these letters");
  app.add_option("--rows", options.sizes.rows)->check(CLI::PositiveNumber);
  app.add_option("--columns", options.sizes.columns, "An even number")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "On a CPU")->check(CLI::PositiveNumber);
  app.add_option("--isa", options.isa, "avx2 or avx512; left out, the best of this processor");
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"strict", "fused"}));
  app.add_option("--bound", options.bound, "Of a ratio to the fastest with the same roundings");
  app.add_option("--json", options.json, "Also writes the table here");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] { return perf::run(options); });
}
