// The order in which the elements of a value lie in memory. See families.h.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/base/error.h"
#include "core/graph/view_steps.h"
#include "core/lower/families.h"

namespace twinloom::lower {

namespace {

constexpr std::int64_t typical_symbol = 128;  // where strides must be compared before they are known

std::int64_t typical_value(const index::Expr& expr) {
  index::Values values;
  for (const index::Symbol& symbol : index::symbols_of(expr)) values[symbol] = typical_symbol;
  return index::evaluate(expr, values);
}

// How far apart in memory neighbours along an axis are; of what is not walked in steps that on average where
// `any_walk` asks for it, as of channels that change places. Nothing where it is unknown.
std::optional<double> step_of(const index::Expr& offset, const loops::NestLoop& loop, const Walk& walk,
                              bool any_walk) {
  const auto is_loop = [&](index::Symbol symbol) {
    return std::ranges::find(walk.loops, symbol, &loops::NestLoop::axis) != walk.loops.end();
  };
  const auto linear = index::linear_in(offset, loop.axis);
  if (linear && !index::any_symbol(linear->scale, is_loop)) return std::abs(typical_value(linear->scale));
  const std::int64_t extent = typical_value(loop.extent);
  if (!any_walk || extent < 2) return std::nullopt;
  index::Substitution first;
  for (const loops::NestLoop& other : walk.loops) first.emplace(other.axis, 0);
  index::Substitution last = first;
  last.at(loop.axis) = extent - 1;
  const std::int64_t reach =
      typical_value(index::substitute(offset, last)) - typical_value(index::substitute(offset, first));
  return std::abs(static_cast<double>(reach)) / static_cast<double>(extent - 1);
}

// The same of each dimension; nothing where the load does not walk them all.
std::optional<std::vector<double>> steps_of(const loops::Load& load, const Walk& walk, bool any_walk) {
  std::vector<double> steps;
  for (const index::Expr& position : walk.at) {
    const auto axis = index::symbol_of(position);
    if (!axis) {
      steps.push_back(0);
      continue;
    }
    const auto loop = std::ranges::find(walk.loops, *axis, &loops::NestLoop::axis);
    const auto step = step_of(load.offset, *loop, walk, any_walk);
    if (!step || *step == 0) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

// The widest steps outermost.
std::vector<std::size_t> order_by(std::vector<double> steps) {
  // Dimensions of size 1 have no step and stay beside the dimension before them.
  for (std::size_t d = 1; d < steps.size(); ++d)
    if (steps[d] == 0) steps[d] = steps[d - 1];
  std::vector<std::size_t> order = row_major_order(steps.size());
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t d) { return steps[d]; });
  return order;
}

}  // namespace

std::vector<std::size_t> row_major_order(std::size_t dimensions) {
  std::vector<std::size_t> order(dimensions);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

std::vector<std::size_t> memory_order(std::span<const loops::Load> loads, const Walk& walk, bool any_walk) {
  for (const loops::Load& load : loads)
    if (auto steps = steps_of(load, walk, any_walk)) return order_by(*std::move(steps));
  return row_major_order(walk.at.size());
}

std::vector<std::size_t> memory_order_of_all(std::span<const loops::Load> loads, const Walk& walk) {
  std::optional<std::vector<std::size_t>> common;
  for (const loops::Load& load : loads) {
    const bool is_walked = std::ranges::all_of(
        walk.loops, [&](const loops::NestLoop& loop) { return index::mentions(load.offset, loop.axis); });
    if (!is_walked) continue;  // what is the same along an axis has no order there
    auto steps = steps_of(load, walk, false);
    if (!steps) return row_major_order(walk.at.size());
    const std::vector<std::size_t> order = order_by(*std::move(steps));
    if (common && *common != order) return row_major_order(walk.at.size());
    common = order;
  }
  return common.value_or(row_major_order(walk.at.size()));
}

std::optional<std::vector<std::size_t>> flattened_order(const Lowering& lowering, graph::NodeId id) {
  std::optional<std::vector<std::size_t>> common;
  for (const graph::NodeId user : lowering.users[id.index]) {
    const graph::Node& node = lowering.graph[user];
    const auto* view = std::get_if<graph::View>(&node.node);
    const bool is_same_place =
        std::holds_alternative<graph::Pointwise>(node.node) || std::holds_alternative<graph::Cast>(node.node);
    std::optional<std::vector<std::size_t>> order;
    if (view != nullptr)
      order = graph::ViewSteps(*view, lowering.graph[id].shape, lowering.graph.facts()).flattened_order();
    else if (is_same_place)
      order = flattened_order(lowering, user);
    if (!order || (common && *common != *order)) return std::nullopt;
    common = std::move(order);
  }
  return common;
}

std::vector<index::Expr> strides_in_order(const graph::Shape& shape, const std::vector<std::size_t>& order) {
  std::vector<index::Expr> strides(shape.size());
  index::Expr step = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    strides[order[k]] = step;
    step = step * shape[order[k]];
  }
  return strides;
}

}  // namespace twinloom::lower
