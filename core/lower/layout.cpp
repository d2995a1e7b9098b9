// The order in which the elements of a value lie in memory. See families.h.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/base/error.h"
#include "core/lower/families.h"

namespace twinloom::lower {

namespace {

constexpr std::int64_t typical_symbol = 128;  // where strides must be compared before they are known

std::int64_t typical_value(const index::Expr& expr) {
  index::Values values;
  for (const index::Symbol& symbol : index::symbols_of(expr)) values[symbol] = typical_symbol;
  return index::evaluate(expr, values);
}

// How far apart in memory neighbours along each dimension are; nothing where the load does not walk them
// all, or not in steps.
std::optional<std::vector<std::int64_t>> steps_of(const loops::Load& load, const Walk& walk) {
  std::vector<std::int64_t> steps;
  for (const index::Expr& position : walk.at) {
    const auto axis = index::symbol_of(position);
    if (!axis) {
      steps.push_back(0);
      continue;
    }
    const auto linear = index::linear_in(load.offset, *axis);
    if (!linear) return std::nullopt;
    const std::set<index::Symbol> in_scale = index::symbols_of(linear->scale);
    for (const loops::NestLoop& loop : walk.loops)
      if (in_scale.contains(loop.axis)) return std::nullopt;
    steps.push_back(std::abs(typical_value(linear->scale)));
    if (steps.back() == 0) return std::nullopt;
  }
  return steps;
}

}  // namespace

std::vector<std::size_t> memory_order(std::span<const loops::Load> loads, const Walk& walk) {
  std::vector<std::size_t> order(walk.at.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::optional<std::vector<std::int64_t>> steps;
  for (const loops::Load& load : loads) {
    if (!steps) steps = steps_of(load, walk);
  }
  if (!steps) return order;
  // Dimensions of size 1 have no step and stay beside the dimension before them.
  for (std::size_t d = 1; d < steps->size(); ++d)
    if ((*steps)[d] == 0) (*steps)[d] = (*steps)[d - 1];
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](std::size_t d) { return (*steps)[d]; });
  return order;
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
