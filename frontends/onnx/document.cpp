// See document.h.
#include "frontends/onnx/document.h"

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "frontends/onnx/encode.h"
#include "frontends/onnx/read.h"
#include "frontends/onnx/tensors.h"

namespace twinloom::onnx {

namespace {

using format::AttributeProto;
using format::AttributeType;

// The operator set that models are written for, and the version of the format that has it.
constexpr std::int64_t opset = 21, ir_version = 10;

std::string print(const Attribute& attribute) {
  const auto* integers = std::get_if<std::vector<std::int64_t>>(&attribute.value);
  if (integers != nullptr)
    return cat(attribute.name, "=", join(*integers, " ", [](std::int64_t number) { return cat(number); }));
  const auto* integer = std::get_if<std::int64_t>(&attribute.value);
  return cat(attribute.name, "=",
             integer != nullptr ? cat(*integer) : std::get<std::string>(attribute.value));
}

}  // namespace

std::string_view Document::kept(std::string text) { return texts_.emplace_back(std::move(text)); }

Name Document::unused_name(const std::string& wanted) {
  Name name = wanted.empty() ? "t" : wanted;
  for (int number = 1; !names_.insert(name).second; ++number)
    name = cat(wanted.empty() ? "t" : wanted, "_", number);
  return name;
}

format::ValueInfoProto Document::port(const Name& name, ops::DType dtype, const graph::Shape& shape) {
  format::ValueInfoProto result;
  result.name = kept(name);
  format::TensorShapeProto sizes;
  for (const index::Expr& size : shape) {
    format::DimensionProto& dimension = sizes.dim.emplace_back();
    dimension.dim_value = index::constant_of(size);
    if (!dimension.dim_value) dimension.dim_param = kept(index::print(size));
  }
  result.type.tensor_type = {number_of(dtype), sizes};
  return result;
}

void Document::input(const Name& name, ops::DType dtype, const graph::Shape& shape) {
  names_.insert(name);
  graph_.input.push_back(port(name, dtype, shape));
}

void Document::output(const Name& name, const Name& value, ops::DType dtype, const graph::Shape& shape) {
  format::NodeProto& node = graph_.node.emplace_back();
  node.op_type = "Identity";
  node.name = kept(name);
  node.input = {kept(value)};
  node.output = {kept(name)};
  graph_.output.push_back(port(name, dtype, shape));
}

Name Document::node(std::string_view operation, const std::vector<Name>& inputs,
                    const std::vector<Attribute>& attributes, std::size_t number) {
  const std::string words = cat(operation, "(", join(inputs, ", ", [](const Name& name) { return name; }),
                                "; ", join(attributes, ", ", print), ") ", number);
  if (const auto found = said_.find(words); found != said_.end()) return found->second;
  const Name result = unused_name(origin);
  format::NodeProto& node = graph_.node.emplace_back();
  node.op_type = kept(std::string(operation));
  node.name = kept(result);
  for (const Name& input : inputs) node.input.push_back(kept(input));
  node.output.resize(number + 1);
  node.output.back() = kept(result);
  for (const Attribute& given : attributes) {
    AttributeProto& attribute = node.attribute.emplace_back();
    attribute.name = kept(std::string(given.name));
    attribute.type = AttributeType::integer;
    if (const auto* integer = std::get_if<std::int64_t>(&given.value)) {
      attribute.i = *integer;
    } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&given.value)) {
      attribute.type = AttributeType::integers;
      attribute.ints = *integers;
    } else {
      attribute.type = AttributeType::text;
      attribute.s = kept(std::get<std::string>(given.value));
    }
  }
  return said_.emplace(words, result).first->second;
}

Name Document::array(const graph::Array& array) {
  const auto elements = array.bytes.read();
  std::string bytes(reinterpret_cast<const char*>(elements.data()), elements.size());
  constexpr std::size_t SHORT = 256;  // which may well stand twice
  const std::string words =
      bytes.size() > SHORT
          ? std::string()
          : cat(ops::name(array.dtype), " [",
                join(array.sizes, ", ", [](std::int64_t size) { return cat(size); }), "] ", bytes);
  if (const auto found = said_.find(words); !words.empty() && found != said_.end()) return found->second;
  const Name result = unused_name(cat(origin, "_constant"));
  format::TensorProto& tensor = graph_.initializer.emplace_back();
  tensor.name = kept(result);
  tensor.data_type = number_of(array.dtype);
  tensor.dims = array.sizes;
  tensor.raw_data = kept(std::move(bytes));
  if (!words.empty()) said_.emplace(words, result);
  return result;
}

Name Document::scalar(const ops::Number& number, ops::DType dtype) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(ops::size_of(dtype)));
  ops::store_number(dtype, ops::cast(number, dtype), bytes.data());
  return array({dtype, {}, std::move(bytes)});
}

Name Document::integers(const std::vector<std::int64_t>& numbers) {
  std::vector<std::byte> bytes(numbers.size() * sizeof(std::int64_t));
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return array({ops::DType::i64, {static_cast<std::int64_t>(numbers.size())}, std::move(bytes)});
}

Name Document::cast(const Name& value, ops::DType from, ops::DType to) {
  return from == to ? value : node("Cast", {value}, {{"to", std::int64_t{number_of(to)}}});
}

std::string Document::bytes(const std::string& graph_name) const {
  std::set<std::string_view> needed;
  for (const format::ValueInfoProto& output : graph_.output) needed.insert(output.name);
  format::ModelProto model;
  model.ir_version = ir_version;
  model.producer_name = "twinloom";
  model.opset_import = {{"", opset}};
  format::GraphProto& graph = model.graph.emplace();
  graph.name = graph_name;
  graph.input = graph_.input;
  graph.output = graph_.output;
  for (std::size_t at = graph_.node.size(); at-- > 0;) {
    const format::NodeProto& node = graph_.node[at];
    if (std::ranges::none_of(node.output, [&](std::string_view name) { return needed.contains(name); }))
      continue;
    needed.insert(node.input.begin(), node.input.end());
    graph.node.push_back(node);
  }
  std::ranges::reverse(graph.node);
  std::size_t bytes = 0;
  for (const format::TensorProto& tensor : graph_.initializer) {
    if (!needed.contains(tensor.name)) continue;
    bytes += tensor.raw_data.size();
    graph.initializer.push_back(tensor);
  }
  const auto check = [](std::size_t size) {
    if (std::cmp_greater(size, most_bytes))
      throw Error(cat("the model would take ", size, " bytes; a file of ONNX may have ", most_bytes));
  };
  check(bytes);
  std::string file = format::encoded(model);
  check(file.size());
  return file;
}

}  // namespace twinloom::onnx
