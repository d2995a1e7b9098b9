// A Scatter, in the canonical order of its contributions. (Of few candidates for a place the graph has a
// select.)
//   order, starts = stable sort of the source's elements by place
//   for each place { start t; for r0 < starts[place + 1] - starts[place] { t += v[order[starts[place] + r0]]
//   at r0 }
//                    y[place] = where(there are some, x[place] + t, x[place]) }
// Dimensions of the result that are written whole at an axis of their own, by indices that do not change
// along it, take no part in the sort: a row of a table is sorted once. The first ones whose indices do change
// make rows that are sorted alone. Places that several Scatters share are sorted once.
#include <algorithm>
#include <numeric>

#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/families.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// Which dimensions and axes are sorted, and which stay outside the sort.
struct Plan {
  std::vector<std::size_t> keyed;           // dimensions of the result that the sort tells apart
  std::vector<std::size_t> sorted;          // axes of the source that are sorted
  std::map<std::size_t, std::size_t> free;  // axis of the source -> dimension of the result
  std::size_t own = 0;           // so many first dimensions and axes of these are the same: rows of their own
  index::Expr elements, places;  // how many are sorted, and into how many places
};

graph::Shape pick(const graph::Shape& shape, const std::vector<std::size_t>& which) {
  graph::Shape picked;
  for (const std::size_t k : which) picked.push_back(shape[k]);
  return picked;
}

// Row-major over the picked dimensions.
index::Expr flatten(const At& at, const graph::Shape& shape, const std::vector<std::size_t>& which) {
  index::Expr flat = 0;
  for (const std::size_t k : which) flat = flat * shape[k] + at[k];
  return flat;
}

