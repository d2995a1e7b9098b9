// Pooling.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/graph/composites.h"
#include "core/graph/indexing.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/windows.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;
using graph::widened;
using index::Expr;
using ops::DType;

// Below every element, so that it is no maximum.
ops::Number lowest(DType dtype) {
  if (ops::is_floating(dtype)) return -std::numeric_limits<double>::infinity();
  if (ops::kind(dtype) != ops::TypeKind::signed_int) return 0;
  return std::int64_t{-1} << (ops::bits_of(dtype) - 1);
}

// The position of an element of x in row-major order, or with the first two axes behind the batch the other
// way round in each plane (storage_order 1), from its position in its window.
Tensor flat_place(const Call& call, const Tensor& x, const std::vector<Window>& windows,
                  const Tensor& inside) {
  const std::size_t axes = windows.size();
  graph::Builder& builder = call.builder();
  std::vector<Tensor> at(axes);
  Tensor rest = inside;
  for (std::size_t d = axes; d-- > 0;) {
    const Tensor size = builder.size(windows[d].size);
    const Tensor window = builder.iota(inside.shape(), static_cast<int>(d) + 2);
    at[d] = window * windows[d].stride + graph::remainder(rest, size) * windows[d].dilation -
            builder.size(windows[d].before);
    rest = graph::div_floor(rest, size);
  }
  Tensor place = builder.iota(inside.shape(), 0) * builder.size(x.size(1)) + builder.iota(inside.shape(), 1);
  const bool by_columns = call.integer("storage_order", 0) != 0;
  for (std::size_t k = 0; k < axes; ++k) {
    const std::size_t d = by_columns ? axes - 1 - k : k;
    place = place * builder.size(x.size(static_cast<int>(d) + 2)) + at[d];
  }
  return place;
}

Values max_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto windows = windows_of(call, x, kernel_shape(call, x));
  const Tensor elements = unfolded(x, windows, lowest(x.dtype()));
  Values result = {graph::amax(elements, window_axes(windows))};
  call.ignore({"storage_order"});
  if (call.outputs() < 2) return result;
  const Tensor inside = graph::reduce(ops::Monoid::argmax, elements, window_axes(windows), false, 1);
  result.push_back(flat_place(call, x, windows, inside));
  return result;
}

// How many elements each window is divided by: those inside, with the padding where that counts.
Tensor divisors(const Call& call, const Tensor& x, const std::vector<Window>& windows) {
  Shape padded = {1, 1};
  std::vector<Window> over = windows;
  const bool counts_padding = call.truth("count_include_pad", false);
  for (std::size_t d = 0; d < windows.size(); ++d) {
    const Expr size = x.size(static_cast<int>(d) + 2);
    padded.push_back(counts_padding ? size + windows[d].before + windows[d].after : size);
    if (counts_padding) over[d].before = over[d].after = 0;
  }
  const Tensor ones = call.builder().constant(1, graph::widened(x).dtype(), padded);
  return graph::sum(unfolded(ones, over, 0), window_axes(windows));
}

Values average_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto windows = windows_of(call, x, kernel_shape(call, x));
  const Tensor sums = graph::sum(unfolded(widened(x), windows, 0), window_axes(windows));
  return {graph::cast(sums / divisors(call, x, windows), x.dtype(), true)};
}

double exponent(const Call& call) {
  const auto p = static_cast<double>(call.integer("p", 2));
  if (p < 1) call.fail("attribute 'p' must be at least 1, it is ", p);
  return p;
}

Values lp_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto windows = windows_of(call, x, kernel_shape(call, x));
  const Tensor norm =
      graph::vector_norm(unfolded(widened(x), windows, 0), exponent(call), window_axes(windows));
  return {graph::cast(norm, x.dtype(), true)};
}

// Over all axes behind the channels, which stay with size 1.
Axes plane(const Call& call, const Tensor& x) {
  if (x.rank() < 3) call.fail("needs a tensor of 3 axes or more, given one of ", x.rank());
  Axes axes(static_cast<std::size_t>(x.rank()) - 2);
  std::iota(axes.begin(), axes.end(), 2);
  return axes;
}
Values global_average_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::mean(x, plane(call, x), true)};
}
Values global_max_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::amax(x, plane(call, x), true)};
}
Values global_lp_pool(const Call& call) {
  const Tensor x = call.tensor(0);
  return {graph::cast(graph::vector_norm(widened(x), exponent(call), plane(call, x), true), x.dtype(), true)};
}

// Each element at its place among zeros. Places count in the tensor that the pooling was of, whose shape
// follows from the attributes, or is given where that is ambiguous; then they count in the former one still.
Values max_unpool(const Call& call) {
  const Tensor x = call.tensor(0), places = graph::cast(call.tensor(1), DType::i64);
  const Shape kernel = kernel_shape(call, x);
  const Integers strides = spatial(call, x, "strides", 1);
  const Integers pads = call.integers("pads").value_or(Integers(2 * kernel.size(), 0));
  if (pads.size() != 2 * kernel.size()) call.fail("attribute 'pads' has ", pads.size(), " numbers");
  Shape shape = {x.size(0), x.size(1)};
  for (std::size_t d = 0; d < kernel.size(); ++d)
    shape.push_back((x.size(static_cast<int>(d) + 2) - 1) * strides[d] + kernel[d] - pads[d] -
                    pads[d + kernel.size()]);
  const Shape wanted = call.has(2) ? Shape(call.sizes(2)) : shape;
  if (wanted.size() != shape.size()) call.fail("the output's shape has ", wanted.size(), " axes");
  const Tensor zeros = call.builder().constant(0, x.dtype(), {index::product(shape)});
  const Tensor flat = graph::scatter(zeros, 0, graph::reshape(places, {-1}), graph::reshape(x, {-1}));
  std::vector<graph::Padding> padding;
  for (std::size_t d = 0; d < shape.size(); ++d) padding.push_back({0, wanted[d] - shape[d]});
  return {graph::pad(graph::reshape(flat, shape), padding, 0)};
}

constexpr std::array rows = {
    Row{"AveragePool", average_pool},
    Row{"GlobalAveragePool", global_average_pool},
    Row{"GlobalLpPool", global_lp_pool},
    Row{"GlobalMaxPool", global_max_pool},
    Row{"LpPool", lp_pool},
    Row{"MaxPool", max_pool},
    Row{"MaxUnpool", max_unpool},
};

}  // namespace

std::span<const Row> pooling_rows() { return rows; }

}  // namespace twinloom::onnx
