// What twinloom bench has found: a table for each model, and all of it as JSON.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <variant>
#include <vector>

#include "tools/twinloom/bench_measure.h"
#include "tools/twinloom/failure.h"

namespace twinloom::tool {

struct BenchedModel {
  std::filesystem::path file;
  std::variant<Benched, Failure> outcome;
};

struct BenchReport {
  std::string device, mode;
  int threads = 0;
  std::optional<measure::CopyBandwidth> copy;  // nothing before a model was measured
  std::vector<BenchedModel> models;
};

// A line for each kernel, and one for the model. `report.copy` is there.
void print_table(std::ostream& stream, const BenchReport& report, const Benched& measured);
void print_copy(std::ostream& stream, const measure::CopyBandwidth& copy);

// One object. Of a bench of several models it has "models": for each an object with its "file". Of a bench of
// one it has itself what that object has, but for "file".
std::string json_text(const BenchReport& report, bool several);

}  // namespace twinloom::tool
