// Sums of products over windows as Conv, and the largest elements of windows as MaxPool.
//   reduce sum over c, k of x[b, C*g + c, s*i + d*k - p] * w[O*g + o, c, k]  ->  Conv, [b, O*g + o, i] as [b,
//   g, o, i]
#include <algorithm>
#include <numeric>

#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using graph::NodeId;
using graph::Shape;
using graph::View;
using index::Expr;

// Which axis of the View the element of the window that begins there, and which its position in the window.
struct Along {
  std::size_t window, tap;
};

// How windows move along each axis.
struct Moves {
  std::vector<std::int64_t> strides, dilations, before, after, sizes;
};

Expr axis_of(const View& view, std::size_t axis) {
  return view.sizes[axis] == Expr(1) ? Expr(0) : Expr(view.axes[axis]);
}

// Elements of padding behind `size` ones with which there are so many windows.
std::optional<std::int64_t> padding_after(const Expr& size, const Expr& count, std::int64_t before,
                                          std::int64_t reach, std::int64_t stride) {
  for (std::int64_t after = 0; after < reach + stride; ++after)
    if (index::floor_div(size + (before + after - reach), stride) + 1 == count) return after;
  return std::nullopt;
}

// Whether the condition says of a position that it is inside, and no more.
bool bounds(const index::Condition& inside, const View& view, const Shape& from, std::size_t first) {
  return std::ranges::all_of(inside.all, [&](const index::Less& less) {
    const Expr room = less.b - less.a;
    for (std::size_t d = first; d < from.size(); ++d)
      if (room == view.source[d] + 1 || room == from[d] - view.source[d]) return true;
    return false;
  });
}

// Over the dimensions from `first` on; nothing where the View is none of windows, or of such that ONNX has
// not.
std::optional<Moves> moves_of(const View& view, const Shape& from, std::size_t first,
                              const std::vector<Along>& along) {
  if (from.size() != first + along.size() || !bounds(view.inside, view, from, first)) return std::nullopt;
  Moves moves;
  for (std::size_t d = 0; d < along.size(); ++d) {
    const auto [window, tap] = along[d];
    const auto by_window = index::linear_in(view.source[first + d], view.axes[window]);
    const auto by_tap = by_window ? index::linear_in(by_window->rest, view.axes[tap]) : std::nullopt;
    if (!by_tap) return std::nullopt;
    const auto stride = index::constant_of(by_window->scale), dilation = index::constant_of(by_tap->scale),
               offset = index::constant_of(by_tap->rest), size = index::constant_of(view.sizes[tap]);
    if (!stride || !dilation || !offset || !size || *offset > 0) return std::nullopt;
    // Of one window or one element any step will do.
    const std::int64_t step = view.sizes[window] == Expr(1) ? 1 : *stride, apart = *size == 1 ? 1 : *dilation;
    if (step < 1 || apart < 1) return std::nullopt;
    const auto after =
        padding_after(from[first + d], view.sizes[window], -*offset, (*size - 1) * apart + 1, step);
    if (!after) return std::nullopt;
    moves.strides.push_back(step);
    moves.dilations.push_back(apart);
    moves.before.push_back(-*offset);
    moves.after.push_back(*after);
    moves.sizes.push_back(*size);
  }
  return moves;
}

// Without groups where these are none that the operator has.
std::vector<Attribute> attributes_of(const Moves& moves, std::optional<std::int64_t> groups) {
  std::vector<std::int64_t> pads = moves.before;
  pads.insert(pads.end(), moves.after.begin(), moves.after.end());
  const Attribute sizes = {"kernel_shape", moves.sizes}, strides = {"strides", moves.strides},
                  dilations = {"dilations", moves.dilations}, padding = {"pads", pads};
  if (!groups) return {sizes, strides, dilations, padding};
  return {sizes, strides, dilations, padding, {"group", *groups}};
}

const View* view_of(const Writer& writer, NodeId id) { return std::get_if<View>(&writer.node(id).node); }

