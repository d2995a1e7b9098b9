// See rebuild.h.
#include "core/graph/rebuild.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"

namespace twinloom::graph {

Rebuild::Rebuild(const Graph& from, std::span<const std::string> donated)
    : from_(from), standing_(from.nodes().size()) {
  made_.name = from.name;
  made_.facts() = from.facts();
  for (const Require& require : from.requirements()) made_.require(require.condition, require.message);
  for (const Parameter& parameter : from.parameters()) {
    if (const auto* value = std::get_if<index::Expr>(&parameter.value)) {
      made_.size_parameter(parameter.name, *value);
      continue;
    }
    const NodeId id = std::get<NodeId>(parameter.value);
    const Node& node = from[id];
    const bool is_donated =
        std::get<Input>(node.node).donated || std::ranges::find(donated, parameter.name) != donated.end();
    standing_[id.index] = made_.input(parameter.name, node.dtype, node.shape, is_donated, node.origin);
  }
}

NodeId Rebuild::operator[](NodeId old) const {
  CHECK(has(old), "nothing stands for ", describe(from_, old));
  return *standing_[old.index];
}

NodeId Rebuild::add(Op op, std::vector<NodeId> inputs, NodeId like) {
  return made_.add_proven(std::move(op), std::move(inputs), from_[like].origin);
}

void Rebuild::copy(NodeId old) {
  if (has(old)) return;  // a parameter
  std::vector<NodeId> inputs;
  for (const NodeId input : from_[old].inputs) inputs.push_back((*this)[input]);
  stands_for(old, add(from_[old].node, std::move(inputs), old));
}

NodeId Rebuild::sum_over(NodeId old_sum, std::vector<NodeId> factors) {
  const NodeId products = from_[old_sum].inputs[0];
  const NodeId made = add(from_[products].node, std::move(factors), products);
  return add(from_[old_sum].node, {made}, old_sum);
}

Graph Rebuild::finish_by(const std::function<std::optional<NodeId>(NodeId)>& made_for) {
  const std::vector<bool> live = live_nodes(from_);
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    if (!live[n]) continue;
    if (const auto made = made_for(NodeId{n}))
      stands_for(NodeId{n}, *made);
    else
      copy(NodeId{n});
  }
  return finish();
}

Graph Rebuild::finish() {
  for (Result result : from_.results()) {
    if (has_value(result.kind)) result.value = (*this)[result.value];
    if (result.kind == Ownership::view) result.base = (*this)[result.base];
    made_.output(std::move(result));
  }
  return std::move(made_);
}

bool is_of(const Node& node, ops::Pointwise op) {
  const auto* pointwise = std::get_if<Pointwise>(&node.node);
  return pointwise != nullptr && pointwise->op == op;
}

std::optional<ops::Number> number_of(const Node& node) {
  const auto* constant = std::get_if<Constant>(&node.node);
  const auto* number = constant == nullptr ? nullptr : std::get_if<ops::Number>(&constant->value);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<ops::Number> only_number(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  if (const auto* view = std::get_if<View>(&node.node); view != nullptr && view->inside.all.empty())
    return only_number(graph, node.inputs[0]);
  if (std::holds_alternative<Cast>(node.node)) {
    const auto number = only_number(graph, node.inputs[0]);
    return number ? std::optional(ops::cast(*number, graph[node.inputs[0]].dtype, node.dtype)) : std::nullopt;
  }
  const auto* constant = std::get_if<Constant>(&node.node);
  const auto* content = constant == nullptr ? nullptr : std::get_if<Content>(&constant->value);
  if (content == nullptr) return number_of(node);
  const auto bytes = (*content)->bytes.read();
  const auto size = static_cast<std::size_t>(ops::size_of(node.dtype));
  const bool is_one =
      !bytes.empty() && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  return is_one ? std::optional(ops::load_number(node.dtype, bytes.data())) : std::nullopt;
}

std::vector<int> uses_of(const Graph& graph) {
  std::vector<int> uses(graph.nodes().size());
  const std::vector<bool> live = live_nodes(graph);
  for (std::size_t n = 0; n < live.size(); ++n)
    if (live[n])
      for (const NodeId input : graph.nodes()[n].inputs) ++uses[input.index];
  for (const Result& result : graph.results())
    if (has_value(result.kind)) ++uses[result.value.index];
  return uses;
}

Graph with_forms(const Graph& graph, const std::function<ops::Pointwise(ops::Pointwise, ops::DType)>& form) {
  Rebuild rebuild(graph);
  return rebuild.finish_by([&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    const auto* pointwise = std::get_if<Pointwise>(&node.node);
    const ops::Pointwise op = pointwise == nullptr ? ops::Pointwise{} : form(pointwise->op, node.dtype);
    if (pointwise == nullptr || op == pointwise->op) return std::nullopt;
    std::vector<NodeId> inputs;
    for (const NodeId input : node.inputs) inputs.push_back(rebuild[input]);
    Pointwise changed = *pointwise;
    changed.op = op;
    return rebuild.add(changed, std::move(inputs), id);
  });
}

}  // namespace twinloom::graph
