// Products of matrices and convolutions.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/einsum.h"
#include "frontends/onnx/operators.h"
#include "frontends/onnx/products.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;
using graph::widened;
using index::Expr;

Values matmul(const Call& call) {
  const Tensor a = call.tensor(0);
  return {graph::cast(matrix_product(call, widened(a), widened(call.tensor(1))), a.dtype(), true)};
}

// A number of the attribute; beside integers it must be whole.
Tensor scaled(const Tensor& x, double factor) {
  return factor == 1
             ? x
             : graph::mul(x, ops::is_integer(x.dtype()) ? ops::Number(static_cast<std::int64_t>(factor))
                                                        : ops::Number(factor));
}
Values gemm(const Call& call) {
  call.ignore({"beta"});
  if (call.version() < 7) call.ignore({"broadcast"});
  Tensor a = call.tensor(0), b = call.tensor(1);
  const ops::DType dtype = a.dtype();
  if (a.rank() != 2 || b.rank() != 2)
    call.fail("needs matrices, given tensors of ", a.rank(), " and ", b.rank(), " axes");
  if (call.truth("transA", false)) a = graph::transpose(a, 0, 1);
  if (call.truth("transB", false)) b = graph::transpose(b, 0, 1);
  Tensor result = scaled(matrix_product(call, widened(a), widened(b)), call.real("alpha", 1));
  if (call.has(2)) result = result + scaled(widened(call.tensor(2)), call.real("beta", 1));
  return {graph::cast(result, dtype, true)};
}

Values conv(const Call& call) {
  const Tensor x = call.tensor(0);
  Tensor result = convolution(call, widened(x), widened(call.tensor(1)));
  if (call.has(2)) result = result + beside_channels(widened(call.tensor(2)), x.rank());
  return {graph::cast(result, x.dtype(), true)};
}

// Along one axis of a transposed convolution: element o of the result is what elements i of x with
// i*stride + k*dilation = o + before give.
struct Spread {
  Expr size;  // of the kernel
  std::int64_t stride, dilation;
  Expr before, count;
};

std::vector<Spread> spreads(const Call& call, const Tensor& x, const Tensor& weights) {
  const auto axes = static_cast<std::size_t>(x.rank() - 2);
  const Integers strides = spatial(call, x, "strides", 1), dilations = spatial(call, x, "dilations", 1),
                 extra = spatial(call, x, "output_padding", 0);
  const Integers pads = call.integers("pads").value_or(Integers(2 * axes, 0));
  std::optional<Integers> wanted = call.integers("output_shape");
  // Old models say batch and channels too.
  if (wanted && wanted->size() == axes + 2) wanted->erase(wanted->begin(), wanted->begin() + 2);
  if (pads.size() != 2 * axes || (wanted && wanted->size() != axes))
    call.fail("needs two pads and one output size for each axis");
  const std::string mode = call.text("auto_pad", "NOTSET");
  std::vector<Spread> result;
  for (std::size_t d = 0; d < axes; ++d) {
    if (strides[d] < 1 || dilations[d] < 1) call.fail("needs strides and dilations of 1 at least");
    const Expr in = x.size(static_cast<int>(d) + 2), size = weights.size(static_cast<int>(d) + 2);
    const Expr whole = (in - 1) * strides[d] + extra[d] + (size - 1) * dilations[d] + 1;
    Spread spread{size, strides[d], dilations[d], pads[d], whole - pads[d] - pads[d + axes]};
    const bool is_same = mode.starts_with("SAME");
    if (wanted || is_same) {
      spread.count = wanted ? Expr((*wanted)[d]) : in * strides[d];
      const Expr padding = index::greatest(whole - spread.count, Expr(0));
      const Expr half = index::floor_div(padding, Expr(2));
      spread.before = mode == "SAME_UPPER" ? half : padding - half;
    } else if (mode == "VALID") {
      spread.before = 0;
      spread.count = whole;
    } else if (mode != "NOTSET") {
      call.fail("attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, it is '",
                escaped(mode), "'");
    }
    result.push_back(spread);
  }
  return result;
}

// [batch, channels, count..., size...]: what each element of the result is made of, 0 where there is nothing.
Tensor spread_over(const Tensor& x, const std::vector<Spread>& spreads) {
  graph::View map;
  const auto new_axis = [&](const Expr& size) -> Expr {
    map.axes.push_back(graph::axis_symbol(static_cast<int>(map.axes.size())));
    map.sizes.push_back(size);
    return map.axes.back();
  };
  map.source = {new_axis(x.size(0)), new_axis(x.size(1))};
  for (const Spread& spread : spreads) map.source.push_back(new_axis(spread.count) + spread.before);
  for (std::size_t d = 0; d < spreads.size(); ++d) {
    Expr& at = map.source[d + 2];
    const Expr from = at - new_axis(spreads[d].size) * spreads[d].dilation;
    at = index::floor_div(from, Expr(spreads[d].stride));
    map.inside = map.inside && index::Condition{{{-1, at},
                                                 {at, x.size(static_cast<int>(d) + 2)},
                                                 {index::floor_mod(from, Expr(spreads[d].stride)), 1}}};
  }
  map.fill = 0;
  return graph::view(x, map);
}

Values conv_transpose(const Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  if (x.rank() < 3 || weights.rank() != x.rank())
    call.fail("needs weights of as many axes as the input, 3 or more");
  check_kernel_shape(call, weights);
  const std::int64_t groups = call.integer("group", 1);
  if (groups < 1) call.fail("attribute 'group' must be at least 1, it is ", groups);
  call.builder().graph().require_equal(weights.size(0), x.size(1),
                                       "the weights' first axis must be the input's channels");
  const auto over = spreads(call, x, weights);
  const Expr channels = index::floor_div(x.size(1), Expr(groups)), outputs = weights.size(1);
  Shape elements = {x.size(0), groups, channels, 1}, filters = {groups, channels, outputs},
        result = {x.size(0), outputs * groups};
  for (const Spread& spread : over) {
    elements.push_back(spread.count);
    filters.emplace_back(1);
    result.push_back(spread.count);
  }
  Axes summed = {2};
  for (const Spread& spread : over) {
    summed.push_back(static_cast<int>(elements.size()));
    elements.push_back(spread.size);
    filters.push_back(spread.size);
  }
  const Tensor products =
      graph::reshape(spread_over(widened(x), over), elements) * graph::reshape(widened(weights), filters);
  Tensor value = graph::reshape(graph::sum(products, summed), result);
  if (call.has(2)) value = value + beside_channels(widened(call.tensor(2)), x.rank());
  return {graph::cast(value, x.dtype(), true)};
}

constexpr std::array rows = {
    Row{"Conv", conv},     Row{"ConvTranspose", conv_transpose}, Row{"Einsum", einsum}, Row{"Gemm", gemm},
    Row{"MatMul", matmul},
};

}  // namespace

std::span<const Row> product_rows() { return rows; }

}  // namespace twinloom::onnx
