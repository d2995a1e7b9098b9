// See models.h.
#include "tests/onnx/models.h"

#include <set>

#include "core/graph/bind.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::tests {

using format::AttributeProto;
using format::AttributeType;

namespace {

// A text that lives as long as the program, for messages, which hold views.
std::string_view kept(const std::string& text) {
  static std::set<std::string> texts;
  return *texts.insert(text).first;
}

std::vector<std::string_view> kept(const std::vector<std::string>& texts) {
  std::vector<std::string_view> result;
  for (const std::string& text : texts) result.push_back(kept(text));
  return result;
}

}  // namespace

Model::Model(std::int64_t opset) {
  proto.ir_version = 8;
  proto.opset_import = {{"", opset}};
  proto.graph.emplace();
}

Model& Model::input(const std::string& name, Type type, const std::vector<Dimension>& shape) {
  format::TensorShapeProto sizes;
  for (const Dimension& dimension : shape) {
    format::DimensionProto& added = sizes.dim.emplace_back();
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) added.dim_value = *size;
    if (const auto* name_of = std::get_if<std::string>(&dimension)) added.dim_param = kept(*name_of);
  }
  format::ValueInfoProto& input = graph().input.emplace_back();
  input.name = kept(name);
  input.type.tensor_type = {type, sizes};
  return *this;
}

Model& Model::output(const std::string& name) {
  graph().output.emplace_back().name = kept(name);
  return *this;
}

Model& Model::reals(const std::string& name, const std::vector<std::int64_t>& sizes,
                    const std::vector<float>& numbers) {
  format::TensorProto& tensor = graph().initializer.emplace_back();
  tensor.name = kept(name);
  tensor.data_type = float32;
  tensor.dims = sizes;
  tensor.float_data = numbers;
  return *this;
}

Model& Model::integers(const std::string& name, const std::vector<std::int64_t>& numbers) {
  format::TensorProto& tensor = graph().initializer.emplace_back();
  tensor.name = kept(name);
  tensor.data_type = int64;
  tensor.dims = {static_cast<std::int64_t>(numbers.size())};
  tensor.int64_data = numbers;
  return *this;
}

Model& Model::raw(const std::string& name, Type type, const std::vector<std::int64_t>& sizes,
                  const std::string& bytes) {
  format::TensorProto& tensor = graph().initializer.emplace_back();
  tensor.name = kept(name);
  tensor.data_type = type;
  tensor.dims = sizes;
  tensor.raw_data = kept(bytes);
  return *this;
}

Model& Model::node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  format::NodeProto& node = graph().node.emplace_back();
  node.op_type = kept(operation);
  node.input = kept(inputs);
  node.output = kept(outputs);
  return *this;
}

AttributeProto& Model::attribute(const std::string& name, AttributeType type) {
  AttributeProto& attribute = graph().node.back().attribute.emplace_back();
  attribute.name = kept(name);
  attribute.type = type;
  return attribute;
}
Model& Model::with(const std::string& name, std::int64_t number) {
  attribute(name, AttributeType::integer).i = number;
  return *this;
}
Model& Model::with_real(const std::string& name, double number) {
  attribute(name, AttributeType::real).f = static_cast<float>(number);
  return *this;
}
Model& Model::with_tensor(const std::string& name, const std::vector<float>& numbers) {
  format::TensorProto tensor;
  tensor.data_type = float32;
  tensor.dims = {static_cast<std::int64_t>(numbers.size())};
  tensor.float_data = numbers;
  attribute(name, AttributeType::tensor).t = std::make_shared<format::TensorProto>(tensor);
  return *this;
}
Model& Model::with(const std::string& name, const std::vector<std::int64_t>& numbers) {
  attribute(name, AttributeType::integers).ints = numbers;
  return *this;
}
Model& Model::with(const std::string& name, const std::string& words) {
  attribute(name, AttributeType::text).s = kept(words);
  return *this;
}

Model& Model::with(const std::string& name, const Model& graph) {
  attribute(name, AttributeType::graph).g = std::make_shared<format::GraphProto>(*graph.proto.graph);
  return *this;
}

Model& Model::with_texts(const std::string& name, const std::vector<std::string>& texts) {
  attribute(name, AttributeType::texts).strings = kept(texts);
  return *this;
}

std::string error_of(std::string_view bytes, const onnx::ReadOptions& options) {
  try {
    onnx::read(bytes, options);
  } catch (const onnx::Unsupported& error) {
    return cat("unsupported: ", error.what());
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was thrown";
}
std::string Model::error(const onnx::ReadOptions& options) const { return error_of(bytes(), options); }

Model model_of(const std::string& operation, const std::vector<Dimension>& shape, std::int64_t opset) {
  Model model(opset);
  model.input("x", float32, shape).node(operation, {"x"}, {"y"}).output("y");
  return model;
}

std::vector<double> numbers_of(const graph::Graph& graph, const index::Values& sizes, std::size_t result) {
  std::vector<evaluate::Argument> arguments;
  for (const graph::Parameter& parameter : graph.parameters()) {
    const graph::Node& node = graph[std::get<graph::NodeId>(parameter.value)];
    arguments.emplace_back(evaluate::counting(node.dtype, graph::sizes_of(node.shape, sizes)));
  }
  return evaluate::numbers_in(*evaluate::evaluate(graph, arguments, evaluate::Arithmetic::strict).at(result));
}

std::string type_of(const graph::Graph& graph) {
  const graph::Node& node = graph[graph.results()[0].value];
  return cat(ops::name(node.dtype), " [",
             join(node.shape, ", ", [](const index::Expr& size) { return index::print(size); }), "]");
}

}  // namespace twinloom::tests
