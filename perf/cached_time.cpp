// How long a kept kernel takes from its program to callable, part by part, and what keeping it costs.
//   cached_time [--isa avx2|avx512] [--rounds N]
// One row a kernel of cases.h, milliseconds, each part's median of the rounds:
//   text    program to source and key      find  key to verified bytes      load  bytes to callable
//   cached  find and load: what a hit costs instead of a compilation
//   store   bytes to disk, synced          compile  source to bytes, once
// The entries are in a folder of their own, which is removed. Exit code 1: the median of `cached` is above
// the bound of one millisecond.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "backends/cpu/cpu.h"
#include "backends/cpu/translate.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/measure/measure.h"
#include "core/object_cache/object_cache.h"
#include "core/pipeline/pipeline.h"
#include "jit/orc_session.h"
#include "perf/cases.h"
#include "perf/exit_code.h"
#include "perf/folder.h"

namespace twinloom::perf {

namespace {

constexpr double bound = 1;
constexpr std::array<const char*, 6> parts = {"text", "find", "load", "cached", "store", "compile"};
using Times = std::array<double, parts.size()>;

struct Options {
  std::string isa;
  int rounds = 21;
};

object_cache::ObjectCache cache_in(const Folder& folder) {
  object_cache::Options options;
  options.place = {folder.path(), "cache"};
  return object_cache::ObjectCache(options);
}

Times measure_kernel(const loops::Program& program, const cpu::Translator& translator,
                     const jit::Session& session, const object_cache::ObjectCache& cache, int rounds) {
  const cpu::KernelText text = translator.text(program);
  Stopwatch watch;
  const jit::Object object = translator.object(text, program.name);
  const double compile = watch.lap() * 1e3;
  std::array<std::vector<double>, parts.size()> all;
  for (int round = 0; round < rounds; ++round) {
    cache.clear();
    watch.lap();
    cache.store(text.key, object.bytes);
    const double store = watch.lap() * 1e3;
    const cpu::KernelText again = translator.text(program);
    const double emit = watch.lap() * 1e3;
    auto bytes = cache.find(again.key);
    const double find = watch.lap() * 1e3;
    CHECK(bytes.has_value(), "what was stored is not found: ", cache.warning());
    const jit::Module module = session.load({program.name, std::move(*bytes), {}});
    CHECK(module.address("kernel") != nullptr, "no kernel");
    const double load = watch.lap() * 1e3;
    const Times times = {emit, find, load, find + load, store, compile};
    for (std::size_t part = 0; part < parts.size(); ++part) all[part].push_back(times[part]);
  }
  Times medians{};
  for (std::size_t part = 0; part < parts.size(); ++part) medians[part] = measure::median(all[part]);
  return medians;
}

void print_row(const std::string& name, const Times& times) {
  std::cout << fmt::format("{:<36}", name.substr(0, 35));
  for (const double time : times) std::cout << fmt::format("{:>9.3f}", time);
  std::cout << '\n';
}

int run(const Options& options) {
  Stopwatch watch;
  const cpu::Translator translator(cpu::choose_isa(options.isa, true));
  const double translator_time = watch.lap() * 1e3;
  const jit::Session session({});
  std::cout << fmt::format("once: translator {:.3f} ms, session {:.3f} ms\n{:<36}", translator_time,
                           watch.lap() * 1e3, "ms");
  for (const char* part : parts) std::cout << fmt::format("{:>9}", part);
  std::cout << '\n';
  const auto planner = cpu::make_planner(options.isa);
  const Folder folder;
  const object_cache::ObjectCache cache = cache_in(folder);
  std::array<std::vector<double>, parts.size()> all;
  for (const Case& given : kernel_cases()) {
    const auto variant = pipeline::make_variant(given.graph, {}, *planner, {});
    for (const runtime::Step& step : variant->steps) {
      const Times times = measure_kernel(step.program, translator, session, cache, options.rounds);
      print_row(given.name, times);
      for (std::size_t part = 0; part < parts.size(); ++part) all[part].push_back(times[part]);
    }
  }
  Times medians{}, largest{};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    medians[part] = measure::median(all[part]);
    largest[part] = *std::ranges::max_element(all[part]);
  }
  print_row("median", medians);
  print_row("largest", largest);
  return medians[3] <= bound ? 0 : 1;
}

Options options_of(int count, char** words) {
  Options options;
  for (int at = 1; at + 1 < count; at += 2) {
    const std::string word = words[at];
    if (word == "--isa")
      options.isa = words[at + 1];
    else if (word == "--rounds")
      options.rounds = std::max(std::atoi(words[at + 1]), 1);
    else
      throw Error(cat("unknown option '", escaped(word), "'; known are --isa and --rounds"));
  }
  return options;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  return twinloom::perf::exit_code_of(
      [&] { return twinloom::perf::run(twinloom::perf::options_of(count, words)); });
}