// A convolution over so many axes: [batch, group, filter, channel, window..., tap...].
std::optional<Name> convolution(Writer& writer, NodeId elements, NodeId weights, std::size_t axes) {
  const View *x = view_of(writer, elements), *w = view_of(writer, weights);
  if (x == nullptr || w == nullptr || !w->inside.all.empty() ||
      !(x->fill == ops::Number(0) || x->fill == ops::Number(0.0)))
    return std::nullopt;
  constexpr std::size_t group = 1, filter = 2, channel = 3, fixed = 4;
  const NodeId input = writer.node(elements).inputs[0], filters = writer.node(weights).inputs[0];
  const Shape from = writer.node(input).shape, given = writer.node(filters).shape;
  const auto groups = index::constant_of(x->sizes[group]);
  if (!groups || given.size() != axes + 2 || from.size() != axes + 2) return std::nullopt;
  std::vector<Expr> expected = {axis_of(*w, group) * w->sizes[filter] + axis_of(*w, filter),
                                axis_of(*w, channel)};
  std::vector<Along> along;
  for (std::size_t d = 0; d < axes; ++d) {
    along.push_back({fixed + d, fixed + axes + d});
    expected.push_back(axis_of(*w, fixed + axes + d));
  }
  const Expr channels = axis_of(*x, group) * x->sizes[channel] + axis_of(*x, channel);
  if (w->source != expected || !(x->source[0] == axis_of(*x, 0)) || !(x->source[1] == channels) ||
      !(from[0] == x->sizes[0]) || !(given[0] == w->sizes[filter] * *groups) ||
      !(from[1] == x->sizes[channel] * *groups))
    return std::nullopt;
  const auto moves = moves_of(*x, from, 2, along);
  if (!moves) return std::nullopt;
  return writer.document.node("Conv", {writer.full(input), writer.full(filters)},
                              attributes_of(*moves, groups));
}

// Whether these are the last axes.
bool are_last(const std::vector<int>& axes, std::size_t rank) {
  for (std::size_t at = 0; at < axes.size(); ++at)
    if (std::cmp_not_equal(axes[at], rank - axes.size() + at)) return false;
  return true;
}

}  // namespace

std::optional<Said> write_convolution(Writer& writer, NodeId id, const graph::Reduce& reduce) {
  const graph::Node& node = writer.node(id);
  const graph::Node& product = writer.node(node.inputs[0]);
  const auto* pointwise = std::get_if<graph::Pointwise>(&product.node);
  const std::size_t rank = product.shape.size(), axes = (rank - std::min<std::size_t>(rank, 4)) / 2;
  if (pointwise == nullptr || pointwise->op != ops::Pointwise::mul || reduce.monoid != ops::Monoid::sum ||
      axes == 0 || rank != 4 + 2 * axes || reduce.axes.size() != axes + 1 || reduce.axes.front() != 3 ||
      !are_last({reduce.axes.begin() + 1, reduce.axes.end()}, rank) || !ops::is_floating(product.dtype))
    return std::nullopt;
  const auto made = convolution(writer, product.inputs[0], product.inputs[1], axes);
  if (!made) return std::nullopt;
  return Said{writer.reshaped(*made, node.shape), node.shape, product.dtype, false};
}

std::optional<Said> write_max_pool(Writer& writer, NodeId id, const graph::Reduce& reduce) {
  const graph::Node& node = writer.node(id);
  const View* view = view_of(writer, node.inputs[0]);
  const std::size_t axes = reduce.axes.size();
  if (view == nullptr || reduce.monoid != ops::Monoid::max || view->sizes.size() != 2 + 2 * axes ||
      !are_last(reduce.axes, view->sizes.size()) || node.dtype != ops::DType::f32)
    return std::nullopt;
  const NodeId input = writer.node(node.inputs[0]).inputs[0];
  const Shape from = writer.node(input).shape;
  if (from.size() != 2 + axes || writer[input].is_key) return std::nullopt;
  for (std::size_t d = 0; d < 2; ++d)
    if (!(view->source[d] == axis_of(*view, d)) || !(from[d] == view->sizes[d])) return std::nullopt;
  if (!view->inside.all.empty() && view->fill.real() != -HUGE_VAL) return std::nullopt;
  std::vector<Along> along;
  for (std::size_t d = 0; d < axes; ++d) along.push_back({2 + d, 2 + axes + d});
  const auto moves = moves_of(*view, from, 2, along);
  if (!moves) return std::nullopt;
  for (std::size_t d = 0; d < axes; ++d)  // ONNX Runtime's windows are not of padding alone
    if (std::max(moves->before[d], moves->after[d]) >= moves->sizes[d]) return std::nullopt;
  return Said{writer.document.node("MaxPool", {writer.full(input)}, attributes_of(*moves, std::nullopt)),
              node.shape, node.dtype, false};
}

}  // namespace twinloom::onnx
