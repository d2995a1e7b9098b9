// Reductions and scans: a total for each turn of the axes that stay, filled by a sibling loop over the axes
// that go.
//   s = sum(x, axis 1)      ->   for i0 { start t; for r0 { t += x[..] at r0 }; s[i0] = t }
//   c = cumsum(x, axis 1)   ->   for i0 { start t; for r0 { u = scan t of x[..] at r0; c[..] = u } }
#include <algorithm>

#include "core/base/error.h"
#include "core/loops/products.h"
#include "core/loops/rewrite.h"
#include "core/lower/families.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// What the total takes of an element: the element, and its place for a monoid that tells where.
std::vector<Ref<loops::Value>> parts_of(ops::Monoid monoid, Ref<loops::Value> element,
                                        const index::Expr& place) {
  std::vector<Ref<loops::Value>> values = {std::move(element)};
  if (ops::parts(monoid) == 2) values.push_back(count(place));
  return values;
}

// Part `component` of a total as an element of the node's type.
Ref<loops::Value> result_of(Temp temp, int component, ops::DType total, ops::DType result) {
  const Ref<loops::Value> part = read(temp, component);
  const ops::DType from = component == 0 ? total : ops::DType::i64;
  return from == result ? part : convert(result, part);
}

void append(std::vector<Ref<Stmt>>& stmts, std::vector<Ref<Stmt>> more) {
  stmts.insert(stmts.end(), more.begin(), more.end());
}

// Loops over the given dimensions of a shape, one at least, their positions, and the row-major place.
struct Across {
  std::vector<NestLoop> loops;
  index::Expr place = 0;
};
Across walk_across(Lowering& lowering, Reader& reader, const graph::Shape& shape,
                   const std::vector<int>& axes, At& at) {
  Across across;
  for (const int number : axes) {
    const auto d = static_cast<std::size_t>(number);
    at[d] = 0;
    across.place = across.place * shape[d];
    const bool last_chance = number == axes.back() && across.loops.empty();
    if (index::constant_of(shape[d]) == 1 && !last_chance) continue;
    const Axis axis = lowering.names.symbol("a");
    assume_axis(reader.facts(), axis, shape[d]);
    across.loops.push_back({axis, shape[d]});
    at[d] = axis;
    across.place = across.place + axis;
  }
  if (across.loops.empty()) across.loops.push_back({lowering.names.symbol("a"), 1});
  return across;
}

// The kept loops from outermost to innermost in what one of the loads reads, where each of them has a step in
// it.
std::optional<std::vector<std::size_t>> order_of_input(const loops::Nest& nest) {
  const auto& inner = std::get<Sibling>(nest.items[1]).inner.back();
  std::optional<std::vector<std::size_t>> order;
  for_each_value(*inner, [&](const loops::Value& value) {
    const auto* load = std::get_if<loops::Load>(&value.node);
    const auto along = load == nullptr || order ? std::nullopt : steps_along(nest.common, load->offset);
    if (!along) return;
    const auto step = [&](std::size_t loop) { return index::constant_of(along->steps[loop]).value_or(0); };
    order = row_major_order(nest.common.size());
    if (!std::ranges::all_of(*order, [&](std::size_t loop) { return step(loop) > 0; }))
      order.reset();
    else
      std::ranges::stable_sort(*order, std::ranges::greater{}, step);
  });
  return order;
}

// A component of a total: the value that it is stored into, and what is stored.
struct Total {
  ValueId into;
  Ref<loops::Value> value;
};

// What the draft stores, last, in loops and memory of one order.
class Totals {
 public:
  Totals(Lowering& lowering, const Reader& reader, const Walk& kept, Draft& draft, std::vector<Total> totals)
      : lowering_(lowering),
        reader_(reader),
        kept_(kept),
        draft_(draft),
        totals_(std::move(totals)),
        items_(draft.nest.items.size()) {
    store();
  }

  void lay_out(const std::vector<std::size_t>& loops_in_order) {
    std::vector<std::size_t> order;  // of dimensions: those without a loop have one element
    for (std::size_t d = 0; d < kept_.at.size(); ++d)
      if (!index::symbol_of(kept_.at[d])) order.push_back(d);
    draft_.nest.common.clear();
    for (const std::size_t loop : loops_in_order) {
      draft_.nest.common.push_back(kept_.loops[loop]);
      for (std::size_t d = 0; d < kept_.at.size(); ++d)
        if (index::symbol_of(kept_.at[d]) == kept_.loops[loop].axis) order.push_back(d);
    }
    for (const Total& total : totals_) {
      Value& value = lowering_.lowered.values[total.into.index];
      value.strides = strides_in_order(value.shape, order);
    }
    store();
  }
  bool may_lie_in_any_order() const {
    return std::ranges::none_of(totals_,
                                [&](const Total& total) { return lowering_.lowered[total.into].row_major; });
  }

 private:
  void store() {
    draft_.nest.items.resize(items_);
    for (const auto& [into, value] : totals_)
      draft_.nest.items.emplace_back(
          stmt(Store{Buffer{into.index}, reader_.offset(into, kept_.at), {}, value}));
  }

  Lowering& lowering_;
  const Reader& reader_;
  const Walk& kept_;
  Draft& draft_;
  const std::vector<Total> totals_;
  const std::size_t items_;  // of the draft, without the stores
};

