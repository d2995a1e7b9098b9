// Views: a Reshape, or along each axis of the input a Pad, a Slice, a Reshape into several or a Gather, then
// Transpose; else a Gather over all elements. What an axis of the result is no part of is broadcast.
//   view[i0, i1] = x[i1, 2*i0 + 1]                ->  Slice, Transpose
//   view[i0, i1, i2] = x[i0, i1 + i2 - 1] else 0  ->  Pad, Gather
//   view[i0] = x[floor_mod(i0, 3), floor_div(i0, 3)]  ->  Transpose, Reshape
#include <algorithm>
#include <limits>
#include <numeric>

#include "core/graph/views.h"
#include "core/index/simplify.h"
#include "frontends/onnx/view_parts.h"
#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using graph::Shape;
using graph::View;
using index::Expr;
using index::Symbol;

// A position of the input along one axis as offset + sum of scale * axis.
struct Along {
  std::vector<std::size_t> axes;  // of the view, ascending
  bool is_linear = true;          // with constant scales
  std::vector<std::int64_t> scales;
  Expr offset = 0;
};
Along along(const Expr& source, const View& view) {
  Along result;
  result.offset = source;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    if (!index::mentions(source, view.axes[axis])) continue;
    result.axes.push_back(axis);
    const auto linear = index::linear_in(result.offset, view.axes[axis]);
    const auto scale = linear ? index::constant_of(linear->scale) : std::nullopt;
    result.is_linear = result.is_linear && scale.has_value();
    if (!result.is_linear) continue;
    result.scales.push_back(*scale);
    result.offset = linear->rest;
  }
  return result;
}

// A tensor on its way from the input to the View, and what its axes are.
class Move {
 public:
  Move(Writer& writer, Name x, Shape from, const View& view, const ops::Number& fill, ops::DType dtype)
      : writer_(writer),
        name_(std::move(x)),
        from_(std::move(from)),
        view_(view),
        fill_(fill),
        dtype_(dtype) {
    for (const Expr& source : view.source) along_.push_back(along(source, view));
  }

  // With the axes that it depends on.
  Placed placed() {
    if (!each_axis_once() || !padded()) {
      gather_elements();
      return {name_, used_axes()};
    }
    slice();
    for (std::size_t d = along_.size(); d-- > 0;) place(d);
    transpose();
    return {name_, labels_};
  }

 private:
  Document& document() { return writer_.document; }

  bool each_axis_once() const {
    std::vector<int> times(view_.axes.size(), 0);
    for (const Along& each : along_)
      for (const std::size_t axis : each.axes) ++times[axis];
    return std::ranges::all_of(times, [](int count) { return count <= 1; });
  }

  std::vector<std::size_t> used_axes() const {
    std::vector<std::size_t> used;
    const auto symbols = index::symbols_of(view_.inside);
    for (std::size_t axis = 0; axis < view_.axes.size(); ++axis) {
      const auto mentions = [&](const Expr& source) { return index::mentions(source, view_.axes[axis]); };
      if (std::ranges::any_of(view_.source, mentions) || symbols.contains(view_.axes[axis]))
        used.push_back(axis);
    }
    return used;
  }

  // Adds what lies outside of x to both of its ends, where that is all that the condition asks; false where
  // it asks for more.
  bool padded() {
    std::vector<Expr> before(along_.size(), 0), after(along_.size(), 0);
    for (const index::Less& less : view_.inside.all) {
      const auto d = bounded(less);
      if (!d) return false;
      const Along& at = along_[*d];
      Expr last = at.offset;
      for (std::size_t k = 0; k < at.axes.size(); ++k)
        last = last + (view_.sizes[at.axes[k]] - 1) * at.scales[k];
      before[*d] = index::greatest(0, -at.offset);
      after[*d] = index::greatest(0, last - from_[*d] + 1);
    }
    if (view_.inside.all.empty()) return true;
    Shape pads = before;
    pads.insert(pads.end(), after.begin(), after.end());
    name_ = document().node("Pad", {name_, writer_.sizes(pads), document().scalar(fill_, dtype_)});
    for (std::size_t d = 0; d < along_.size(); ++d) {
      from_[d] = from_[d] + before[d] + after[d];
      along_[d].offset = along_[d].offset + before[d];
    }
    return true;
  }

  // Which position of x this says to be inside, at one end or the other.
  std::optional<std::size_t> bounded(const index::Less& less) const {
    const Expr room = less.b - less.a;
    for (std::size_t d = 0; d < along_.size(); ++d) {
      if (!(room == view_.source[d] + 1) && !(room == from_[d] - view_.source[d])) continue;
      const bool forward =
          std::ranges::all_of(along_[d].scales, [](std::int64_t scale) { return scale > 0; });
      return along_[d].is_linear && forward ? std::optional(d) : std::nullopt;
    }
    return std::nullopt;
  }

