// Movement of elements: every function gives at most one View over what its input is a View of.
// A chain is merged as it is built; a View that moves nothing is no node.
#pragma once

#include "core/graph/builder.h"

namespace twinloom::graph {

// Element `axes` of the result is element `source` of x where `inside` holds, else `fill`. Merges with
// x where x is a View and the two maps are one; the bricks of all functions below.
Tensor view(const Tensor& x, View map);
// A new axis of the result, behind those that the map has: its position, for `source`.
index::Expr new_axis(View& map, const index::Expr& size);
// Whether each position of a view of `source` is proven to lie inside of it.
bool stays_inside(const Graph& graph, const View& view, NodeId source);
// The same as view() over a graph, for passes.
NodeId add_view(Graph& graph, NodeId input, View map, Origin origin = {});

// A size of -1 (once at most) is what is left; elsewhere sizes must multiply to the same count.
Tensor reshape(const Tensor& x, const Shape& sizes);
Tensor permute(const Tensor& x, const Axes& order);
Tensor transpose(const Tensor& x, int a, int b);
// Drops axes of size 1; an axis of another size stays. Empty drops all that are known to be 1.
Tensor squeeze(const Tensor& x, const Axes& axes = {});
Tensor unsqueeze(const Tensor& x, int axis);  // the axis counts in the result
// -1 keeps a size; axes are matched from the end.
Tensor expand(const Tensor& x, const Shape& sizes);
// The shape that all of them broadcast to; Error naming `what` where there is none.
Shape broadcast_shape(Graph& graph, const std::vector<Shape>& shapes, const std::string& what);
// Elements start, start + step, ... before end; negative start and end count from the end, both are
// clamped. step >= 1. An end beyond every size means up to the end.
Tensor slice(const Tensor& x, int axis, const index::Expr& start, const index::Expr& end,
             const index::Expr& step = 1);
// slice without wrapping or clamping: start + (count - 1) * step must be inside.
Tensor slice_exact(const Tensor& x, int axis, const index::Expr& start, const index::Expr& count,
                   const index::Expr& step = 1);
Tensor select(const Tensor& x, int axis, const index::Expr& at);
// For each axis how many elements are added before and after; negative numbers remove.
struct Padding {
  index::Expr before, after;
};
Tensor pad(const Tensor& x, const std::vector<Padding>& padding, ops::Number fill);
Tensor flip(const Tensor& x, const Axes& axes);
// As torch.Tensor.repeat: axes are matched from the end.
Tensor repeat(const Tensor& x, const Shape& times);
// Each element `times` times in a row along the axis.
Tensor repeat_interleave(const Tensor& x, int axis, const index::Expr& times);
Tensor roll(const Tensor& x, const std::vector<index::Expr>& shifts, const Axes& axes);
// Over the elements of x in row-major order, as if x had no gaps.
Tensor as_strided(const Tensor& x, const Shape& sizes, const std::vector<index::Expr>& strides,
                  const index::Expr& offset = 0);
// The elements with index a == index b - offset, as the last axis.
Tensor diagonal(const Tensor& x, int offset = 0, int a = 0, int b = 1);
Tensor unfold(const Tensor& x, int axis, const index::Expr& size, const index::Expr& step);

Tensor concat(const std::vector<Tensor>& parts, int axis);
Tensor stack(const std::vector<Tensor>& parts, int axis);
std::vector<Tensor> split(const Tensor& x, const std::vector<index::Expr>& sizes, int axis);
// Parts of `size` elements, the last may be shorter; the axis's size must be a constant.
std::vector<Tensor> split_every(const Tensor& x, std::int64_t size, int axis);
std::vector<Tensor> chunk(const Tensor& x, std::int64_t chunks, int axis);
std::vector<Tensor> unbind(const Tensor& x, int axis);

// Keeps elements with column - row <= diagonal (tril), >= diagonal (triu); the others are 0.
Tensor tril(const Tensor& x, const index::Expr& diagonal = 0);
Tensor triu(const Tensor& x, const index::Expr& diagonal = 0);

// x with `source` in place of slice(x, axis, start, end, step), or of select(x, axis, at).
Tensor slice_scatter(const Tensor& x, const Tensor& source, int axis, const index::Expr& start,
                     const index::Expr& end, const index::Expr& step = 1);
Tensor select_scatter(const Tensor& x, const Tensor& source, int axis, const index::Expr& at);
// The same of diagonal(x, offset, a, b), and of as_strided(x, sizes, strides, offset). Of what strides reach
// twice the last element stays.
Tensor diagonal_scatter(const Tensor& x, const Tensor& source, int offset = 0, int a = 0, int b = 1);
Tensor as_strided_scatter(const Tensor& x, const Tensor& source, const Shape& sizes,
                          const std::vector<index::Expr>& strides, const index::Expr& offset = 0);
// Whether each of the strides exceeds all that the smaller ones reach, so that no element is reached twice.
bool reaches_once(const Tensor& x, const Shape& sizes, const std::vector<index::Expr>& strides);

}  // namespace twinloom::graph