// The other way: fills the picked positions.
void unflatten(const index::Expr& flat, const graph::Shape& shape, const std::vector<std::size_t>& which,
               At& at) {
  index::Expr rest = flat;
  for (std::size_t n = which.size(); n-- > 0;) {
    const std::size_t k = which[n];
    at[k] = n == 0 ? rest : index::floor_mod(rest, shape[k]);
    rest = index::floor_div(rest, shape[k]);
  }
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

// How many rows are sorted alone, and of one its elements and keys; a row's dimensions are left out of its
// keys.
struct Rows {
  index::Expr rows, elements, keys;
  std::vector<std::size_t> keyed;
};
Rows rows_of(const Plan& plan, const graph::Shape& source, const graph::Shape& result) {
  const auto own = static_cast<std::ptrdiff_t>(plan.own);
  const std::vector<std::size_t> keyed(plan.keyed.begin() + own, plan.keyed.end()),
      sorted(plan.sorted.begin() + own, plan.sorted.end()),
      rows(plan.sorted.begin(), plan.sorted.begin() + own);
  return {index::product(pick(source, rows)), index::product(pick(source, sorted)),
          index::product(pick(result, keyed)), keyed};
}

// order and starts of the source's elements by place, as a kernel of its own.
Draft sort_places(Lowering& lowering, graph::NodeId id, const Plan& plan, ValueId order, ValueId starts) {
  const graph::Node& node = lowering.graph[id];
  const auto& scatter = std::get<graph::Scatter>(node.node);
  const graph::Shape& source = lowering.graph[node.inputs[1]].shape;
  Reader reader(lowering);
  const Axis element = lowering.names.symbol("a");
  assume_axis(reader.facts(), element, plan.elements);
  At at(source.size(), index::Expr(0));
  unflatten(element, source, plan.sorted, at);
  for (index::Expr& position : at) position = index::simplify(position, reader.facts());
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
  At place(node.shape.size(), index::Expr(0));
  const Rows rows = rows_of(plan, source, node.shape);
  for (const std::size_t d : rows.keyed) place[d] = index::substitute(scatter.place[d], here);
  const Temp key = lowering.names.temp();
  std::vector<Ref<Stmt>> body = reader.take_indexes();
  body.push_back(
      stmt(Let{key, count(index::simplify(flatten(place, node.shape, rows.keyed), reader.facts()))}));
  std::vector<index::Expr> sizes = {rows.elements, rows.keys};
  if (plan.own > 0) sizes.push_back(rows.rows);
  Draft draft;
  draft.nest.items.emplace_back(stmt(Call{Routine::stable_sort,
                                          {Buffer{order.index}, Buffer{starts.index}},
                                          std::move(sizes),
                                          {Slot{{element}, key, block(std::move(body))}}}));
  draft.nodes = reader.computed();
  draft.nodes.push_back(id);
  return draft;
}

// A symbol for element `at` of a vector of positions, each below `bound` and right by construction.
index::Symbol position(Reader& reader, ValueId values, const index::Expr& at, const index::Expr& bound,
                       const index::Condition& mask = {}) {
  Index index;
  index.value = reader.load(values, {at}, mask);
  index.bound = bound;
  index.mask = mask;
  return reader.find(std::move(index));
}

// What a total makes of what was there; both of arithmetic type.
Ref<loops::Value> combine(graph::Mode mode, bool include_self, Ref<loops::Value> old,
                          Ref<loops::Value> total) {
  using enum graph::Mode;
  if (mode == replace || !include_self) return total;
  const ops::Pointwise op = mode == add        ? ops::Pointwise::add
                            : mode == multiply ? ops::Pointwise::mul
                            : mode == least    ? ops::Pointwise::minimum
                                               : ops::Pointwise::maximum;
  return apply(op, {std::move(old), std::move(total)});
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

// Whether one sort does for both: the same indices, of as many elements, into as many places.
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

// One walk over the result, after the sort.
class Gathering {
 public:
  Gathering(Lowering& lowering, graph::NodeId id, const Plan& plan)
      : lowering_(lowering),
        id_(id),
        node_(lowering.graph[id]),
        plan_(plan),
        reader_(lowering),
        walk_(walk_over(lowering, reader_, node_.shape)) {}

  Draft run(ValueId order, ValueId starts) {
    draft_.nest.common = walk_.loops;
    const index::Expr key = index::simplify(flatten(walk_.at, node_.shape, plan_.keyed), reader_.facts());
    const index::Expr low = position(reader_, starts, key, plan_.elements + 1);
    const index::Expr high = position(reader_, starts, key + 1, plan_.elements + 1);
    const Ref<loops::Value> old = widen(reader_.element(node_.inputs[0], walk_.at), node_.dtype);
    add_indexes(draft_.nest.items);
    const auto& scatter = std::get<graph::Scatter>(node_.node);
    const Ref<loops::Value> contribution =
        scatter.mode == graph::Mode::replace ? last(order, low, high) : total(order, low, high);
    const Ref<loops::Value> value =
        apply(ops::Pointwise::where,
              {truth({{{low, high}}}), combine(scatter.mode, scatter.include_self, old, contribution), old});
    const ValueId into = *lowering_.memory[id_.index];
    draft_.nest.items.emplace_back(
        stmt(Store{Buffer{into.index}, reader_.offset(into, walk_.at), {}, narrow(value, node_.dtype)}));
    draft_.nodes.insert(draft_.nodes.end(), reader_.computed().begin(), reader_.computed().end());
    draft_.nodes.push_back(id_);
    return std::move(draft_);
  }

 private:
  void add_indexes(std::vector<Item>& items) {
    for (Ref<Stmt>& index : reader_.take_indexes()) items.emplace_back(std::move(index));
  }

  // The contribution at place `sorted` of the sort.
  Ref<loops::Value> contribution(ValueId order, const index::Expr& sorted, const index::Condition& mask) {
    const graph::Shape& source = lowering_.graph[node_.inputs[1]].shape;
    const index::Symbol element = position(reader_, order, sorted, plan_.elements, mask);
    At at(source.size(), index::Expr(0));
    unflatten(element, source, plan_.sorted, at);
    for (const auto& [axis, dimension] : plan_.free) at[axis] = walk_.at[dimension];
    for (index::Expr& each : at) each = index::simplify(each, reader_.facts());
    return widen(reader_.element(node_.inputs[1], at, mask), node_.dtype);
  }

  // Where places repeat, the contribution of the highest position stays.
  Ref<loops::Value> last(ValueId order, const index::Expr& low, const index::Expr& high) {
    const Ref<loops::Value> value = contribution(order, high - 1, {{{low, high}}});
    add_indexes(draft_.nest.items);
    return value;
  }

  Ref<loops::Value> total(ValueId order, const index::Expr& low, const index::Expr& high) {
    const Axis step = lowering_.names.symbol("a");
    assume_axis(reader_.facts(), step, high - low);
    const Temp temp = lowering_.names.temp();
    const Ref<loops::Value> value = contribution(order, low + step, {});
    Sibling sibling{{{step, high - low}}, reader_.take_indexes()};
    sibling.inner.push_back(stmt(Accumulate{temp, {value}, index::Expr(step)}));
    const ops::Monoid monoid = graph::monoid_of(std::get<graph::Scatter>(node_.node).mode);
    draft_.nest.items.emplace_back(stmt(Start{temp, monoid, arithmetic_type(node_.dtype), {}, 0}));
    draft_.nest.items.emplace_back(std::move(sibling));
    return read(temp);
  }

  Lowering& lowering_;
  graph::NodeId id_;
  const graph::Node& node_;
  const Plan& plan_;
  Reader reader_;
  Walk walk_;
  Draft draft_;
};

// Nothing is scattered: the result is what was there.
Draft unchanged(Lowering& lowering, graph::NodeId id) {
  const graph::Node& node = lowering.graph[id];
  const ValueId into = *lowering.memory[id.index];
  Reader reader(lowering);
  Walk walk = walk_over(lowering, reader, node.shape);
  const Ref<loops::Value> old = reader.element(node.inputs[0], walk.at);
  Draft draft;
  draft.nest.common = std::move(walk.loops);
  for (Ref<Stmt>& index : reader.take_indexes()) draft.nest.items.emplace_back(std::move(index));
  draft.nest.items.emplace_back(stmt(Store{Buffer{into.index}, reader.offset(into, walk.at), {}, old}));
  draft.nodes = reader.computed();
  draft.nodes.push_back(id);
  return draft;
}

}  // namespace

std::vector<Draft> lower_scatter(Lowering& lowering, graph::NodeId id) {
  const Plan plan = plan_of(lowering.graph, lowering.graph[id]);
  if (plan.elements == index::Expr(0)) return {unchanged(lowering, id)};
  std::vector<Draft> drafts;
  auto sorted = std::ranges::find_if(
      lowering.sorts, [&](const SortedPlaces& known) { return same_places(lowering.graph, known.node, id); });
  if (sorted == lowering.sorts.end()) {
    const ValueId order = add_value(lowering, Storage::temporary, id, {plan.elements}, ops::DType::i64, {1});
    const ValueId starts =
        add_value(lowering, Storage::temporary, id, {plan.places + 1}, ops::DType::i64, {1});
    drafts.push_back(sort_places(lowering, id, plan, order, starts));
    sorted = lowering.sorts.insert(sorted, {id, order, starts});
  }
  drafts.push_back(Gathering(lowering, id, plan).run(sorted->order, sorted->starts));
  return drafts;
}

}  // namespace twinloom::lower
