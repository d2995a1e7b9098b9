// A Scatter, in the canonical order of its contributions. (Of few candidates for a place the graph has a
// select.)
//   order, starts = stable sort of the source's elements by place
//   for each place { start t; for r0 < starts[place + 1] - starts[place] { t += v[order[starts[place] + r0]]
//   at r0 }
//                    y[place] = where(there are some, x[place] + t, x[place]) }
// Dimensions of the result that are written whole at an axis of their own, by indices that do not change
// along it, take no part in the sort: a row of a table is sorted once. The first ones whose indices do change
// make rows that are sorted alone. Places that several Scatters share are sorted once. What a device sums by
// key needs no sort: scatter_sums.cpp; nor does what one may add in memory: scatter_atomics.cpp.
#include <algorithm>

#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/families.h"
#include "core/lower/scatter_plan.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// order and starts of the source's elements by place, as a kernel of its own.
Draft sort_places(Lowering& lowering, graph::NodeId id, const Plan& plan, ValueId order, ValueId starts) {
  const graph::Node& node = lowering.graph[id];
  const graph::Shape& source = lowering.graph[node.inputs[1]].shape;
  Reader reader(lowering);
  const Axis element = lowering.names.symbol("a");
  assume_axis(reader.facts(), element, plan.elements);
  At at(source.size(), index::Expr(0));
  unflatten(element, source, plan.sorted, at);
  for (index::Expr& position : at) position = index::simplify(position, reader.facts());
  const Rows rows = rows_of(plan, source, node.shape);
  const Temp key = lowering.names.temp();
  std::vector<Ref<Stmt>> body = key_of(reader, lowering.graph, id, {rows, at, key});
  std::vector<index::Expr> sizes = {rows.elements, rows.keys};
  if (plan.own > 0) sizes.push_back(rows.rows);
  return sort_by_key({order, starts, std::move(sizes), element, key, std::move(body)}, reader, id);
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
  if (std::get<graph::Scatter>(lowering.graph[id].node).is_permutation)
    return {lower_permutation(lowering, id)};
  if (adds_in_memory(lowering, id)) return lower_atomics(lowering, id);
  if (sums_pay(lowering, id, plan)) return lower_sums(lowering, id, plan);
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
