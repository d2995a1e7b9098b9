// A folder in the layout of ONNX's backend tests: y = relu(x) of two numbers.
#pragma once

#include <string>
#include <vector>

namespace twinloom::tests {

struct OnnxFolder {
  std::string operation = "Relu";
  std::vector<float> input = {-1, 2}, output = {0, 2};
};
void write_onnx_folder(const std::string& folder, const OnnxFolder& what = {});

}  // namespace twinloom::tests
