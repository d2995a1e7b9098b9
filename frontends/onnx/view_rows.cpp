// Operators that move elements.
#include "core/graph/views.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "core/graph/indexing.h"
#include "core/graph/rebuild.h"
#include "frontends/onnx/dimensions.h"
#include "frontends/onnx/operators.h"

namespace twinloom::onnx {

namespace {

using graph::Axes;
using graph::Shape;
using index::Expr;
using ops::DType;

// What stands for a size of the input is 0, unless allowzero.
Values reshape(const Call& call) {
  const Tensor x = call.tensor(0);
  Shape shape;
  if (call.version() < 5) {
    const auto given = call.integers("shape").value_or(Integers());
    shape.assign(given.begin(), given.end());
  } else {
    shape = call.sizes(1);
  }
  const bool allows_zero = call.truth("allowzero", false);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (allows_zero || shape[d] != Expr(0)) continue;
    if (std::cmp_greater_equal(d, x.rank()))
      call.fail("size ", d, " is 0 and stands for that of the input, which has ", x.rank(), " axes");
    shape[d] = x.size(static_cast<int>(d));
  }
  return {graph::reshape(x, shape)};
}

Values flatten(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::int64_t given = call.integer("axis", 1);
  const auto axis = static_cast<std::size_t>(given == x.rank() ? x.rank() : call.axis(given, x.rank()));
  const Shape shape = x.shape();
  return {graph::reshape(
      x, {index::product(std::span(shape).first(axis)), index::product(std::span(shape).subspan(axis))})};
}

Values transpose(const Call& call) {
  const Tensor x = call.tensor(0);
  Axes order(static_cast<std::size_t>(x.rank()));
  std::iota(order.rbegin(), order.rend(), 0);
  if (const auto given = call.integers("perm")) {
    if (given->size() != order.size())
      call.fail("attribute 'perm' names ", given->size(), " axes of a tensor of ", x.rank());
    order.clear();
    for (const std::int64_t axis : *given) order.push_back(call.axis(axis, x.rank()));
  }
  return {graph::permute(x, order)};
}

// Axes are an attribute up to opset 12, then an input.
Values squeeze(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto given = call.integers("axes", 1);
  if (!given) return {graph::squeeze(x)};
  Axes axes;
  for (const std::int64_t each : *given) {
    axes.push_back(call.axis(each, x.rank()));
    call.builder().graph().require_equal(x.size(axes.back()), 1,
                                         cat(call.name(), ": axis ", axes.back(), " must have size 1"));
  }
  std::ranges::sort(axes);
  Shape shape = x.shape();
  for (std::size_t a = axes.size(); a-- > 0;)
    if (a == 0 || axes[a] != axes[a - 1]) shape.erase(shape.begin() + axes[a]);
  return {graph::reshape(x, shape)};
}
Values unsqueeze(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto given = call.integers("axes", 1);
  if (!given) call.fail("needs axes");
  const int rank = x.rank() + static_cast<int>(given->size());
  std::vector<bool> is_new(static_cast<std::size_t>(rank));
  for (const std::int64_t each : *given) {
    const auto axis = static_cast<std::size_t>(call.axis(each, rank));
    if (is_new[axis]) call.fail("axis ", axis, " is given twice");
    is_new[axis] = true;
  }
  Shape shape;
  int next = 0;
  for (const bool each : is_new) shape.push_back(each ? Expr(1) : x.size(next++));
  return {graph::reshape(x, shape)};
}

Values expand(const Call& call) {
  const Tensor x = call.tensor(0);
  const Shape shape = graph::broadcast_shape(call.builder().graph(), {x.shape(), call.sizes(1)}, "Expand");
  return {graph::expand(x, shape)};
}

Values concat(const Call& call) {
  const Values inputs = call.tensors();
  if (call.version() >= 4 && !call.has_attribute("axis")) call.fail("needs attribute 'axis'");
  return {graph::concat(inputs, call.axis(call.integer("axis", 1), inputs[0].rank()))};
}

// Parts of given sizes, or as many as there are outputs; the last of these may be smaller.
Values split(const Call& call) {
  const Tensor x = call.tensor(0);
  const int axis = call.axis(call.integer("axis", 0), x.rank());
  if (const std::int64_t parts = call.integer("num_outputs", 0);
      parts != 0 && std::cmp_not_equal(parts, call.outputs()))
    call.fail("attribute 'num_outputs' is ", parts, ", there are ", call.outputs(), " outputs");
  std::vector<Expr> sizes;
  if (call.has(1)) {
    sizes = call.sizes(1);
  } else if (const auto given = call.integers("split")) {
    sizes.assign(given->begin(), given->end());
  } else {
    const auto parts = static_cast<std::int64_t>(call.outputs());
    const Expr size = index::ceil_div(x.size(axis), Expr(parts));
    Expr left = x.size(axis);
    for (std::int64_t part = 0; part < parts; ++part) {
      sizes.push_back(part + 1 == parts ? left : size);
      left = left - size;
    }
  }
  if (sizes.size() < call.outputs())
    call.fail("has ", call.outputs(), " outputs for ", sizes.size(), " parts");
  return graph::split(x, sizes, axis);
}

// One axis of a Slice.
struct Range {
  int axis;
  Expr start, end;
  std::int64_t step;
};

Tensor sliced(const Call& call, const Tensor& x, const Range& range) {
  if (range.step == 0) call.fail("a step is 0");
  if (range.step > 0) return graph::slice(x, range.axis, range.start, range.end, range.step);
  // Backwards: of the flipped axis, whose element i is element size - 1 - i. What is negative counts from the
  // end, an end before the first element is up to it.
  const Expr size = x.size(range.axis);
  const auto from_front = [&](const Expr& given) {
    const auto known = index::constant_of(given);
    if (!known) call.unsupported("a negative step with the symbolic number ", index::print(given));
    return *known < 0 ? index::greatest(size + std::max(*known, -most_elements), Expr(-1))
                      : index::least(Expr(*known), size - 1);
  };
  const Expr start = index::least(from_front(range.start), size - 1), end = from_front(range.end);
  return graph::slice(graph::flip(x, {range.axis}), range.axis, size - 1 - start,
                      index::greatest(size - 1 - end, Expr(0)), -std::max(range.step, -most_elements));
}

// Starts, ends, axes and steps are attributes up to opset 9, then inputs.
Values slice(const Call& call) {
  Tensor x = call.tensor(0);
  std::vector<Expr> starts, ends;
  std::optional<Integers> axes, steps;
  if (call.version() < 10) {
    const auto from = call.integers("starts").value_or(Integers()),
               to = call.integers("ends").value_or(Integers());
    starts.assign(from.begin(), from.end());
    ends.assign(to.begin(), to.end());
    axes = call.integers("axes");
  } else {
    starts = call.sizes(1);
    ends = call.sizes(2);
    axes = call.integers("", 3);
    steps = call.integers("", 4);
  }
  if (starts.size() != ends.size() || (axes && axes->size() != starts.size()) ||
      (steps && steps->size() != starts.size()))
    call.fail("needs as many starts as ends, axes and steps, given ", starts.size(), " and ", ends.size());
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const int axis = call.axis(axes ? (*axes)[k] : static_cast<std::int64_t>(k), x.rank());
    x = sliced(call, x, {axis, starts[k], ends[k], steps ? (*steps)[k] : 1});
  }
  return {x};
}

