// See models.h.
#include "tests/onnx/models.h"

#include "core/graph/bind.h"
#include "tests/evaluate/arrays.h"

namespace twinloom::tests {

using format::AttributeProto;

Model::Model(std::int64_t opset) {
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(opset);
  proto.mutable_graph()->set_name("test");
}

Model& Model::input(const std::string& name, Type type, const std::vector<Dimension>& shape) {
  format::ValueInfoProto& input = *proto.mutable_graph()->add_input();
  input.set_name(name);
  auto& tensor = *input.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  tensor.mutable_shape();
  for (const Dimension& dimension : shape) {
    auto& added = *tensor.mutable_shape()->add_dim();
    if (const auto* size = std::get_if<std::int64_t>(&dimension)) added.set_dim_value(*size);
    if (const auto* name_of = std::get_if<std::string>(&dimension)) added.set_dim_param(*name_of);
  }
  return *this;
}

Model& Model::output(const std::string& name) {
  proto.mutable_graph()->add_output()->set_name(name);
  return *this;
}

Model& Model::reals(const std::string& name, const std::vector<std::int64_t>& sizes,
                    const std::vector<float>& numbers) {
  format::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(float32);
  for (const std::int64_t size : sizes) tensor.add_dims(size);
  for (const float number : numbers) tensor.add_float_data(number);
  return *this;
}

Model& Model::integers(const std::string& name, const std::vector<std::int64_t>& numbers) {
  format::TensorProto& tensor = *proto.mutable_graph()->add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(int64);
  tensor.add_dims(static_cast<std::int64_t>(numbers.size()));
  for (const std::int64_t number : numbers) tensor.add_int64_data(number);
  return *this;
}

Model& Model::node(const std::string& operation, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs) {
  format::NodeProto& node = *proto.mutable_graph()->add_node();
  node.set_op_type(operation);
  for (const std::string& input : inputs) node.add_input(input);
  for (const std::string& output : outputs) node.add_output(output);
  return *this;
}

AttributeProto& Model::attribute(const std::string& name, AttributeProto::AttributeType type) {
  auto& nodes = *proto.mutable_graph()->mutable_node();
  AttributeProto& attribute = *nodes.rbegin()->add_attribute();
  attribute.set_name(name);
  attribute.set_type(type);
  return attribute;
}
Model& Model::with(const std::string& name, std::int64_t number) {
  attribute(name, AttributeProto::INT).set_i(number);
  return *this;
}
Model& Model::with(const std::string& name, const std::vector<std::int64_t>& numbers) {
  AttributeProto& added = attribute(name, AttributeProto::INTS);
  for (const std::int64_t number : numbers) added.add_ints(number);
  return *this;
}
Model& Model::with(const std::string& name, const std::string& words) {
  attribute(name, AttributeProto::STRING).set_s(words);
  return *this;
}

Model& Model::with(const std::string& name, const Model& graph) {
  *attribute(name, AttributeProto::GRAPH).mutable_g() = graph.proto.graph();
  return *this;
}

Model& Model::with_texts(const std::string& name, const std::vector<std::string>& texts) {
  AttributeProto& added = attribute(name, AttributeProto::STRINGS);
  for (const std::string& words : texts) added.add_strings(words);
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
