// How fast kernels are, beside plain loops compiled by g++ and beside a copy of as many bytes, all in the
// same rounds: each round runs the kernel, the plain loops and the copy once, each after another copy, and
// medians are compared.
//   speed [--only WORDS] [--threads N] [--rounds N] [--isa avx2|avx512] [--mode strict|fused] [--json FILE]
// `of copy` is the bandwidth of the inputs and outputs, each moved once, divided by that of the copy. The
// results of the plain loops are compared with the kernel's, within bounds that allow for another order.
#include <fmt/format.h>
#include <omp.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>

#include "api/twinloom.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/speed_cases.h"

namespace twinloom::perf {

namespace {

struct Options {
  std::string only, isa, mode = "fused", json;
  int threads = 2, rounds = 15;
};

struct Row {
  std::string name;
  std::int64_t bytes = 0;  // of inputs and outputs, each moved once
  double seconds = 0, plain_seconds = 0, copy_seconds = 0;
  double repeated_seconds = 0;    // of the kernel run again and again, with nothing between
  double largest_difference = 0;  // between kernel and plain loops, relative to the largest element
};

// Inputs drawn from a seed, and outputs of the kernel and of the plain loops.
class Workload {
 public:
  Workload(const SpeedCase& given, const Options& options)
      : executable_(make(given, options)), arguments_(drawn(executable_.graph(), given.index_bound)) {
    options_.settings.threads = options.threads;
    outputs_ = tensors_of(executable_.run(arguments_, options_));
    for (const Tensor& output : outputs_) {
      plain_outputs_.push_back(runtime::allocate(output.dtype, output.sizes));
      plain_out_.push_back(plain_outputs_.back().data);
      bytes_ += bytes_of(output);
    }
    for (const Argument& argument : arguments_) {
      in_.push_back(std::get<Tensor>(argument).data);
      bytes_ += bytes_of(std::get<Tensor>(argument));
    }
  }

  void run() const { executable_.run(arguments_, options_, outputs_); }
  void run_plain(const SpeedCase& given) const { given.plain({in_, plain_out_}); }
  std::int64_t bytes() const { return bytes_; }

  double largest_difference() const {
    double most = 0;
    for (std::size_t at = 0; at < outputs_.size(); ++at) {
      double difference = 0, size = 0;
      for (std::int64_t k = 0; k < runtime::element_count(outputs_[at]); ++k) {
        const double ours = element(outputs_[at], k), plain = element(plain_outputs_[at], k);
        difference = std::max(difference, std::abs(ours - plain));
        size = std::max(size, std::abs(plain));
      }
      most = std::max(most, difference / std::max(size, 1e-30));
    }
    return most;
  }

 private:
  static Executable make(const SpeedCase& given, const Options& options) {
    Builder builder(given.name);
    given.build(builder);
    CompileOptions compiled;
    compiled.mode = options.mode == "strict" ? Mode::strict : Mode::fused;
    return compile(builder.take(), Device::cpu({options.isa}), compiled);
  }
  // Floats from N(0, 1), integers below the bound.
  static std::vector<Argument> drawn(const Graph& graph, std::int64_t index_bound) {
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<Argument> arguments;
    for (const graph::Parameter& parameter : graph.parameters()) {
      const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
      std::vector<std::int64_t> sizes;
      for (const SizeExpr& size : node.shape) sizes.push_back(*index::constant_of(size));
      const Tensor tensor = allocate(node.dtype, sizes);
      const bool real = node.dtype != DType::i64;
      std::uniform_int_distribution<std::int64_t> index(0, std::max<std::int64_t>(index_bound - 1, 0));
      for (std::int64_t k = 0; k < runtime::element_count(tensor); ++k) {
        const Number number = real ? Number(normal(random)) : Number(index(random));
        ops::store_number(node.dtype, ops::cast(number, node.dtype), element_of(tensor, k));
      }
      arguments.emplace_back(tensor);
    }
    return arguments;
  }
  static std::byte* element_of(const Tensor& tensor, std::int64_t at) {
    return static_cast<std::byte*>(tensor.data) + at * ops::size_of(tensor.dtype);
  }
  static std::vector<Tensor> tensors_of(const std::vector<Output>& outputs) {
    std::vector<Tensor> tensors;
    for (const Output& output : outputs) tensors.push_back(std::get<Tensor>(output));
    return tensors;
  }
  static std::int64_t bytes_of(const Tensor& tensor) {
    return runtime::element_count(tensor) * ops::size_of(tensor.dtype);
  }
  static double element(const Tensor& tensor, std::int64_t at) {
    return ops::load_number(tensor.dtype, element_of(tensor, at)).real();
  }

