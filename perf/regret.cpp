// How much faster a nest could be than with the schedule that is chosen for it.
//   regret FILE... [--device cpu|cuda:0] [--candidates N] [--rounds N] [--threads N] [--isa NAME] [--seed N]
//   [--json FILE] regret --measured FILE.json...     the table of an earlier run
// FILEs are FX texts, or graphs as Twinloom prints them (.graph). Each nest is measured with the chosen
// schedule and with up to N others of every sort that taste knows, by turns; its regret is the chosen time
// over the least. On a GPU a buffer larger than the L2 cache is written before each run. Exit code 1: a file
// failed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/regret_subjects.h"

namespace twinloom::perf {

namespace {

struct Options : RegretOptions {
  std::vector<std::string> files, measured;
  std::string json;
};

const Candidate* best_of(const Subject& subject) {
  const Candidate* best = nullptr;
  for (const Candidate& candidate : subject.candidates)
    if (candidate.seconds > 0 && (best == nullptr || candidate.seconds < best->seconds)) best = &candidate;
  return best;
}

std::optional<double> regret_of(const Subject& subject) {
  const Candidate* best = best_of(subject);
  const double chosen = subject.candidates.front().seconds;
  return best == nullptr || chosen == 0 ? std::nullopt : std::optional(chosen / best->seconds);
}

// The lines of one schedule that the other lacks.
std::string difference(const std::string& one, const std::string& other) {
  std::string words;
  std::istringstream lines(one);
  for (std::string line; std::getline(lines, line);)
    if (other.find(line) == std::string::npos)
      words += cat(words.empty() ? "" : "; ", line.substr(line.find_first_not_of(' ')));
  return words;
}

void print_subject(const Subject& subject) {
  const auto regret = regret_of(subject);
  const Candidate* best = best_of(subject);
  const auto failed =
      std::ranges::count_if(subject.candidates, [](const Candidate& one) { return !one.failure.empty(); });
  std::cout << fmt::format(
                   "{:<40}{:<28}{:>4}{:>4}{:>11}{:>11}{:>8}  {}\n", subject.text.substr(0, 39),
                   subject.kernel.substr(0, 27), subject.candidates.size(), failed,
                   fmt::format("{:.2f}", subject.candidates.front().seconds * 1e6),
                   best == nullptr ? "-" : fmt::format("{:.2f}", best->seconds * 1e6),
                   regret ? fmt::format("{:.3f}", *regret) : "-",
                   best == nullptr ? "" : difference(best->schedule, subject.candidates.front().schedule))
            << std::flush;
}

void print_summary(const std::vector<Subject>& subjects) {
  std::vector<double> regrets;
  for (const Subject& subject : subjects)
    if (const auto regret = regret_of(subject)) regrets.push_back(*regret);
  if (regrets.empty()) return;
  std::cout << fmt::format("{} nests: regret median {:.3f}, nine of ten below {:.3f}, worst {:.3f}\n",
                           regrets.size(), measure::median(regrets), measure::quantile(regrets, 0.9),
                           measure::quantile(regrets, 1));
}

std::vector<Subject> measure_all(const Options& options, int& failed) {
  const Device device = Device::named(options.device, {options.isa});
  std::cout << device.backend().describe() << ", mode " << options.mode << '\n';
  std::vector<Subject> all;
  for (const std::string& file : options.files) {
    try {
      for (Subject& subject : measured_subjects(file, device, options)) {
        print_subject(subject);
        all.push_back(std::move(subject));
      }
      // After each file: a run that is cut off keeps what it has.
      if (!options.json.empty()) write_subjects(options.json, device.backend().machine().name, all);
    } catch (const std::exception& error) {
      std::cout << fmt::format("{:<40}FAILED: {}\n", std::filesystem::path(file).stem().string(),
                               error.what());
      ++failed;
    }
  }
  return all;
}

int run(const Options& options) {
  int failed = 0;
  std::cout << fmt::format("{:<40}{:<28}{:>4}{:>4}{:>11}{:>11}{:>8}  {}\n", "text", "kernel", "n", "bad",
                           "chosen us", "best us", "regret", "what the best one has");
  std::vector<Subject> subjects;
  for (const std::string& file : options.measured)
    for (Subject& subject : read_subjects(file).subjects) {
      print_subject(subject);
      subjects.push_back(std::move(subject));
    }
  if (!options.files.empty()) subjects = measure_all(options, failed);
  print_summary(subjects);
  return failed == 0 ? 0 : 1;
}

}  // namespace

}  // namespace twinloom::perf

int main(int count, char** words) {
  using namespace twinloom;
  perf::Options options;
  CLI::App app{"Compares chosen schedules with others"};
  app.add_option("files", options.files, "FX texts or graphs");
  app.add_option("--measured", options.measured, "Tables of earlier runs, in place of measuring");
  app.add_option("--device", options.device, "cpu or cuda:NUMBER");
  app.add_option("--isa", options.isa, "avx2 or avx512; left out, the best of this processor");
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"strict", "fused"}));
  app.add_option("--candidates", options.candidates, "Other schedules of a nest, at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "On a CPU")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the other schedules");
  app.add_option("--json", options.json, "Also writes nests, schedules and times here");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] { return perf::run(options); });
}
