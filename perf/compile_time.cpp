// How long a kernel takes from graph to callable when nothing is cached, phase by phase, beside the time that
// `clang++-19 -O2 -c` takes for an empty file. `cpu` is the processor's time, on which other programs have
// less influence.
//   compile_time [--isa avx2|avx512] [--rounds N] [--only NAME] [--source NAME] [GRAPH.fx...]
// Without files the graphs of cases.h. One row a graph: its round of least cpu, divided by its kernels. The
// last lines have the medians, and the time of 48 kernels made on two threads; exit code 1 when that of the
// whole is above the bound.
#include <sys/resource.h>
#include <tbb/parallel_for_each.h>
#include <tbb/task_arena.h>

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

#include "backends/cpu/cpu.h"
#include "backends/cpu/dialect.h"
#include "backends/cpu/isa.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/emit/emit.h"
#include "core/fuse/fuse.h"
#include "core/graph/passes.h"
#include "core/lower/lower.h"
#include "core/measure/measure.h"
#include "core/schedule/schedule.h"
#include "frontends/fx/read.h"
#include "jit/orc_session.h"
#include "perf/cases.h"
#include "perf/exit_code.h"

namespace twinloom::perf {

namespace {

constexpr std::array<const char*, 8> phases = {"graph", "lower", "fuse",   "schedule",
                                               "emit",  "parse", "passes", "codegen"};
// Milliseconds of one kernel.
struct Times {
  std::array<double, phases.size()> phase{};
  double link = 0, whole = 0, cpu = 0;
  std::size_t kernels = 0, text_bytes = 0, object_bytes = 0;
};

// Of this process, which other programs do not lengthen.
double cpu_milliseconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
}

struct Options {
  std::string isa, only, source;
  int rounds = 3;
  std::vector<std::filesystem::path> files;
};

class Bench {
 public:
  explicit Bench(const std::string& isa)
      : isa_(cpu::choose_isa(isa, true)),
        planner_(cpu::make_planner(isa)),
        compiler_(isa_.target, cpu::all_headers(), cpu::prelude(), {}, cpu::precompiled_prelude(isa_)),
        session_({}) {
    Stopwatch watch;
    compiler_.prepare();
    std::cout << fmt::format("{}: prelude {:.1f} ms, once\n", isa_.name, watch.lap() * 1e3);
  }

  // All kernels of the graph; `sources` takes their texts.
  Times run(const graph::Graph& given, std::vector<std::string>* sources) const {
    Times times;
    Stopwatch whole;
    const double cpu = cpu_milliseconds();
    for (const loops::Program& program : programs_of(given, times)) add_kernel(program, times, sources);
    times.whole = whole.lap() * 1e3;
    times.cpu = cpu_milliseconds() - cpu;
    return times;
  }

  // Milliseconds a kernel, of so many that threads make side by side: those of the cases, over again.
  double together(const std::vector<Case>& cases, std::size_t count, int threads) const {
    std::vector<loops::Program> programs;
    Stopwatch whole;
    for (std::size_t at = 0; programs.size() < count; ++at) {
      Times unused;
      for (loops::Program& program : programs_of(cases[at % cases.size()].graph, unused))
        if (programs.size() < count) programs.push_back(std::move(program));
    }
    tbb::task_arena arena(threads);
    arena.execute([&] {
      tbb::parallel_for_each(programs, [&](const loops::Program& program) {
        Times unused;
        add_kernel(program, unused, nullptr);
      });
    });
    return whole.lap() * 1e3 / static_cast<double>(count);
  }

 private:
  // What the graph becomes; adds the times of the phases before emission.
  std::vector<loops::Program> programs_of(const graph::Graph& given, Times& times) const {
    std::vector<loops::Program> result;
    Stopwatch watch;
    graph::Graph graph = graph::fused_meaning(graph::remove_dead(given));
    graph = graph::scatter_to_select(graph);
    times.phase[0] = watch.lap() * 1e3;
    lower::Lowered lowered = lower::lower(graph, {});
    times.phase[1] = watch.lap() * 1e3;
    const fuse::Fused fused = fuse::fuse(lowered);
    times.phase[2] = watch.lap() * 1e3;
    for (const lower::Unit& unit : fused.lowered.units) {
      watch.lap();
      const auto schedule = schedule::choose(unit.nest, planner_->machine());
      for (loops::Program& program : schedule::apply(unit.nest, schedule))
        result.push_back(std::move(program));
      times.phase[3] += watch.lap() * 1e3;
    }
    return result;
  }

  void add_kernel(const loops::Program& program, Times& times, std::vector<std::string>* sources) const {
    Stopwatch watch;
    const std::string text = emit::emit(program, dialect_, loops::print(program));
    times.phase[4] += watch.lap() * 1e3;
    const jit::Object object = compiler_.compile(text, program.name);
    times.phase[5] += object.times.parse * 1e3;
    times.phase[6] += object.times.optimise * 1e3;
    times.phase[7] += object.times.codegen * 1e3;
    watch.lap();
    const jit::Module module = session_.load(object);
    CHECK(module.address("kernel") != nullptr, "no kernel");
    times.link += watch.lap() * 1e3;
    ++times.kernels;
    times.text_bytes += text.size();
    times.object_bytes += object.bytes.size();
    if (sources != nullptr) sources->push_back(text);
  }

