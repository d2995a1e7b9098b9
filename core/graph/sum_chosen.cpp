// A sum along an axis of what is 0 but at one found place is what is there.
//
//   g = where(iota axis 1 == at for each [n, m], -1, 0) * s for each [n, m]      at: an index, checked and
//   wrapped t = sum(g, over axis 1); y = h(g)
//     ->  t = -1 * s + 0 * s; y = h(g)
//
// So ends the gradient of a loss by class: PyTorch sums up what a scatter of one element a row left 0. All
// others are 0 * s, which is a zero, or NaN where s is infinite or one. Zeros change no sum but one that is a
// zero itself, so that no bit changes whatever the order: of two zeros of unlike signs the sum is positive,
// and one of each is there in the new form too. An index out of range is an Error of who else reads g; where
// nobody does the sum stays.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/repeats.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

class Sums {
 public:
  explicit Sums(const Graph& graph) : graph_(graph), rebuild_(graph), repeats_(repeats_of(graph)) {
    is_read_.resize(graph.nodes().size());
    const std::vector<bool> live = live_nodes(graph);
    for (std::size_t n = 0; n < live.size(); ++n) {
      const Node& node = graph.nodes()[n];
      if (!live[n] || std::holds_alternative<Reduce>(node.node)) continue;
      for (const NodeId input : node.inputs) is_read_[input.index] = true;
    }
    for (const Result& result : graph.results())
      if (has_value(result.kind)) is_read_[result.value.index] = true;
  }

  Graph run() {
    return rebuild_.finish_by(
        [&](NodeId id) { return is_sum_of_choice(id) ? std::optional(sum_of(id)) : std::nullopt; });
  }

 private:
  bool repeats(NodeId id, int axis) const { return repeats_[id.index][static_cast<std::size_t>(axis)]; }

  // Whether it is true at exactly one place along the axis: its position equals an index into it that is
  // checked.
  bool is_one_place(NodeId id, int axis) const {
    if (!is_of(graph_[id], ops::Pointwise::eq)) return false;
    for (const auto& [position, at] : {std::pair(0, 1), std::pair(1, 0)}) {
      const auto* iota =
          std::get_if<Iota>(&graph_[graph_[id].inputs[static_cast<std::size_t>(position)]].node);
      const NodeId index = graph_[id].inputs[static_cast<std::size_t>(at)];
      if (iota != nullptr && iota->axis == axis && repeats(index, axis) &&
          is_position(index, iota->shape, axis))
        return true;
    }
    return false;
  }
  // Whether it is an index below the axis' size.
  bool is_position(NodeId id, const Shape& shape, int axis) const {
    const auto* gather = std::get_if<Gather>(&graph_[id].node);
    if (gather == nullptr || gather->bounds.size() != 1) return false;
    const auto* positions = std::get_if<Iota>(&graph_[graph_[id].inputs[0]].node);
    return positions != nullptr && positions->shape.size() == 1 &&
           gather->source[0] == index::Expr(gather->found[0]) &&
           gather->bounds[0] == shape[static_cast<std::size_t>(axis)];
  }

  // Whether it is 0, or what 0 times something is, but at one place along the axis.
  bool is_choice(NodeId id, int axis) const {
    const Node& node = graph_[id];
    if (!ops::is_floating(node.dtype)) return false;
    if (std::holds_alternative<Cast>(node.node)) return is_choice(node.inputs[0], axis);
    if (const auto factor = factor_of(id, axis)) return true;
    if (!is_of(node, ops::Pointwise::where) || !is_one_place(node.inputs[0], axis)) return false;
    const auto zero = only_number(graph_, node.inputs[2]);
    return zero && *zero == ops::Number(0.0) && repeats(node.inputs[1], axis);
  }
  // Which input is a factor that is the same along the axis, where the other is such a choice.
  std::optional<std::size_t> factor_of(NodeId id, int axis) const {
    const Node& node = graph_[id];
    if (!is_of(node, ops::Pointwise::mul)) return std::nullopt;
    for (const std::size_t factor : {0u, 1u})
      if (repeats(node.inputs[factor], axis) && is_choice(node.inputs[1 - factor], axis)) return factor;
    return std::nullopt;
  }

  bool is_sum_of_choice(NodeId id) const {
    const auto* reduce = std::get_if<Reduce>(&graph_[id].node);
    if (reduce == nullptr || reduce->monoid != ops::Monoid::sum || reduce->axes.size() != 1) return false;
    const int axis = reduce->axes.front();
    const NodeId of = graph_[id].inputs[0];
    const Node& node = graph_[of];
    const bool has_others = index::constant_of(node.shape[static_cast<std::size_t>(axis)]).value_or(0) > 1;
    const bool is_float = node.dtype == ops::DType::f32 || node.dtype == ops::DType::f64;
    return has_others && is_float && graph_[id].dtype == node.dtype && is_read_[of.index] &&
           is_choice(of, axis);
  }

  // The element of a node along the summed axis, which are all the same.
  NodeId first(NodeId of, NodeId sum) {
    const int axis = std::get<Reduce>(graph_[sum].node).axes.front();
    View view;
    std::size_t kept = 0;
    for (std::size_t d = 0; d < graph_[of].shape.size(); ++d)
      view.source.push_back(static_cast<int>(d) == axis ? index::Expr(0)
                                                        : new_axis(view, graph_[sum].shape[kept++]));
    return add_view(rebuild_.made(), rebuild_[of], std::move(view), graph_[sum].origin);
  }
  // The element of a choice, where it is chosen or elsewhere.
  NodeId element(NodeId of, NodeId sum, bool chosen) {
    const Node& node = graph_[of];
    const int axis = std::get<Reduce>(graph_[sum].node).axes.front();
    if (std::holds_alternative<Cast>(node.node))
      return rebuild_.add(node.node, {element(node.inputs[0], sum, chosen)}, of);
    if (const auto factor = factor_of(of, axis)) {
      const NodeId choice = element(node.inputs[1 - *factor], sum, chosen);
      return rebuild_.add(node.node, {choice, first(node.inputs[*factor], sum)}, of);
    }
    return first(node.inputs[chosen ? 1 : 2], sum);
  }
  NodeId sum_of(NodeId id) {
    const NodeId of = graph_[id].inputs[0];
    const NodeId chosen = element(of, id, true), zero = element(of, id, false);
    return rebuild_.add(Pointwise{ops::Pointwise::add}, {chosen, zero}, id);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::vector<Repeats> repeats_;
  std::vector<bool> is_read_;  // a result, or read by other nodes than reductions which a result needs
};

}  // namespace

Graph sum_chosen(const Graph& graph) { return Sums(graph).run(); }

}  // namespace twinloom::graph
