// Reductions, scans, sorts and products of matrices.
//   reduce sum over mul(view a, view b), each without an axis of the other  ->  Einsum
#include <algorithm>
#include <numeric>

#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using graph::NodeId;
using ops::DType;
using ops::Monoid;

// The type in which ONNX combines what Twinloom combines in it: f32 for 16 bits; integers, which wrap, are
// wider.
DType combined(DType dtype) {
  if (ops::is_16_bit_float(dtype)) return DType::f32;
  const bool is_small = dtype == DType::b8 || (ops::is_integer(dtype) && ops::bits_of(dtype) < 32);
  return is_small ? DType::i32 : dtype;
}

std::vector<std::int64_t> integers(const std::vector<int>& axes) { return {axes.begin(), axes.end()}; }

Name reduced(Document& document, std::string_view operation, const Name& x, const std::vector<int>& axes) {
  return document.node(operation, {x, document.integers(integers(axes))}, {{"keepdims", std::int64_t{0}}});
}

// Whether one of the elements is true.
Name any(Document& document, const Name& truths, const std::vector<int>& axes) {
  const Name counted = reduced(document, "ReduceSum", document.cast(truths, DType::b8, DType::i64), axes);
  return document.cast(counted, DType::i64, DType::b8);
}

bool is_most(Monoid monoid) {
  return monoid == Monoid::max || monoid == Monoid::argmax || monoid == Monoid::argmax_last;
}

// Positions over all axes in row-major order.
Name place_of_extreme(Writer& writer, NodeId input, const graph::Reduce& reduce) {
  Document& document = writer.document;
  const graph::Node& node = writer.node(input);
  std::vector<std::size_t> order;
  graph::Shape shape;
  for (std::size_t axis = 0; axis < node.shape.size(); ++axis) {
    if (std::ranges::find(reduce.axes, static_cast<int>(axis)) != reduce.axes.end()) continue;
    order.push_back(axis);
    shape.push_back(node.shape[axis]);
  }
  index::Expr count = 1;
  for (const int axis : reduce.axes) {
    order.push_back(static_cast<std::size_t>(axis));
    count = count * node.shape[static_cast<std::size_t>(axis)];
  }
  const auto axis = static_cast<std::int64_t>(shape.size());
  shape.push_back(count);
  const DType dtype = writer[input].dtype;
  Name x = writer.transposed(document.cast(writer.full(input), dtype, combined(dtype)), order);
  if (reduce.axes.size() > 1) x = writer.reshaped(x, shape);
  const bool last = reduce.monoid == Monoid::argmax_last || reduce.monoid == Monoid::argmin_last;
  return document.node(
      is_most(reduce.monoid) ? "ArgMax" : "ArgMin", {x},
      {{"axis", axis}, {"keepdims", std::int64_t{0}}, {"select_last_index", std::int64_t{last}}});
}

std::string_view reduction(Monoid monoid) {
  if (monoid == Monoid::sum) return "ReduceSum";
  if (monoid == Monoid::prod) return "ReduceProd";
  return is_most(monoid) ? "ReduceMax" : "ReduceMin";
}

// A factor with the axes of the product that it depends on.
Placed factor(Writer& writer, NodeId id) {
  const graph::Node& node = writer.node(id);
  if (const auto* view = std::get_if<graph::View>(&node.node)) return place(writer, node.inputs[0], *view);
  Placed all{writer.full(id), std::vector<std::size_t>(node.shape.size())};
  std::iota(all.axes.begin(), all.axes.end(), 0);
  return all;
}

bool lacks_one_of(const Placed& one, const Placed& other) {
  return !std::ranges::includes(one.axes, other.axes);
}

std::string letters(const std::vector<std::size_t>& axes) {
  std::string text;
  for (const std::size_t axis : axes) text += static_cast<char>('a' + axis);
  return text;
}

}  // namespace

