// Of a vector times a constant matrix whose columns are summed up, as a layer of one row has it, the matrix
// has a copy in rows: it is read once, from end to end, not a piece of each row after the other.
//   w = view(constant [k, j]) at [j, k] from [k, j]; y = reduce sum over k (mul(view(x) at [j, k] from [k],
//   w))
// becomes
//   r = realize(view(constant) at [j, k] from [k, j]); w = view(r) at [j, k] from [j, k]
// The copy follows from an array alone: it is made once (core/runtime/once.h). Several rows go to a library.
#include <algorithm>

#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

using Dimensions = std::vector<std::size_t>;

class Matrices {
 public:
  Matrices(const Graph& graph, const IsWorth& is_worth)
      : graph_(graph), is_worth_(is_worth), rebuild_(graph) {}

  Graph run() {
    return rebuild_.finish_by([&](NodeId id) { return sum(id); });
  }

 private:
  std::optional<NodeId> sum(NodeId id) {
    const auto summed = summed_products(graph_, graph_[id]);
    if (!summed || !is_worth_(graph_[*summed])) return std::nullopt;
    const Node& product = graph_[*summed];
    const auto& axes = std::get<Reduce>(graph_[id].node).axes;
    for (std::size_t k = 0; k < 2; ++k) {
      const auto made = in_rows(product.inputs[k], product.inputs[1 - k], axes);
      if (!made) continue;
      std::vector<NodeId> inputs = {rebuild_[product.inputs[0]], rebuild_[product.inputs[1]]};
      inputs[k] = *made;
      return rebuild_.sum_over(id, std::move(inputs));
    }
    return std::nullopt;
  }

  // The factor, read from a copy in rows, which is as narrow as the array.
  std::optional<NodeId> in_rows(NodeId id, NodeId other, const std::vector<int>& summed) {
    const Node& node = graph_[id];
    if (std::holds_alternative<Cast>(node.node)) {
      const auto made = in_rows(node.inputs[0], other, summed);
      return made ? std::optional(rebuild_.add(node.node, {*made}, id)) : std::nullopt;
    }
    const auto* view = std::get_if<View>(&node.node);
    if (view == nullptr || !view->inside.all.empty()) return std::nullopt;
    const NodeId input = node.inputs[0];
    const bool is_cast = std::holds_alternative<Cast>(graph_[input].node);
    const NodeId array = is_cast ? graph_[input].inputs[0] : input;
    const auto order = is_array(array) ? order_in_rows(*view, other, summed) : std::nullopt;
    if (!order) return std::nullopt;
    const Shape& shape = graph_[array].shape;
    View turned, read = *view;
    turned.source.resize(shape.size());
    for (std::size_t d = 0; d < order->size(); ++d) {
      turned.source[(*order)[d]] = new_axis(turned, shape[(*order)[d]]);
      read.source[d] = view->source[(*order)[d]];
    }
    const NodeId rows = add_view(rebuild_.made(), rebuild_[array], std::move(turned), node.origin);
    NodeId made = rebuild_.add(Realize{}, {rows}, id);
    if (is_cast) made = rebuild_.add(graph_[input].node, {made}, input);
    return add_view(rebuild_.made(), made, std::move(read), node.origin);
  }

  bool is_array(NodeId id) const {
    const auto* constant = std::get_if<Constant>(&graph_[id].node);
    return constant != nullptr && std::holds_alternative<Content>(constant->value);
  }

  // The dimensions of the array, those that are summed over last; nothing where they are last already, where
  // the products walk it in another way, or several rows of the other factor read it.
  std::optional<Dimensions> order_in_rows(const View& view, NodeId other,
                                          const std::vector<int>& summed) const {
    Dimensions kept, last;
    std::vector<bool> walks(view.axes.size(), false);
    for (std::size_t d = 0; d < view.source.size(); ++d) {
      const auto axis = std::ranges::find_if(
          view.axes, [&](index::Symbol symbol) { return view.source[d] == index::Expr(symbol); });
      if (axis == view.axes.end() && !index::constant_of(view.source[d])) return std::nullopt;
      if (axis == view.axes.end()) {
        kept.push_back(d);
        continue;
      }
      const auto walked = static_cast<std::size_t>(axis - view.axes.begin());
      walks[walked] = true;
      (std::ranges::find(summed, static_cast<int>(walked)) == summed.end() ? kept : last).push_back(d);
    }
    if (kept.empty() || last.empty() || kept.back() < last.back()) return std::nullopt;
    for (std::size_t d = 0; d < walks.size(); ++d) {
      const bool is_summed = std::ranges::find(summed, static_cast<int>(d)) != summed.end();
      const bool is_one = index::constant_of(view.sizes[d]) == 1;
      if (!is_one && (!walks[d] || (!is_summed && changes_along(graph_, other, d)))) return std::nullopt;
    }
    kept.insert(kept.end(), last.begin(), last.end());
    return kept;
  }

  const Graph& graph_;
  const IsWorth& is_worth_;
  Rebuild rebuild_;
};

}  // namespace

Graph constants_in_rows(const Graph& graph, const IsWorth& is_worth) {
  return Matrices(graph, is_worth).run();
}

}  // namespace twinloom::graph
