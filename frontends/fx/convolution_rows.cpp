// Convolutions and their gradients.
#include "core/graph/convolution.h"

#include <array>

#include "core/graph/reductions.h"
#include "core/graph/views.h"
#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::Convolution;
using graph::Shape;
using graph::Taps;
using graph::Tensor;
using graph::widened;
using index::Expr;

// Where an operator's numbers stand: its first is `stride`.
struct Numbers {
  const Arguments& arguments;
  std::size_t first;
  std::size_t axes;

  std::vector<Expr> along(std::size_t behind, std::string_view name) const {
    std::vector<Expr> given = arguments.along_axes(first + behind, name, axes);
    if (given.empty()) arguments.fail(cat("'", name, "' is empty"));
    return given;
  }
  std::vector<Expr> stride() const { return along(0, "stride"); }
  std::vector<Expr> padding() const { return along(1, "padding"); }
  std::vector<Expr> dilation() const { return along(2, "dilation"); }
  bool transposed() const { return arguments.boolean(first + 3, "transposed", false); }
  std::vector<Expr> output_padding() const { return along(4, "output_padding"); }
  Expr groups() const { return arguments.size(first + 5, "groups"); }
};

void check_operands(const Arguments& arguments, const Tensor& x, const Tensor& filters) {
  if (x.rank() < 3 || filters.rank() != x.rank())
    arguments.fail(cat("needs a batch and a weight of as many axes, 3 or more; given tensors of ", x.rank(),
                       " and ", filters.rank(), " axes"));
  if (!ops::is_floating(x.dtype()) || x.dtype() != filters.dtype())
    arguments.fail(cat("needs tensors of one floating type, given ", ops::name(x.dtype()), " and ",
                       ops::name(filters.dtype())));
}
Numbers numbers_of(const Arguments& arguments, std::size_t first, const Tensor& x, const Tensor& filters) {
  check_operands(arguments, x, filters);
  return {arguments, first, static_cast<std::size_t>(x.rank()) - 2};
}

// With the sizes of what is given along each axis.
Convolution with_counts(const Numbers& numbers, const std::vector<Expr>& counts) {
  Convolution result{"convolution", {}, numbers.groups()};
  const auto stride = numbers.stride(), padding = numbers.padding(), dilation = numbers.dilation();
  for (std::size_t d = 0; d < numbers.axes; ++d)
    result.taps.push_back({stride[d], dilation[d], padding[d], counts[d]});
  return result;
}
Shape spatial(const Tensor& x) {
  const Shape shape = x.shape();
  return {shape.begin() + 2, shape.end()};
}

// The sizes of the result, by PyTorch's documentation of Conv2d and ConvTranspose2d.
std::vector<Expr> result_sizes(const Numbers& numbers, const Tensor& x, const Tensor& filters) {
  const auto stride = numbers.stride(), padding = numbers.padding(), dilation = numbers.dilation();
  const Shape in = spatial(x), size = spatial(filters);
  const std::vector<Expr> extra =
      numbers.transposed() ? numbers.output_padding() : std::vector<Expr>(numbers.axes, 0);
  std::vector<Expr> sizes;
  for (std::size_t d = 0; d < numbers.axes; ++d) {
    const Expr reach = dilation[d] * (size[d] - 1) + 1;
    sizes.push_back(numbers.transposed() ? (in[d] - 1) * stride[d] - 2 * padding[d] + reach + extra[d]
                                         : index::floor_div(in[d] + 2 * padding[d] - reach, stride[d]) + 1);
  }
  return sizes;
}

Tensor with_bias(const Arguments& arguments, Tensor result, ops::DType type) {
  if (const auto bias = arguments.maybe_tensor(2, "bias"))
    result = result + graph::beside_channels(widened(*bias), result.rank());
  return graph::cast(result, type, true);
}

Item convolution(const Arguments& arguments) {
  const Tensor x = arguments.tensor(0, "input"), filters = arguments.tensor(1, "weight");
  const Numbers numbers = numbers_of(arguments, 3, x, filters);
  const Convolution given = with_counts(numbers, result_sizes(numbers, x, filters));
  const auto of = numbers.transposed() ? graph::convolve_transposed : graph::convolve;
  return {with_bias(arguments, of(widened(x), widened(filters), given), x.dtype())};
}

