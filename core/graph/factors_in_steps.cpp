// Outside of mode `strict`, where a library multiplies: a factor of sums of products that a view reads out of
// step, as channels that change places or an image that is enlarged, has memory that is read in steps, as
// libraries walk it.
//   v = view(x) at [n, o, c] from [n, floor_div(c, 2) + 58*floor_mod(c, 2)]
//   y = reduce sum over c (mul(v, w))
// becomes
//   r = realize(view(x) at [n, c] from [n, floor_div(c, 2) + 58*floor_mod(c, 2)]) in_any_order
//   v = view(r) at [n, o, c] from [n, c]
// What lies in steps in some order of x's dimensions, as heads behind an attention do, is left as it is: the
// writer of x chooses its order.
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/view_steps.h"

namespace twinloom::graph {

namespace {

class Factors {
 public:
  Factors(const Graph& graph, const IsWorthMemory& is_worth)
      : graph_(graph), is_worth_(is_worth), rebuild_(graph) {}

  Graph run() {
    return rebuild_.finish_by([&](NodeId id) { return sum(id); });
  }

 private:
  std::optional<NodeId> sum(NodeId id) {
    const auto summed = summed_products(graph_, graph_[id]);
    if (!summed) return std::nullopt;
    const Node& product = graph_[*summed];
    std::vector<NodeId> inputs;
    for (const NodeId factor : product.inputs) inputs.push_back(in_steps(factor, product));
    if (inputs[0] == rebuild_[product.inputs[0]] && inputs[1] == rebuild_[product.inputs[1]])
      return std::nullopt;
    return rebuild_.sum_over(id, std::move(inputs));
  }

  // Through what a library reads as it is: see lower/realize.cpp.
  NodeId in_steps(NodeId id, const Node& product) {
    const Node& node = graph_[id];
    const auto* view = std::get_if<View>(&node.node);
    if (view != nullptr) {
      if (const auto made = around_memory(*view, id, product)) return *made;
    } else if (!std::holds_alternative<Cast>(node.node) && !is_of(node, ops::Pointwise::sub)) {
      return rebuild_[id];
    }
    const NodeId old = node.inputs[0], input = in_steps(old, product);
    if (input == rebuild_[old]) return rebuild_[id];
    if (view != nullptr) return add_view(rebuild_.made(), input, *view, node.origin);
    std::vector<NodeId> inputs{input};
    for (std::size_t k = 1; k < node.inputs.size(); ++k) inputs.push_back(rebuild_[node.inputs[k]]);
    return rebuild_.add(node.node, std::move(inputs), id);
  }

  std::optional<NodeId> around_memory(const View& view, NodeId id, const Node& product) {
    const NodeId input = graph_[id].inputs[0];
    const ViewSteps steps(view, graph_[input].shape, graph_.facts());
    const std::vector<Dimensions> out_of_step = steps.out_of_step();
    View inner;
    const auto outer = out_of_step.empty() ? std::nullopt : steps.around(out_of_step, inner);
    if (!outer || !is_worth_(product, inner.sizes)) return std::nullopt;
    const NodeId compact = add_view(rebuild_.made(), rebuild_[input], std::move(inner), graph_[id].origin);
    const NodeId memory = rebuild_.add(Realize{.any_order = true}, {compact}, id);
    if (!stays_inside(rebuild_.made(), *outer, memory)) return std::nullopt;
    return add_view(rebuild_.made(), memory, *outer, graph_[id].origin);
  }

  const Graph& graph_;
  const IsWorthMemory& is_worth_;
  Rebuild rebuild_;
};

}  // namespace

Graph factors_in_steps(const Graph& graph, const IsWorthMemory& is_worth) {
  return Factors(graph, is_worth).run();
}

}  // namespace twinloom::graph
