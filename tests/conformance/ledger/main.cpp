// Runs random graphs through every stage, as conformance_test.cpp does, and appends rows to a ledger: which
// seeds, how many differed, on which instruction sets. A run that is broken off loses its last row at most. A
// difference leaves its shrunk graph and exits with 1; a stage that is not there exits with 2.
#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "backends/cpu/cpu.h"
#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "core/base/text.h"
#include "tests/conformance/check.h"
#include "tests/conformance/stages.h"

namespace twinloom::tests {

namespace {

struct Options {
  std::string ledger;
  std::uint64_t from = 0;  // 0: after the last seed of the ledger
  std::int64_t count = 20000;
  double seconds = 1e9;
  std::string stage;  // empty: all
};

struct Run {
  std::uint64_t first, next;
  std::int64_t different;
  double seconds;
};

// After the largest seed that a row "| date | 1 to 20000 | ..." names.
std::uint64_t next_seed(const std::string& ledger) {
  std::uint64_t next = 1;
  std::ifstream file(ledger);
  for (std::string line; std::getline(file, line);) {
    const std::size_t at = line.find(" to ");
    if (line.starts_with("| 2") && at != std::string::npos)
      next = std::max<std::uint64_t>(next, std::stoull(line.substr(at + 4)) + 1);
  }
  return next;
}

constexpr std::int64_t GRAPHS_A_ROW = 250;

Run run(std::uint64_t first, std::int64_t count, double seconds, const std::string& stage) {
  Stopwatch stopwatch;
  Run done{first, first, 0, 0};
  while (done.next < first + static_cast<std::uint64_t>(count) && done.seconds < seconds) {
    if (const auto report = report_of({done.next++}, stage)) {
      ++done.different;
      std::cout << *report << std::endl;
    }
    done.seconds += stopwatch.lap();
  }
  return done;
}

void append(const std::string& ledger, const Run& run, const std::string& stage) {
  const bool is_empty = !std::filesystem::exists(ledger);
  std::ofstream file(ledger, std::ios::app);
  if (is_empty) {
    file << "# Random graphs\n\nAppended to by `ninja random_graphs`: evaluator, interpreters and machine "
            "code over "
            "graphs from seeds.\n\n| date | seeds | differences | instruction sets | seconds |\n"
            "| --- | --- | --- | --- | --- |\n";
  }
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::string all = join(cpu::supported_isas(), ", ", [](const std::string& isa) { return isa; });
  file << fmt::format("| {:%Y-%m-%d} | {} to {} | {} | {} | {:.0f} |\n", now, run.first, run.next - 1,
                      run.different, stage.empty() ? all : stage, run.seconds);
}

// Whether no graph differed.
bool run_rows(const Options& options) {
  std::uint64_t next = options.from == 0 ? next_seed(options.ledger) : options.from;
  std::int64_t left = options.count, different = 0;
  for (double seconds = options.seconds; left > 0 && seconds > 0;) {
    const Run row = run(next, std::min(left, GRAPHS_A_ROW), seconds, options.stage);
    append(options.ledger, row, options.stage);
    left -= static_cast<std::int64_t>(row.next - row.first);
    next = row.next;
    seconds -= row.seconds;
    different += row.different;
  }
  check_what_stages_kept();
  return different == 0;
}

}  // namespace

}  // namespace twinloom::tests

int main(int count, char** words) try {
  using namespace twinloom::tests;
  Options options;
  CLI::App app("Random graphs through every stage");
  app.add_option("--ledger", options.ledger, "the file that keeps the results")->required();
  app.add_option("--from", options.from, "the first seed; by default the one after the ledger's last");
  app.add_option("--count", options.count, "how many graphs");
  app.add_option("--seconds", options.seconds, "stop after this time");
  app.add_option("--stage", options.stage, "only this stage, such as 'JIT for cuda:0'");
  CLI11_PARSE(app, count, words);
  if (!options.stage.empty()) expect_stage(options.stage);
  return run_rows(options) ? 0 : 1;
} catch (const twinloom::Error& error) {
  std::cerr << "error: " << error.what() << "\n";
  return 2;
}