// The place of each element in an axis of `size`, where the first one stands for place -before.
using Place = Expr (*)(const Expr& at, const Expr& size);
Expr nearest(const Expr& at, const Expr& size) {
  return index::least(index::greatest(at, Expr(0)), size - 1);
}

Tensor padded_by(const Tensor& x, const std::vector<graph::Padding>& padding, Place place) {
  graph::View map;
  for (int d = 0; d < x.rank(); ++d) {
    const auto& [before, after] = padding[static_cast<std::size_t>(d)];
    map.axes.push_back(graph::axis_symbol(d));
    map.sizes.push_back(x.size(d) + before + after);
    map.source.push_back(place(Expr(map.axes.back()) - before, x.size(d)));
  }
  return graph::view(x, map);
}

// The axis with `before` elements more, and `after`, which are those beside its first and its last one,
// turned around. There is one reflection at each end.
Tensor reflected(const Call& call, const Tensor& x, int axis, const graph::Padding& padding) {
  const auto before = index::constant_of(padding.before), after = index::constant_of(padding.after);
  const auto size = index::constant_of(x.size(axis));
  if (!before || !after) call.unsupported("reflection of a symbolic number of elements");
  if (size && std::max(*before, *after) >= *size && std::max(*before, *after) > 0)
    call.unsupported("reflection of ", std::max(*before, *after), " elements of an axis of ", *size);
  Values parts;
  if (*before > 0) parts.push_back(graph::flip(graph::slice_exact(x, axis, 1, *before), {axis}));
  const std::int64_t cut = std::max<std::int64_t>(-*before, 0) + std::max<std::int64_t>(-*after, 0);
  parts.push_back(graph::slice_exact(x, axis, std::max<std::int64_t>(-*before, 0), x.size(axis) - cut));
  if (*after > 0)
    parts.push_back(graph::flip(graph::slice_exact(x, axis, x.size(axis) - 1 - *after, *after), {axis}));
  return parts.size() == 1 ? parts[0] : graph::concat(parts, axis);
}