std::vector<std::size_t> loops_of(const std::vector<std::size_t>& dimensions, const Walk& kept) {
  std::vector<std::size_t> loops;
  for (const std::size_t d : dimensions) {
    const auto axis = index::symbol_of(kept.at[d]);
    const auto found =
        std::ranges::find_if(kept.loops, [&](const NestLoop& loop) { return axis == loop.axis; });
    if (found != kept.loops.end()) loops.push_back(static_cast<std::size_t>(found - kept.loops.begin()));
  }
  return loops;
}

// Whether the draft, which stores one total, was laid out as a library of contractions wants it: a
// contraction as that likes it, and what its layers read as one row.
bool lay_out_for_library(Lowering& lowering, const Walk& kept, Draft& draft, const Value& value,
                         Totals& totals) {
  if (!lowering.routines.has_library_call || value.storage != Storage::temporary) return false;
  const auto nest = [&] { return packed(with_free_sums(draft.nest), {}, lowering.lowered).nest; };
  if (const auto contraction = contraction_of(nest())) {
    const bool is_call = lowering.routines.has_library_call(nest());
    totals.lay_out(result_order(*contraction));
    // Some have a call in this order alone.
    if (is_call || lowering.routines.has_library_call(nest())) return true;
    totals.lay_out(row_major_order(kept.loops.size()));
  }
  const auto flattened = flattened_order(lowering, value.node);
  if (!flattened) return false;
  totals.lay_out(loops_of(*flattened, kept));
  return true;
}

}  // namespace

Draft lower_reduce(Lowering& lowering, const std::vector<graph::NodeId>& components) {
  const graph::Node& node = lowering.graph[components.front()];
  const auto& reduce = std::get<graph::Reduce>(node.node);
  const graph::Node& input = lowering.graph[node.inputs[0]];
  Reader reader(lowering);
  const Walk kept = walk_over(lowering, reader, node.shape);
  At at(input.shape.size());
  std::size_t next = 0;
  for (std::size_t d = 0; d < at.size(); ++d)
    if (std::ranges::find(reduce.axes, static_cast<int>(d)) == reduce.axes.end()) at[d] = kept.at[next++];
  Across across = walk_across(lowering, reader, input.shape, reduce.axes, at);

  const ops::DType total = arithmetic_type(input.dtype);
  const Temp temp = lowering.names.temp();
  const Ref<loops::Value> element = widen(reader.element(node.inputs[0], at), input.dtype);
  Sibling sibling{std::move(across.loops), reader.take_indexes()};
  sibling.inner.push_back(
      stmt(Accumulate{temp, parts_of(reduce.monoid, element, across.place), across.place}));

  Draft draft;
  draft.nest.common = kept.loops;
  draft.nest.items.emplace_back(stmt(Start{temp, reduce.monoid, total, {}, 0}));
  draft.nest.items.emplace_back(std::move(sibling));
  std::vector<Total> parts;
  for (const graph::NodeId id : components) {
    const graph::Node& part = lowering.graph[id];
    parts.push_back({*lowering.memory[id.index],
                     result_of(temp, std::get<graph::Reduce>(part.node).component, total, part.dtype)});
    draft.nodes.push_back(id);
  }
  Totals totals(lowering, reader, kept, draft, parts);
  const Value& first = lowering.lowered[parts.front().into];
  const bool is_laid_out = parts.size() == 1 && lay_out_for_library(lowering, kept, draft, first, totals);
  if (!is_laid_out && totals.may_lie_in_any_order())
    if (const auto order = order_of_input(draft.nest)) totals.lay_out(*order);
  draft.nodes.insert(draft.nodes.end(), reader.computed().begin(), reader.computed().end());
  return draft;
}

Draft lower_scan(Lowering& lowering, const std::vector<graph::NodeId>& components) {
  const graph::Node& node = lowering.graph[components.front()];
  const auto& scan = std::get<graph::Scan>(node.node);
  const graph::Node& input = lowering.graph[node.inputs[0]];
  const auto axis = static_cast<std::size_t>(scan.axis);
  Reader reader(lowering);
  graph::Shape kept_shape = node.shape;
  kept_shape[axis] = 1;
  const Walk kept = walk_over(lowering, reader, kept_shape);
  const Axis step = lowering.names.symbol("a");
  assume_axis(reader.facts(), step, node.shape[axis]);
  At at = kept.at;
  at[axis] = scan.backwards ? node.shape[axis] - 1 - step : index::Expr(step);

  const ops::DType total = arithmetic_type(input.dtype);
  const Temp running = lowering.names.temp(), result = lowering.names.temp();
  const Ref<loops::Value> element = widen(reader.element(node.inputs[0], at), input.dtype);
  Sibling sibling{{{step, node.shape[axis]}}, {}};
  append(sibling.inner, reader.take_indexes());
  sibling.inner.push_back(stmt(
      Scan{result, running, parts_of(scan.monoid, element, at[axis]), index::Expr(step), scan.exclusive}));
  Draft draft;
  for (const graph::NodeId id : components) {
    const graph::Node& part = lowering.graph[id];
    const ValueId into = *lowering.memory[id.index];
    const Ref<loops::Value> value =
        result_of(result, std::get<graph::Scan>(part.node).component, total, part.dtype);
    sibling.inner.push_back(stmt(Store{Buffer{into.index}, reader.offset(into, at), {}, value}));
    draft.nodes.push_back(id);
  }
  draft.nest.common = kept.loops;
  draft.nest.items.emplace_back(stmt(Start{running, scan.monoid, total, {}, 0}));
  draft.nest.items.emplace_back(std::move(sibling));
  draft.nodes.insert(draft.nodes.end(), reader.computed().begin(), reader.computed().end());
  return draft;
}

}  // namespace twinloom::lower