  Executable executable_;
  std::vector<Argument> arguments_;
  RunOptions options_;
  std::vector<Tensor> outputs_, plain_outputs_;
  std::vector<const void*> in_;
  std::vector<void*> plain_out_;
  std::int64_t bytes_ = 0;
};

double seconds_of(const std::function<void()>& work) {
  return measure::repeat({.warm_up = 0, .least = 1, .most = 1, .seconds = 0}, work).front();
}

// Each work comes after a copy past the caches, so that all of them find the same: not the inputs that
// another has just read, nor lines that it has left to be written back.
Row measure_case(const SpeedCase& given, const Options& options) {
  const Workload workload(given, options);
  // As many bytes as the case moves, half of them read and half written.
  const measure::CopyWork copy(workload.bytes() / 2, options.threads);
  const auto copy_past_caches = [&] { copy.run(measure::CopyWork::Way::streaming_stores); };
  const std::function<void()> works[] = {[&] { workload.run(); }, [&] { workload.run_plain(given); },
                                         [&] { copy.run(measure::CopyWork::Way::memcpy); }};
  std::vector<double> taken[std::size(works)], past_caches;
  for (int round = 0; round <= options.rounds; ++round) {
    for (std::size_t at = 0; at < std::size(works); ++at) {
      past_caches.push_back(seconds_of(copy_past_caches));
      const double seconds = seconds_of(works[at]);
      if (round > 0) taken[at].push_back(seconds);
    }
  }
  const auto repeated = measure::repeat(
      {.warm_up = 1, .least = options.rounds, .most = options.rounds, .seconds = 0}, works[0]);
  const double copied = std::min(measure::median(taken[2]), measure::median(past_caches));
  return {given.name, workload.bytes(),          measure::median(taken[0]),    measure::median(taken[1]),
          copied,     measure::median(repeated), workload.largest_difference()};
}

double share_of_copy(const Row& row) { return row.copy_seconds / row.seconds; }
double over_plain(const Row& row) { return row.plain_seconds / row.seconds; }

void print_row(const Row& row) {
  std::cout << fmt::format("{:<22}{:>9.1f}{:>10.3f}{:>8.1f}{:>9.0f} %{:>10.3f}{:>9.2f}{:>13.1e}\n", row.name,
                           static_cast<double>(row.bytes) * 1e-6, row.seconds * 1e3,
                           static_cast<double>(row.bytes) / row.seconds * 1e-9, share_of_copy(row) * 100,
                           row.plain_seconds * 1e3, over_plain(row), row.largest_difference)
            << std::flush;
}

void write_json(const std::vector<Row>& rows, const Options& options) {
  nlohmann::json cases = nlohmann::json::array();
  for (const Row& row : rows)
    cases.push_back({{"name", row.name},
                     {"bytes", row.bytes},
                     {"seconds", row.seconds},
                     {"plain_seconds", row.plain_seconds},
                     {"copy_seconds", row.copy_seconds},
                     {"repeated_seconds", row.repeated_seconds}});
  std::ofstream file(options.json);
  file << nlohmann::json{{"threads", options.threads}, {"mode", options.mode}, {"cases", cases}}.dump(2)
       << '\n';
  file.close();
  if (!file) throw Error(cat(options.json, " cannot be written"));
}

void run(const Options& options) {
  omp_set_num_threads(options.threads);  // of the plain loops
  std::cout << fmt::format("{:<22}{:>9}{:>10}{:>8}{:>11}{:>10}{:>9}{:>13}\n", "case", "MB", "ms", "GB/s",
                           "of copy", "plain ms", "speed-up", "difference");
  std::vector<Row> rows;
  double logarithms = 0;
  for (const SpeedCase& given : speed_cases()) {
    if (given.name.find(options.only) == std::string::npos) continue;
    rows.push_back(measure_case(given, options));
    print_row(rows.back());
    logarithms += std::log(over_plain(rows.back()));
  }
  if (rows.empty()) throw Error(cat("no case has a name with '", options.only, "'"));
  std::cout << fmt::format("geometric mean of the speed-ups over plain loops {:.2f}\n",
                           std::exp(logarithms / static_cast<double>(rows.size())));
  if (!options.json.empty()) write_json(rows, options);
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  using namespace twinloom;
  perf::Options options;
  CLI::App app{"Times kernels beside plain loops and a copy"};
  app.add_option("--only", options.only, "Cases whose name has these letters");
  app.add_option("--threads", options.threads, "Of kernels, loops and the copy")->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--isa", options.isa, "avx2 or avx512; left out, the best of this processor");
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"strict", "fused"}));
  app.add_option("--json", options.json, "Also writes the table here");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] {
    perf::run(options);
    return 0;
  });
}
