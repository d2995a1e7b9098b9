// Pooling over the last one, two or three axes, and its gradients.
#include "core/graph/pooling.h"

#include <array>

#include "frontends/fx/operators.h"

namespace twinloom::fx {

namespace {

using graph::Pooling;
using graph::Tensor;
using index::Expr;
using ops::DType;

// Kernel, stride, padding and, where the operator has it, dilation, from the position of the kernel on.
enum class Dilation : std::uint8_t { none, given };
std::vector<graph::Window> windows_of(const Arguments& arguments, std::size_t axes, std::size_t kernel_at,
                                      Dilation dilation) {
  const auto kernel = arguments.along_axes(kernel_at, "kernel_size", axes);
  if (kernel.size() != axes) arguments.fail("'kernel_size' is empty");
  const auto stride = arguments.along_axes(kernel_at + 1, "stride", axes);
  const auto padding = arguments.along_axes(kernel_at + 2, "padding", axes);
  const auto dilations = dilation == Dilation::none ? std::vector<Expr>{}
                                                    : arguments.along_axes(kernel_at + 3, "dilation", axes);
  std::vector<graph::Window> windows;
  for (std::size_t d = 0; d < axes; ++d) {
    windows.push_back({kernel[d], stride.empty() ? kernel[d] : stride[d],
                       padding.empty() ? Expr(0) : padding[d], dilations.empty() ? Expr(1) : dilations[d]});
  }
  return windows;
}

// The operator's name without its namespace and overload.
std::string name_of(const Arguments& arguments) {
  const std::string& target = arguments.target();
  const std::string alone = target.substr(0, target.rfind('.'));
  return alone.substr(alone.rfind('.') + 1);
}
Pooling pooling_of(const Arguments& arguments, std::size_t axes, std::size_t kernel_at, Dilation dilation) {
  const std::size_t ceil_at = kernel_at + (dilation == Dilation::none ? 3 : 4);
  return {name_of(arguments), windows_of(arguments, axes, kernel_at, dilation),
          arguments.boolean(ceil_at, "ceil_mode", false)};
}

// With the axes of windows, those of channels and, if there is one, of the batch.
Tensor input_of(const Arguments& arguments, std::size_t position, std::size_t axes) {
  const Tensor x = arguments.tensor(position, "self");
  const auto rank = static_cast<std::size_t>(x.rank());
  if (rank != axes + 1 && rank != axes + 2)
    arguments.fail(cat("'self' must have ", axes + 1, " or ", axes + 2, " axes, it has ", rank));
  return x;
}

graph::Shape plane_of(const Tensor& x, std::size_t axes) {
  const graph::Shape shape = x.shape();
  return {shape.end() - static_cast<std::ptrdiff_t>(axes), shape.end()};
}

template <std::size_t axes>
Item max_pool(const Arguments& arguments) {
  const Tensor x = input_of(arguments, 0, axes);
  const Pooling pooling = pooling_of(arguments, axes, 1, Dilation::given);
  const Tensor place = graph::max_pool_place(x, pooling);
  return {Items{{graph::max_pool(x, pooling)},
                {graph::places_in_plane(place, pooling.windows, plane_of(x, axes))}}};
}
template <std::size_t axes>
Item max_pool_value(const Arguments& arguments) {
  return {graph::max_pool(input_of(arguments, 0, axes), pooling_of(arguments, axes, 1, Dilation::given))};
}
template <std::size_t axes>
Item max_pool_backward(const Arguments& arguments) {
  const Tensor x = input_of(arguments, 1, axes);
  return {graph::max_pool_backward(arguments.tensor(0, "grad_output"), arguments.tensor(7, "indices"),
                                   x.shape(), pooling_of(arguments, axes, 2, Dilation::given))};
}

// Positions inside windows in place of those in planes.
Item max_pool_with_offsets(const Arguments& arguments) {
  const std::size_t axes = arguments.sizes(1, "kernel_size").size();
  const Tensor x = input_of(arguments, 0, axes);
  const Pooling pooling = pooling_of(arguments, axes, 1, Dilation::given);
  return {Items{{graph::max_pool(x, pooling)}, {graph::cast(graph::max_pool_place(x, pooling), DType::i8)}}};
}
Item offsets_to_indices(const Arguments& arguments) {
  const Tensor offsets = arguments.tensor(0, "self");
  const std::vector<Expr> kernel = arguments.sizes(1, "kernel_size"),
                          plane = arguments.sizes(2, "input_size"), stride = arguments.sizes(3, "stride"),
                          padding = arguments.sizes(4, "padding"), dilation = arguments.sizes(5, "dilation");
  const std::size_t axes = kernel.size();
  std::vector<graph::Window> windows;
  for (const auto* sizes : {&plane, &stride, &padding, &dilation}) {
    if (sizes->size() != axes || std::cmp_less(offsets.rank(), axes))
      arguments.fail(cat("needs one number an axis of the window, which has ", axes));
  }
  for (std::size_t d = 0; d < axes; ++d) windows.push_back({kernel[d], stride[d], padding[d], dilation[d]});
  return {graph::places_in_plane(offsets, windows, plane)};
}

graph::Divisor divisor_of(const Arguments& arguments, std::size_t position) {
  graph::Divisor divisor;
  divisor.counts_padding = arguments.boolean(position, "count_include_pad", true);
  if (arguments.find(position + 1, "divisor_override") != nullptr)
    divisor.number = arguments.integer(position + 1, "divisor_override");
  return divisor;
}
template <std::size_t axes>
Item average_pool(const Arguments& arguments) {
  return {graph::average_pool(input_of(arguments, 0, axes), pooling_of(arguments, axes, 1, Dilation::none),
                              divisor_of(arguments, 5))};
}
template <std::size_t axes>
Item adaptive_average_pool(const Arguments& arguments) {
  const Tensor x = input_of(arguments, 0, axes);
  const std::vector<Expr> sizes = arguments.along_axes(1, "output_size", axes);
  if (sizes.size() != axes) arguments.fail("'output_size' is empty");
  return {graph::adaptive_average_pool(x, sizes, name_of(arguments))};
}
template <std::size_t axes>
Item adaptive_average_pool_backward(const Arguments& arguments) {
  return {graph::adaptive_average_pool_backward(
      arguments.tensor(0, "grad_output"), input_of(arguments, 1, axes).shape(), axes, name_of(arguments))};
}
template <std::size_t axes>
Item average_pool_backward(const Arguments& arguments) {
  const Tensor x = input_of(arguments, 1, axes);
  return {graph::average_pool_backward(arguments.tensor(0, "grad_output"), x.shape(),
                                       pooling_of(arguments, axes, 2, Dilation::none),
                                       divisor_of(arguments, 6))};
}

constexpr std::array rows = {
    Row{"avg_pool1d", average_pool<1>},
    Row{"avg_pool2d", average_pool<2>},
    Row{"avg_pool3d", average_pool<3>},
    Row{"adaptive_avg_pool2d", adaptive_average_pool<2>},
    Row{"adaptive_avg_pool3d", adaptive_average_pool<3>},
    Row{"_adaptive_avg_pool2d", adaptive_average_pool<2>},
    Row{"_adaptive_avg_pool3d", adaptive_average_pool<3>},
    Row{"_adaptive_avg_pool2d_backward", adaptive_average_pool_backward<2>},
    Row{"_adaptive_avg_pool3d_backward", adaptive_average_pool_backward<3>},
    Row{"avg_pool2d_backward", average_pool_backward<2>},
    Row{"avg_pool3d_backward", average_pool_backward<3>},
    Row{"max_pool2d", max_pool_value<2>},
    Row{"max_pool3d", max_pool_value<3>},
    Row{"max_pool2d_with_indices", max_pool<2>},
    Row{"max_pool3d_with_indices", max_pool<3>},
    Row{"max_pool2d_with_indices_backward", max_pool_backward<2>},
    Row{"max_pool3d_with_indices_backward", max_pool_backward<3>},
    Row{"prims._low_memory_max_pool_with_offsets", max_pool_with_offsets},
    Row{"prims._low_memory_max_pool_offsets_to_indices", offsets_to_indices},
};

}  // namespace

std::span<const Row> pooling_rows() { return rows; }

}  // namespace twinloom::fx
