// See windows.h.
#include "frontends/onnx/windows.h"

#include <numeric>

#include "core/base/error.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using index::Expr;

Expr reach(const Window& window) { return (window.size - 1) * window.dilation + 1; }

// As many windows as there are strides; one more element of an odd padding comes after the elements, or
// before.
void pad_same(Window& window, const Expr& size, bool upper) {
  window.count = index::ceil_div(size, Expr(window.stride));
  const Expr padding = index::greatest((window.count - 1) * window.stride + reach(window) - size, Expr(0));
  const Expr half = index::floor_div(padding, Expr(2));
  window.before = upper ? half : padding - half;
  window.after = padding - window.before;
}

// With `ceil` the last window may reach beyond the padding, if it begins before that.
void count(const Call& call, Window& window, const Expr& size, bool ceil) {
  const Expr room = size + window.before + window.after - reach(window);
  if (const auto known = index::constant_of(room); known && *known < 0 && !ceil)
    call.fail("windows of ", reach(window), " do not fit ", size, " elements and their padding");
  window.count = index::floor_div(room, Expr(window.stride)) + 1;
  if (ceil)
    window.count = index::least(index::ceil_div(room, Expr(window.stride)) + 1,
                                index::ceil_div(size + window.before, Expr(window.stride)));
}

}  // namespace

Integers spatial(const Call& call, const Tensor& x, std::string_view attribute, std::int64_t otherwise) {
  const auto axes = static_cast<std::size_t>(std::max(x.rank() - 2, 0));
  const auto given = call.integers(attribute);
  if (given && given->size() != axes)
    call.fail("attribute '", attribute, "' has ", given->size(), " numbers for ", axes, " axes");
  return given.value_or(Integers(axes, otherwise));
}

Shape kernel_shape(const Call& call, const Tensor& x) {
  if (!call.has_attribute("kernel_shape")) call.fail("needs attribute 'kernel_shape'");
  const Integers sizes = spatial(call, x, "kernel_shape", 1);
  return {sizes.begin(), sizes.end()};
}

void check_kernel_shape(const Call& call, const Tensor& weights) {
  if (!call.has_attribute("kernel_shape")) return;
  const Shape wanted = kernel_shape(call, weights);
  for (std::size_t d = 0; d < wanted.size(); ++d)
    call.builder().graph().require_equal(
        wanted[d], weights.size(static_cast<int>(d) + 2),
        cat(call.name(), ": attribute 'kernel_shape' does not fit the weights"));
}

std::vector<Window> windows_of(const Call& call, const Tensor& x, const Shape& sizes) {
  if (x.rank() < 3) call.fail("needs a tensor of 3 axes or more, given one of ", x.rank());
  const std::size_t axes = sizes.size();
  call.ignore({"ceil_mode"});
  const Integers strides = spatial(call, x, "strides", 1), dilations = spatial(call, x, "dilations", 1);
  const Integers pads = call.integers("pads").value_or(Integers(2 * axes, 0));
  if (pads.size() != 2 * axes)
    call.fail("attribute 'pads' has ", pads.size(), " numbers for ", axes, " axes");
  const std::string mode = call.text("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    call.fail("attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, it is '", escaped(mode),
              "'");
  std::vector<Window> windows;
  for (std::size_t d = 0; d < axes; ++d) {
    const Expr size = x.size(static_cast<int>(d) + 2);
    Window window{sizes[d], strides[d], dilations[d]};
    const auto known = index::constant_of(window.size);
    if (strides[d] < 1 || dilations[d] < 1 || (known && *known < 1) || pads[d] < 0 || pads[d + axes] < 0)
      call.fail("needs window, stride and dilation of 1 at least and padding of 0 at least");
    if (mode == "NOTSET") window.before = pads[d], window.after = pads[d + axes];
    if (mode.starts_with("SAME")) {
      pad_same(window, size, mode == "SAME_UPPER");
    } else {
      count(call, window, size, call.truth("ceil_mode", false));
    }
    windows.push_back(window);
  }
  return windows;
}

std::vector<graph::Taps> taps_of(const std::vector<Window>& windows) {
  std::vector<graph::Taps> taps;
  for (const Window& window : windows)
    taps.push_back({window.stride, window.dilation, window.before, window.count});
  return taps;
}

Tensor unfolded(const Tensor& x, const std::vector<Window>& windows, ops::Number fill) {
  Shape sizes;
  for (const Window& window : windows) sizes.push_back(window.size);
  return graph::windows_over(x, taps_of(windows), sizes, fill);
}

graph::Axes window_axes(const std::vector<Window>& windows) {
  graph::Axes axes(windows.size());
  std::iota(axes.begin(), axes.end(), -static_cast<int>(windows.size()));
  return axes;
}

}  // namespace twinloom::onnx