  bool is_whole(std::size_t d) const {
    const Along& at = along_[d];
    return at.scales.front() == 1 && at.offset == Expr(0) && view_.sizes[at.axes[0]] == from_[d];
  }
  bool is_sliced(std::size_t d) const {
    const Along& at = along_[d];
    if (at.axes.size() != 1 || !at.is_linear || is_whole(d)) return false;
    return at.scales.front() > 0 || (index::constant_of(at.offset) && index::constant_of(last_of(d)));
  }
  Expr last_of(std::size_t d) const {
    const Along& at = along_[d];
    return at.offset + (view_.sizes[at.axes[0]] - 1) * at.scales[0];
  }

  // Along all axes where one axis of the View steps through them.
  void slice() {
    Shape starts, ends;
    std::vector<std::int64_t> axes, steps;
    for (std::size_t d = 0; d < along_.size(); ++d) {
      if (!is_sliced(d)) continue;
      const std::int64_t step = along_[d].scales[0];
      Expr end = index::greatest(0, last_of(d) + 1);
      if (step < 0)
        end = *index::constant_of(last_of(d)) > 0 ? last_of(d) - 1
                                                  : Expr(std::numeric_limits<std::int64_t>::min());
      starts.push_back(along_[d].offset);
      ends.push_back(end);
      axes.push_back(static_cast<std::int64_t>(d));
      steps.push_back(step);
      from_[d] = view_.sizes[along_[d].axes[0]];
      along_[d].scales[0] = 1;
      along_[d].offset = 0;
    }
    if (axes.empty()) return;
    name_ = document().node("Slice", {name_, writer_.sizes(starts), writer_.sizes(ends),
                                      document().integers(axes), document().integers(steps)});
  }

  // Dimension `d`, behind which all are placed, becomes the axes of the View that it consists of.
  void place(std::size_t d) {
    const Along& at = along_[d];
    labels_.insert(labels_.begin(), at.axes.begin(), at.axes.end());
    if (at.axes.size() == 1 && at.is_linear && is_whole(d)) return;
    Shape sizes;
    for (const std::size_t axis : at.axes) sizes.push_back(view_.sizes[axis]);
    if (at.axes.empty() && from_[d] == Expr(1)) {
      name_ = document().node("Squeeze", {name_, document().integers({static_cast<std::int64_t>(d)})});
    } else if (!at.axes.empty() && is_row_major(at, sizes, from_[d])) {
      Shape shape(from_.begin(), from_.begin() + static_cast<std::ptrdiff_t>(d));
      shape.insert(shape.end(), sizes.begin(), sizes.end());
      shape.insert(shape.end(), from_.begin() + static_cast<std::ptrdiff_t>(d) + 1, from_.end());
      name_ = writer_.reshaped(name_, shape);
    } else {
      std::vector<Symbol> axes;
      for (const std::size_t axis : at.axes) axes.push_back(view_.axes[axis]);
      Expr source = at.is_linear ? at.offset : view_.source[d];
      for (std::size_t k = 0; at.is_linear && k < axes.size(); ++k)
        source = source + Expr(axes[k]) * at.scales[k];
      Name places = writer_.arithmetic(source, writer_.positions(axes, sizes));
      if (axes.empty()) places = document().node("Reshape", {places, document().integers({})});
      name_ = document().node("Gather", {name_, places}, {{"axis", static_cast<std::int64_t>(d)}});
    }
    from_.erase(from_.begin() + static_cast<std::ptrdiff_t>(d));
    from_.insert(from_.begin() + static_cast<std::ptrdiff_t>(d), sizes.begin(), sizes.end());
  }

  static bool is_row_major(const Along& at, const Shape& sizes, const Expr& whole) {
    if (!at.is_linear || !(at.offset == Expr(0)) || !(index::product(sizes) == whole)) return false;
    const std::vector<Expr> strides = index::contiguous_strides(sizes);
    return std::ranges::equal(strides, at.scales,
                              [](const Expr& stride, std::int64_t scale) { return stride == Expr(scale); });
  }

  void transpose() {
    std::vector<std::size_t> order(labels_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t at) { return labels_[at]; });
    std::ranges::sort(labels_);
    name_ = writer_.transposed(name_, order);
  }

  // By positions in row-major order, and what is outside in place of what is found there.
  void gather_elements() {
    const std::vector<std::size_t> used = used_axes();
    std::vector<Symbol> axes;
    Shape sizes;
    for (const std::size_t axis : used) {
      axes.push_back(view_.axes[axis]);
      sizes.push_back(view_.sizes[axis]);
    }
    const Writer::Names positions = writer_.positions(axes, sizes);
    const std::vector<Expr> strides = index::contiguous_strides(from_);
    Expr place = 0;
    for (std::size_t d = 0; d < from_.size(); ++d) place = place + view_.source[d] * strides[d];
    Name places = writer_.arithmetic(place, positions);
    const auto inside = writer_.truth(view_.inside, positions);
    const Name zero = document().scalar(0, ops::DType::i64);
    if (inside) places = document().node("Where", {*inside, places, zero});
    name_ =
        document().node("Gather", {document().node("Reshape", {name_, document().integers({-1})}), places});
    if (inside) name_ = filled(*inside);
  }

  // What is found where it is inside; ONNX Runtime has no Where of truths.
  Name filled(const Name& inside) {
    if (dtype_ != ops::DType::b8)
      return document().node("Where", {inside, name_, document().scalar(fill_, dtype_)});
    if (fill_ == ops::Number(0)) return document().node("And", {inside, name_});
    return document().node("Or", {document().node("Not", {inside}), name_});
  }

  Writer& writer_;
  Name name_;
  Shape from_;  // the sizes of name_
  const View& view_;
  ops::Number fill_;
  ops::DType dtype_;
  std::vector<Along> along_;         // of the input's dimensions
  std::vector<std::size_t> labels_;  // of those that are placed: axes of the View
};

