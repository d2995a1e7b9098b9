// See layout.h.
#include "core/runtime/layout.h"

#include <algorithm>
#include <numeric>

#include "core/base/error.h"

namespace twinloom::runtime {

namespace {

using index::Expr;

// Axes from the largest stride to the smallest; axes of size 1 have no stride of their own and come first.
std::vector<std::size_t> order_by_stride(const Tensor& tensor) {
  std::vector<std::size_t> order(tensor.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    if ((tensor.sizes[a] == 1) != (tensor.sizes[b] == 1)) return tensor.sizes[a] == 1;
    return tensor.strides[a] > tensor.strides[b];
  });
  return order;
}

// Strides of a tensor without gaps in some order of its axes.
std::optional<std::vector<Expr>> dense_strides(const Tensor& tensor, const graph::Shape& shape) {
  std::vector<Expr> strides(shape.size());
  std::int64_t expected = 1;
  Expr stride = 1;
  const std::vector<std::size_t> order = order_by_stride(tensor);
  for (std::size_t i = order.size(); i-- > 0;) {
    const std::size_t axis = order[i];
    if (tensor.sizes[axis] != 1 && tensor.strides[axis] != expected) return std::nullopt;
    strides[axis] = stride;
    stride = stride * shape[axis];
    expected *= tensor.sizes[axis];
  }
  return strides;
}

bool all_known(const graph::Shape& shape) {
  return std::ranges::all_of(shape, [](const Expr& size) { return index::constant_of(size).has_value(); });
}

std::vector<Expr> loose_strides(const Tensor& tensor, int parameter, bool as_numbers, index::Values& values) {
  std::vector<Expr> strides;
  for (std::size_t axis = 0; axis < tensor.strides.size(); ++axis) {
    const std::int64_t stride = tensor.strides[axis];
    if (as_numbers || (stride >= -1 && stride <= 1)) {
      strides.emplace_back(stride);
      continue;
    }
    const index::Symbol symbol(cat("st", parameter, ".", axis));
    values[symbol] = stride;
    strides.emplace_back(symbol);
  }
  return strides;
}

}  // namespace

BoundLayouts layouts_of(const graph::Graph& graph, std::span<const Argument> arguments, bool known_numbers) {
  BoundLayouts bound;
  for (std::size_t p = 0; p < arguments.size(); ++p) {
    const auto* tensor = std::get_if<Tensor>(&arguments[p]);
    if (tensor == nullptr || is_contiguous(*tensor)) continue;
    const graph::Shape& shape = graph[std::get<graph::NodeId>(graph.parameters()[p].value)].shape;
    const int parameter = static_cast<int>(p);
    if (auto dense = dense_strides(*tensor, shape)) {
      bound.layouts[parameter] = std::move(*dense);
    } else {
      bound.layouts[parameter] =
          loose_strides(*tensor, parameter, known_numbers && all_known(shape), bound.strides);
    }
  }
  return bound;
}

std::string key_of(const lower::Layouts& layouts) {
  return join(layouts, "; ", [](const auto& layout) {
    return cat(layout.first, ": ",
               join(layout.second, ", ", [](const Expr& stride) { return index::print(stride); }));
  });
}

}  // namespace twinloom::runtime
