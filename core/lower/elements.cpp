// Values that are computed element by element, and concatenations that are written part by part.
//   y = relu(x + b)        ->   for i0 { for i1 { y[..] = relu(x[..] + b[i1]) } }
//   c = concat(a, b, ...)  ->   for i0 { for i1 { c[.. + start of a] = a[..] } }, then the same for b, ...
// Neighbours of one shape that take less time than a launch are parts of one nest:
//   c = stack(a, b, ...)   ->   for i { c[i] = a[i]; c[i + n] = b[i]; ... }
#include <set>

#include "core/base/error.h"
#include "core/index/simplify.h"
#include "core/lower/families.h"
#include "core/lower/realize.h"
#include "core/lower/share.h"

namespace twinloom::lower {

using namespace loops;

namespace {

// One element of each store a turn, the turns in the order of the memory that is written.
Draft store_each(Reader& reader, const Walk& walk, const std::vector<std::size_t>& order,
                 std::vector<Ref<Stmt>> stores) {
  Draft draft;
  for (const std::size_t d : order)
    for (const NestLoop& loop : walk.loops)
      if (index::symbol_of(walk.at[d]) == loop.axis) draft.nest.common.push_back(loop);
  for (Ref<Stmt>& index : reader.take_indexes()) draft.nest.items.emplace_back(std::move(index));
  for (Ref<Stmt>& store : stores) draft.nest.items.emplace_back(std::move(store));
  draft.nodes = reader.computed();
  return draft;
}

// Whose order the elements of a value have in memory.
enum class Order : std::uint8_t { row_major, of_a_load, of_any_load, of_all_loads };

// As what reads it wants it, which may be a library's product.
std::optional<std::vector<std::size_t>> order_for_library(const Lowering& lowering, const Value& value) {
  if (!lowering.routines.has_library_call || value.storage != Storage::temporary) return std::nullopt;
  return flattened_order(lowering, value.node);
}

struct Stored {
  ValueId into;
  Ref<loops::Value> value;
  Order order;
};
Draft store_all(Lowering& lowering, Reader& reader, const Walk& walk, const Stored& stored) {
  Value& target = lowering.lowered.values[stored.into.index];
  std::vector<std::size_t> order = row_major_order(target.shape.size());
  if (const auto wanted = order_for_library(lowering, target))
    order = *wanted;
  else if (!target.row_major && stored.order == Order::of_all_loads)
    order = memory_order_of_all(reader.loads(), walk);
  else if (!target.row_major && stored.order != Order::row_major)
    order = memory_order(reader.loads(), walk, stored.order == Order::of_any_load);
  target.strides = strides_in_order(target.shape, order);
  const index::Expr offset = reader.offset(stored.into, walk.at);
  return store_each(reader, walk, order, {stmt(Store{Buffer{stored.into.index}, offset, {}, stored.value})});
}

// Of a nest that writes parts of a Concat.
bool is_full(const Reader& reader, std::size_t parts) {
  const RealizeLimits limits;
  std::set<Buffer> buffers;
  for (const Load& load : reader.loads()) buffers.insert(load.buffer);
  return std::ssize(reader.computed()) >= limits.nodes_at_once ||
         std::ssize(buffers) >= limits.buffers_at_once || static_cast<int>(parts) >= limits.parts_at_once;
}

// A copy of a view is wanted in the order of its axes, unless the view adds elements, as a padding does.
Order order_of(const graph::Node& node) {
  const auto* view = std::get_if<graph::View>(&node.node);
  if (std::holds_alternative<graph::Pointwise>(node.node) || std::holds_alternative<graph::Cast>(node.node) ||
      std::holds_alternative<graph::Input>(node.node) || (view != nullptr && !view->inside.all.empty()))
    return Order::of_a_load;
  const auto* realize = std::get_if<graph::Realize>(&node.node);
  if (realize != nullptr && realize->any_order) return Order::of_any_load;
  return std::holds_alternative<graph::Concat>(node.node) ? Order::of_all_loads : Order::row_major;
}

}  // namespace

Walk walk_over(Lowering& lowering, Reader& reader, const graph::Shape& shape) {
  Walk walk;
  for (const index::Expr& size : shape) {
    if (index::constant_of(size) == 1) {
      walk.at.emplace_back(0);
      continue;
    }
    const Axis axis = lowering.names.symbol("a");
    assume_axis(reader.facts(), axis, size);
    walk.loops.push_back({axis, size});
    walk.at.emplace_back(axis);
  }
  return walk;
}

Draft lower_elements(Lowering& lowering, graph::NodeId id, ValueId into) {
  const graph::Node& node = lowering.graph[id];
  Reader reader(lowering);
  const Walk walk = walk_over(lowering, reader, node.shape);
  const Ref<loops::Value> value = reader.definition(id, walk.at);
  return store_all(lowering, reader, walk, {into, value, order_of(node)});
}

Draft lower_copy(Lowering& lowering, graph::NodeId id, ValueId into) {
  Reader reader(lowering);
  const Walk walk = walk_over(lowering, reader, lowering.graph[id].shape);
  const Ref<loops::Value> value = reader.element(id, walk.at);
  Draft draft = store_all(lowering, reader, walk, {into, value, Order::of_a_load});
  draft.nodes.push_back(id);
  return draft;
}

std::vector<Draft> lower_parts(Lowering& lowering, graph::NodeId id, ValueId into) {
  const graph::Node& node = lowering.graph[id];
  const auto axis = static_cast<std::size_t>(std::get<graph::Concat>(node.node).axis);
  Value& target = lowering.lowered.values[into.index];
  std::vector<std::size_t> order = row_major_order(node.shape.size());
  std::vector<Draft> drafts;
  index::Expr start = 0;
  for (std::size_t k = 0; k < node.inputs.size();) {
    const std::size_t end = k + parts_together(lowering.graph, node, k, lowering.costs);
    const graph::Shape& shape = lowering.graph[node.inputs[k]].shape;
    Reader reader(lowering);
    const Walk walk = walk_over(lowering, reader, shape);
    std::vector<Ref<Stmt>> stores;
    do {
      const Ref<loops::Value> value = reader.element(node.inputs[k], walk.at);
      if (k == 0 && !target.row_major) {
        order = order_for_library(lowering, target).value_or(memory_order_of_all(reader.loads(), walk));
        target.strides = strides_in_order(target.shape, order);
      }
      At at = walk.at;
      at[axis] = at[axis] + start;
      stores.push_back(stmt(Store{Buffer{into.index}, reader.offset(into, at), {}, value}));
      start = index::simplify(start + shape[axis], lowering.lowered.facts);
      ++k;
    } while (k < end && !is_full(reader, stores.size()));
    drafts.push_back(store_each(reader, walk, order, std::move(stores)));
    drafts.back().nodes.push_back(id);
  }
  return drafts;
}

}  // namespace twinloom::lower
