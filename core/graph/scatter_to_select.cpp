// A Scatter that replaces one element of each row of a constant becomes a comparison with the position:
//   base = constant c [n, m]; y = scatter replace(base, value [n, 1], index [n, 1]) to [i0, f0]
// becomes
//   at = gather(iota [m], index) from [f0]        the index itself, checked and wrapped
//   y = where(eq(iota axis 1 [n, m], at expanded), value expanded, base)
// No two elements meet, so there is no order to keep; the gather keeps the check of the index. Nodes
// that no result needs are left out.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// The scattered axis where the node is of the form above.
std::optional<std::size_t> scattered_axis(const Graph& graph, const Node& node) {
  const auto* scatter = std::get_if<Scatter>(&node.node);
  if (scatter == nullptr || scatter->mode != Mode::replace || scatter->found.size() != 1) return std::nullopt;
  const auto* base = std::get_if<Constant>(&graph[node.inputs[0]].node);
  if (base == nullptr || !std::holds_alternative<ops::Number>(base->value)) return std::nullopt;
  const Shape& given = graph[node.inputs[1]].shape;
  if (given.size() != node.shape.size()) return std::nullopt;
  std::optional<std::size_t> scattered;
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (scatter->place[k] == index::Expr(scatter->found[0])) {
      const bool whole = scatter->bounds[0] == node.shape[k] && given[k] == index::Expr(1);
      if (scattered || !whole) return std::nullopt;
      scattered = k;
    } else if (scatter->place[k] != index::Expr(scatter->axes[k]) ||
               !(given[k] == node.shape[k] || graph.facts().proves_equal(given[k], node.shape[k]))) {
      return std::nullopt;
    }
  }
  return scattered;
}

// An input of size 1 along the axis, as long as the result.
NodeId expanded(Rebuild& rebuild, NodeId input, std::size_t axis, NodeId like) {
  View view;
  view.sizes = rebuild.from()[like].shape;
  for (std::size_t k = 0; k < view.sizes.size(); ++k) {
    view.axes.push_back(axis_symbol(static_cast<int>(k)));
    view.source.push_back(k == axis ? index::Expr(0) : index::Expr(view.axes[k]));
  }
  return add_view(rebuild.made(), input, std::move(view), rebuild.from()[like].origin);
}

NodeId checked_index(Rebuild& rebuild, NodeId id) {
  const Node& node = rebuild.from()[id];
  const auto& scatter = std::get<Scatter>(node.node);
  const NodeId count = rebuild.add(Iota{0, ops::DType::i64, scatter.bounds}, {}, id);
  Gather gather{scatter.axes,       rebuild.from()[node.inputs[2]].shape,
                scatter.found,      scatter.bounds,
                {scatter.found[0]}, scatter.negative_wraps};
  return rebuild.add(std::move(gather), {count, rebuild[node.inputs[2]]}, id);
}

void select_in_place(Rebuild& rebuild, NodeId id, std::size_t axis) {
  const Node& node = rebuild.from()[id];
  const NodeId at = expanded(rebuild, checked_index(rebuild, id), axis, id);
  const NodeId position = rebuild.add(Iota{static_cast<int>(axis), ops::DType::i64, node.shape}, {}, id);
  const NodeId here = rebuild.add(Pointwise{ops::Pointwise::eq}, {position, at}, id);
  const NodeId value = expanded(rebuild, rebuild[node.inputs[1]], axis, id);
  rebuild.stands_for(
      id, rebuild.add(Pointwise{ops::Pointwise::where}, {here, value, rebuild[node.inputs[0]]}, id));
}

}  // namespace

Graph scatter_to_select(const Graph& graph) {
  const std::vector<bool> live = live_nodes(graph);
  Rebuild rebuild(graph);
  for (std::uint32_t n = 0; n < live.size(); ++n) {
    if (!live[n]) continue;
    const std::optional<std::size_t> axis = scattered_axis(graph, graph.nodes()[n]);
    if (axis) {
      select_in_place(rebuild, NodeId{n}, *axis);
    } else {
      rebuild.copy(NodeId{n});
    }
  }
  return rebuild.finish();
}

}  // namespace twinloom::graph
