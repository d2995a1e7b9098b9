// How long planning takes, from text to the source of the kernels, and how it grows with the graph.
//   plan_time [--device cpu|h200] [--only FAMILY] [--sizes 250,500,1000,2000,4000] [--rounds N]
//   plan_time [--device cpu|h200] [--rounds N] TEXT...
// One row a graph of plan_families.h, milliseconds of the processor, medians of the rounds: reading the text,
// the passes of the pipeline up to schedules, their sum (`plan`), and writing the sources (`emit`). After
// each family the exponent of `plan` over nodes, fitted to the logarithms. Exit code 1: one is above 1.15, or
// a graph of about 1,000 nodes takes more than 0.5 s.
// Of texts that are given: milliseconds a kernel, and their median, nine in ten of them, and the worst. Exit
// code 1: the median of `plan` is above 2 ms.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "api/devices.h"
#include "backends/cpu/cpu.h"
#include "backends/cpu/dialect.h"
#include "core/base/error.h"
#include "core/emit/emit.h"
#include "core/graph/passes.h"
#include "core/measure/measure.h"
#include "core/pipeline/pipeline.h"
#include "frontends/fx/read.h"
#include "perf/exit_code.h"
#include "perf/plan_families.h"
#include "perf/process_watch.h"

namespace twinloom::perf {

namespace {

constexpr double MOST_EXPONENT = 1.15, MOST_MILLISECONDS = 500, MOST_OF_A_KERNEL = 2;
constexpr std::size_t THOUSAND = 1000;

struct Options {
  std::string device = "cpu", only;
  std::vector<int> sizes = {250, 500, 1000, 2000, 4000};
  int rounds = 3;
  std::vector<std::filesystem::path> texts;
};

enum class Phase : std::uint8_t { read, graph, lower, fuse, schedule, plan, emit };
constexpr std::array<const char*, 7> names = {"read", "graph", "lower", "fuse", "schedule", "plan", "emit"};

struct Row {
  std::size_t nodes = 0, kernels = 0;
  std::array<double, names.size()> milliseconds{};
  double& operator[](Phase phase) { return milliseconds[static_cast<std::size_t>(phase)]; }
  double operator[](Phase phase) const { return milliseconds[static_cast<std::size_t>(phase)]; }
};

class Bench {
 public:
  explicit Bench(const std::string& device)
      : planner_(device == "cpu" ? cpu::make_planner("") : Device::named(device).share()) {}

  Row measure(const std::string& text) const {
    Row row;
    ProcessWatch watch;
    const graph::Graph read = fx::read(text);
    row[Phase::read] = watch.lap();
    pipeline::Options options;
    options.progress = [&](const pipeline::Progress& done) {
      if (done.kernel.empty()) row[phase_of(done.pass)] += watch.lap();
    };
    watch.lap();
    const auto variant = pipeline::make_variant(read, {}, *planner_, options);
    for (const Phase phase : {Phase::graph, Phase::lower, Phase::fuse, Phase::schedule})
      row[Phase::plan] += row[phase];
    watch.lap();
    for (const runtime::Step& step : variant->steps)
      if (!step.source) emit::emit(step.program, dialect_, "");
    row[Phase::emit] += watch.lap();
    row.nodes = variant->graph.nodes().size();
    row.kernels = variant->steps.size();
    return row;
  }

 private:
  static Phase phase_of(std::string_view pass) {
    if (pass == "lower") return Phase::lower;
    if (pass == "fuse") return Phase::fuse;
    if (pass == "build") return Phase::emit;  // planners write texts and build nothing
    return pass == "schedule" ? Phase::schedule : Phase::graph;
  }

