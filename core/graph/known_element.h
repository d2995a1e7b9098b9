// What an element of an integer node is, where that follows from its position alone: for passes, and for
// frontends whose shapes are computed by nodes.
//   at = fmod(add(iota [n], 3), n)        element [i0] is floor_mod(i0 + 3, n)
#pragma once

#include <optional>
#include <vector>

#include "core/graph/graph.h"

namespace twinloom::graph {

// Both must outlive it; the facts know the axes that positions are given by.
class KnownElements {
 public:
  KnownElements(const Graph& graph, const index::Facts& facts) : graph_(graph), facts_(facts) {}

  // The element at the position, as an expression of what the position is made of.
  std::optional<index::Expr> element(NodeId id, const std::vector<index::Expr>& at) const {
    int visits = most_visits;
    return element(id, at, visits);
  }

 private:
  static constexpr int most_visits = 512;  // of nodes, which sums of sums would be walked to again and again
  std::optional<index::Expr> element(NodeId id, const std::vector<index::Expr>& at, int& visits) const;
  std::optional<index::Expr> unbounded(const Node& node, const std::vector<index::Expr>& at,
                                       int& visits) const;
  std::optional<index::Expr> through(const View& view, NodeId input, const std::vector<index::Expr>& at,
                                     int& visits) const;
  std::optional<index::Expr> part(const Concat& concat, const Node& node, const std::vector<index::Expr>& at,
                                  int& visits) const;
  std::optional<index::Expr> looked_up(const Gather& gather, const Node& node,
                                       const std::vector<index::Expr>& at, int& visits) const;
  std::optional<index::Expr> computed(ops::Pointwise op, const index::Expr& left,
                                      const index::Expr& right) const;
  bool fits(const index::Expr& value, ops::DType dtype) const;

  const Graph& graph_;
  const index::Facts& facts_;
};

// 0 <= axis < size for each of them.
void assume_axes(index::Facts& facts, const std::vector<index::Symbol>& axes, const Shape& sizes);

}  // namespace twinloom::graph
