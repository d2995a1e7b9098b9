// Node by node: see write.h.
#include "frontends/onnx/write.h"

#include <algorithm>

#include "core/base/match.h"
#include "frontends/onnx/writer.h"

namespace twinloom::onnx {

namespace {

using graph::NodeId;
using ops::DType;

Said write_constant(Writer& writer, const graph::Constant& constant) {
  if (const auto* array = std::get_if<graph::Content>(&constant.value))
    return {writer.document.array(**array), constant.shape, constant.dtype, false};
  const auto& number = std::get<ops::Number>(constant.value);
  return {writer.document.scalar(number, constant.dtype), {}, constant.dtype, false};
}

Said write_iota(Writer& writer, const graph::Iota& iota) {
  const auto axis = static_cast<std::size_t>(iota.axis);
  Name counts = writer.document.cast(writer.counts(iota.shape[axis]), DType::i64, iota.dtype);
  std::vector<std::int64_t> behind;
  for (std::size_t at = axis + 1; at < iota.shape.size(); ++at)
    behind.push_back(static_cast<std::int64_t>(at - axis));
  if (!behind.empty()) counts = writer.document.node("Unsqueeze", {counts, writer.document.integers(behind)});
  graph::Shape shape(iota.shape.size() - axis, 1);
  shape[0] = iota.shape[axis];
  return {counts, shape, iota.dtype, false};
}

// A scalar of i64.
Name write_size(Writer& writer, const index::Expr& value) {
  return writer.document.node("Reshape", {writer.size(value), writer.document.integers({})});
}

Said write_concat(Writer& writer, NodeId id, const graph::Concat& concat) {
  const graph::Node& node = writer.node(id);
  const bool is_key = writer[node.inputs[0]].is_key;
  std::vector<Name> parts;
  for (const NodeId input : node.inputs) {
    if (writer[input].is_key != is_key)
      writer.fail(id, "ONNX has no bits of reals, which this puts beside others");
    parts.push_back(writer.full(input));
  }
  return {writer.document.node("Concat", parts, {{"axis", std::int64_t{concat.axis}}}), node.shape,
          writer[node.inputs[0]].dtype, is_key};
}

Said write_node(Writer& writer, NodeId id) {
  const graph::Node& node = writer.node(id);
  const auto operand = [&]() -> const Said& { return writer[node.inputs[0]]; };
  return match(
      node,
      [&](const graph::Input& input) {
        const graph::Parameter& parameter = writer.graph.parameters()[static_cast<std::size_t>(input.slot)];
        return Said{parameter.name, node.shape, input.dtype, false};
      },
      [&](const graph::Constant& constant) { return write_constant(writer, constant); },
      [&](const graph::Size& size) {
        return Said{writer.document.cast(write_size(writer, size.value), DType::i64, size.dtype),
                    graph::Shape(), size.dtype, false};
      },
      [&](const graph::Pointwise& pointwise) { return write_pointwise(writer, id, pointwise.op); },
      [&](const graph::Cast& cast) {
        const Said& x = operand();
        if (x.is_key) return x;
        return Said{writer.document.cast(x.name, x.dtype, cast.to), x.shape, cast.to, false};
      },
      [&](const graph::View& view) { return write_view(writer, id, view); },
      [&](const graph::Concat& concat) { return write_concat(writer, id, concat); },
      [&](const graph::Iota& iota) { return write_iota(writer, iota); },
      [&](const graph::Random&) -> Said {
        writer.fail(id, "ONNX leaves the numbers of random operators open");
      },
      [&](const graph::Reduce& reduce) { return write_reduce(writer, id, reduce); },
      [&](const graph::Scan& scan) { return write_scan(writer, id, scan); },
      [&](const graph::Sort& sort) { return write_sort(writer, id, sort); },
      [&](const graph::Gather& gather) { return write_gather(writer, id, gather); },
      [&](const graph::Scatter& scatter) { return write_scatter(writer, id, scatter); },
      [&](const graph::Realize&) { return operand(); });
}

void write_inputs(Writer& writer) {
  for (const graph::Parameter& parameter : writer.graph.parameters()) {
    const auto* id = std::get_if<NodeId>(&parameter.value);
    if (id == nullptr)
      writer.document.input(parameter.name, DType::i64, {});
    else
      writer.document.input(parameter.name, writer.node(*id).dtype, writer.node(*id).shape);
  }
}

// Before other tensors take them.
std::vector<Name> output_names(Writer& writer) {
  std::vector<Name> names;
  for (const graph::Result& result : writer.graph.results())
    names.push_back(
        writer.document.unused_name(result.name.empty() ? cat("output_", names.size()) : result.name));
  return names;
}

void write_outputs(Writer& writer, const std::vector<Name>& names) {
  std::size_t number = 0;
  for (const graph::Result& result : writer.graph.results()) {
    const Name& name = names[number++];
    if (result.kind == graph::Ownership::none) continue;
    if (result.kind == graph::Ownership::size) {
      writer.document.output(name, write_size(writer, result.size), DType::i64, {});
      continue;
    }
    const graph::Node& node = writer.node(result.value);
    if (writer[result.value].is_key)
      writer.fail(result.value, "ONNX has no bits of reals, which are a result here");
    writer.document.output(name, writer.full(result.value), node.dtype, node.shape);
  }
}

}  // namespace

std::string write(const graph::Graph& graph) {
  Writer writer(graph);
  write_inputs(writer);
  const std::vector<Name> outputs = output_names(writer);
  const std::vector<bool> live = graph::live_nodes(graph);
  for (std::uint32_t at = 0; at < graph.nodes().size(); ++at) {
    const graph::Origin& origin = graph.nodes()[at].origin;
    writer.document.origin = origin.name.empty() ? cat("v", at) : origin.name;
    writer.said.push_back(live[at] ? write_node(writer, {at}) : Said{});
  }
  write_outputs(writer, outputs);
  return writer.document.bytes(graph.name);
}

}  // namespace twinloom::onnx
