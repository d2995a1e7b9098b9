// A reduction of what is the same along an axis that it keeps is made once for all of the axis.
//
//   s = sum(x[n, c, k] * 0.5 for each of o, over k)      [n, o, c]
//     ->  r = sum(x[n, c, k] * 0.5, over k)              [n, 1, c]
//         s = r for each of o
//
// The same elements are combined in the same order, so no bit changes. Filters that are one number
// (ConstantOfShape in models of tests) make convolutions of it.
//
// A reduction of one element is that element, as the number that it starts from changes none:
//
//   s = sum(x[n, 1], axis 1)    ->    s = x[n, 0]
#include <algorithm>
#include <set>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/repeats.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

// The dimensions of the input that a reduction keeps, in their order.
std::vector<std::size_t> kept_by(const Reduce& reduce, std::size_t rank) {
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < rank; ++d)
    if (std::ranges::find(reduce.axes, static_cast<int>(d)) == reduce.axes.end()) kept.push_back(d);
  return kept;
}

class Once {
 public:
  explicit Once(const Graph& graph) : graph_(graph), rebuild_(graph), repeats_(repeats_of(graph)) {
    for (const Result& result : graph.results())
      if (has_value(result.kind)) results_.insert(result.value);
  }

  Graph run() {
    return rebuild_.finish_by([&](NodeId id) -> std::optional<NodeId> {
      const auto* reduce = std::get_if<Reduce>(&graph_[id].node);
      if (reduce == nullptr) return std::nullopt;
      const auto element = the_element(id, *reduce);
      return element ? element : reduced_once(id, *reduce);
    });
  }

 private:
  // Where there is one.
  std::optional<NodeId> the_element(NodeId id, const Reduce& reduce) {
    const Node &node = graph_[id], &input = graph_[node.inputs[0]];
    const bool is_one = std::ranges::all_of(reduce.axes, [&](int axis) {
      return index::constant_of(input.shape[static_cast<std::size_t>(axis)]) == 1;
    });
    if (!is_one || ops::parts(reduce.monoid) != 1 || input.dtype != node.dtype || results_.contains(id))
      return std::nullopt;
    View view;
    view.source.assign(input.shape.size(), 0);
    for (const std::size_t d : kept_by(reduce, input.shape.size()))
      view.source[d] = new_axis(view, input.shape[d]);
    return add_view(rebuild_.made(), rebuild_[node.inputs[0]], view, node.origin);
  }

  // Of an axis of unknown size there may be no first element.
  std::optional<NodeId> reduced_once(NodeId id, const Reduce& reduce) {
    const Node& node = graph_[id];
    const Shape& shape = graph_[node.inputs[0]].shape;
    const std::vector<std::size_t> kept = kept_by(reduce, shape.size());
    std::vector<bool> of_input(shape.size()), of_result(kept.size());
    for (std::size_t k = 0; k < kept.size(); ++k) {
      const bool repeated = repeats_[node.inputs[0].index][kept[k]];
      if (repeated && index::constant_of(shape[kept[k]]).value_or(0) > 1)
        of_input[kept[k]] = of_result[k] = true;
    }
    if (std::ranges::none_of(of_result, [](bool repeated) { return repeated; })) return std::nullopt;
    const NodeId first =
        add_view(rebuild_.made(), rebuild_[node.inputs[0]], at_first(shape, of_input, false), node.origin);
    const NodeId once = rebuild_.add(reduce, {first}, id);
    return add_view(rebuild_.made(), once, at_first(node.shape, of_result, true), node.origin);
  }

  const Graph& graph_;
  Rebuild rebuild_;
  std::vector<Repeats> repeats_;
  std::set<NodeId> results_;  // which have memory of their own
};

}  // namespace

Graph reduce_once(const Graph& graph) { return Once(graph).run(); }

}  // namespace twinloom::graph