// Before and after each axis, those of the first ends first.
std::vector<graph::Padding> paddings(const Call& call, const Tensor& x) {
  std::vector<Expr> given;
  if (call.version() >= 11) {
    given = call.sizes(1);
  } else {
    const auto numbers = call.integers(call.version() < 2 ? "paddings" : "pads").value_or(Integers());
    given.assign(numbers.begin(), numbers.end());
  }
  Axes axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (call.has(3)) {
    axes.clear();
    for (const std::int64_t axis : call.integers(3)) axes.push_back(call.axis(axis, x.rank()));
  }
  if (given.size() != 2 * axes.size())
    call.fail("needs ", 2 * axes.size(), " pads for ", axes.size(), " axes, given ", given.size());
  std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()), graph::Padding{0, 0});
  for (std::size_t k = 0; k < axes.size(); ++k)
    padding[static_cast<std::size_t>(axes[k])] = {given[k], given[k + axes.size()]};
  return padding;
}

Values pad(const Call& call) {
  const Tensor x = call.tensor(0);
  const auto padding = paddings(call, x);
  const std::string mode = call.text("mode", "constant");
  call.ignore({"value"});
  call.ignore_input(2);
  if (mode == "edge") return {padded_by(x, padding, nearest)};
  if (mode == "wrap") return {padded_by(x, padding, index::floor_mod)};
  if (mode == "reflect") {
    Tensor result = x;
    for (int d = 0; d < x.rank(); ++d)
      result = reflected(call, result, d, padding[static_cast<std::size_t>(d)]);
    return {result};
  }
  if (mode != "constant")
    call.fail("attribute 'mode' must be constant, reflect, edge or wrap, it is '", escaped(mode), "'");
  if (call.version() < 11) return {graph::pad(x, padding, call.real("value", 0))};
  if (!call.has(2)) return {graph::pad(x, padding, 0)};
  const Tensor value = call.tensor(2);
  if (const auto number = graph::only_number(call.builder().graph(), value.id()))
    return {graph::pad(x, padding, *number)};
  // One that a run computes: where nothing was, it stands.
  const Tensor inside = graph::pad(call.builder().constant(true, DType::b8, x.shape()), padding, 0);
  return {graph::where(inside, graph::pad(x, padding, 0), graph::reshape(value, {}))};
}

