// Small ONNX models that a test writes, and what they give.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/graph/graph.h"
#include "frontends/onnx/encode.h"
#include "frontends/onnx/format.h"
#include "frontends/onnx/read.h"

namespace twinloom::tests {

namespace format = onnx::format;

// The numbers of ONNX's element types.
enum Type : std::int32_t {
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int32 = 6,
  int64 = 7,
  text = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28
};

using Dimension = std::variant<std::int64_t, std::string>;

class Model {
 public:
  explicit Model(std::int64_t opset = 17);
  Model& input(const std::string& name, Type type, const std::vector<Dimension>& shape);
  Model& output(const std::string& name);
  Model& reals(const std::string& name, const std::vector<std::int64_t>& sizes,
               const std::vector<float>& numbers);
  Model& integers(const std::string& name, const std::vector<std::int64_t>& numbers);
  // Elements of a type as bytes of a file.
  Model& raw(const std::string& name, Type type, const std::vector<std::int64_t>& sizes,
             const std::string& bytes);
  Model& node(const std::string& operation, const std::vector<std::string>& inputs,
              const std::vector<std::string>& outputs);
  // Attributes of the last node.
  Model& with(const std::string& name, std::int64_t number);
  Model& with_real(const std::string& name, double number);
  // A list of numbers as a tensor.
  Model& with_tensor(const std::string& name, const std::vector<float>& numbers);
  Model& with(const std::string& name, const std::vector<std::int64_t>& numbers);
  Model& with(const std::string& name, const std::string& words);
  Model& with(const std::string& name, const Model& graph);
  Model& with_texts(const std::string& name, const std::vector<std::string>& texts);

  std::string bytes() const { return format::encoded(proto); }
  graph::Graph read(const onnx::ReadOptions& options = {}) const { return onnx::read(bytes(), options); }
  // What is thrown while it is read, "unsupported: " before what is no mistake; "nothing was thrown".
  std::string error(const onnx::ReadOptions& options = {}) const;

  format::GraphProto& graph() { return *proto.graph; }
  format::NodeProto& node(std::size_t number) { return proto.graph->node.at(number); }
  format::ModelProto proto;  // whose texts live as long as the program

 private:
  format::AttributeProto& attribute(const std::string& name, format::AttributeType type);
};

std::string error_of(std::string_view bytes, const onnx::ReadOptions& options = {});

// y = OPERATION(x), of x: f32 of this shape.
Model model_of(const std::string& operation, const std::vector<Dimension>& shape, std::int64_t opset = 17);

// A result, as numbers, of inputs that count up from 0, 1, ...; `sizes` of symbols.
std::vector<double> numbers_of(const graph::Graph& graph, const index::Values& sizes = {},
                               std::size_t result = 0);

// "f32 [n, 3]" of result 0.
std::string type_of(const graph::Graph& graph);

}  // namespace twinloom::tests
