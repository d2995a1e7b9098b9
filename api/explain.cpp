// See explain.h.
#include "api/explain.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "core/cost/estimate.h"
#include "core/graph/donate.h"
#include "core/runtime/once.h"

namespace twinloom {

namespace {

std::vector<ExplainedOperator> operators_of(const runtime::Variant& variant, const runtime::Group& group) {
  const auto is_constant = [&](graph::NodeId node) {
    return std::holds_alternative<graph::Constant>(variant.graph[node].node);
  };
  const bool makes_constants = std::ranges::all_of(group.nodes, is_constant);
  std::vector<ExplainedOperator> operators;
  std::set<std::tuple<std::string, std::string, int>> named;  // an operator may be several nodes
  for (const graph::NodeId node : group.nodes) {
    // A number is written into every kernel that uses it, and has the name of the first operator that does.
    if (is_constant(node) && !makes_constants) continue;
    const graph::Origin& origin = variant.graph[node].origin;
    ExplainedOperator each = {graph::describe(variant.graph, node), origin.name, origin.file, origin.line};
    if (named.emplace(each.words, each.file, each.line).second) operators.push_back(std::move(each));
  }
  return operators;
}

nlohmann::json json_of(const cost::Estimate& estimate) {
  nlohmann::json limits = nlohmann::json::object();
  for (const cost::Roof& roof : estimate.roofs) limits[std::string(roof.name)] = roof.seconds;
  return {{"seconds", estimate.seconds}, {"limits", std::move(limits)}};
}

nlohmann::json json_of(const ExplainedKernel& kernel) {
  nlohmann::json computes = nlohmann::json::array();
  for (const ExplainedOperator& each : kernel.computes)
    computes.push_back(
        {{"name", each.name.empty() ? each.words : each.name}, {"file", each.file}, {"line", each.line}});
  nlohmann::json json = {
      {"name", kernel.name},         {"computes", std::move(computes)}, {"nest", loops::print(kernel.nest)},
      {"schedule", kernel.schedule}, {"sources", kernel.sources},       {"bytes", kernel.bytes},
      {"estimate", nullptr}};
  if (kernel.estimate) json["estimate"] = json_of(*kernel.estimate);
  if (kernel.unrelaxed_seconds)
    json["relaxed"] = {{"sums", kernel.relaxed.sums},
                       {"products", kernel.relaxed.products},
                       {"functions", kernel.relaxed.functions},
                       {"seconds_without", *kernel.unrelaxed_seconds}};
  if (kernel.relaxed.atomics) json["relaxed"]["atomics"] = true;
  if (kernel.once) json["once"] = true;
  return json;
}

std::int64_t bytes_of(const loops::Program& nest, const runtime::Backend& backend,
                      const index::Values& symbols) {
  return std::llround(cost::least_bytes(nest, backend.machine(), symbols));
}

}  // namespace

Explanation explain(const Executable& executable, std::span<const Argument> arguments, const Device& device,
                    const CompileOptions& options, const RunOptions& run) {
  const auto variant = executable.variant(arguments);
  const int threads = run.settings.threads;
  const index::Values symbols = executable.symbols(arguments, run);
  const Estimates estimates = estimates_of(*variant, device.backend(), threads, symbols);
  const std::vector<bool> once = runtime::groups_made_once(*variant);
  Explanation explanation;
  for (std::size_t group = 0; group < variant->groups.size(); ++group) {
    const runtime::Group& shown = variant->groups[group];
    ExplainedKernel kernel = {.name = shown.name,
                              .computes = operators_of(*variant, shown),
                              .nest = shown.nest,
                              .schedule = {},
                              .sources = {},
                              .bytes = bytes_of(shown.nest, device.backend(), symbols),
                              .estimate = estimates[group],
                              .relaxed = {},
                              .once = once[group],
                              .unrelaxed_seconds = {}};
    for (const runtime::Step& step : variant->steps) {
      if (step.unit != group) continue;
      if (kernel.sources.empty()) kernel.schedule = step.schedule;
      kernel.sources.push_back(step.source ? step.source() : "");
    }
    if (options.mode == Mode::fast) kernel.relaxed = relaxed_in(shown.nest);
    const RelaxedNest& relaxed = kernel.relaxed;
    if (kernel.estimate && (relaxed.sums || relaxed.products > 0 || relaxed.functions > 0))
      kernel.unrelaxed_seconds = unrelaxed_seconds(shown.nest, device.backend(), threads, symbols);
    explanation.kernels.push_back(std::move(kernel));
  }
  explanation.missed = variant->missed;
  for (graph::ScatterForm& form : graph::scatter_forms(executable.graph()))
    explanation.scatters.push_back({graph::describe(executable.graph(), form.scatter), std::move(form)});
  for (const runtime::Reuse& reuse : executable.reuses(arguments)) {
    const Graph& graph = executable.graph();
    explanation.reuses.push_back({reuse.result, graph.results()[reuse.result].name,
                                  graph.parameters()[static_cast<std::size_t>(reuse.parameter)].name,
                                  reuse.bytes});
  }
  explanation.peak_bytes = executable.peak_bytes(arguments);
  return explanation;
}

std::string json_of(const Explanation& explanation) {
  nlohmann::json json = {{"kernels", nlohmann::json::array()},
                         {"missed", nlohmann::json::array()},
                         {"scatters", nlohmann::json::array()},
                         {"reuses", nlohmann::json::array()},
                         {"peak_bytes", explanation.peak_bytes}};
  for (const ExplainedKernel& kernel : explanation.kernels) json["kernels"].push_back(json_of(kernel));
  for (const runtime::Missed& missed : explanation.missed)
    json["missed"].push_back({{"first", missed.first}, {"second", missed.second}, {"reason", missed.words}});
  for (const ExplainedScatter& scatter : explanation.scatters)
    json["scatters"].push_back(
        {{"name", scatter.words}, {"select_of", scatter.form.candidates}, {"refused", scatter.form.refused}});
  for (const ExplainedReuse& reuse : explanation.reuses)
    json["reuses"].push_back({{"result", reuse.result},
                              {"name", reuse.result_name},
                              {"input", reuse.input},
                              {"bytes", reuse.bytes}});
  return json.dump();
}

std::vector<pipeline::PassText> dump(const Graph& graph, std::span<const Argument> arguments,
                                     const Device& device, const CompileOptions& options) {
  const auto bound = runtime::layouts_of(graph, arguments, true);
  std::vector<pipeline::PassText> texts;
  const Graph donating = graph::donate(graph, options.donated);
  pipeline::make_variant(graph::specialise(donating, {}), bound.layouts, device.backend(), options, &texts);
  return texts;
}

std::string json_of(const std::vector<pipeline::PassText>& texts) {
  nlohmann::json list = nlohmann::json::array();
  for (const pipeline::PassText& each : texts) list.push_back({{"pass", each.pass}, {"text", each.text}});
  return list.dump(2);
}

}  // namespace twinloom
