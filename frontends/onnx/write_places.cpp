// Lookups and what is written at places: Gather, GatherElements and ScatterElements along an axis, else along
// the only axis of all elements side by side.
#include <algorithm>
#include <limits>

#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using graph::NodeId;
using index::Expr;
using ops::DType;

// Along which dimension the places lie where all other dimensions are the axes of the same number.
std::optional<std::int64_t> only_found(const std::vector<Expr>& places,
                                       const std::vector<index::Symbol>& axes,
                                       const std::vector<index::Symbol>& found) {
  if (found.size() != 1 || places.size() != axes.size()) return std::nullopt;
  std::optional<std::int64_t> along;
  for (std::size_t d = 0; d < places.size(); ++d) {
    if (places[d] == Expr(axes[d])) continue;
    if (along || !(places[d] == Expr(found[0]))) return std::nullopt;
    along = static_cast<std::int64_t>(d);
  }
  return along;
}

// Found indices as i64, counted from the front.
Name wrapped(Writer& writer, const Name& index, DType dtype, const Expr& bound, bool negative_wraps) {
  Document& document = writer.document;
  const Name wide = document.cast(index, dtype, DType::i64);
  if (!negative_wraps) return wide;
  const Name behind = document.node("Add", {wide, writer.size(bound)});
  return document.node("Where",
                       {document.node("Less", {wide, document.scalar(0, DType::i64)}), behind, wide});
}

// Positions among all elements in row-major order.
template <class Places>
Name flat(Writer& writer, const Places& places, const std::vector<Expr>& at, std::span<const NodeId> indices,
          const graph::Shape& axes, const graph::Shape& of) {
  Writer::Names names = writer.positions(places.axes, axes);
  for (std::size_t k = 0; k < places.found.size(); ++k) {
    const Said& index = writer[indices[k]];
    names[places.found[k]] =
        wrapped(writer, index.name, index.dtype, places.bounds[k], places.negative_wraps);
  }
  const std::vector<Expr> strides = index::contiguous_strides(of);
  Expr place = 0;
  for (std::size_t d = 0; d < at.size(); ++d) place = place + at[d] * strides[d];
  return writer.expanded(writer.arithmetic(place, names), axes);
}

Name in_a_row(Writer& writer, const Name& value) {
  return writer.document.node("Reshape", {value, writer.document.integers({-1})});
}

// Whole slices: one dimension is looked up by an index of some axes, the others are the other axes.
std::optional<Name> slices(Writer& writer, const graph::Gather& gather, NodeId x, NodeId index) {
  const auto* view = std::get_if<graph::View>(&writer.node(index).node);
  if (view == nullptr || gather.found.size() != 1 || writer[index].is_key) return std::nullopt;
  const auto along = std::ranges::find(gather.source, Expr(gather.found[0]));
  if (along == gather.source.end()) return std::nullopt;
  const Placed placed = place(writer, writer.node(index).inputs[0], *view);
  std::vector<std::size_t> labels;
  for (const Expr& source : gather.source) {
    if (source == *along) {
      labels.insert(labels.end(), placed.axes.begin(), placed.axes.end());
      continue;
    }
    const auto axis =
        std::ranges::find_if(gather.axes, [&](index::Symbol each) { return source == Expr(each); });
    if (axis == gather.axes.end()) return std::nullopt;
    labels.push_back(static_cast<std::size_t>(axis - gather.axes.begin()));
  }
  std::vector<std::size_t> order(labels.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::ranges::sort(order, {}, [&](std::size_t at) { return labels[at]; });
  if (order.size() != gather.axes.size()) return std::nullopt;
  for (std::size_t at = 0; at < order.size(); ++at)
    if (labels[order[at]] != at) return std::nullopt;
  const auto d = along - gather.source.begin();
  for (std::size_t other = 0; other < gather.source.size(); ++other) {
    if (std::cmp_equal(other, d)) continue;
    const auto axis = std::ranges::find_if(
        gather.axes, [&](index::Symbol each) { return gather.source[other] == Expr(each); });
    if (!(writer.node(x).shape[other] == gather.sizes[static_cast<std::size_t>(axis - gather.axes.begin())]))
      return std::nullopt;
  }
  const Name places =
      wrapped(writer, placed.name, writer[index].dtype, gather.bounds[0], gather.negative_wraps);
  const Name found = writer.document.node("Gather", {writer.full(x), places}, {{"axis", std::int64_t{d}}});
  return writer.transposed(found, order);
}

std::string reduction(graph::Mode mode) {
  switch (mode) {
    case graph::Mode::replace:
      return "none";
    case graph::Mode::add:
      return "add";
    case graph::Mode::multiply:
      return "mul";
    case graph::Mode::least:
      return "min";
    case graph::Mode::greatest:
      return "max";
  }
  return {};
}

// What changes nothing that it is combined with.
ops::Number neutral(graph::Mode mode, DType dtype) {
  if (mode == graph::Mode::add || mode == graph::Mode::replace) return 0;
  if (mode == graph::Mode::multiply) return 1;
  const bool highest = mode == graph::Mode::least;
  if (ops::is_floating(dtype)) return highest ? HUGE_VAL : -HUGE_VAL;
  const int bits = ops::bits_of(dtype);
  const bool is_signed = ops::kind(dtype) == ops::TypeKind::signed_int;
  const std::int64_t most = is_signed ? std::numeric_limits<std::int64_t>::max() >> (64 - bits) : -1;
  return highest ? most : is_signed ? -most - 1 : 0;
}

}  // namespace

