// See repeats.h.
#include "core/graph/repeats.h"

#include <algorithm>

#include "core/graph/views.h"

namespace twinloom::graph {

namespace {

bool mentions(const index::Condition& condition, const index::Symbol& symbol) {
  return index::symbols_of(condition).contains(symbol);
}

Repeats repeats_of_view(const View& view, const Repeats& input) {
  Repeats repeats;
  for (const index::Symbol& axis : view.axes) {
    bool same = !mentions(view.inside, axis);
    for (std::size_t d = 0; d < view.source.size(); ++d)
      same = same && (input[d] || !index::mentions(view.source[d], axis));
    repeats.push_back(same);
  }
  return repeats;
}

// What is found at the same indices.
Repeats repeats_of_gather(const Gather& gather, const Node& node, const std::vector<Repeats>& known) {
  Repeats repeats;
  for (std::size_t d = 0; d < gather.axes.size(); ++d) {
    bool same = std::ranges::none_of(
        gather.source, [&](const index::Expr& source) { return index::mentions(source, gather.axes[d]); });
    for (std::size_t k = 1; k < node.inputs.size(); ++k) same = same && known[node.inputs[k].index][d];
    repeats.push_back(same);
  }
  return repeats;
}

Repeats repeats_of(const Node& node, const std::vector<Repeats>& known) {
  const std::size_t rank = node.shape.size();
  const auto input = [&](std::size_t k) -> const Repeats& { return known[node.inputs[k].index]; };
  if (const auto* constant = std::get_if<Constant>(&node.node))
    return Repeats(rank, std::holds_alternative<ops::Number>(constant->value));
  if (const auto* view = std::get_if<View>(&node.node)) return repeats_of_view(*view, input(0));
  if (const auto* gather = std::get_if<Gather>(&node.node)) return repeats_of_gather(*gather, node, known);
  if (std::holds_alternative<Cast>(node.node)) return input(0);
  if (std::holds_alternative<Pointwise>(node.node)) {
    Repeats repeats(rank, true);
    for (std::size_t k = 0; k < node.inputs.size(); ++k)
      for (std::size_t d = 0; d < rank; ++d) repeats[d] = repeats[d] && input(k)[d];
    return repeats;
  }
  return Repeats(rank, false);
}

}  // namespace

std::vector<Repeats> repeats_of(const Graph& graph) {
  std::vector<Repeats> repeats;
  for (const Node& node : graph.nodes()) repeats.push_back(repeats_of(node, repeats));
  return repeats;
}

View at_first(const Shape& shape, const Repeats& repeated, bool all) {
  View view;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const index::Expr position = new_axis(view, repeated[d] && !all ? index::Expr(1) : shape[d]);
    view.source.push_back(repeated[d] ? index::Expr(0) : position);
  }
  return view;
}

}  // namespace twinloom::graph