// Of layers: one number an axis, or 'padding' in words, where "same" keeps the sizes.
Convolution layer_of(const Arguments& arguments, const Tensor& x, const Tensor& filters) {
  const std::size_t axes = static_cast<std::size_t>(x.rank()) - 2;
  const auto along = [&](std::size_t position, std::string_view name, std::int64_t otherwise) {
    const std::vector<Expr> given = arguments.along_axes(position, name, axes);
    return given.empty() ? std::vector<Expr>(axes, otherwise) : given;
  };
  const Item* padding = arguments.find(4, "padding");
  const auto* words = padding == nullptr ? nullptr : padding->get<std::string>();
  const bool keeps = words != nullptr && *words == "same";
  if (words != nullptr && !keeps && *words != "valid")
    arguments.fail(cat("'padding' must be same or valid, it is ", escaped(*words)));
  Convolution result{"convolution", {}, arguments.size(6, "groups", 1)};
  const auto stride = along(3, "stride", 1), dilation = along(5, "dilation", 1);
  const auto before = words == nullptr ? along(4, "padding", 0) : std::vector<Expr>(axes, 0);
  const Shape in = spatial(x), size = spatial(filters);
  for (std::size_t d = 0; d < axes; ++d) {
    const Expr reach = dilation[d] * (size[d] - 1);
    if (keeps && stride[d] != Expr(1)) arguments.fail("'padding' of same needs a stride of 1");
    result.taps.push_back(keeps ? Taps{1, dilation[d], index::floor_div(reach, Expr(2)), in[d]}
                                : Taps{stride[d], dilation[d], before[d],
                                       index::floor_div(in[d] + 2 * before[d] - reach - 1, stride[d]) + 1});
  }
  return result;
}

// Without a batch too.
template <int axes>
Item layer(const Arguments& arguments) {
  const Tensor given = arguments.tensor(0, "input"), filters = arguments.tensor(1, "weight");
  if (filters.rank() != axes + 2 || (given.rank() != axes + 1 && given.rank() != axes + 2))
    arguments.fail(cat("needs an input of ", axes + 1, " or ", axes + 2, " axes and a weight of ", axes + 2,
                       ", given tensors of ", given.rank(), " and ", filters.rank()));
  const bool is_single = given.rank() == axes + 1;
  const Tensor x = is_single ? graph::unsqueeze(given, 0) : given;
  check_operands(arguments, x, filters);
  const Tensor result = graph::convolve(widened(x), widened(filters), layer_of(arguments, x, filters));
  const Tensor rounded = with_bias(arguments, result, x.dtype());
  return {is_single ? graph::select(rounded, 0, 0) : rounded};
}

// Of a transposed one input and gradient change places.
Item convolution_backward(const Arguments& arguments) {
  const Tensor gradient = arguments.tensor(0, "grad_output"), x = arguments.tensor(1, "input"),
               filters = arguments.tensor(2, "weight");
  const Numbers numbers = numbers_of(arguments, 4, x, filters);
  const std::vector<bool> wanted = arguments.booleans(10, "output_mask");
  if (wanted.size() != 3) arguments.fail(cat("'output_mask' must hold 3, it holds ", wanted.size()));
  const auto rounded = [&](const Tensor& value) { return Item{graph::cast(value, x.dtype(), true)}; };
  Items items(3);
  const Tensor wide = widened(gradient);
  if (wanted[0]) {
    const auto of = numbers.transposed() ? graph::convolve : graph::convolve_transposed;
    items[0] = rounded(of(wide, widened(filters), with_counts(numbers, spatial(x))));
  }
  if (wanted[1]) {
    const bool turned = numbers.transposed();
    const Tensor result = turned ? widened(x) : wide, input = turned ? wide : widened(x);
    items[1] = rounded(
        graph::convolve_filters(result, input, filters.shape(), with_counts(numbers, spatial(result))));
  }
  if (wanted[2]) {
    graph::Axes axes = {0};
    for (int axis = 2; axis < gradient.rank(); ++axis) axes.push_back(axis);
    items[2] = rounded(graph::sum(wide, axes));
  }
  return {std::move(items)};
}

constexpr std::array rows = {
    Row{"conv1d", layer<1>},
    Row{"conv2d", layer<2>},
    Row{"conv3d", layer<3>},
    Row{"convolution", convolution},
    Row{"convolution_backward", convolution_backward},
};

}  // namespace

std::span<const Row> convolution_rows() { return rows; }

}  // namespace twinloom::fx
