// A Gather becomes a View where each of its indices follows from the place and is proven to be inside:
//   at = fmod(add(iota [n], 3), n)
//   y = gather(x [n, m], at expanded [n, m]) from [f0, i1]
// becomes
//   y = view(x) from [floor_mod(i0 + 3, n), i1]
// So it is with torch.roll as it is printed, and with positions that a model counts. Nothing is stored,
// looked up or checked then. A Gather without such a proof stays one; over an Iota it is its index, which
// others ask for (scatter_to_select).
#include "core/graph/known_element.h"
#include "core/graph/passes.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

std::optional<View> view_of(const Graph& graph, const Node& node) {
  const auto* gather = std::get_if<Gather>(&node.node);
  if (gather == nullptr || std::holds_alternative<Iota>(graph[node.inputs[0]].node)) return std::nullopt;
  index::Facts facts = graph.facts();
  assume_axes(facts, gather->axes, gather->sizes);
  const KnownElements known(graph, facts);
  const std::vector<index::Expr> at(gather->axes.begin(), gather->axes.end());
  index::Substitution found;
  for (std::size_t k = 0; k < gather->found.size(); ++k) {
    auto place = known.element(node.inputs[1 + k], at);
    if (!place) return std::nullopt;
    const index::Expr& bound = gather->bounds[k];
    if (gather->negative_wraps && facts.proves_less(*place, 0)) place = *place + bound;
    if (!facts.proves_less(-1, *place) || !facts.proves_less(*place, bound)) return std::nullopt;
    found.emplace(gather->found[k], index::simplify(*place, facts));
  }
  View view;
  view.axes = gather->axes;
  view.sizes = gather->sizes;
  for (const index::Expr& expr : gather->source) view.source.push_back(index::substitute(expr, found));
  return view;
}

}  // namespace

Graph gather_to_view(const Graph& graph) {
  // A result has memory of its own, which a View that another result has too would not say.
  std::set<NodeId> results;
  for (const Result& result : graph.results())
    if (has_value(result.kind)) results.insert(result.value);
  Rebuild rebuild(graph);
  const auto made = [&](NodeId id) -> std::optional<NodeId> {
    const Node& node = graph[id];
    auto view = results.contains(id) ? std::nullopt : view_of(graph, node);
    if (!view) return std::nullopt;
    return add_view(rebuild.made(), rebuild[node.inputs[0]], *std::move(view), node.origin);
  };
  return remove_dead(rebuild.finish_by(made));  // indices that are known
}

}  // namespace twinloom::graph
