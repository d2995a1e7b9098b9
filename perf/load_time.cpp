// How long packages take to load, as where no compiler is: from files that the system has in memory.
//   load_time [--rounds N] [--constant MEBIBYTES] [PACKAGE...]
// One row a package: its bytes, the median and the longest load in milliseconds of the processor. --constant
// makes a package of one array of that size too, which no bound is for. Exit code 1: a given package takes
// more than 5 ms.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

#include "api/package.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/folder.h"
#include "perf/process_watch.h"

namespace twinloom::perf {

namespace {

constexpr double MOST_MILLISECONDS = 5;

struct Options {
  int rounds = 11;
  std::int64_t mebibytes = 0;
  std::vector<std::filesystem::path> packages;
};

// The median.
double print_row(const std::filesystem::path& file, const Device& device, int rounds) {
  std::vector<double> loads;
  for (int round = 0; round < rounds; ++round) {
    ProcessWatch watch;
    const Executable executable = load_package(file, device, {.compile = false});
    loads.push_back(watch.lap());
  }
  const double median = measure::median(loads);
  std::cout << fmt::format("{:<48}{:>12}{:>10.3f}{:>10.3f}\n", file.stem().string(),
                           std::filesystem::file_size(file), median, *std::ranges::max_element(loads));
  return median;
}

std::filesystem::path package_of_constant(std::int64_t mebibytes, const Folder& folder) {
  const std::int64_t elements = mebibytes << 18;  // of 4 bytes
  std::vector<std::byte> bytes(static_cast<std::size_t>(elements) * 4, std::byte{60});
  Builder builder("constant");
  const Value x = builder.input("x", DType::f32, {index::Expr(elements)});
  builder.output(x + builder.constant({DType::f32, {elements}, std::move(bytes)}), "sum");
  const std::filesystem::path file =
      std::filesystem::path(folder.path()) / fmt::format("constant_{}_MiB.twinloom", mebibytes);
  export_package(builder.take(), file);
  return file;
}

int run(const Options& options) {
  const Device device = Device::cpu({.cache = false});
  std::cout << fmt::format("{:<48}{:>12}{:>10}{:>10}\n", "package", "bytes", "median", "longest");
  std::vector<double> medians;
  for (const std::filesystem::path& file : options.packages)
    medians.push_back(print_row(file, device, options.rounds));
  if (options.mebibytes > 0) {
    const Folder folder;
    print_row(package_of_constant(options.mebibytes, folder), device, options.rounds);
  }
  if (medians.empty()) return 0;
  const double largest = *std::ranges::max_element(medians);
  std::cout << fmt::format("{} packages: median {:.3f} ms, largest {:.3f} ms\n", medians.size(),
                           measure::median(medians), largest);
  return largest > MOST_MILLISECONDS ? 1 : 0;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  twinloom::perf::Options options;
  CLI::App app("How long packages take to load");
  app.add_option("--rounds", options.rounds, "Loads of each package")->check(CLI::PositiveNumber);
  app.add_option("--constant", options.mebibytes, "Size in MiB of an array to measure too")
      ->check(CLI::NonNegativeNumber);
  app.add_option("packages", options.packages, "Files that twinloom export --package wrote");
  CLI11_PARSE(app, count, words);
  return twinloom::perf::exit_code_of([&] { return twinloom::perf::run(options); });
}
