// See scatter_plan.h.
#include "core/lower/scatter_plan.h"

#include <algorithm>
#include <optional>

#include "core/index/simplify.h"
#include "core/loops/rewrite.h"

namespace twinloom::lower {

using namespace loops;

namespace {

graph::Shape pick(const graph::Shape& shape, const std::vector<std::size_t>& which) {
  graph::Shape picked;
  for (const std::size_t k : which) picked.push_back(shape[k]);
  return picked;
}

// The axis of the source at which dimension `d` of the result is written whole.
std::optional<std::size_t> own_axis(const graph::Graph& graph, const graph::Node& node, std::size_t d) {
  const auto& scatter = std::get<graph::Scatter>(node.node);
  const auto symbol = index::symbol_of(scatter.place[d]);
  if (!symbol) return std::nullopt;
  const auto found = std::ranges::find(scatter.axes, *symbol);
  if (found == scatter.axes.end()) return std::nullopt;
  const auto axis = static_cast<std::size_t>(found - scatter.axes.begin());
  if (graph[node.inputs[1]].shape[axis] != node.shape[d]) return std::nullopt;
  for (std::size_t other = 0; other < scatter.place.size(); ++other)
    if (other != d && index::mentions(scatter.place[other], *symbol)) return std::nullopt;
  return axis;
}

// The same where no index changes along that axis: it stays outside the sort.
std::optional<std::size_t> free_axis(const graph::Graph& graph, const graph::Node& node, std::size_t d) {
  const auto axis = own_axis(graph, node, d);
  for (std::size_t k = 2; axis && k < node.inputs.size(); ++k)
    if (graph::changes_along(graph, node.inputs[k], *axis)) return std::nullopt;
  return axis;
}

// Whether both have the same element wherever both have one, as far as views tell: a vector of indices that
// is broadcast along rows of one width and of another.
bool same_elements(const graph::Graph& graph, graph::NodeId one, graph::NodeId other) {
  if (one == other) return true;
  const auto* first = std::get_if<graph::View>(&graph[one].node);
  const auto* second = std::get_if<graph::View>(&graph[other].node);
  return first != nullptr && second != nullptr && first->axes == second->axes &&
         first->source == second->source && first->inside == second->inside && first->fill == second->fill &&
         same_elements(graph, graph[one].inputs[0], graph[other].inputs[0]);
}

}  // namespace

index::Expr flatten(const At& at, const graph::Shape& shape, const std::vector<std::size_t>& which) {
  index::Expr flat = 0;
  for (const std::size_t k : which) flat = flat * shape[k] + at[k];
  return flat;
}

void unflatten(const index::Expr& flat, const graph::Shape& shape, const std::vector<std::size_t>& which,
               At& at) {
  index::Expr rest = flat;
  for (std::size_t n = which.size(); n-- > 0;) {
    const std::size_t k = which[n];
    at[k] = n == 0 ? rest : index::floor_mod(rest, shape[k]);
    rest = index::floor_div(rest, shape[k]);
  }
}

Plan plan_of(const graph::Graph& graph, const graph::Node& node) {
  Plan plan;
  const graph::Shape& source = graph[node.inputs[1]].shape;
  for (std::size_t d = 0; d < node.shape.size(); ++d) {
    if (const auto axis = free_axis(graph, node, d)) {
      plan.free[*axis] = d;
    } else {
      plan.keyed.push_back(d);
    }
  }
  for (std::size_t axis = 0; axis < source.size(); ++axis)
    if (!plan.free.contains(axis)) plan.sorted.push_back(axis);
  while (plan.own < std::min(plan.keyed.size(), plan.sorted.size()) &&
         own_axis(graph, node, plan.keyed[plan.own]) == plan.sorted[plan.own])
    ++plan.own;
  plan.elements = index::product(pick(source, plan.sorted));
  plan.places = index::product(pick(node.shape, plan.keyed));
  return plan;
}

Rows rows_of(const Plan& plan, const graph::Shape& source, const graph::Shape& result) {
  const auto own = static_cast<std::ptrdiff_t>(plan.own);
  const std::vector<std::size_t> keyed(plan.keyed.begin() + own, plan.keyed.end()),
      sorted(plan.sorted.begin() + own, plan.sorted.end()),
      rows(plan.sorted.begin(), plan.sorted.begin() + own);
  return {index::product(pick(source, rows)), index::product(pick(source, sorted)),
          index::product(pick(result, keyed)), keyed};
}

At place_of(Reader& reader, const graph::Graph& graph, graph::NodeId id, const At& at) {
  const graph::Node& node = graph[id];
  const auto& scatter = std::get<graph::Scatter>(node.node);
  index::Substitution here;
  for (std::size_t axis = 0; axis < at.size(); ++axis) here.emplace(scatter.axes[axis], at[axis]);
  for (std::size_t k = 0; k < scatter.found.size(); ++k) {
    Index index;
    index.value = reader.element(node.inputs[2 + k], at);
    index.bound = scatter.bounds[k];
    index.negative_wraps = scatter.negative_wraps;
    index.node = static_cast<int>(id.index);
    here.emplace(scatter.found[k], index::Expr(reader.find(std::move(index))));
  }
  At place;
  for (const index::Expr& each : scatter.place) place.push_back(index::substitute(each, here));
  return place;
}

std::vector<Ref<Stmt>> key_of(Reader& reader, const graph::Graph& graph, graph::NodeId id,
                              const KeyedElement& element) {
  const graph::Node& node = graph[id];
  const At place = place_of(reader, graph, id, element.at);
  std::vector<Ref<Stmt>> body = reader.take_indexes();
  body.push_back(stmt(Let{
      element.key, count(index::simplify(flatten(place, node.shape, element.rows.keyed), reader.facts()))}));
  return body;
}

bool same_places(const graph::Graph& graph, graph::NodeId one, graph::NodeId other) {
  const graph::Node &a = graph[one], &b = graph[other];
  const auto &first = std::get<graph::Scatter>(a.node), &second = std::get<graph::Scatter>(b.node);
  const bool found = first.axes == second.axes && first.found == second.found &&
                     first.bounds == second.bounds && first.place == second.place &&
                     first.negative_wraps == second.negative_wraps;
  if (!found || a.inputs.size() != b.inputs.size()) return false;
  for (std::size_t k = 2; k < a.inputs.size(); ++k)
    if (!same_elements(graph, a.inputs[k], b.inputs[k])) return false;
  const Plan plan = plan_of(graph, a), other_plan = plan_of(graph, b);
  return plan.keyed == other_plan.keyed && plan.sorted == other_plan.sorted && plan.own == other_plan.own &&
         pick(graph[a.inputs[1]].shape, plan.sorted) == pick(graph[b.inputs[1]].shape, plan.sorted) &&
         pick(a.shape, plan.keyed) == pick(b.shape, plan.keyed);
}

Draft sort_by_key(KeySort sort, Reader& reader, graph::NodeId id) {
  Draft draft;
  std::vector<Buffer> operands = {Buffer{sort.order.index}};
  if (sort.starts) operands.push_back(Buffer{sort.starts->index});
  draft.nest.items.emplace_back(
      loops::stmt(loops::Call{loops::Routine::stable_sort,
                              std::move(operands),
                              std::move(sort.sizes),
                              {loops::Slot{{sort.at}, sort.key, loops::block(std::move(sort.body))}}}));
  draft.nodes = reader.computed();
  draft.nodes.push_back(id);
  return draft;
}

}  // namespace twinloom::lower