  std::shared_ptr<const runtime::Backend> planner_;
  cpu::CpuDialect dialect_;
};

Row median_of(const Bench& bench, const std::string& text, int rounds) {
  std::vector<Row> rows;
  for (int round = 0; round < rounds; ++round) rows.push_back(bench.measure(text));
  Row result = rows.front();
  for (std::size_t phase = 0; phase < names.size(); ++phase) {
    std::vector<double> all;
    for (const Row& row : rows) all.push_back(row.milliseconds[phase]);
    result.milliseconds[phase] = measure::median(all);
  }
  return result;
}

// The slope of the line through the logarithms that lies nearest in squares.
double exponent_of(const std::vector<Row>& rows) {
  double x_mean = 0, y_mean = 0, xy = 0, xx = 0;
  const auto count = static_cast<double>(rows.size());
  const auto x = [](const Row& row) { return std::log(static_cast<double>(row.nodes)); };
  const auto y = [](const Row& row) { return std::log(row[Phase::plan]); };
  for (const Row& row : rows) {
    x_mean += x(row) / count;
    y_mean += y(row) / count;
  }
  for (const Row& row : rows) {
    xy += (x(row) - x_mean) * (y(row) - y_mean);
    xx += (x(row) - x_mean) * (x(row) - x_mean);
  }
  return xx == 0 ? 0 : xy / xx;
}

void print_head(std::string_view unit) {
  std::cout << fmt::format("{:<28}{:>7}{:>9}", unit, "nodes", "kernels");
  for (const char* name : names) std::cout << fmt::format("{:>10}", name);
  std::cout << '\n';
}

void print_row(std::string_view name, const Row& row) {
  std::cout << fmt::format("{:<28}{:>7}{:>9}", name, row.nodes, row.kernels);
  for (const double time : row.milliseconds) std::cout << fmt::format("{:>10.2f}", time);
  std::cout << std::endl;
}

// Of each column on its own.
Row quantile_of(const std::vector<Row>& rows, double share) {
  Row result;
  for (std::size_t phase = 0; phase < names.size(); ++phase) {
    std::vector<double> all;
    for (const Row& row : rows) all.push_back(row.milliseconds[phase]);
    std::ranges::sort(all);
    result.milliseconds[phase] = all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  }
  return result;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

int run_texts(const Options& options, const Bench& bench) {
  print_head("ms a kernel");
  std::vector<Row> rows;
  for (const auto& path : options.texts) {
    Row row = median_of(bench, text_of(path), options.rounds);
    for (double& time : row.milliseconds) time /= static_cast<double>(std::max<std::size_t>(row.kernels, 1));
    print_row(path.stem().string(), row);
    rows.push_back(row);
  }
  const Row median = quantile_of(rows, 0.5);
  print_row("median", median);
  print_row("nine in ten", quantile_of(rows, 0.9));
  print_row("worst", quantile_of(rows, 1));
  return median[Phase::plan] <= MOST_OF_A_KERNEL ? 0 : 1;
}

int run(const Options& options) {
  const Bench bench(options.device);
  if (!options.texts.empty()) return run_texts(options, bench);
  print_head("ms");
  bool within = true, any = false;
  for (const Family& family : plan_families()) {
    if (!options.only.empty() && options.only != family.name) continue;
    any = true;
    std::vector<Row> rows;
    for (const int size : options.sizes) {
      const Row& row = rows.emplace_back(median_of(bench, family.text(size), options.rounds));
      print_row(family.name, row);
      within = within && (row.nodes > THOUSAND || row[Phase::plan] <= MOST_MILLISECONDS);
    }
    const double exponent = exponent_of(rows);
    std::cout << fmt::format("{:<28}exponent {:.2f}\n", family.name, exponent);
    within = within && exponent <= MOST_EXPONENT;
  }
  if (!any) throw Error(cat("no family is named '", escaped(options.only), "'"));
  return within ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  twinloom::perf::Options options;
  CLI::App app{"Times planning, from text to the source of kernels"};
  app.add_option("--device", options.device, "cpu, or h200, which only plans")->capture_default_str();
  app.add_option("--only", options.only, "The family of this name");
  app.add_option("--sizes", options.sizes, "Operators of the graphs, about")->delimiter(',');
  app.add_option("TEXT", options.texts, "Files of FX text instead of families")->check(CLI::ExistingFile);
  app.add_option("--rounds", options.rounds, "Of which the median counts")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return twinloom::perf::exit_code_of([&] { return twinloom::perf::run(options); });
}
