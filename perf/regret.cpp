// How much faster a nest could be than with the schedule that is chosen for it.
//   regret FILE... [--device cpu|cuda:0] [--candidates N] [--rounds N] [--threads N] [--json FILE]
//   regret --measured FILE.json... [--estimates h200|device|measured|MACHINE.txt]
// FILEs are FX texts, or graphs as Twinloom prints them (.graph). Each nest is measured with the chosen
// schedule and with up to N others of every sort that the heuristics know, in interleaved rounds; its regret
// is the chosen time over the least. On a GPU a buffer larger than the L2 cache is written before each run.
// `--measured` prints the table of an earlier run, `--estimates` what cost::estimate says beside it. Exit
// code 1: a file failed, or estimates are further off than is asked of them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <map>

#include "core/base/files.h"
#include "core/machine/gpu.h"
#include "core/measure/measure.h"
#include "perf/exit_code.h"
#include "perf/regret_estimates.h"
#include "perf/regret_subjects.h"

namespace twinloom::perf {

namespace {

struct Options : RegretOptions {
  std::vector<std::string> files, measured;
  std::string json, machine;
};

std::optional<double> regret_of(const Subject& subject) {
  const Candidate* best = fastest(subject);
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
  const Candidate* best = fastest(subject);
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

// What is asked of estimates: the median error, and the share of pairs in the right order.
constexpr double MOST_ERROR = 0.30, LEAST_IN_ORDER = 0.85;
constexpr std::array TRIES = {0, 4, 8};  // of --tune; 0: as scheduled
constexpr std::array WORTHS = {0.6, 0.7, 0.8, 0.9};  // see WORTH_ON_CORES of core/schedule

void print_regrets(const std::string& what, const std::vector<double>& regrets) {
  std::cout << fmt::format("{}: regret median {:.3f}, nine of ten below {:.3f}, worst {:.3f}\n", what,
                           measure::median(regrets), measure::quantile(regrets, 0.9),
                           measure::quantile(regrets, 1));
}

// A row a nest, its estimates for the chosen schedule and for the best one, and how good they are.
// Whether they are as good as is asked.
bool print_estimates(const std::vector<Subject>& subjects, const std::optional<machine::Machine>& named) {
  std::vector<double> errors, regrets;
  std::map<int, std::vector<double>> tuned;  // by how many are tried
  std::map<double, std::vector<double>> searched;
  int pairs = 0, in_order = 0;
  std::cout << fmt::format("{:<40}{:<28}{:>11}{:>11}{:>8}{:>8}{:>8}{:>8}  {}\n", "text", "kernel",
                           "chosen us", "estimate", "ratio", "median", "order", "regret",
                           "roofs of the chosen one, us");
  for (const Subject& subject : subjects) {
    if (!named && !subject.machine)
      throw Error("a table does not say of what machine it is; --estimates names one, or its file");
    const auto estimates = estimates_of(subject, named ? *named : *subject.machine);
    const Judgement judgement = judge(subject, estimates);
    if (!estimates.front() || judgement.ratios.empty()) continue;
    for (const double ratio : judgement.ratios) errors.push_back(std::max(ratio, 1 / ratio) - 1);
    pairs += judgement.pairs, in_order += judgement.in_order;
    regrets.push_back(*judgement.regret);
    for (const double worth : WORTHS) searched[worth].push_back(searched_regret(subject, estimates, worth));
    for (const int tries : TRIES) tuned[tries].push_back(tuned_regret(subject, estimates, tries));
    const double chosen = subject.candidates.front().seconds;
    std::cout << fmt::format(
        "{:<40}{:<28}{:>11.2f}{:>11.2f}{:>8.2f}{:>8.2f}{:>8}{:>8.3f}  {}\n", subject.text.substr(0, 39),
        subject.kernel.substr(0, 27), chosen * 1e6, estimates.front()->seconds * 1e6,
        estimates.front()->seconds / chosen, measure::median(judgement.ratios),
        judgement.pairs == 0 ? "-" : fmt::format("{:.2f}", double(judgement.in_order) / judgement.pairs),
        *judgement.regret,
        join(estimates.front()->roofs, " ",
             [](const cost::Roof& roof) { return fmt::format("{} {:.1f}", roof.name, roof.seconds * 1e6); }) +
            fmt::format(" registers {} blocks {}", estimates.front()->registers,
                        estimates.front()->blocks_each) +
            join(subject.candidates.front().launches, ";", [](const auto& l) {
              return cat(" real ", l.registers, " ", l.blocks_each, "x", l.threads);
            }));
  }
  if (errors.empty()) return true;
  std::cout << fmt::format(
      "estimates: median error {:.0f} %, nine of ten below {:.0f} %; {:.1f} % of {} pairs in order; "
      "regret of the least estimate: median {:.3f}, nine of ten below {:.3f}, worst {:.3f}\n",
      100 * measure::median(errors), 100 * measure::quantile(errors, 0.9),
      100.0 * in_order / std::max(pairs, 1), pairs, measure::median(regrets), measure::quantile(regrets, 0.9),
      measure::quantile(regrets, 1));
  for (const auto& [worth, of_nests] : searched)
    print_regrets(fmt::format("least estimate where it is below {} of the chosen one's", worth), of_nests);
  for (const auto& [tries, of_nests] : tuned) print_regrets(cat("--tune ", tries), of_nests);
  return measure::median(errors) <= MOST_ERROR && in_order >= LEAST_IN_ORDER * pairs;
}

// A CPU whose workers are the threads of the run.
machine::Machine machine_of_run(const Device& device, const Options& options) {
  machine::Machine machine = device.backend().machine();
  if (machine.max_threads == 1) machine.blocks_at_once = options.threads;
  return machine;
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
      if (!options.json.empty()) write_subjects(options.json, machine_of_run(device, options), all);
    } catch (const std::exception& error) {
      std::cout << fmt::format("{:<40}FAILED: {}\n", std::filesystem::path(file).stem().string(),
                               error.what());
      ++failed;
    }
  }
  return all;
}

// `measured`, which is none: the machine of each table.
std::optional<machine::Machine> machine_of(const Options& options) {
  constexpr std::int64_t MOST_BYTES = 1 << 20;
  if (options.machine == "h200") return machine::h200();
  if (options.machine == "device")
    return machine_of_run(Device::named(options.device, {options.isa}), options);
  if (options.machine == "measured") return std::nullopt;
  return machine::parse(read_bytes(options.machine, MOST_BYTES));
}

int run(const Options& options) {
  int failed = 0;
  std::cout << fmt::format("{:<40}{:<28}{:>4}{:>4}{:>11}{:>11}{:>8}  {}\n", "text", "kernel", "n", "bad",
                           "chosen us", "best us", "regret", "what the best one has");
  std::vector<Subject> subjects;
  for (const std::string& file : options.measured) {
    for (Subject& subject : read_subjects(file)) {
      print_subject(subject);
      subjects.push_back(std::move(subject));
    }
  }
  if (!options.files.empty()) subjects = measure_all(options, failed);
  print_summary(subjects);
  const bool good = options.machine.empty() || print_estimates(subjects, machine_of(options));
  return failed == 0 && good ? 0 : 1;
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
  app.add_option("--mode", options.mode)->check(CLI::IsMember({"strict", "fused", "fast"}));
  app.add_option("--candidates", options.candidates, "Other schedules of a nest, at most")
      ->check(CLI::PositiveNumber);
  app.add_option("--rounds", options.rounds, "That are counted")->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads, "On a CPU")->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Of the other schedules");
  app.add_option(
      "--estimates", options.machine,
      "Also prints estimates for this machine: h200, device (the one named), measured (that of the "
      "table), or a file, as `twinloom calibrate` keeps them");
  app.add_option("--json", options.json, "Also writes nests, schedules and times here");
  CLI11_PARSE(app, count, words);
  return perf::exit_code_of([&] { return perf::run(options); });
}
