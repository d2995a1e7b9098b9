// See onnx_folder.h.
#include "tests/tool/onnx_folder.h"

#include <filesystem>
#include <fstream>

#include "frontends/onnx/encode.h"

namespace twinloom::tests {

namespace {

namespace format = onnx::format;

constexpr int f32 = 1;

template <class Message>
void write(const std::string& file, const Message& message) {
  std::ofstream(file, std::ios::binary) << format::encoded(message);
}

format::TensorProto tensor_of(const std::vector<float>& numbers) {
  format::TensorProto tensor;
  tensor.data_type = f32;
  tensor.dims = {static_cast<std::int64_t>(numbers.size())};
  tensor.float_data = numbers;
  return tensor;
}

}  // namespace

void write_onnx_folder(const std::string& folder, const OnnxFolder& what) {
  std::filesystem::create_directories(folder + "/test_data_set_0");
  format::ModelProto model;
  model.ir_version = 8;
  model.opset_import = {{"", 17}};
  format::GraphProto& graph = model.graph.emplace();
  format::NodeProto& node = graph.node.emplace_back();
  node.op_type = what.operation;
  node.input = {"x"};
  node.output = {"y"};
  graph.output.emplace_back().name = "y";
  format::ValueInfoProto& input = graph.input.emplace_back();
  input.name = "x";
  input.type.tensor_type = {f32, format::TensorShapeProto{{{{}, "n"}}}};
  write(folder + "/model.onnx", model);
  write(folder + "/test_data_set_0/input_0.pb", tensor_of(what.input));
  write(folder + "/test_data_set_0/output_0.pb", tensor_of(what.output));
}

}  // namespace twinloom::tests