// The middle of each axis, or zeros around it; of an odd difference one element more behind.
Values center_crop_pad(const Call& call) {
  const Tensor x = call.tensor(0);
  const std::vector<Expr> sizes = call.sizes(1);
  Integers axes(static_cast<std::size_t>(x.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  axes = call.integers("axes").value_or(axes);
  if (sizes.size() != axes.size()) call.fail("needs ", axes.size(), " sizes, given ", sizes.size());
  std::vector<graph::Padding> padding(static_cast<std::size_t>(x.rank()), graph::Padding{0, 0});
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const int axis = call.axis(axes[k], x.rank());
    const Expr more = sizes[k] - x.size(axis);
    const auto half = [](const Expr& count) {
      return index::floor_div(index::greatest(count, Expr(0)), Expr(2));
    };
    const Expr before = half(more) - half(x.size(axis) - sizes[k]);
    padding[static_cast<std::size_t>(axis)] = {before, more - before};
  }
  return {graph::pad(x, padding, 0)};
}

Values tile(const Call& call) {
  const Tensor x = call.tensor(0);
  if (call.version() < 6) call.unsupported("opset ", call.version());
  const auto times = call.sizes(1);
  if (std::cmp_not_equal(times.size(), x.rank()))
    call.fail("needs ", x.rank(), " repeats, given ", times.size());
  return {graph::repeat(x, times)};
}

// [batch, channels, height, width], a block's elements as channels and back.
Tensor four_axes(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() != 4) call.fail("needs a tensor of 4 axes, given one of ", x.rank());
  if (call.integer("blocksize", 0) < 1) call.fail("attribute 'blocksize' must be at least 1");
  return x;
}
Expr whole_parts(const Call& call, const Expr& size, std::int64_t parts) {
  const Expr part = index::floor_div(size, Expr(parts));
  call.builder().graph().require_equal(part * parts, size,
                                       cat(call.name(), ": a size must be a multiple of ", parts));
  return part;
}
// Whether a block's elements stand before the channels.
bool is_depth_first(const Call& call) {
  const std::string mode = call.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    call.fail("attribute 'mode' must be DCR or CRD, it is '", escaped(mode), "'");
  return mode == "DCR";
}
Values depth_to_space(const Call& call) {
  const Tensor x = four_axes(call);
  const std::int64_t block = call.integer("blocksize", 0);
  const Expr n = x.size(0), c = whole_parts(call, x.size(1), block * block), h = x.size(2), w = x.size(3);
  const Tensor moved =
      is_depth_first(call)
          ? graph::permute(graph::reshape(x, {n, block, block, c, h, w}), {0, 3, 4, 1, 5, 2})
          : graph::permute(graph::reshape(x, {n, c, block, block, h, w}), {0, 1, 4, 2, 5, 3});
  return {graph::reshape(moved, {n, c, h * block, w * block})};
}
Values space_to_depth(const Call& call) {
  const Tensor x = four_axes(call);
  const std::int64_t block = call.integer("blocksize", 0);
  const Expr n = x.size(0), c = x.size(1), h = whole_parts(call, x.size(2), block),
             w = whole_parts(call, x.size(3), block);
  const Tensor blocks = graph::reshape(x, {n, c, h, block, w, block});
  const Tensor moved =
      graph::permute(blocks, is_depth_first(call) ? Axes{0, 3, 5, 1, 2, 4} : Axes{0, 1, 3, 5, 2, 4});
  return {graph::reshape(moved, {n, c * block * block, h, w})};
}

Values trilu(const Call& call) {
  const Tensor x = call.tensor(0);
  if (x.rank() < 2) call.fail("needs a tensor of 2 axes or more, given one of ", x.rank());
  const Expr k = call.has(1) ? Expr(call.integer(1)) : Expr(0);
  return {call.truth("upper", true) ? graph::triu(x, k) : graph::tril(x, k)};
}

// Element t of row b comes from place length[b] - 1 - t where t < length[b].
Values reverse_sequence(const Call& call) {
  const Tensor x = call.tensor(0), lengths = call.tensor(1);
  const int batch = call.axis(call.integer("batch_axis", 1), x.rank());
  const int time = call.axis(call.integer("time_axis", 0), x.rank());
  if (batch == time || lengths.rank() != 1) call.fail("needs two axes and a list of lengths");
  Shape shape(static_cast<std::size_t>(x.rank()), 1);
  shape[static_cast<std::size_t>(batch)] = x.size(batch);
  const Tensor length = graph::expand(graph::reshape(graph::cast(lengths, DType::i64), shape), x.shape());
  const Tensor at = call.builder().iota(x.shape(), time);
  return {graph::take_along(x, time, graph::where(graph::lt(at, length), length - 1 - at, at))};
}

constexpr std::array rows = {
    Row{"CenterCropPad", center_crop_pad},
    Row{"Concat", concat},
    Row{"DepthToSpace", depth_to_space},
    moving_row("Expand", expand),
    moving_row("Flatten", flatten),
    moving_row("Pad", pad),
    moving_row("Reshape", reshape),
    Row{"ReverseSequence", reverse_sequence},
    moving_row("Slice", slice),
    Row{"SpaceToDepth", space_to_depth},
    Row{"Split", split, 2},
    moving_row("Squeeze", squeeze),
    moving_row("Tile", tile),
    moving_row("Transpose", transpose),
    Row{"Trilu", trilu},
    moving_row("Unsqueeze", unsqueeze),
};

}  // namespace

std::span<const Row> view_rows() { return rows; }

}  // namespace twinloom::onnx
