// See regret_subjects.h.
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "perf/regret_subjects.h"

namespace twinloom::perf {

namespace {

constexpr std::int64_t MOST_BYTES = std::int64_t{1} << 30;

nlohmann::ordered_json json_of(const runtime::Resources& launch) {
  return {{"registers", launch.registers},
          {"spill_bytes", launch.spill_bytes},
          {"shared_bytes", launch.scratch_bytes},
          {"threads", launch.threads},
          {"blocks_each", launch.blocks_each}};
}

nlohmann::ordered_json json_of(const Candidate& candidate) {
  nlohmann::ordered_json row = {{"schedule", candidate.schedule}, {"seconds", candidate.seconds}};
  if (!candidate.failure.empty()) row["failure"] = candidate.failure;
  for (const runtime::Resources& launch : candidate.launches) row["launches"].push_back(json_of(launch));
  return row;
}

Candidate candidate_of(const nlohmann::json& row) {
  Candidate candidate{row.at("schedule"), row.at("seconds"), row.value("failure", "")};
  for (const auto& launch : row.value("launches", nlohmann::json::array()))
    candidate.launches.push_back({launch.at("registers"), launch.at("spill_bytes"), launch.at("shared_bytes"),
                                  launch.at("threads"), launch.at("blocks_each")});
  return candidate;
}

}  // namespace

void write_subjects(const std::filesystem::path& file, const machine::Machine& machine,
                    const std::vector<Subject>& subjects) {
  auto rows = nlohmann::ordered_json::array();
  for (const Subject& subject : subjects) {
    auto candidates = nlohmann::ordered_json::array();
    for (const Candidate& candidate : subject.candidates) candidates.push_back(json_of(candidate));
    rows.push_back({{"text", subject.text},
                    {"kernel", subject.kernel},
                    {"nest", subject.nest},
                    {"candidates", candidates}});
  }
  std::ofstream stream(file);
  stream << nlohmann::ordered_json{{"machine", machine.name},
                                   {"facts", machine::print(machine)},
                                   {"subjects", rows}}
                .dump(1)
         << '\n';
  stream.close();
  if (!stream) throw Error(cat("cannot write '", escaped(file.string()), "'"));
}

std::vector<Subject> read_subjects(const std::filesystem::path& file) {
  try {
    const auto whole = nlohmann::json::parse(read_bytes(file, MOST_BYTES));
    std::optional<machine::Machine> machine;
    if (whole.contains("facts")) machine = machine::parse(whole["facts"].get<std::string>());
    std::vector<Subject> subjects;
    for (const auto& row : whole.at("subjects")) {
      Subject subject{row.at("text"), row.at("kernel"), row.at("nest"), {}, machine};
      for (const auto& candidate : row.at("candidates"))
        subject.candidates.push_back(candidate_of(candidate));
      subjects.push_back(std::move(subject));
    }
    return subjects;
  } catch (const nlohmann::json::exception& problem) {
    throw Error(cat("'", escaped(file.string()), "' is no file of perf/regret: ", problem.what()));
  }
}

}  // namespace twinloom::perf
