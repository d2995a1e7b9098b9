// What perf/regret compares: nests, each with the schedule that was chosen and others, and how long each
// takes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "api/twinloom.h"

namespace twinloom::perf {

struct Candidate {
  std::string schedule;  // printed
  double seconds = 0;    // median of rounds; 0 where it failed
  std::string failure;
  std::vector<runtime::Resources> launches = {};  // on a GPU
};
struct Subject {
  std::string text, kernel;                      // the file's name, and the nest's
  std::string nest;                              // printed
  std::vector<Candidate> candidates;             // the first is the chosen one
  std::optional<machine::Machine> machine = {};  // that it was measured on, where its file has the facts
};

struct RegretOptions {
  std::string device = "cpu", isa, mode = "fused";
  int candidates = 32, rounds = 7, threads = 2;
  std::uint64_t seed = 1;
};

// The nests of one FX text, or of a graph as Twinloom prints it, with sizes that are numbers. All candidates
// of a nest run by turns, within the graph, so that their inputs are what they are there.
std::vector<Subject> measured_subjects(const std::filesystem::path& file, const Device& device,
                                       const RegretOptions& options);

// As JSON, and back. Error where a file cannot be read or written.
void write_subjects(const std::filesystem::path& file, const machine::Machine& machine,
                    const std::vector<Subject>& subjects);
std::vector<Subject> read_subjects(const std::filesystem::path& file);

}  // namespace twinloom::perf
