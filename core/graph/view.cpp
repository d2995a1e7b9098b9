// Builds one View where a chain of them says the same:
//   b = view(a) at [i0, i1] from [i1, i0]; c = view(b) at [i0] from [i0, 2]   ->   view(a) at [i0] from [2,
//   i0]
// The outer map is put in place of the inner axes. Two maps that both have an outside are one only
// where one outside contains the other, or both fill with the same number, and where it can be proven from the
// one map that it stays inside: a reader of the text knows no more.
#include <algorithm>

#include "core/base/error.h"
#include "core/graph/infer.h"
#include "core/graph/inside.h"
#include "core/graph/rebuild.h"
#include "core/graph/views.h"
#include "core/index/simplify.h"

namespace twinloom::graph {

namespace {

// An axis of size 1 has only the position 0.
View without_single_axes(View view) {
  index::Substitution zeros;
  for (std::size_t k = 0; k < view.axes.size(); ++k)
    if (view.sizes[k] == index::Expr(1)) zeros.emplace(view.axes[k], 0);
  if (zeros.empty()) return view;
  for (index::Expr& expr : view.source) expr = index::substitute(expr, zeros);
  view.inside = index::substitute(view.inside, zeros);
  return view;
}

View simplified(View view, const index::Facts& of_sizes) {
  view = without_single_axes(std::move(view));
  const index::Facts facts = axis_facts(of_sizes, view.axes, view.sizes);
  view.inside = index::simplify(view.inside, facts);
  const index::Facts inside = facts_where(facts, view.inside);
  for (index::Expr& expr : view.source) expr = index::simplify(expr, inside);
  return view;
}

// outer over inner as one map over the inner's input; nothing where the outsides differ.
std::optional<View> merged(const View& outer, const View& inner, const index::Facts& of_sizes) {
  index::Substitution positions;
  for (std::size_t k = 0; k < inner.axes.size(); ++k) positions.emplace(inner.axes[k], outer.source[k]);
  View one = outer;
  one.source = inner.source;
  for (index::Expr& expr : one.source) expr = index::substitute(expr, positions);
  const index::Facts facts = facts_where(axis_facts(of_sizes, outer.axes, outer.sizes), outer.inside);
  index::Condition rest;
  for (const index::Less& less : index::simplify(index::substitute(inner.inside, positions), facts).all)
    if (std::ranges::find(outer.inside.all, less) == outer.inside.all.end()) rest.all.push_back(less);
  if (!rest.all.empty() && !outer.inside.all.empty() && !(outer.fill == inner.fill)) return std::nullopt;
  if (outer.inside.all.empty()) one.fill = inner.fill;
  one.inside = outer.inside && rest;
  return one;
}

bool moves_nothing(const View& view, const Shape& shape, const index::Facts& facts) {
  if (!view.inside.all.empty() || view.sizes.size() != shape.size()) return false;
  for (std::size_t k = 0; k < shape.size(); ++k) {
    const bool same_size = view.sizes[k] == shape[k] || facts.proves_equal(view.sizes[k], shape[k]);
    const bool in_place = view.source[k] == index::Expr(view.axes[k]) || view.sizes[k] == index::Expr(1);
    if (!same_size || !in_place) return false;
  }
  return true;
}

}  // namespace

bool stays_inside(const Graph& graph, const View& view, NodeId source) {
  try {
    return needs_of(graph, {view.axes, view.sizes, view.source, view.inside, graph[source].shape}).empty();
  } catch (const Error&) {
    return false;
  }
}

NodeId add_view(Graph& graph, NodeId input, View map, Origin origin) {
  const ops::DType dtype = graph[input].dtype;
  map = simplified(std::get<View>(canonical(std::move(map), dtype)), graph.facts());
  graph.check(map, {&input, 1}, origin);  // each map of a chain stays inside, so the chain does
  NodeId base = input;
  while (const auto* inner = std::get_if<View>(&graph[base].node)) {
    std::optional<View> one = merged(map, *inner, graph.facts());
    if (one) one = simplified(std::move(*one), graph.facts());
    if (!one || !stays_inside(graph, *one, graph[base].inputs[0])) break;
    base = graph[base].inputs[0];
    map = std::move(*one);
  }
  if (moves_nothing(map, graph[base].shape, graph.facts())) return base;
  const std::optional<ops::Number> number = number_of(graph[base]);
  const bool nothing_inside = index::never_holds(map.inside);
  if (nothing_inside || (number && (map.inside.all.empty() || *number == map.fill))) {
    const ops::Number value = nothing_inside ? map.fill : *number;
    return graph.add(Constant{value, dtype, std::move(map.sizes)}, {}, std::move(origin));
  }
  return graph.add_proven(std::move(map), {base}, std::move(origin));
}

index::Expr new_axis(View& map, const index::Expr& size) {
  map.axes.push_back(axis_symbol(static_cast<int>(map.axes.size())));
  map.sizes.push_back(size);
  return map.axes.back();
}

Tensor view(const Tensor& x, View map) {
  Builder& builder = x.builder();
  return {&builder, add_view(builder.graph(), x.id(), std::move(map), builder.origin)};
}

}  // namespace twinloom::graph
