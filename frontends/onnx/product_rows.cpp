// Products of matrices and convolutions.
#include <array>

#include "core/graph/composites.h"
#include "core/graph/einsum.h"
#include "core/graph/reductions.h"
#include "frontends/onnx/convolutions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;
using graph::widened;
using index::Expr;

Values matmul(const Call& call) {
  const Tensor a = call.tensor(0);
  return {graph::cast(graph::matmul(widened(a), widened(call.tensor(1))), a.dtype(), true)};
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
  Tensor result = scaled(graph::matmul(widened(a), widened(b)), call.real("alpha", 1));
  if (call.has(2)) result = result + scaled(widened(call.tensor(2)), call.real("beta", 1));
  return {graph::cast(result, dtype, true)};
}

Values conv(const Call& call) {
  const Tensor x = call.tensor(0);
  Tensor result = convolution(call, widened(x), widened(call.tensor(1)));
  if (call.has(2)) result = result + graph::beside_channels(widened(call.tensor(2)), x.rank());
  return {graph::cast(result, x.dtype(), true)};
}

// Along each axis: element o of the result is what elements i of x with i*stride + k*dilation = o + before
// give.
std::vector<graph::Taps> spreads(const Call& call, const Tensor& x, const Tensor& weights) {
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
  std::vector<graph::Taps> result;
  for (std::size_t d = 0; d < axes; ++d) {
    if (strides[d] < 1 || dilations[d] < 1) call.fail("needs strides and dilations of 1 at least");
    const Expr in = x.size(static_cast<int>(d) + 2), size = weights.size(static_cast<int>(d) + 2);
    const Expr whole = (in - 1) * strides[d] + extra[d] + (size - 1) * dilations[d] + 1;
    graph::Taps spread{strides[d], dilations[d], pads[d], whole - pads[d] - pads[d + axes]};
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

Values conv_transpose(const Call& call) {
  const Tensor x = call.tensor(0), weights = call.tensor(1);
  if (x.rank() < 3 || weights.rank() != x.rank())
    call.fail("needs weights of as many axes as the input, 3 or more");
  check_kernel_shape(call, weights);
  Tensor value = graph::convolve_transposed(widened(x), widened(weights),
                                            {call.name(), spreads(call, x, weights), groups_of(call)});
  if (call.has(2)) value = value + graph::beside_channels(widened(call.tensor(2)), x.rank());
  return {graph::cast(value, x.dtype(), true)};
}

Values einsum(const Call& call) {
  return {graph::einsum(call.builder(), call.text("equation", ""), call.tensors())};
}

constexpr std::array rows = {
    Row{"Conv", conv},     Row{"ConvTranspose", conv_transpose}, Row{"Einsum", einsum}, Row{"Gemm", gemm},
    Row{"MatMul", matmul},
};

}  // namespace

std::span<const Row> product_rows() { return rows; }

}  // namespace twinloom::onnx
