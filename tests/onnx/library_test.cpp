// ONNX models by the C API: from files and from memory, and inputs that decide about shapes.
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "api/include/twinloom/twinloom.h"
#include "tests/api/failures.h"
#include "tests/onnx/models.h"
#include "tests/support/scratch_folder.h"

namespace twinloom::tests {
namespace {

Model activation() {
  Model model;
  model.input("x", float32, {"n", 4}).node("Relu", {"x"}, {"y"}).output("y");
  return model;
}

std::vector<float> run(const twinloom_graph* graph, std::vector<float> elements,
                       std::vector<std::int64_t> shape) {
  twinloom_device_options options{};
  options.size = sizeof options;
  options.no_cache = 1;
  twinloom_device* device = nullptr;
  twinloom_executable* executable = nullptr;
  c::expect_ok(twinloom_device_open("cpu", &options, &device));
  c::expect_ok(twinloom_compile(graph, device, nullptr, &executable));
  DLTensor x = {elements.data(),
                {kDLCPU, 0},
                static_cast<std::int32_t>(shape.size()),
                {kDLFloat, 32, 1},
                shape.data(),
                nullptr,
                0};
  const twinloom_value argument = {TWINLOOM_TENSOR, {&x}};
  twinloom_value result{};
  c::expect_ok(twinloom_run(executable, &argument, 1, nullptr, &result, 1));
  const auto* first = static_cast<const float*>(result.as.managed->dl_tensor.data);
  std::vector<float> given(first, first + elements.size());
  twinloom_value_release(&result);
  twinloom_executable_free(executable);
  twinloom_device_free(device);
  return given;
}

TEST(Library, ReadsModelsOfFilesAndOfMemory) {
  const std::string bytes = activation().bytes();
  const ScratchFolder folder;
  const std::string file = folder.file("model.onnx");
  std::ofstream(file, std::ios::binary) << bytes;
  std::array<twinloom_graph*, 2> graphs{};
  c::expect_ok(twinloom_graph_load(file.c_str(), nullptr, graphs.data()));
  c::expect_ok(twinloom_graph_read(bytes.data(), bytes.size(), nullptr, &graphs[1]));
  for (twinloom_graph* graph : graphs) {
    EXPECT_EQ(twinloom_graph_parameter_count(graph), 1U);
    EXPECT_EQ(run(graph, {-1, 2, -3, 4}, {1, 4}), (std::vector<float>{0, 2, 0, 4}));
    twinloom_graph_free(graph);
  }
}

TEST(Library, TakesInputsThatDecideAboutShapes) {
  Model model;
  model.input("x", float32, {4})
      .input("shape", int64, {2})
      .node("Reshape", {"x", "shape"}, {"y"})
      .output("y");
  const std::string bytes = model.bytes();
  twinloom_graph* graph = nullptr;
  c::expect_invalid(twinloom_graph_read(bytes.data(), bytes.size(), nullptr, &graph), "shape");
  std::array<std::int64_t, 2> elements = {2, 2};
  std::array<std::int64_t, 1> sizes = {2};
  DLTensor shape = {elements.data(), {kDLCPU, 0}, 1, {kDLInt, 64, 1}, sizes.data(), nullptr, 0};
  const twinloom_named_tensor given = {"shape", &shape};
  const twinloom_read_options options = {sizeof options, 0, 1, &given};
  c::expect_ok(twinloom_graph_read(bytes.data(), bytes.size(), &options, &graph));
  twinloom_port port{};
  port.size = sizeof port;
  c::expect_ok(twinloom_graph_result(graph, 0, &port));
  EXPECT_EQ(port.ndim, 2);
  twinloom_graph_free(graph);
}

TEST(Library, AModelHoldsOneGraph) {
  const std::string bytes = activation().bytes();
  const twinloom_read_options options = {sizeof options, 1, 0, nullptr};
  twinloom_graph* graph = nullptr;
  c::expect_invalid(twinloom_graph_read(bytes.data(), bytes.size(), &options, &graph),
                    "graph 1 was asked for; an ONNX model holds 1, counted from 0");
}

}  // namespace
}  // namespace twinloom::tests
