// Scatters whose elements are stored one by one, each to its place in memory, in whatever order the device
// comes to it:
//   for each element e of the source { index f = indices[e]; y[place of f] = v[e] }
// of a permutation, and of one that adds, in mode `fast` with the relaxation `atomics`:
//   for each place { y[place] = x[place] }
//   for each element e of the source { index f = indices[e]; y[place of f] atomic_add v[e] }
// Of 16 bits the sums are made in f32, and a third nest rounds them.
#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/loops/rewrite.h"
#include "core/lower/families.h"
#include "core/lower/scatter_plan.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// Fewer places than that are few for a machine that adds at a hundred of them at a time, two cycles each.
constexpr std::int64_t LEAST_PLACES = 256;

// From so many elements on, of one index, sorting the indices takes less where rows meet: on an H100 atomics
// took 7.7 ps an element of rows of 128 and 67 of single ones, a sort 200 ps an index, and what it adds in
// order 1.9 ps an element. On an H200 524,288 rows of 128 to 100,000 places took 0.43 ms by atomics, 0.20
// sorted; but of fewer rows than places, which hardly meet, 16,384 of 512 to 32,000 took 0.073 and 0.087,
// 8192 of 4096 to as many 0.34 and 0.64, 16,384 of 64 to 1,000,000 0.07 and 0.85.
constexpr std::int64_t LEAST_SORTED_ROW = 64;

// y = value(reader, at), element by element.
template <class Make>
Draft walked(Lowering& lowering, const graph::Shape& shape, const Make& make) {
  Reader reader(lowering);
  Walk walk = walk_over(lowering, reader, shape);
  Ref<Stmt> store = make(reader, walk.at);
  Draft draft;
  draft.nest.common = std::move(walk.loops);
  for (Ref<Stmt>& index : reader.take_indexes()) draft.nest.items.emplace_back(std::move(index));
  draft.nest.items.emplace_back(std::move(store));
  draft.nodes = reader.computed();
  return draft;
}

Ref<Stmt> stored(const Reader& reader, ValueId into, const At& at, Ref<loops::Value> value,
                 Update update = Update::replace) {
  return stmt(Store{Buffer{into.index}, reader.offset(into, at), {}, std::move(value), update});
}

// How many elements of the source go where one index says, side by side.
index::Expr elements_of_an_index(const graph::Graph& graph, const graph::Node& node) {
  const graph::Shape& source = graph[node.inputs[1]].shape;
  graph::Shape row;
  for (const auto& [axis, dimension] : plan_of(graph, node).free) row.push_back(source[axis]);
  return index::product(row);
}

// Whether that is less work than a sort of the indices.
bool is_worth_adding(const Lowering& lowering, const graph::Node& node) {
  const index::Facts& facts = lowering.lowered.facts;
  const graph::Shape& source = lowering.graph[node.inputs[1]].shape;
  return facts.proves_less(elements_of_an_index(lowering.graph, node), LEAST_SORTED_ROW) ||
         facts.proves_less(index::product(source), index::product(node.shape));
}

}  // namespace

bool adds_in_memory(const Lowering& lowering, graph::NodeId id) {
  const graph::Node& node = lowering.graph[id];
  const auto& scatter = std::get<graph::Scatter>(node.node);
  const ops::DType dtype = arithmetic_type(node.dtype);
  const index::Facts& facts = lowering.lowered.facts;
  return lowering.routines.atomics && scatter.mode == graph::Mode::add && scatter.include_self &&
         (dtype == ops::DType::f32 || dtype == ops::DType::f64) &&
         !facts.proves_less(index::product(node.shape), LEAST_PLACES) && is_worth_adding(lowering, node);
}

Draft lower_permutation(Lowering& lowering, graph::NodeId id) {
  const graph::Node& node = lowering.graph[id];
  Draft draft = walked(lowering, lowering.graph[node.inputs[1]].shape, [&](Reader& reader, const At& at) {
    const At place = place_of(reader, lowering.graph, id, at);
    return stored(reader, *lowering.memory[id.index], place, reader.element(node.inputs[1], at));
  });
  draft.nodes.push_back(id);
  return draft;
}

std::vector<Draft> lower_atomics(Lowering& lowering, graph::NodeId id) {
  const graph::Node& node = lowering.graph[id];
  const ValueId into = *lowering.memory[id.index];
  const ops::DType dtype = arithmetic_type(node.dtype);
  const bool is_narrow = dtype != node.dtype;
  const ValueId sums = is_narrow ? add_value(lowering, Storage::temporary, id, node.shape, dtype,
                                             index::contiguous_strides(node.shape))
                                 : into;
  std::vector<Draft> drafts;
  drafts.push_back(walked(lowering, node.shape, [&](Reader& reader, const At& at) {
    return stored(reader, sums, at, widen(reader.element(node.inputs[0], at), node.dtype));
  }));
  drafts.push_back(walked(lowering, lowering.graph[node.inputs[1]].shape, [&](Reader& reader, const At& at) {
    const At place = place_of(reader, lowering.graph, id, at);
    const Ref<loops::Value> value = widen(reader.element(node.inputs[1], at), node.dtype);
    return stored(reader, sums, place, value, Update::atomic_add);
  }));
  if (is_narrow)
    drafts.push_back(walked(lowering, node.shape, [&](Reader& reader, const At& at) {
      return stored(reader, into, at, narrow(reader.load(sums, at), node.dtype));
    }));
  for (Draft& draft : drafts) draft.nodes.push_back(id);
  return drafts;
}

}  // namespace twinloom::lower
