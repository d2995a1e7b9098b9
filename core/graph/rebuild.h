// What passes over graphs have in common: a new graph with the parameters, facts and requirements of an
// old one, and for each old node the one that stands for it.
//
//   Rebuild rebuild(graph);
//   for (each node, front to back) rebuild.stands_for(id, ...) or rebuild.copy(id);
//   return rebuild.finish();
// or
//   return rebuild.finish_by([&](NodeId id) { what stands for it; nothing: it is copied });
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

class Rebuild {
 public:
  // All parameters are there from the start, used or not; those of these names are donated, beside those that
  // were.
  explicit Rebuild(const Graph& from, std::span<const std::string> donated = {});

  const Graph& from() const { return from_; }
  Graph& made() { return made_; }
  bool has(NodeId old) const { return standing_[old.index].has_value(); }
  // The node that stands for the old one; Bug where there is none.
  NodeId operator[](NodeId old) const;
  void stands_for(NodeId old, NodeId made) { standing_[old.index] = made; }
  // The same operator over what stands for its inputs.
  void copy(NodeId old);
  // Adds a node with the origin of an old one.
  NodeId add(Op op, std::vector<NodeId> inputs, NodeId like);
  // The same sum of products over other factors.
  NodeId sum_over(NodeId old_sum, std::vector<NodeId> factors);
  // The results over what stands for their values.
  Graph finish();
  // The same after each node that a result needs, front to back, was replaced or copied.
  Graph finish_by(const std::function<std::optional<NodeId>(NodeId)>& made_for);

 private:
  const Graph& from_;
  Graph made_;
  std::vector<std::optional<NodeId>> standing_;
};

// Whether it is this operator.
bool is_of(const Node& node, ops::Pointwise op);
// The number that fills a constant; nothing of other nodes.
std::optional<ops::Number> number_of(const Node& node);
// The number that all elements of a node are, which arrays, casts and views may give.
std::optional<ops::Number> only_number(const Graph& graph, NodeId id);

// By node: how often nodes that a result needs use it, and results do.
std::vector<int> uses_of(const Graph& graph);

// With form(operator, type) in place of each operator of a Pointwise, of which the form has the operands.
// Without nodes that no result needs.
Graph with_forms(const Graph& graph, const std::function<ops::Pointwise(ops::Pointwise, ops::DType)>& form);

}  // namespace twinloom::graph
