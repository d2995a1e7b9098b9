// See shrink.h. A candidate is kept when it still fails; each step makes the graph smaller, so it ends.
#include "tests/conformance/shrink.h"

#include <algorithm>
#include <fstream>

#include "core/base/error.h"
#include "core/graph/passes.h"
#include "core/graph/sharing.h"
#include "frontends/arrays/arrays.h"

namespace twinloom::tests {

namespace {

using graph::Graph;
using graph::NodeId;

// A copy without dead nodes and without parameters that nothing uses; `cut` becomes a parameter of its own.
struct Rebuilt {
  Graph graph;
  std::vector<int> parameters;  // of the copy: their places in the original; -1 is `cut`
};

std::vector<bool> needed(const Graph& graph, std::span<const graph::Result> results,
                         std::optional<NodeId> cut) {
  std::vector<bool> live(graph.nodes().size());
  for (const graph::Result& result : results)
    if (has_value(result.kind)) live[result.value.index] = true;
  for (std::size_t at = live.size(); at-- > 0;) {
    if (!live[at] || (cut && at == cut->index)) continue;
    for (const NodeId operand : graph.nodes()[at].inputs) live[operand.index] = true;
  }
  return live;
}

// A view whose base is behind what was cut is one no more.
graph::Result moved_result(graph::Result result, const Rebuilt& rebuilt, const std::vector<NodeId>& moved) {
  if (!has_value(result.kind)) return result;
  result.value = moved[result.value.index];
  result.base = moved[result.base.index];
  if (result.kind == graph::Ownership::input) {
    const auto place = std::ranges::find(rebuilt.parameters, result.input);
    result.input = static_cast<int>(place - rebuilt.parameters.begin());
  }
  const bool is_view = result.kind == graph::Ownership::view;
  if (is_view && strided(rebuilt.graph, result.value, result.base) == graph::Strided::no)
    result.kind = graph::Ownership::own;
  return result;
}

Rebuilt rebuild(const Graph& original, std::span<const graph::Result> results, std::optional<NodeId> cut) {
  Rebuilt rebuilt;
  rebuilt.graph.name = original.name;
  for (const graph::Require& require : original.requirements())
    rebuilt.graph.require(require.condition, require.message);
  const std::vector<bool> live = needed(original, results, cut);
  std::vector<NodeId> moved(live.size());
  for (std::size_t at = 0; at < live.size(); ++at) {
    if (!live[at]) continue;
    const graph::Node& node = original.nodes()[at];
    const auto* input = std::get_if<graph::Input>(&node.node);
    if (input != nullptr || (cut && at == cut->index)) {
      const int place = input != nullptr ? input->slot : -1;
      moved[at] = rebuilt.graph.input(cat("p", rebuilt.parameters.size()), node.dtype, node.shape);
      rebuilt.parameters.push_back(place);
      continue;
    }
    std::vector<NodeId> inputs;
    for (const NodeId operand : node.inputs) inputs.push_back(moved[operand.index]);
    moved[at] = rebuilt.graph.add(node.node, std::move(inputs), node.origin);
  }
  for (const graph::Result& result : results) rebuilt.graph.output(moved_result(result, rebuilt, moved));
  return rebuilt;
}

// What the evaluator computes for one node of the case.
evaluate::Value value_of(const Case& whole, NodeId id) {
  Graph graph = whole.graph;
  graph.output({graph::Ownership::own, id, -1, 0, "cut"});
  std::vector<evaluate::Argument> arguments;
  for (const Given& given : whole.inputs) arguments.push_back(given.value);
  const auto values = evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict,
                                         {static_cast<std::int64_t>(whole.seed), 0});
  return *values.back();
}

Case candidate(const Case& whole, std::span<const graph::Result> results, std::optional<NodeId> cut) {
  Rebuilt rebuilt = rebuild(whole.graph, results, cut);
  Case smaller{std::move(rebuilt.graph), {}, whole.seed};
  for (const int place : rebuilt.parameters) {
    if (place >= 0)
      smaller.inputs.push_back(whole.inputs[static_cast<std::size_t>(place)]);
    else
      smaller.inputs.push_back({value_of(whole, *cut), {}});
  }
  return smaller;
}

// A candidate that cannot be built or evaluated is none.
bool try_smaller(Case& best, std::span<const graph::Result> results, std::optional<NodeId> cut,
                 const Fails& fails) {
  try {
    Case smaller = candidate(best, results, cut);
    if (!fails(smaller)) return false;
    best = std::move(smaller);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool drop_outputs(Case& best, const Fails& fails) {
  const std::vector<graph::Result> results(best.graph.results().begin(), best.graph.results().end());
  if (results.size() < 2) return false;
  for (const graph::Result& result : results)
    if (try_smaller(best, std::span(&result, 1), std::nullopt, fails)) return true;
  for (std::size_t at = 0; at < results.size(); ++at) {
    std::vector<graph::Result> fewer = results;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
    if (try_smaller(best, fewer, std::nullopt, fails)) return true;
  }
  return false;
}

bool cut_nodes(Case& best, const Fails& fails) {
  const std::vector<graph::Result> results(best.graph.results().begin(), best.graph.results().end());
  for (std::size_t at = best.graph.nodes().size(); at-- > 0;) {
    const graph::Op& op = best.graph.nodes()[at].node;
    if (std::holds_alternative<graph::Input>(op)) continue;
    const bool is_result = std::ranges::any_of(results, [&](const graph::Result& result) {
      return has_value(result.kind) && result.value.index == at;
    });
    if (is_result) continue;
    if (try_smaller(best, results, NodeId{static_cast<std::uint32_t>(at)}, fails)) return true;
  }
  return false;
}

runtime::Tensor list_of(const std::vector<std::int64_t>& numbers) {
  runtime::Tensor tensor = runtime::allocate(ops::DType::i64, {static_cast<std::int64_t>(numbers.size())});
  std::ranges::copy(numbers, static_cast<std::int64_t*>(tensor.data));
  return tensor;
}

}  // namespace

Case shrink(Case failing, const Fails& fails) {
  const std::vector<graph::Result> results(failing.graph.results().begin(), failing.graph.results().end());
  try_smaller(failing, results, std::nullopt, fails);
  constexpr int most_steps = 60;
  for (int step = 0; step < most_steps; ++step)
    if (!drop_outputs(failing, fails) && !cut_nodes(failing, fails)) break;
  return failing;
}

std::string write_case(const Case& small, const std::string& name) {
  const char* given = std::getenv("TWINLOOM_FAILURES");
  const std::filesystem::path folder = given != nullptr ? given : TWINLOOM_FAILURES;
  std::filesystem::create_directories(folder);
  return write_case_at(small, folder / name);
}

std::string write_case_at(const Case& small, const std::filesystem::path& stem) {
  const std::filesystem::path file = stem.string() + ".graph", inputs = stem.string() + ".npz";
  std::ofstream(file) << graph::print(small.graph);
  std::vector<arrays::Entry> entries;
  for (std::size_t p = 0; p < small.inputs.size(); ++p) {
    const auto* value = std::get_if<evaluate::Value>(&small.inputs[p].value);
    if (value == nullptr) continue;
    runtime::Tensor tensor = runtime::allocate(value->dtype, value->sizes);
    std::ranges::copy(value->bytes, static_cast<std::byte*>(tensor.data));
    const bool is_bf16 = value->dtype == ops::DType::bf16;
    if (is_bf16) tensor.dtype = ops::DType::u16;
    entries.push_back({cat("in", p, is_bf16 ? "_bf16" : ""), std::move(tensor)});
    const std::vector<std::int64_t>& strides = small.inputs[p].strides;
    if (!strides.empty()) entries.push_back({cat("in", p, "_strides"), list_of(strides)});
  }
  arrays::write_npz(inputs, entries);
  return cat("verify ", file.string(), " --inputs ", inputs.string(), " --seed ", small.seed,
             " --mode strict");
}

}  // namespace twinloom::tests
