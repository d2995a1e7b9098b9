// See onnx_folder.h.
#include "tests/tool/onnx_folder.h"

#include <filesystem>
#include <fstream>

#include "onnx.proto3.pb.h"

namespace twinloom::tests {

namespace format = onnx::format;

namespace {

constexpr int f32 = 1;

void write(const std::string& file, const google::protobuf::MessageLite& message) {
  std::ofstream(file, std::ios::binary) << message.SerializeAsString();
}

format::TensorProto tensor_of(const std::vector<float>& numbers) {
  format::TensorProto tensor;
  tensor.set_data_type(f32);
  tensor.add_dims(static_cast<std::int64_t>(numbers.size()));
  for (const float number : numbers) tensor.add_float_data(number);
  return tensor;
}

}  // namespace

void write_onnx_folder(const std::string& folder, const OnnxFolder& what) {
  std::filesystem::create_directories(folder + "/test_data_set_0");
  format::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  format::GraphProto& graph = *model.mutable_graph();
  format::NodeProto& node = *graph.add_node();
  node.set_op_type(what.operation);
  node.add_input("x");
  node.add_output("y");
  graph.add_output()->set_name("y");
  format::ValueInfoProto& input = *graph.add_input();
  input.set_name("x");
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(f32);
  type.mutable_shape()->add_dim()->set_dim_param("n");
  write(folder + "/model.onnx", model);
  write(folder + "/test_data_set_0/input_0.pb", tensor_of(what.input));
  write(folder + "/test_data_set_0/output_0.pb", tensor_of(what.output));
}

}  // namespace twinloom::tests