Said write_gather(Writer& writer, NodeId id, const graph::Gather& gather) {
  Document& document = writer.document;
  const graph::Node& node = writer.node(id);
  const NodeId x = node.inputs[0];
  const std::span<const NodeId> indices = std::span(node.inputs).subspan(1);
  Said result{{}, node.shape, writer[x].dtype, writer[x].is_key};
  if (!indices.empty()) {
    if (const auto found = slices(writer, gather, x, indices[0])) {
      result.name = *found;
      return result;
    }
  }
  if (const auto along = only_found(gather.source, gather.axes, gather.found)) {
    const Name places = wrapped(writer, writer.full(indices[0]), writer[indices[0]].dtype, gather.bounds[0],
                                gather.negative_wraps);
    result.name = document.node("GatherElements", {writer.full(x), places}, {{"axis", *along}});
    return result;
  }
  const Name places = flat(writer, gather, gather.source, indices, gather.sizes, writer.node(x).shape);
  result.name = document.node("Gather", {in_a_row(writer, writer.full(x)), places});
  return result;
}

Said write_scatter(Writer& writer, NodeId id, const graph::Scatter& scatter) {
  Document& document = writer.document;
  const graph::Node& node = writer.node(id);
  const NodeId x = node.inputs[0], source = node.inputs[1];
  const std::span<const NodeId> indices = std::span(node.inputs).subspan(2);
  if (writer[x].is_key || writer[source].is_key)
    writer.fail(id, "ONNX has no bits of reals, which this moves");
  const bool combines = scatter.mode != graph::Mode::replace;
  const DType dtype = node.dtype, wide = combines && ops::is_16_bit_float(dtype) ? DType::f32
                                         : combines && dtype == DType::b8        ? DType::i32
                                                                                 : dtype;
  const graph::Shape shape = writer.node(source).shape;
  Name into = document.cast(writer.full(x), dtype, wide),
       from = document.cast(writer.full(source), dtype, wide), places;
  const auto along = only_found(scatter.place, scatter.axes, scatter.found);
  if (along) {
    places = wrapped(writer, writer.full(indices[0]), writer[indices[0]].dtype, scatter.bounds[0],
                     scatter.negative_wraps);
  } else {
    places = in_a_row(writer, flat(writer, scatter, scatter.place, indices, shape, node.shape));
    into = in_a_row(writer, into);
    from = in_a_row(writer, from);
  }
  const std::int64_t axis = along.value_or(0);
  if (combines && !scatter.include_self) {
    const Name nothing = document.scalar(neutral(scatter.mode, dtype), wide);
    const Name cleared = writer.expanded(nothing, along ? shape : graph::Shape{index::product(shape)});
    into = document.node("ScatterElements", {into, places, cleared}, {{"axis", axis}});
  }
  Name result = document.node("ScatterElements", {into, places, from},
                              {{"axis", axis}, {"reduction", reduction(scatter.mode)}});
  if (!along) result = writer.reshaped(result, node.shape);
  return {document.cast(result, wide, dtype), node.shape, dtype, false};
}

}  // namespace twinloom::onnx
