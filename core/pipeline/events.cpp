// See events.h.
#include "core/pipeline/events.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/cost/estimate.h"
#include "core/measure/trials.h"

namespace twinloom::pipeline {

namespace {

using logging::event;

// What people call them, each once. Numbers are written into every kernel that uses them.
std::vector<std::string> operators_of(const graph::Graph& graph, const lower::Unit& unit) {
  std::vector<std::string> names;
  for (const graph::NodeId node : unit.nodes) {
    if (std::holds_alternative<graph::Constant>(graph[node].node)) continue;
    std::string words = graph::describe(graph, node);
    if (std::ranges::find(names, words) == names.end()) names.push_back(std::move(words));
  }
  return names;
}

// What is printed of a schedule, but for its head and margins.
std::string on_one_line(std::string_view text) {
  std::string line;
  text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    one.remove_prefix(std::min(one.size(), one.find_first_not_of(' ')));
    line += cat(line.empty() ? "" : "; ", one);
  }
  return line;
}

std::string seconds_words(std::span<const loops::Program> programs, const runtime::Backend& backend,
                          index::Values sizes) {
  for (const char* drawn : {"seed", "offset"}) sizes.emplace(index::Symbol(drawn), 0);
  const auto can_be_told = [&](const loops::Program& program) {
    return !std::holds_alternative<loops::Call>(program.body->node) && measure::has_sizes(program, sizes);
  };
  if (!std::ranges::all_of(programs, can_be_told)) return {};
  return cat(", ", microseconds(cost::estimate(programs, backend.machine(), sizes).seconds));
}

}  // namespace

void log_fusion(const graph::Graph& graph, const fuse::Fused& fused) {
  if (!logging::is_on(Log::fusion)) return;
  const std::vector<lower::Unit>& units = fused.lowered.units;
  for (const lower::Unit& unit : units) {
    const std::vector<std::string> operators = operators_of(graph, unit);
    if (operators.size() < 2) continue;
    event(Log::fusion, [&] {
      return cat("kernel ", unit.nest.name, " computes ",
                 join(operators, ", ", [](const std::string& words) { return words; }));
    });
  }
  for (const fuse::Refusal& refusal : fused.refusals) {
    event(Log::fusion, [&] {
      return cat("missed: kernels ", units[refusal.first].nest.name, " and ", units[refusal.second].nest.name,
                 ": ", refusal.words);
    });
  }
}

void log_schedules(const runtime::Variant& variant, const runtime::Backend& backend,
                   const index::Values& sizes) {
  if (!logging::is_on(Log::schedule) || backend.runs_nests()) return;
  for (std::size_t group = 0; group < variant.groups.size(); ++group) {
    std::vector<loops::Program> programs;
    std::string schedule;
    for (const runtime::Step& step : variant.steps) {
      if (step.unit != group) continue;
      programs.push_back(step.program);
      schedule = step.schedule;
    }
    event(Log::schedule, [&] {
      return cat("kernel ", variant.groups[group].name, seconds_words(programs, backend, sizes), ": ",
                 schedule.empty() ? "as it is" : on_one_line(schedule));
    });
  }
}

void log_code(const runtime::Step& step) {
  if (!step.source) return;
  event(Log::code, [&] {
    std::string source = step.source();
    while (source.ends_with('\n')) source.pop_back();
    return cat("kernel ", step.program.name, ", ", step.cached ? "kept from before" : "compiled", " in ",
               microseconds(step.compile_seconds), ":\n", source);
  });
}

}  // namespace twinloom::pipeline
