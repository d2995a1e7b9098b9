// See joined_sums.h.
#include "core/lower/joined_sums.h"

#include "core/lower/realize.h"

namespace twinloom::lower {

using namespace graph;

namespace {

// What a node computes from, element by element.
struct From {
  NodeId sum;
  std::optional<NodeId> narrow;  // the first integer of 8 bits behind it
};

class Joins {
 public:
  Joins(const Graph& graph, double least_products)
      : graph_(graph),
        least_products_(least_products),
        origins_(graph.nodes().size()),
        found_(graph.nodes().size(), false) {}

  std::vector<bool> found() {
    const std::vector<bool> live = live_nodes(graph_);
    for (std::uint32_t n = 0; n < live.size(); ++n)
      if (live[n]) look_at(NodeId{n});
    return std::move(found_);
  }

 private:
  void look_at(NodeId id) {
    const Node& node = graph_[id];
    std::optional<From>& origin = origins_[id.index];
    if (is_sum(node)) {
      origin = From{id, {}};
      return;
    }
    if (!std::holds_alternative<Pointwise>(node.node) && !std::holds_alternative<Cast>(node.node) &&
        !std::holds_alternative<View>(node.node))
      return;
    for (const NodeId input : node.inputs) join(origin, origins_[input.index]);
    if (origin && !origin->narrow && ops::is_integer(node.dtype) && ops::bits_of(node.dtype) == 8)
      origin->narrow = id;
  }

  bool is_sum(const Node& node) const {
    const auto products = summed_products(graph_, node);
    return products && node.dtype == ops::DType::i32 &&
           typical_count(graph_[*products].shape, RealizeLimits().typical_size) >= least_products_;
  }

  // The one that can be stored in 8 bits leaves; of two the earlier one.
  void join(std::optional<From>& of, const std::optional<From>& other) {
    if (!other) return;
    if (!of || of->sum == other->sum) {
      of = other;
      return;
    }
    const bool other_stays = !other->narrow || (of->narrow && of->sum.index < other->sum.index);
    const std::optional<NodeId> narrow = other_stays ? of->narrow : other->narrow;
    if (narrow) found_[narrow->index] = true;
    if (other_stays) of = other;
  }

  const Graph& graph_;
  double least_products_;
  std::vector<std::optional<From>> origins_;
  std::vector<bool> found_;
};

}  // namespace

std::vector<bool> joined_sums(const Graph& graph, double least_products) {
  return Joins(graph, least_products).found();
}

}  // namespace twinloom::lower