// Whether the View is what reshape() makes of these sizes.
bool is_reshape(const View& view, const Shape& from, const index::Facts& facts) {
  if (!view.inside.all.empty()) return false;
  const Expr before = index::product(from), after = index::product(view.sizes);
  if (!(index::simplify(before - after, facts) == Expr(0))) return false;
  graph::Builder builder;
  builder.graph().facts() = facts;
  const graph::Tensor y = graph::reshape(builder.input("x", ops::DType::f32, from), view.sizes);
  const auto* made = std::get_if<View>(&builder.graph()[y.id()].node);
  return made != nullptr && made->source == view.source && made->inside == view.inside;
}

// The View over what broadcasts to its input: at the only element along axes that there have others.
View over_broadcast(const View& view, const Shape& whole, const Shape& from) {
  View over = view;
  const auto missing = static_cast<std::ptrdiff_t>(whole.size() - from.size());
  over.source.erase(over.source.begin(), over.source.begin() + missing);
  for (std::size_t d = 0; d < from.size(); ++d)
    if (from[d] == Expr(1)) over.source[d] = 0;
  return over;
}

// The parts of axes become the axes again: those of which a part is used.
Placed merged(Writer& writer, Placed parts, const Split& split, const View& view) {
  Placed result;
  Shape whole, sizes;
  std::vector<std::int64_t> missing;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    const auto is_of_axis = [&](std::size_t part) {
      return part >= split.first[axis] && part < split.first[axis + 1];
    };
    if (std::ranges::none_of(parts.axes, is_of_axis)) continue;
    result.axes.push_back(axis);
    sizes.push_back(view.sizes[axis]);
    for (std::size_t part = split.first[axis]; part < split.first[axis + 1]; ++part) {
      if (std::ranges::find(parts.axes, part) == parts.axes.end())
        missing.push_back(static_cast<std::int64_t>(whole.size()));
      whole.push_back(split.view.sizes[part]);
    }
  }
  result.name = parts.name;
  if (!missing.empty()) {
    result.name = writer.document.node("Unsqueeze", {result.name, writer.document.integers(missing)});
    result.name = writer.expanded(result.name, whole);
  }
  result.name = writer.reshaped(result.name, sizes);
  return result;
}

}  // namespace

Placed place(Writer& writer, graph::NodeId input, const View& view) {
  const Said& x = writer[input];
  const View over = over_broadcast(view, writer.node(input).shape, x.shape);
  if (is_reshape(over, x.shape, writer.graph.facts())) {
    Placed all{writer.reshaped(x.name, over.sizes), std::vector<std::size_t>(over.axes.size())};
    std::iota(all.axes.begin(), all.axes.end(), 0);
    return all;
  }
  // Nothing is behind the keys that are padded.
  const ops::Number fill = x.is_key ? ops::Number(std::numeric_limits<double>::infinity()) : view.fill;
  const Split split = split_axes(over, writer.graph.facts());
  const Placed parts = Move(writer, x.name, x.shape, split.view, fill, x.dtype).placed();
  return split.is_any ? merged(writer, parts, split, over) : parts;
}

Said write_view(Writer& writer, graph::NodeId id, const View& view) {
  const graph::NodeId input = writer.node(id).inputs[0];
  const Said& x = writer[input];
  if (index::product(view.sizes) == Expr(0))
    return {writer.expanded(writer.document.scalar(0, x.dtype), view.sizes), view.sizes, x.dtype, x.is_key};
  Placed placed = place(writer, input, view);
  Said result{std::move(placed.name), view.sizes, x.dtype, x.is_key};
  std::vector<std::int64_t> missing;
  for (std::size_t axis = 0; axis < view.axes.size(); ++axis) {
    if (std::ranges::find(placed.axes, axis) != placed.axes.end()) continue;
    missing.push_back(static_cast<std::int64_t>(axis));
    result.shape[axis] = 1;
  }
  if (!missing.empty())
    result.name = writer.document.node("Unsqueeze", {result.name, writer.document.integers(missing)});
  return result;
}

}  // namespace twinloom::onnx