std::optional<Said> write_product(Writer& writer, NodeId id, const graph::Reduce& reduce) {
  constexpr std::size_t letters_there_are = 26;
  const graph::Node& product = writer.node(writer.node(id).inputs[0]);
  const auto* pointwise = std::get_if<graph::Pointwise>(&product.node);
  const std::size_t rank = product.shape.size();
  if (reduce.monoid != Monoid::sum || pointwise == nullptr || pointwise->op != ops::Pointwise::mul ||
      combined(product.dtype) != product.dtype || rank > letters_there_are)
    return std::nullopt;
  const Placed a = factor(writer, product.inputs[0]), b = factor(writer, product.inputs[1]);
  std::vector<std::size_t> all, kept;
  std::ranges::set_union(a.axes, b.axes, std::back_inserter(all));
  if (all.size() != rank || !lacks_one_of(a, b) || !lacks_one_of(b, a)) return std::nullopt;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (std::ranges::find(reduce.axes, static_cast<int>(axis)) == reduce.axes.end()) kept.push_back(axis);
  const std::string equation = cat(letters(a.axes), ",", letters(b.axes), "->", letters(kept));
  return Said{writer.document.node("Einsum", {a.name, b.name}, {{"equation", equation}}),
              writer.node(id).shape, product.dtype, false};
}

Said write_reduce(Writer& writer, NodeId id, const graph::Reduce& reduce) {
  for (const auto& of_several : {write_convolution, write_max_pool, write_product})
    if (auto said = of_several(writer, id, reduce)) return *std::move(said);
  Document& document = writer.document;
  const NodeId input = writer.node(id).inputs[0];
  const graph::Shape& shape = writer.node(id).shape;
  const Said& x = writer[input];
  const bool is_extreme = reduce.monoid != Monoid::sum && reduce.monoid != Monoid::prod;
  if (x.is_key && !is_extreme) writer.fail(id, "ONNX has no bits of reals, which this sums up");
  if (reduce.component == 1) return {place_of_extreme(writer, input, reduce), shape, DType::i64, false};
  if (x.dtype == DType::b8) {
    const bool all = reduce.monoid == Monoid::all ||
                     (is_extreme && reduce.monoid != Monoid::any && !is_most(reduce.monoid));
    const Name given = writer.full(input);
    if (!all) return {any(document, given, reduce.axes), shape, DType::b8, false};
    return {document.node("Not", {any(document, document.node("Not", {given}), reduce.axes)}), shape,
            DType::b8, false};
  }
  const DType wide = combined(x.dtype);
  const Name total = reduced(document, reduction(reduce.monoid),
                             document.cast(writer.full(input), x.dtype, wide), reduce.axes);
  return {document.cast(total, wide, x.dtype), shape, x.dtype, x.is_key};
}

Said write_scan(Writer& writer, NodeId id, const graph::Scan& scan) {
  if (scan.monoid != Monoid::sum)
    writer.fail(id, "ONNX has running sums and no running ", ops::name(scan.monoid));
  const NodeId input = writer.node(id).inputs[0];
  const DType dtype = writer[input].dtype, wide = combined(dtype);
  const Name axis = writer.document.scalar(scan.axis, DType::i64);
  const Name sums = writer.document.node(
      "CumSum", {writer.document.cast(writer.full(input), dtype, wide), axis},
      {{"exclusive", std::int64_t{scan.exclusive}}, {"reverse", std::int64_t{scan.backwards}}});
  return {writer.document.cast(sums, wide, dtype), writer.node(id).shape, dtype, false};
}

// Of equal elements the first comes first.
Said write_sort(Writer& writer, NodeId id, const graph::Sort& sort) {
  const graph::Node& node = writer.node(id);
  const Name count = writer.size(node.shape[static_cast<std::size_t>(sort.axis)]);
  const std::vector<Attribute> attributes = {{"axis", std::int64_t{sort.axis}}, {"largest", std::int64_t{0}}};
  return {writer.document.node("TopK", {writer.full(node.inputs[0]), count}, attributes, 1), node.shape,
          DType::i64, false};
}

}  // namespace twinloom::onnx
