// A Scatter that adds, as sums by key of each row and a walk that adds them to what was there.
//   sums = sums_by_key of rows: key place(r, p), value v[r, p]
//   for each place { y[place] = x[place] + sums[place] }
// A place without contributions has the sum -0.0, which adds nothing.
#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/families.h"
#include "core/lower/scatter_plan.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// One element of the source, by its row and its number in the row.
struct Element {
  Axis row, number;
  At at;
};
Element element_in(Lowering& lowering, Reader& reader, const graph::Shape& source, const Plan& plan,
                   const Rows& rows) {
  Element element{lowering.names.symbol("a"), lowering.names.symbol("a"), {}};
  assume_axis(reader.facts(), element.row, rows.rows);
  assume_axis(reader.facts(), element.number, rows.elements);
  element.at.assign(source.size(), index::Expr(0));
  const auto own = plan.sorted.begin() + static_cast<std::ptrdiff_t>(plan.own);
  unflatten(element.row, source, {plan.sorted.begin(), own}, element.at);
  unflatten(element.number, source, {own, plan.sorted.end()}, element.at);
  for (index::Expr& position : element.at) position = index::simplify(position, reader.facts());
  return element;
}

class Sums {
 public:
  Sums(Lowering& lowering, graph::NodeId id, const Plan& plan)
      : lowering_(lowering),
        id_(id),
        node_(lowering.graph[id]),
        source_(lowering.graph[node_.inputs[1]].shape),
        plan_(plan),
        rows_(rows_of(plan, source_, node_.shape)) {}

  Draft by_key(ValueId sums) {
    const ValueId list = room({rows_.rows * rows_.elements}, arithmetic_type(node_.dtype));
    const ValueId ends = room({rows_.rows * rows_.keys}, ops::DType::i64);
    Draft draft;
    std::vector<Slot> slots = {key(draft), value(draft)};
    draft.nest.items.emplace_back(stmt(Call{Routine::sums_by_key,
                                            {Buffer{sums.index}, Buffer{list.index}, Buffer{ends.index}},
                                            {rows_.elements, rows_.keys, rows_.rows},
                                            std::move(slots)}));
    draft.nodes.push_back(id_);
    return draft;
  }

  Draft added(ValueId sums) {
    const ValueId into = *lowering_.memory[id_.index];
    Reader reader(lowering_);
    Walk walk = walk_over(lowering_, reader, node_.shape);
    const Ref<loops::Value> old = widen(reader.element(node_.inputs[0], walk.at), node_.dtype);
    const Ref<loops::Value> sum = apply(ops::Pointwise::add, {old, reader.load(sums, walk.at)});
    Draft draft;
    draft.nest.common = std::move(walk.loops);
    for (Ref<Stmt>& index : reader.take_indexes()) draft.nest.items.emplace_back(std::move(index));
    draft.nest.items.emplace_back(
        stmt(Store{Buffer{into.index}, reader.offset(into, walk.at), {}, narrow(sum, node_.dtype)}));
    draft.nodes = reader.computed();
    draft.nodes.push_back(id_);
    return draft;
  }

 private:
  ValueId room(const graph::Shape& shape, ops::DType dtype) {
    return add_value(lowering_, Storage::temporary, id_, shape, dtype, {1});
  }

  static void keep_nodes(const Reader& reader, Draft& draft) {
    draft.nodes.insert(draft.nodes.end(), reader.computed().begin(), reader.computed().end());
  }

  Slot key(Draft& draft) {
    Reader reader(lowering_);
    const Element element = element_in(lowering_, reader, source_, plan_, rows_);
    const Temp temp = lowering_.names.temp();
    auto body = key_of(reader, lowering_.graph, id_, {rows_, element.at, temp});
    keep_nodes(reader, draft);
    return {{element.row, element.number}, temp, block(std::move(body))};
  }

  Slot value(Draft& draft) {
    Reader reader(lowering_);
    const Element element = element_in(lowering_, reader, source_, plan_, rows_);
    const Temp temp = lowering_.names.temp();
    const Ref<loops::Value> value = widen(reader.element(node_.inputs[1], element.at), node_.dtype);
    std::vector<Ref<Stmt>> body = reader.take_indexes();
    body.push_back(stmt(Let{temp, value}));
    keep_nodes(reader, draft);
    return {{element.row, element.number}, temp, block(std::move(body))};
  }

  Lowering& lowering_;
  graph::NodeId id_;
  const graph::Node& node_;
  const graph::Shape& source_;
  const Plan& plan_;
  Rows rows_;
};

}  // namespace

bool sums_pay(const Lowering& lowering, graph::NodeId id, const Plan& plan) {
  const graph::Node& node = lowering.graph[id];
  const auto& scatter = std::get<graph::Scatter>(node.node);
  const ops::DType dtype = arithmetic_type(node.dtype);
  const bool sums = lowering.routines.sums_by_key && scatter.mode == graph::Mode::add &&
                    scatter.include_self && plan.free.empty() &&
                    (dtype == ops::DType::f32 || dtype == ops::DType::f64);
  if (!sums) return false;
  const Rows rows = rows_of(plan, lowering.graph[node.inputs[1]].shape, node.shape);
  const index::Facts& facts = lowering.lowered.facts;
  return facts.proves_less(lowering.routines.workers - 1, rows.rows) ||
         facts.proves_less(rows.keys - 1, rows.elements);
}

std::vector<Draft> lower_sums(Lowering& lowering, graph::NodeId id, const Plan& plan) {
  const graph::Node& node = lowering.graph[id];
  const ValueId sums = add_value(lowering, Storage::temporary, id, node.shape, arithmetic_type(node.dtype),
                                 index::contiguous_strides(node.shape));
  Sums scatter(lowering, id, plan);
  return {scatter.by_key(sums), scatter.added(sums)};
}

}  // namespace twinloom::lower