  cpu::Isa isa_;
  std::shared_ptr<const runtime::Backend> planner_;
  cpu::CpuDialect dialect_;
  jit::Compiler compiler_;
  jit::Session session_;
};

std::vector<Case> cases_of(const Options& options) {
  if (options.files.empty()) return kernel_cases();
  std::vector<Case> cases;
  for (const auto& file : options.files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    cases.push_back({file.stem().string(), fx::read(text)});
  }
  return cases;
}

Times fastest(const Bench& bench, const Case& given, int rounds) {
  Times best;
  for (int round = 0; round < rounds; ++round) {
    const Times times = bench.run(given.graph, nullptr);
    if (round == 0 || times.cpu < best.cpu) best = times;
  }
  const auto kernels = static_cast<double>(best.kernels);
  for (double& phase : best.phase) phase /= kernels;
  best.link /= kernels;
  best.whole /= kernels;
  best.cpu /= kernels;
  return best;
}

void print_row(const std::string& name, const Times& times) {
  std::cout << fmt::format("{:<26}", name);
  for (const double phase : times.phase) std::cout << fmt::format("{:>9.1f}", phase);
  std::cout << fmt::format("{:>7.2f}{:>8.1f}{:>8.1f}{:>9}{:>9}{:>9}\n", times.link, times.whole, times.cpu,
                           times.kernels, times.text_bytes, times.object_bytes);
}

Times medians(const std::vector<Times>& all) {
  const auto median_of = [&](auto&& of) {
    std::vector<double> numbers;
    for (const Times& times : all) numbers.push_back(of(times));
    return measure::median(numbers);
  };
  Times result;
  for (std::size_t at = 0; at < phases.size(); ++at)
    result.phase[at] = median_of([&](const Times& times) { return times.phase[at]; });
  result.link = median_of([](const Times& times) { return times.link; });
  result.whole = median_of([](const Times& times) { return times.whole; });
  result.cpu = median_of([](const Times& times) { return times.cpu; });
  return result;
}

double children_milliseconds() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto of = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) * 1e-3;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

struct Empty {
  double whole = 0, cpu = 0;  // milliseconds; 0 where there is no such program
};
Empty empty_clang() {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string source = (folder / "twinloom_empty.cpp").string();
  std::ofstream(source).close();
  const std::string command = cat("clang++-19 -O2 -c ", source, " -o /dev/null 2>/dev/null");
  std::vector<double> whole, cpu;
  for (int round = 0; round < 11; ++round) {
    Stopwatch watch;
    const double before = children_milliseconds();
    if (std::system(command.c_str()) != 0) return {};
    whole.push_back(watch.lap() * 1e3);
    cpu.push_back(children_milliseconds() - before);
  }
  return {measure::median(whole), measure::median(cpu)};
}

int print_source(const Bench& bench, const Options& options) {
  std::vector<std::string> sources;
  for (const Case& given : cases_of(options))
    if (given.name == options.source) bench.run(given.graph, &sources);
  if (sources.empty()) throw Error(cat("no case is named '", options.source, "'"));
  for (const std::string& source : sources) std::cout << source;
  return 0;
}

int run(const Options& options) {
  const Bench bench(options.isa);
  if (!options.source.empty()) return print_source(bench, options);
  std::cout << fmt::format("{:<26}", "ms");
  for (const char* phase : phases) std::cout << fmt::format("{:>9}", phase);
  std::cout << fmt::format("{:>7}{:>8}{:>8}{:>9}{:>9}{:>9}\n", "link", "whole", "cpu", "kernels", "text",
                           "object");
  std::vector<Times> all;
  for (const Case& given : cases_of(options)) {
    if (!options.only.empty() && given.name != options.only) continue;
    all.push_back(fastest(bench, given, options.rounds));
    print_row(given.name, all.back());
  }
  if (all.empty()) throw Error(cat("no case is named '", options.only, "'"));
  if (options.only.empty()) {
    constexpr std::size_t KERNELS = 48;
    constexpr int THREADS = 2;
    std::cout << fmt::format("{} kernels on {} threads: {:.1f} ms each\n", KERNELS, THREADS,
                             bench.together(cases_of(options), KERNELS, THREADS));
  }
  const Times median = medians(all);
  print_row(cat("median of ", all.size()), median);
  const Empty empty = empty_clang();
  const double bound = std::max(empty.whole, 40.0);
  std::cout
      << fmt::format(
             "whole {:.1f} ms (cpu {:.1f}); clang++-19 -O2 -c of an empty file {:.1f} ms (cpu {:.1f}); ",
             median.whole, median.cpu, empty.whole, empty.cpu)
      << fmt::format("the bound is {:.1f} ms\n", bound);
  return median.whole <= bound ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  twinloom::perf::Options options;
  CLI::App app{"Times the way from graph to machine code, kernel by kernel"};
  app.add_option("--isa", options.isa, "avx2 or avx512; left out, the best of this processor");
  app.add_option("--rounds", options.rounds, "Of which the one of least cpu counts")
      ->check(CLI::PositiveNumber);
  app.add_option("--only", options.only, "The case of this name");
  app.add_option("--source", options.source, "Print the kernels of the case of this name");
  app.add_option("files", options.files, "Graphs as PyTorch prints them, in place of the cases")
      ->check(CLI::ExistingFile);
  CLI11_PARSE(app, count, words);
  return twinloom::perf::exit_code_of([&] { return twinloom::perf::run(options); });
}
