// See fold_constants.h.
#include "core/evaluate/fold_constants.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/evaluate/evaluate.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"

namespace twinloom::evaluate {

namespace {

using graph::Node, graph::NodeId;

const graph::Content* content_of(const Node& node) {
  const auto* constant = std::get_if<graph::Constant>(&node.node);
  return constant == nullptr ? nullptr : std::get_if<graph::Content>(&constant->value);
}

// Kinds that cannot fail, and whose elements need little more than themselves.
bool may_be_evaluated(const Node& node) {
  return std::holds_alternative<graph::Constant>(node.node) ||
         std::holds_alternative<graph::Pointwise>(node.node) ||
         std::holds_alternative<graph::Cast>(node.node) || std::holds_alternative<graph::View>(node.node) ||
         std::holds_alternative<graph::Concat>(node.node);
}

bool computes(const Node& node) {
  return !std::holds_alternative<graph::Constant>(node.node) &&
         !std::holds_alternative<graph::View>(node.node);
}

class Folding {
 public:
  Folding(const graph::Graph& graph, const FoldLimits& limits)
      : graph_(graph), limits_(limits), live_(graph::live_nodes(graph)) {
    const std::size_t count = graph.nodes().size();
    known_.resize(count, false), largest_.resize(count, 0);
    for (std::size_t n = 0; n < count; ++n)
      if (live_[n]) look_at(n);
  }

  // The values that are computed from arrays, and that something else reads.
  std::vector<NodeId> folded() const {
    std::vector<bool> is_read(known_.size(), false);
    for (std::size_t n = 0; n < known_.size(); ++n) {
      if (!live_[n] || known_[n]) continue;
      for (const NodeId input : graph_.nodes()[n].inputs) mark(input, is_read);
    }
    for (const graph::Result& result : graph_.results())
      if (graph::has_value(result.kind)) mark(result.value, is_read);
    std::vector<NodeId> folded;
    for (std::uint32_t n = 0; n < known_.size(); ++n)
      if (is_read[n] && known_[n] && computes(graph_.nodes()[n]) &&
          count_of(graph_.nodes()[n]) <= largest_[n])
        folded.push_back(NodeId{n});
    return folded;
  }

  // Their values, in order.
  std::vector<graph::Content> values(const std::vector<NodeId>& of) const {
    graph::Graph part;
    std::vector<std::optional<NodeId>> made(known_.size());
    std::vector<bool> needed(known_.size(), false);
    for (const NodeId id : of) needed[id.index] = true;
    for (std::size_t n = needed.size(); n-- > 0;)
      if (needed[n])
        for (const NodeId input : graph_.nodes()[n].inputs) needed[input.index] = true;
    for (std::size_t n = 0; n < needed.size(); ++n) {
      if (!needed[n]) continue;
      std::vector<NodeId> inputs;
      for (const NodeId input : graph_.nodes()[n].inputs) inputs.push_back(*made[input.index]);
      made[n] = part.add_proven(graph_.nodes()[n].node, std::move(inputs));
    }
    for (const NodeId id : of) part.output({graph::Ownership::own, *made[id.index], -1, 0, {}});
    std::vector<graph::Content> contents;
    for (auto& value : evaluate(part, {}, Arithmetic::strict))
      contents.push_back(std::make_shared<const graph::Array>(
          graph::Array{value->dtype, value->sizes, std::move(value->bytes)}));
    return contents;
  }

 private:
  // Views of what is known are read through: what they move is no work.
  void mark(NodeId id, std::vector<bool>& is_read) const {
    while (known_[id.index] && std::holds_alternative<graph::View>(graph_[id].node))
      id = graph_[id].inputs[0];
    is_read[id.index] = true;
  }

  static double count_of(const Node& node) {
    double count = 1;
    for (const index::Expr& size : node.shape) {
      const auto known = index::constant_of(size);
      if (!known) return std::numeric_limits<double>::infinity();
      count *= static_cast<double>(*known);
    }
    return count;
  }

  void look_at(std::size_t n) {
    const Node& node = graph_.nodes()[n];
    const double count = count_of(node);
    const bool inputs_are_known =
        std::ranges::all_of(node.inputs, [&](NodeId input) { return known_[input.index]; });
    if (!may_be_evaluated(node) || !inputs_are_known || count > limits_.elements ||
        evaluated_ + count > limits_.all)
      return;
    known_[n] = true;
    if (computes(node)) evaluated_ += count;
    if (content_of(node) != nullptr) largest_[n] = count;
    for (const NodeId input : node.inputs) largest_[n] = std::max(largest_[n], largest_[input.index]);
  }

  const graph::Graph& graph_;
  const FoldLimits& limits_;
  std::vector<bool> live_;
  std::vector<bool> known_;      // by node: that it may be evaluated
  std::vector<double> largest_;  // the elements of the largest array that it follows from
  double evaluated_ = 0;
};

}  // namespace

graph::Graph fold_constants(const graph::Graph& graph, const FoldLimits& limits) {
  const Folding folding(graph, limits);
  const std::vector<NodeId> folded = folding.folded();
  if (folded.empty()) return graph;
  const std::vector<graph::Content> values = folding.values(folded);
  const std::vector<bool> live = graph::live_nodes(graph);
  graph::Rebuild rebuild(graph);
  std::size_t next = 0;
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    const NodeId id{n};
    if (next < folded.size() && folded[next] == id) {
      const Node& node = graph[id];
      rebuild.stands_for(id, rebuild.add(graph::Constant{values[next++], node.dtype, node.shape}, {}, id));
    } else if (live[n]) {
      rebuild.copy(id);
    }
  }
  return graph::remove_dead(rebuild.finish());
}

}  // namespace twinloom::evaluate
