// Runs every f32 input of every function of one input, the frequent functions first, and keeps a table of
// what it found: a row is written when its function is done, rows of other functions stay.
#include <fmt/chrono.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>

#include "core/base/error.h"
#include "core/base/stopwatch.h"
#include "tests/ops/exhaustive/sweep.h"
#include "tests/ops/vector/usable.h"

namespace twinloom::ops::testing {

namespace {

struct Options {
  std::string table;
  std::vector<std::string> only;
  bool missing = false;
  int part = 1, threads = 1;
};

// The frequent functions first, then the others in the order of the operator table.
std::vector<Pointwise> functions() {
  using enum Pointwise;
  std::vector<Pointwise> all = {exp,
                                log,
                                sin,
                                cos,
                                tanh,
                                erf,
                                sigmoid,
                                silu,
                                gelu_erf,
                                gelu_tanh,
                                rsqrt,
                                sqrt,
                                exp2,
                                log2,
                                log10,
                                log1p,
                                expm1,
                                exp_approximate,
                                sigmoid_approximate,
                                silu_approximate,
                                gelu_erf_approximate,
                                gelu_tanh_approximate,
                                exp_brief_approximate,
                                sigmoid_brief_approximate,
                                silu_brief_approximate,
                                tanh_brief_approximate};
  for (const Pointwise op : all_pointwise()) {
    const bool elementary = arity(op) == 1 && takes(op) == Takes::real && ulp_bound(op, DType::f32) > 0 &&
                            !approximated_by(op);  // here the others are other rows
    if (elementary && std::ranges::find(all, op) == all.end()) all.push_back(op);
  }
  return all;
}

using Rows = std::map<std::string, std::string>;  // by function

Rows rows_of(const std::string& table) {
  Rows rows;
  std::ifstream file(table);
  for (std::string line; std::getline(file, line);) {
    const std::string word = line.substr(std::min<std::size_t>(2, line.size()), line.find(' ', 2) - 2);
    if (pointwise_named(word)) rows[word] = line;
  }
  return rows;
}

bool is_whole(const std::string& row) { return row.find("| 4294967296 |") != std::string::npos; }

void write(const std::string& table, const Rows& rows) {
  std::ofstream file(table);
  file << "# Every f32 input\n\n"
          "Written by `ninja exhaustive_numerics`. A row of 4294967296 inputs was run whole. Errors are in "
          "units of the\n"
          "last place, against f64, where MPFR decided near the bound and on one input in 2^16; zeros and "
          "infinities\n"
          "are left out, results below 0.01 of lgamma and digamma between poles and of gelu_tanh_slope_brief "
          "near its root.\n\n"
          "| function | worst | at | bound | inputs | by MPFR | date | compiler, registers |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Pointwise op : functions()) {
    const auto row = rows.find(std::string(name(op)));
    if (row != rows.end()) file << row->second << "\n";
  }
}

std::string row_of(Pointwise op, const Sweep& sweep) {
  const std::string table = best_table().name;
  const auto today = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("| {} | {:.4f} | {} | {} | {} | {} | {:%Y-%m-%d} | {}, {} |", name(op),
                     sweep.verdict.worst.ulps, print(Number(sweep.verdict.worst.at.x)),
                     ulp_bound(op, DType::f32), sweep.inputs, sweep.verdict.by_mpfr, today,
                     best_table().compiler, table.substr(table.find('_') + 1));
}

// Whether every bound holds.
bool run(const Options& options) {
  Rows rows = rows_of(options.table);
  bool holds = true;
  for (const Pointwise op : functions()) {
    const std::string word(name(op));
    if (!options.only.empty() && std::ranges::find(options.only, word) == options.only.end()) continue;
    if (options.missing && rows.contains(word) && is_whole(rows[word])) continue;
    Stopwatch stopwatch;
    const Sweep done = sweep(op, options.part, options.threads);
    const double seconds = stopwatch.lap();
    rows[word] = row_of(op, done);
    write(options.table, rows);
    std::cout << rows[word] << " " << seconds << " s\n" << done.complaint.value_or("") << std::flush;
    holds = holds && !done.complaint;
  }
  return holds;
}

}  // namespace

}  // namespace twinloom::ops::testing

int main(int count, char** words) {
  twinloom::ops::testing::Options options;
  CLI::App app("Every f32 input of every function of one input");
  app.add_option("--table", options.table, "the file that keeps the results")->required();
  app.add_option("--only", options.only, "functions to run");
  app.add_flag("--missing", options.missing,
               "only functions without a whole row: goes on where a run was stopped");
  app.add_option("--part", options.part, "one input in so many, to see how long a run would take")
      ->check(CLI::PositiveNumber);
  app.add_option("--threads", options.threads)->check(CLI::PositiveNumber);
  CLI11_PARSE(app, count, words);
  return twinloom::ops::testing::run(options) ? 0 : 1;
}
