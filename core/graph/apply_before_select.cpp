// What is done to a select between two values that are the same along an axis is done to both of them, once.
//
//   y = where(c, a, b) * s        c of [n, m]; a, b, s for each [n]
//     ->  y = where(c, a * s, b * s)
//
// So is the gradient of a loss by class: -1 at one place of a row, 0 elsewhere, times what the row is worth.
// No element is computed from other values than before, so no bit changes.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/repeats.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

constexpr std::int64_t LEAST_REPEATED = 16;  // elements of the axis: two operators in place of so many

class Selects {
 public:
  explicit Selects(const Graph& graph) : graph_(graph), rebuild_(graph), repeats_(repeats_of(graph)) {
    sides_.resize(graph.nodes().size());
  }

  Graph run() {
    return rebuild_.finish_by([&](NodeId id) { return apply_to_sides(id); });
  }

 private:
  // What stands for a node of the old graph is a select: its inputs, of the new one, and along which axes
  // both sides repeat.
  struct Sides {
    NodeId condition, chosen, other;
    Repeats repeated;
  };

  // Along which axes an input may be the same for the other side of a select too: long ones alone.
  Repeats long_repeats(NodeId id) const {
    Repeats repeats = repeats_[id.index];
    for (std::size_t d = 0; d < repeats.size(); ++d)
      repeats[d] = repeats[d] && index::constant_of(graph_[id].shape[d]).value_or(0) >= LEAST_REPEATED;
    return repeats;
  }
  static bool any(const Repeats& repeats) {
    return std::ranges::any_of(repeats, [](bool repeated) { return repeated; });
  }
  static Repeats both(Repeats a, const Repeats& b) {
    for (std::size_t d = 0; d < a.size(); ++d) a[d] = a[d] && b[d];
    return a;
  }

  std::optional<Sides> sides_of(NodeId id) const {
    if (sides_[id.index]) return sides_[id.index];
    const Node& node = graph_[id];
    if (!is_of(node, ops::Pointwise::where)) return std::nullopt;
    Repeats repeated = both(long_repeats(node.inputs[1]), long_repeats(node.inputs[2]));
    const Repeats of_condition = repeats_[node.inputs[0].index];
    for (std::size_t d = 0; d < repeated.size(); ++d) repeated[d] = repeated[d] && !of_condition[d];
    return Sides{rebuild_[node.inputs[0]], rebuild_[node.inputs[1]], rebuild_[node.inputs[2]], repeated};
  }

  std::optional<NodeId> apply_to_sides(NodeId id) {
    const Node& node = graph_[id];
    const auto* pointwise = std::get_if<Pointwise>(&node.node);
    const bool is_applied = pointwise != nullptr && pointwise->op != ops::Pointwise::where;
    if (!is_applied && !std::holds_alternative<Cast>(node.node)) return std::nullopt;
    for (std::size_t select = 0; select < node.inputs.size(); ++select) {
      auto sides = sides_of(node.inputs[select]);
      if (!sides) continue;
      for (std::size_t k = 0; k < node.inputs.size(); ++k)
        if (k != select) sides->repeated = both(sides->repeated, long_repeats(node.inputs[k]));
      if (!any(sides->repeated)) continue;
      sides->chosen = applied(id, select, sides->chosen, sides->repeated);
      sides->other = applied(id, select, sides->other, sides->repeated);
      sides_[id.index] = sides;
      const Pointwise where{ops::Pointwise::where};
      return rebuild_.add(where, {sides->condition, sides->chosen, sides->other}, id);
    }
    return std::nullopt;
  }
  // The operator with `side` in place of the select, of one element along the axes that repeat, then all of
  // them.
  NodeId applied(NodeId id, std::size_t select, NodeId side, const Repeats& repeated) {
    const Node& node = graph_[id];
    std::vector<NodeId> inputs;
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      inputs.push_back(add_view(rebuild_.made(), k == select ? side : rebuild_[node.inputs[k]],
                                at_first(node.shape, repeated, false), node.origin));
    const NodeId once = rebuild_.add(node.node, std::move(inputs), id);
    return add_view(rebuild_.made(), once, at_first(node.shape, repeated, true), node.origin);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::vector<Repeats> repeats_;
  std::vector<std::optional<Sides>> sides_;  // of what became a select, by old node
};

}  // namespace

Graph apply_before_select(const Graph& graph) { return Selects(graph).run(); }

}  // namespace twinloom::graph
