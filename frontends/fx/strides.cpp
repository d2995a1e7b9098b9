// See strides.h.
#include "frontends/fx/strides.h"

#include <algorithm>

#include "core/graph/views.h"

namespace twinloom::fx {

namespace {

using index::Expr;

// The axes, the largest stride first; those of equal and of unknown strides as they come. An axis of size 1
// has any stride, so it stays where it is.
graph::Axes by_stride(const graph::Shape& shape, const graph::Shape& strides) {
  std::vector<std::size_t> moved;
  for (std::size_t k = 0; k < shape.size(); ++k)
    if (shape[k] != Expr(1)) moved.push_back(k);
  std::vector<std::size_t> sorted = moved;
  const bool known =
      std::ranges::all_of(strides, [](const Expr& stride) { return index::constant_of(stride).has_value(); });
  if (known) {
    std::ranges::stable_sort(sorted, [&](std::size_t a, std::size_t b) {
      return *index::constant_of(strides[a]) > *index::constant_of(strides[b]);
    });
  }
  graph::Axes order;
  for (int k = 0; std::cmp_less(k, shape.size()); ++k) order.push_back(k);
  for (std::size_t n = 0; n < moved.size(); ++n) order[moved[n]] = static_cast<int>(sorted[n]);
  return order;
}

// Whether the elements lie one after the other when the axes are walked in this order.
bool is_dense(const graph::Shape& shape, const graph::Shape& strides, const graph::Axes& order,
              const index::Facts& facts) {
  Expr inner = 1;
  for (std::size_t n = order.size(); n-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[n]);
    if (shape[axis] == Expr(1)) continue;
    if (strides[axis] != inner && !facts.proves_equal(strides[axis], inner)) return false;
    inner = inner * shape[axis];
  }
  return true;
}

}  // namespace

Layout layout_of(const graph::Tensor& parameter, const std::optional<graph::Shape>& strides) {
  if (!strides) return {};
  const graph::Axes order = by_stride(parameter.shape(), *strides);
  if (!is_dense(parameter.shape(), *strides, order, parameter.builder().graph().facts()))
    return {.order = {}, .gaps = true};
  return {.order = std::ranges::is_sorted(order) ? graph::Axes{} : order, .gaps = false};
}

Item laid_out(Item item, const Layout& layout) {
  item.gaps = layout.gaps;
  item.storage = std::nullopt;
  if (!layout.order.empty()) item.storage = graph::permute(*item.get<graph::Tensor>(), layout.order);
  return item;
}

}  // namespace twinloom::fx
